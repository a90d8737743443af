"""Packages that only some choices need: imported when such a choice is made, never at start-up."""

from importlib import import_module
from typing import Any

from hfedms_sim.errors import InputError


def optional_package(name: str, needed_by: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(f"{needed_by}: needs the package {name.split('.')[0]}, which is not installed") from error
