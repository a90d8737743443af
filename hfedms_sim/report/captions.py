"""What a table of rich's takes over from an exhibit. Foreign text stays text: brackets are no markup."""

import rich.table
from rich.text import Text

from hfedms_sim.exhibits import Table


def captioned(shown: rich.table.Table, table: Table) -> rich.table.Table:
    """Give a table of rich's the title and the note of an exhibit, in the styles that rich has for them."""
    shown.title, shown.title_justify = Text(table.title, style="table.title"), "left"
    shown.caption = Text(table.note, style="table.caption") if table.note else None
    shown.caption_justify = "left"
    return shown


def add_rows(shown: rich.table.Table, table: Table) -> rich.table.Table:
    """Add the rows of an exhibit whose cells are words."""
    for row in table.rows:
        shown.add_row(*(Text(str(cell)) for cell in row))
    return shown
