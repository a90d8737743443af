"""The trials of a campaign: one scenario for each combination of profile, strategy, grid values and seed."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from os import PathLike, fspath
from pathlib import Path

from hfedms_sim.campaign.grid import Axis
from hfedms_sim.errors import Argument, InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.scenario import NetworkProfile, Scenario, Source, is_path

MOST_TRIALS = 100_000
_LONGEST_NAME = 80  # without number and seed

Variant = tuple[tuple[str, str], ...]
"""What tells a trial from the others but for its seed: (what, which), such as ("profile", "lte-cat-m2")."""


@dataclass(frozen=True)
class Trial:
    """One run of a campaign. `name` is that of its run directory and its record."""

    name: str
    variant: Variant
    scenario: Scenario
    cost: float = 1.0
    """How long a round takes to train, relative to the other trials; only the time left is estimated by it."""
    teacher: Path | None = None
    """A run outside the campaign that began as this one does: what it has learnt is not trained again."""


@dataclass(frozen=True)
class Axes:
    """Nothing given: as the scenario has it."""

    profiles: Sequence[str | PathLike[str] | NetworkProfile] = ()
    strategies: Sequence[str] = ()
    seeds: Sequence[int] = ()
    grid: Sequence[Axis] = ()
    rounds: int | None = None
    overrides: Sequence[str] = field(default=())
    """KEY=VALUE, for all trials; the grid comes after them."""


def trials_of(source: Source, axes: Axes) -> list[Trial]:
    """Return the trials in the order of the axes, seeds last."""
    _require_distinct(axes)
    profiles: list[str | PathLike[str] | NetworkProfile | None] = [*axes.profiles] or [None]
    strategies: list[str | None] = [*axes.strategies] or [None]
    seeds: list[int | None] = [*axes.seeds] or [None]
    if len(profiles) * len(strategies) * len(seeds) * prod(len(axis.values) for axis in axes.grid) > MOST_TRIALS:
        raise InputError(f"more than {MOST_TRIALS:,} trials: take fewer values, or several campaigns")
    points = list(product(*([(axis.key, value) for value in axis.values] for axis in axes.grid)))
    trials: list[Trial] = []
    for profile, strategy, point, seed in product(profiles, strategies, points, seeds):
        scenario = load_scenario(
            source,
            profile=profile,
            strategy=strategy,
            rounds=axes.rounds,
            seed=seed,
            overrides=[*axes.overrides, *(f"{key}={value}" for key, value in point)],
        )
        radio = scenario.profile_names if profile is None else _called(profile)
        named = (("profile", radio), ("strategy", scenario.strategy.name))
        variant = (*named, *point)
        trials.append(Trial(trial_name(len(trials) + 1, variant, scenario.seed), variant, scenario))
    return trials


def _called(profile: str | PathLike[str] | NetworkProfile) -> str:
    """Return what a profile is called in a variant: its name, or its path as it was given."""
    return profile.name if isinstance(profile, NetworkProfile) else fspath(profile)


def trial_name(number: int, variant: Variant, seed: int) -> str:
    """Numbered, so that it is one trial's whatever the rest of it looks like as a file name."""
    words = "-".join(Path(which).stem if is_path(which) else which for _, which in variant)
    return f"{number:04d}-{re.sub(r'[^A-Za-z0-9.=+-]+', '_', words)[:_LONGEST_NAME]}-seed{seed}"


def _require_distinct(axes: Axes) -> None:
    profiles = [_called(profile) for profile in axes.profiles]
    given: dict[str, Sequence[object]] = {"profiles": profiles, "strategies": axes.strategies, "seeds": axes.seeds}
    for name, values in given.items():
        twice = next((value for value, count in Counter(values).items() if count > 1), None)
        if twice is not None:
            raise InputError(Argument(name), f": {twice} is given twice")
    keys = [axis.key for axis in axes.grid]
    if len(set(keys)) < len(keys):
        raise InputError(Argument("grid"), ": a key is given twice")
