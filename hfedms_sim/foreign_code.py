"""Code that somebody else has written: how its module is imported, and what tells one edition of it from another."""

import marshal
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from inspect import getsource
from pathlib import Path
from types import FunctionType
from typing import Any

from hfedms_sim.errors import InputError
from hfedms_sim.known_parts import path_of

_PACKAGE = "hfedms_sim"
_SCRIPTS = ("__main__", "__mp_main__")
_LIBRARIES = frozenset({"numpy", "pydantic", "torch"})  # bases of others' classes; their releases are not an edition


def import_outside(module: str) -> None:
    """Import a module that defines parts of runs; as with `python -m`, one in the current directory is found."""
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        import_module(module)
    except Exception as error:
        raise InputError(f"--import {module}: cannot be imported ({type(error).__name__}: {error})") from None


def code_digest(part: Any, modules: Iterable[str]) -> str | None:
    """Return a hash of the source behind a part, a class or a function, in these modules; None for one that ships.

    Of a package every Python file counts, because any of them may change what is learnt; what these import from
    elsewhere does not.
    """
    tops = sorted({module.partition(".")[0] for module in modules} - {_PACKAGE} - _LIBRARIES - sys.stdlib_module_names)
    if not tops:
        return None
    digest = sha256()
    for name, content in (piece for top in tops for piece in _sources(top, part)):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def modules_of(part: type[Any]) -> set[str]:
    """Return the modules that a class and all it derives from are defined in."""
    return {each.__module__ for each in part.__mro__}


def _sources(top: str, part: Any) -> Iterator[tuple[str, bytes]]:
    """Yield the Python files of a module or package, by their names in it."""
    if top in _SCRIPTS:  # in a worker process a script has another name
        top, spec = _SCRIPTS[0], None
    else:
        spec = find_spec(top)
    if spec is not None and spec.submodule_search_locations:
        for directory in map(Path, spec.submodule_search_locations):
            for path in sorted(directory.rglob("*.py")):
                yield f"{top}/{path.relative_to(directory).as_posix()}", path.read_bytes()
    elif spec is not None and spec.origin is not None and Path(spec.origin).is_file():
        yield top, Path(spec.origin).read_bytes()
    else:
        try:
            yield top, getsource(part).encode()
        except (OSError, TypeError):  # typed in, or made by a program
            yield top, _compiled(part)


def _compiled(part: Any) -> bytes:
    """Return what Python has made of a function, or of all methods of a class."""
    found = list(vars(part).values()) if isinstance(part, type) else [part]
    plain = (getattr(each, "__func__", each) for each in found)
    codes = [marshal.dumps(each.__code__) for each in plain if isinstance(each, FunctionType)]
    if not codes:
        reason = "its source cannot be read, and what it learns could not be told from an earlier edition's"
        raise InputError(f"{path_of(part)}: {reason}")
    return b"".join(codes)
