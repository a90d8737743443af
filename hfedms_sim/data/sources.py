"""Which data sets a scenario may name, and what a class must have to be the source of one."""

import inspect

from hfedms_sim import foreign_code
from hfedms_sim.data.base import Dataset, DataSource
from hfedms_sim.data.loaders.files import first_line
from hfedms_sim.data.shipped import SHIPPED, require_devices
from hfedms_sim.errors import InputError
from hfedms_sim.known_parts import Kind, Known, KnownSettings, defined, name_in_settings, path_of, require_settings
from hfedms_sim.scenario.data import DataSettings
from hfedms_sim.scenario.models import DataShape

AnySource = type[DataSource]


def name_of(source: AnySource) -> str:
    """Return how scenarios call it."""
    return name_in_settings(source, "set", "data set")


def require_sound(source: AnySource) -> AnySource:
    """Return the source if it has what a run asks of it, else say what is wrong with it."""
    require_settings(source, DataSettings)
    if not isinstance(getattr(source, "about", None), str):
        raise InputError(f"{path_of(source)}: about must be a line of text")
    try:
        inspect.signature(source.open).bind(None, sensors=1, types=1, seed=1)
    except TypeError as error:
        raise InputError(f"{path_of(source)}: open cannot be called as a run calls it ({error})") from None
    return source


KIND: Kind[DataSource] = Kind(
    word="data set",
    group="hfedms_sim.datasets",
    base=DataSource,
    name_of=name_of,
    is_whole=lambda source: "Settings" in source.__dict__,
    require_sound=require_sound,
)

DATA_SOURCES: Known[DataSource] = Known(KIND, SHIPPED)
DATA_SETTINGS: KnownSettings[DataSettings] = KnownSettings(DATA_SOURCES)


def source_of(settings: DataSettings) -> AnySource:
    """Return the source whose settings these are."""
    found = next((each for each in defined(KIND) if each.Settings is type(settings)), None)
    if found is None:
        raise InputError(f"{path_of(type(settings))}: no data source has these settings; was it defined again?")
    return found


def open_dataset(settings: DataSettings, *, sensors: int, types: int, seed: int) -> Dataset:
    """Return the scenario's data set, which has a device for each sensor."""
    source = require_sound(source_of(settings))
    try:
        dataset = source.open(settings, sensors=sensors, types=types, seed=seed)
    except InputError:
        raise
    except Exception as error:
        if code_digest(source) is None:
            raise
        raise InputError(f"{path_of(source)}: open raised {type(error).__name__}: {first_line(error)}") from None
    if not isinstance(dataset, Dataset):
        raise InputError(f"{path_of(source)}: open returns {type(dataset).__name__}: must be a Dataset")
    require_dataset(dataset, sensors)
    return dataset


def require_dataset(dataset: Dataset, sensors: int) -> None:
    """Refuse a data set that lacks what a run reads before anything else, or has not a device for each sensor."""
    if not isinstance(dataset, Dataset):
        raise InputError(f"data is {dataset!r:.60}: must be a Dataset, such as from_arrays makes")
    who = path_of(type(dataset))
    for key, kind in (("name", str), ("devices", int), ("shape", DataShape), ("content", dict)):
        if not isinstance(getattr(dataset, key, None), kind):
            raise InputError(f"{who}: {key} = {getattr(dataset, key, None)!r:.60}: must be of the type {kind.__name__}")
    if dataset.is_image and len(dataset.shape.input_shape) != 3:
        raise InputError(f"{who}: is_image, but samples are {dataset.shape}: images have channels, height and width")
    require_devices(dataset, sensors, dataset.name)


def code_digest(source: AnySource) -> str | None:
    """Return a hash of the source code behind a data set of somebody else's; None for one that ships."""
    return foreign_code.code_digest(source, foreign_code.modules_of(source) | {source.Settings.__module__})
