"""The data sets that ship, as scenarios name them: each with its keys under `data`."""

from abc import abstractmethod
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import Field, model_validator

from hfedms_sim.data.base import MAX_CLASSES, Dataset, DataSource, Ink
from hfedms_sim.data.glyphs.glyphs import Glyphs
from hfedms_sim.data.glyphs.labels import DEFAULT_SKEW
from hfedms_sim.data.loaders.arrays import ArrayDataset, Reading
from hfedms_sim.data.loaders.leaf import read_leaf
from hfedms_sim.data.loaders.npz import read_npz
from hfedms_sim.data.partition import Partition
from hfedms_sim.data.vibration.labels import FAULTS
from hfedms_sim.data.vibration.vibration import Vibration
from hfedms_sim.errors import InputError
from hfedms_sim.scenario.data import DataSettings


class GlyphsData(DataSettings):
    set: Literal["glyphs"] = "glyphs"
    """Which data set the sensors see."""
    ink: Ink = "bright"
    """Polarity: bright is ink 1 on background 0."""
    skew: Annotated[float, Field(ge=0, le=2)] = DEFAULT_SKEW
    """How unlike the sensors' classes are: 0 not at all, 1 as it comes, 2 a single class each."""


class GlyphsSource(DataSource):
    Settings = GlyphsData
    about = "embedded: handwriting-like characters drawn from stroke fonts, any number of devices, no download"

    @classmethod
    def open(cls, settings: GlyphsData, *, sensors: int, types: int, seed: int) -> Dataset:
        return Glyphs(seed=seed, devices=sensors, types=types, ink=settings.ink, skew=settings.skew)


class FileData(DataSettings):
    """What all sets have in common that are read from files."""

    path: Annotated[str, Field(min_length=1)]
    """The file or directory."""
    ink: Ink | None = "bright"
    """Polarity of images of one channel: bright is ink 1 on background 0; null: as it is in the file."""
    classes: Annotated[int, Field(ge=2, le=MAX_CLASSES)] | None = None
    """How many classes there are, if not one more than the largest label in the file."""
    partition: Partition | None = None
    """How samples are dealt to devices; null: they belong to those that the file names."""


class FileSource(DataSource):
    """A set that is read from files at a path."""

    @classmethod
    @abstractmethod
    def read(cls, path: Path, how: Reading) -> ArrayDataset:
        """Return all that the files hold, or raise an InputError that names the file."""

    @classmethod
    def open(cls, settings: FileData, *, sensors: int, types: int, seed: int) -> Dataset:
        how = Reading(settings.ink, settings.classes, settings.partition, sensors, seed)
        dataset = cls.read(Path(settings.path), how)
        require_devices(dataset, sensors, settings.path)
        return dataset.first(sensors)


class NpzData(FileData):
    set: Literal["npz"] = "npz"
    """Which data set the sensors see."""


class NpzSource(FileSource):
    Settings = NpzData
    about = "a NumPy archive with images or inputs, labels, device and, if it has a split, is_test"

    @classmethod
    def read(cls, path: Path, how: Reading) -> ArrayDataset:
        return read_npz(path, how)


class LeafData(FileData):
    set: Literal["leaf"] = "leaf"
    """Which data set the sensors see."""

    @model_validator(mode="after")
    def _there_are_no_columns(self) -> "LeafData":
        if self.partition is not None and self.partition.column is not None:
            raise ValueError("partition: kind: column needs a file with columns, which leaf has not")
        return self


class LeafSource(FileSource):
    Settings = LeafData
    about = "FEMNIST, or other numbers, as the scripts of LEAF write them: a directory of JSON files"

    @classmethod
    def read(cls, path: Path, how: Reading) -> ArrayDataset:
        return read_leaf(path, how)


class ParquetData(FileData):
    set: Literal["parquet"] = "parquet"
    """Which data set the sensors see."""


class ParquetSource(FileSource):
    Settings = ParquetData
    about = "Parquet files of PNG images or numbers, such as the Hugging Face hub's FEMNIST (flwrlabs/femnist)"

    @classmethod
    def read(cls, path: Path, how: Reading) -> ArrayDataset:
        from hfedms_sim.data.loaders.parquet import read_parquet  # here: pyarrow takes a while to import

        return read_parquet(path, how)


class VibrationData(DataSettings):
    set: Literal["vibration"] = "vibration"
    """Which data set the sensors see."""
    sensors_per_machine: Annotated[int, Field(ge=1, le=1000)] = 1
    """How many sensors in a row listen to the same machine."""
    faults_per_machine: Annotated[int, Field(ge=1, le=FAULTS)] = 4
    """How many of the nine faults a machine is prone to: the fewer, the more unlike the sensors' classes are."""
    evenly: bool = False
    """Deal the windows of all machines to all sensors alike: the iid split to compare with."""


class VibrationSource(DataSource):
    Settings = VibrationData
    about = "embedded: vibration of machines in ten conditions, 1,024 samples a window, any number of sensors"

    @classmethod
    def open(cls, settings: VibrationData, *, sensors: int, types: int, seed: int) -> Dataset:
        machines = -(-sensors // settings.sensors_per_machine)
        park = settings.sensors_per_machine, settings.faults_per_machine
        return Vibration(seed, machines, *park, evenly=settings.evenly, sensors=sensors)


class ObjectData(DataSettings):
    """What a scenario says of data that were passed to a run as an object."""

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


SHIPPED: tuple[type[DataSource], ...] = (
    GlyphsSource,
    NpzSource,
    LeafSource,
    ParquetSource,
    VibrationSource,
    ObjectSource,
)

FILE_SOURCES: dict[str, type[FileSource]] = {"npz": NpzSource, "leaf": LeafSource, "parquet": ParquetSource}


def require_devices(dataset: Dataset, count: int, where: Any) -> None:
    if dataset.devices < count:
        raise InputError(f"{where}: has {dataset.devices} devices, but sensors.count = {count}: must be at most that")
