"""What a scenario may name: the parts that are known, with their settings. The loader hands them in, so that settings
are validated without importing what they belong to.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from hfedms_sim.scenario.base import Settings, without_nulls
from hfedms_sim.scenario.data import DEFAULT_ARRIVAL, DEFAULT_DATA_SET, DataSettings, Stream, without_old_defaults
from hfedms_sim.scenario.strategy import DEFAULT_STRATEGY, LocalTraining


class NamedPart(NamedTuple):
    """A part of a scenario that has the keys of whatever it names."""

    key: str
    """The key that holds the name."""
    default: str
    """The name where none is given."""
    base: type[Settings]
    """What the settings of all of them have in common."""
    known: Mapping[str, type[Settings]]
    """The settings by name."""
    without_old_keys: Callable[[Any], Any] = lambda raw: raw
    """Takes from what older runs wrote the keys that the named settings never had."""

    def settings_of(self, raw: Any) -> type[Settings] | None:
        """Return the settings that a mapping names; None if it names none that are known."""
        name = raw.get(self.key, self.default) if isinstance(raw, dict) else None
        return self.known.get(name) if isinstance(name, str) else None


class Choices(NamedTuple):
    strategies: Mapping[str, type[LocalTraining]] = {}
    datasets: Mapping[str, type[DataSettings]] = {}
    streams: Mapping[str, type[Stream]] = {}
    models: Collection[str] = ()

    @property
    def parts(self) -> dict[str, NamedPart]:
        """The parts of a scenario whose keys hang on a name, by their own key."""
        return {
            "strategy": NamedPart("name", DEFAULT_STRATEGY, LocalTraining, self.strategies),
            "data": NamedPart("set", DEFAULT_DATA_SET, DataSettings, self.datasets, without_old_defaults),
            "stream": NamedPart("arrival", DEFAULT_ARRIVAL, Stream, self.streams, without_nulls),
        }


class _AnyName(Collection[str]):
    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


ANY_NAME = _AnyName()
"""For readers of finished runs, who do not need the network itself."""
