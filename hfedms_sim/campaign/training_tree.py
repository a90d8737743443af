"""Who learns from whom: the tree of lineages of all trials, and for each of its edges the one trial that trains it.

Each trial's timing gives the lineages of its rounds, a path from a root. Where the paths of two trials have the same
lineage they have learnt the same thing so far; hash chains that have parted never meet again, so all paths together
are a tree. The trial with the longest path goes first. Every other trial leaves what is already trained at its last
shared lineage, its fork: it takes all up to there from the trial that trains that part, and trains only what follows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Branch:
    """`parent` trains what this trial shares with it, up to the lineage `fork`; `pins` are its children's forks.

    A child that branches off goes on from the state there; one that ends there needs its model.
    """

    parent: str | None = None
    fork: str | None = None
    pins: tuple[str, ...] = ()
    branches_off: bool = False
    """Whether there is anything after the fork for this trial to train."""
    shared_rounds: int = 0
    """How many rounds there are up to the fork, which this trial does not train."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"pins": list(self.pins)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Branch":
        return cls(
            content["parent"],
            content["fork"],
            tuple(content["pins"]),
            content["branches_off"],
            content["shared_rounds"],
        )


def training_tree(paths: Mapping[str, Sequence[str]]) -> dict[str, Branch]:
    """Return the branch of each trial. `paths` are lineages; of equally long ones the first trains for the others."""
    order = sorted(paths, key=lambda name: -len(paths[name]))
    owner: dict[str, str] = {}
    found: dict[str, Branch] = {}
    pins: dict[str, set[str]] = {name: set() for name in paths}
    for name in order:
        path = paths[name]
        shared = _shared(path, owner)
        if shared:
            parent, fork = owner[path[shared - 1]], path[shared - 1]
            found[name] = Branch(parent, fork, branches_off=shared < len(path), shared_rounds=shared)
            pins[parent].add(fork)
        else:
            found[name] = Branch(branches_off=True)
        for lineage in path[shared:]:
            owner[lineage] = name
    return {name: replace(found[name], pins=tuple(sorted(pins[name]))) for name in paths}


def _shared(path: Sequence[str], owner: Mapping[str, str]) -> int:
    """How many of the path's first lineages are owned. Owned ones come first, all of them, so halving finds it."""
    low, high = 0, len(path)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if path[middle - 1] in owner else (low, middle - 1)
    return low
