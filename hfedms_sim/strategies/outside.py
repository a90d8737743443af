"""Strategies that somebody else has written: how their module is imported, and what tells one edition from another."""

import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from inspect import getsource
from pathlib import Path

from hfedms_sim.errors import InputError
from hfedms_sim.strategies.known import AnyStrategy, path_of

_PACKAGE = "hfedms_sim"


def import_outside(module: str) -> None:
    """Import a module that defines strategies; as with `python -m`, one in the current directory is found."""
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        import_module(module)
    except Exception as error:
        raise InputError(f"--import {module}: cannot be imported ({type(error).__name__}: {error})") from None


def code_digest(strategy: AnyStrategy) -> str | None:
    """Return a hash of the source behind an outside strategy and its learner; None for one that ships.

    Of a package every Python file counts, because any of them may change what is learnt; what these import from
    elsewhere does not.
    """
    classes = (*strategy.__mro__, strategy.Settings)
    modules = {each.__module__ for each in classes} | {strategy.learner.partition(":")[0]}
    tops = sorted({module.partition(".")[0] for module in modules} - {_PACKAGE} - sys.stdlib_module_names)
    if not tops:
        return None
    digest = sha256()
    for name, content in (part for top in tops for part in _sources(top, strategy)):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _sources(top: str, strategy: AnyStrategy) -> Iterator[tuple[str, bytes]]:
    """Yield the Python files of a module or package, by their names in it."""
    spec = find_spec(top) if top != "__main__" else None
    if spec is not None and spec.submodule_search_locations:
        for directory in map(Path, spec.submodule_search_locations):
            for path in sorted(directory.rglob("*.py")):
                yield f"{top}/{path.relative_to(directory).as_posix()}", path.read_bytes()
    elif spec is not None and spec.origin is not None and Path(spec.origin).is_file():
        yield top, Path(spec.origin).read_bytes()
    else:
        try:
            yield top, getsource(strategy).encode()
        except (OSError, TypeError):
            reason = "its source cannot be read, and what it learns could not be told from an earlier edition's"
            raise InputError(f"{path_of(strategy)}: {reason}") from None
