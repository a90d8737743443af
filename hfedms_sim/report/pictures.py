"""Writing a matplotlib figure: whole or not at all, and the same bytes each time. And the colours of our pictures."""

from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from hfedms_sim.errors import InputError, unwritable
from hfedms_sim.system.files import atomic_write

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
"""Okabe and Ito's colours, which people who confuse red and green tell apart; their faint yellow is brown here."""

_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
"""Without what would differ between two equal pictures: moments, and the version of matplotlib."""
_HASH_SALT = "hfedms_sim"  # else the names of an SVG's parts are drawn anew each time


def save(figure: Figure, path: Path) -> None:
    """Write the figure; the file's ending decides its format."""
    endings = sorted(figure.canvas.get_supported_filetypes())
    ending = path.suffix.removeprefix(".").lower()
    if ending not in endings:
        raise InputError(f"{path}: a picture ends in one of {', '.join('.' + each for each in endings)}")
    try:
        with atomic_write(path) as file:
            file.write(_drawn(figure, ending))
    except OSError as error:
        raise unwritable(path, error) from None


def _drawn(figure: Figure, ending: str) -> bytes:
    """Return the content of the file; matplotlib fails in ways of its own while it writes to a disk that is full."""
    content = BytesIO()
    with mpl.rc_context({"svg.hashsalt": _HASH_SALT}):
        figure.savefig(content, format=ending, dpi=150, metadata=_METADATA.get(ending))
    return content.getvalue()
