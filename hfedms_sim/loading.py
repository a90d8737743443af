"""Scenarios as users name them, with every strategy, network and data set that is known here."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

from hfedms_sim.data import DATA_SETTINGS
from hfedms_sim.models import MODELS
from hfedms_sim.scenario import ANY_NAME, Changes, Choices, NetworkProfile, Overrides, Scenario, Source
from hfedms_sim.scenario import load_scenario as load_known_scenario
from hfedms_sim.scenario import problems_in as known_problems_in
from hfedms_sim.strategies import SETTINGS
from hfedms_sim.world.streams.streams import STREAMS

CHOICES = Choices(SETTINGS, DATA_SETTINGS, STREAMS, MODELS)
"""What a scenario may name."""
READABLE = CHOICES._replace(models=ANY_NAME)
"""What the scenario of a run that was played may name: its network need not be here to read it."""


def load_scenario(
    source: Source,
    *,
    profile: str | PathLike[str] | NetworkProfile | None = None,
    strategy: str | None = None,
    rounds: int | None = None,
    seed: int | None = None,
    overrides: Overrides = (),
) -> Scenario:
    """Return the scenario that a name or path stands for, with these changes.

    Arguments:
        source: a shipped scenario's name, the path of a YAML file, a mapping as it would stand in one, or a scenario.
        profile: put every cell on this network profile: a shipped name, a path, or what `load_profile` returns.
        strategy: another strategy, by name, with those of the current settings that it also has.
        rounds: how many rounds to play.
        seed: seed of every random draw.
        overrides: values of any keys: a mapping with dotted keys (`{"strategy.interval": 3}`) or nested mappings
            (`{"strategy": {"interval": 3}}`), or KEY=VALUE texts as of `--set`. The last wins; those of `cells` as a
            whole come before `profile`, all others after it.

    Paths to profiles and data start at the scenario's directory in a file, at the current directory in an argument.

    Returns:
        The validated `Scenario`.

    Raises:
        InputError: a name or key is unknown, a value is not allowed, or a file cannot be read; one line says which.

    Example:

        load_scenario("quickstart", profile="wifi-halow", rounds=20, overrides={"strategy.interval": 3})
    """
    changes = Changes(profile, strategy, rounds, seed, overrides)
    return load_known_scenario(source, CHOICES, changes).loaded_by(load_scenario)


def scenario_of(raw: Mapping[str, Any]) -> Scenario:
    """Return the scenario of a mapping as a file would have it, profiles written out."""
    return Scenario.model_validate(raw, context=CHOICES).loaded_by(load_scenario)


def problems_in(source: str) -> list[str]:
    """Return every problem of a scenario or profile file, a line each; empty if it is sound."""
    return known_problems_in(source, CHOICES)
