"""What a scenario may name: the parts that are known, with their settings. The loader hands them in, so that settings
are validated without importing what they belong to.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from hfedms_sim.scenario.data import DataSettings, Stream
from hfedms_sim.scenario.strategy import LocalTraining


class Choices(NamedTuple):
    strategies: Mapping[str, type[LocalTraining]]
    datasets: Mapping[str, type[DataSettings]]
    streams: Mapping[str, type[Stream]]
    models: Collection[str]


class _AnyName(Collection[str]):
    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


ANY_NAME = _AnyName()
"""For readers of finished runs, who do not need the network itself."""
