"""Data sets that were passed to a run as objects, as its scenario names them."""

from typing import Literal, NoReturn

from hfedms_sim.data.base import DataSource
from hfedms_sim.errors import InputError
from hfedms_sim.scenario.data import DataSettings


class ObjectData(DataSettings):
    set: Literal["object"] = "object"
    """Which data set the sensors see."""
    name: str = ""
    """What the data set called itself."""


class ObjectSource(DataSource):
    """Stands for what is no longer there: the run can be read, and be played again by whoever passes the data again."""

    Settings = ObjectData
    about = "a data set that was passed to run() in Python"

    @classmethod
    def open(cls, settings: ObjectData, *, sensors: int, types: int, seed: int) -> NoReturn:
        named = f" ('{settings.name}')" if settings.name else ""
        raise InputError(
            f"data.set = 'object'{named}: was passed as an object in Python; pass it there again (data=...)"
        )
