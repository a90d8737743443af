"""The console that tables and progress are shown on. What it styles itself is obeyed, all other text is only shown."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from hfedms_sim.system.foreign_text import printable


class Screen(Console):
    """A console that reads no markup and no names of pictures into text, and passes on no sign that would be obeyed.

    What rich itself has to say to a terminal are segments of their own (`control`), and styles.
    """

    def __init__(self, *, stderr: bool, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield what is to be printed, with foreign signs replaced."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))
