"""What `run` would refuse of a scenario that is well written: missing files, unplaceable radios, nobody in coverage.

What a run would take is estimated, and then the scenario's first round is played on the clock, without training, by
the very code that a run uses; so `check` and `run` cannot disagree. Left out: what only shows in later rounds, such as
an arrival trace that ends.
"""

from pathlib import Path
from typing import NamedTuple

from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario, problems_in
from hfedms_sim.scenario import Scenario, is_profile
from hfedms_sim.simulation.engines import Computing, require_runnable
from hfedms_sim.simulation.estimate import Estimate, estimate_of
from hfedms_sim.simulation.parts import parts_of
from hfedms_sim.simulation.run import run


class Checked(NamedTuple):
    """What there is to say of a file."""

    problems: list[InputError]
    estimate: Estimate | None = None
    """What a run of it takes; None of a profile, and of what cannot be run."""


def checked_file(source: str) -> Checked:
    """Return every problem of a scenario or profile: how it is written, then what a run would refuse."""
    written = [InputError(line) for line in problems_in(source)]
    if written or is_profile(source):
        return Checked(written)
    try:
        return Checked([], preflight(load_scenario(source)))
    except InputError as refusal:
        return Checked([InputError(f"{source}: ", *refusal.args)])


def preflight(scenario: Scenario) -> Estimate:
    """Return what a run of the scenario takes; whatever a run would be refused for is an `InputError`."""
    parts = parts_of(scenario)
    require_runnable(Computing.of(scenario, parts.model, threads=1, device="cpu"))
    estimate = estimate_of(scenario, parts, timing_only=False)
    estimate.require_room(Path())
    run(scenario.model_copy(update={"rounds": 1}), parts=parts, timing_only=True)
    return estimate
