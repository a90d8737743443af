"""Writing a matplotlib figure: whole or not at all."""

from pathlib import Path

from matplotlib.figure import Figure

from hfedms_sim.errors import InputError


def save(figure: Figure, path: Path) -> None:
    """The file's ending decides its format."""
    endings = sorted(figure.canvas.get_supported_filetypes())
    ending = path.suffix.removeprefix(".").lower()
    if ending not in endings:
        raise InputError(f"{path}: a picture ends in one of {', '.join('.' + each for each in endings)}")
    temporary = path.with_name(f".{path.name}.part")
    try:
        figure.savefig(temporary, format=ending, dpi=150)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None
    finally:
        temporary.unlink(missing_ok=True)
