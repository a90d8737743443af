"""Which networks a scenario may name, and what a class must have to be one."""

import re
from collections.abc import Callable
from typing import Any

from hfedms_sim import foreign_code
from hfedms_sim.errors import InputError
from hfedms_sim.known_parts import Kind, path_of, require_callable
from hfedms_sim.models.base import Model

_METHODS = {"module": 3, "spec": 2}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def name_of(model: type[Model]) -> str:
    """Return how scenarios call it."""
    name = getattr(model, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        allowed = "letters, digits, '.', '_' and '-', beginning with a letter or digit"
        raise InputError(f"{path_of(model)}: name = {name!r:.60}: must be text of {allowed}")
    return name


def require_sound(model: type[Model]) -> type[Model]:
    """Return the model if it has what a run asks of it, else say what is wrong with it."""
    name_of(model)
    require_callable(model, _METHODS)
    return model


def model_class(function: Callable[[tuple[int, ...], int], Any], name: str | None = None) -> type[Model]:
    """Return the model that a plain function of (input shape, classes) makes modules of."""
    known_as = name or function.__name__.strip("<>").replace("_", "-")
    body = {
        "name": known_as,
        "module": lambda self, input_shape, classes: function(input_shape, classes),
        "__module__": function.__module__ or "__main__",
        "__qualname__": function.__qualname__,
        "function": staticmethod(function),
    }
    return type(known_as, (Model,), body)


KIND: Kind[Model] = Kind(
    word="model",
    group="hfedms_sim.models",
    base=Model,
    name_of=name_of,
    is_whole=lambda model: isinstance(model.__dict__.get("name"), str) and "function" not in model.__dict__,
    require_sound=require_sound,
    from_object=lambda name, found: found if isinstance(found, type) else model_class(found, name),
)


def code_digest(model: type[Model]) -> str | None:
    """Return a hash of the source behind an outside model; None for one that ships."""
    return foreign_code.code_digest(getattr(model, "function", model), foreign_code.modules_of(model))
