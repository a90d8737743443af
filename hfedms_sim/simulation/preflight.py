"""What `run` would refuse of a scenario that is well written: missing files, unplaceable radios, nobody in coverage.

The scenario's first round is played on the clock, without training, by the very code that a run uses; so `check` and
`run` cannot disagree. Left out: what only shows in later rounds, such as an arrival trace that ends.
"""

from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario, problems_in
from hfedms_sim.scenario import Scenario, is_profile
from hfedms_sim.simulation.engines import Computing, require_runnable
from hfedms_sim.simulation.parts import parts_of
from hfedms_sim.simulation.run import run


def problems_of_file(source: str) -> list[InputError]:
    """Return every problem of a scenario or profile, a line each: how it is written, then what a run would refuse."""
    written = [InputError(line) for line in problems_in(source)]
    if written or is_profile(source):
        return written
    refusal = refusal_of(load_scenario(source))
    return [] if refusal is None else [InputError(f"{source}: ", *refusal.args)]


def refusal_of(scenario: Scenario) -> InputError | None:
    """Return the line with which a run of the scenario would be refused; None if it would start."""
    try:
        parts = parts_of(scenario)
        require_runnable(Computing.of(scenario, parts.model, threads=1, device="cpu"))
        run(scenario.model_copy(update={"rounds": 1}), parts=parts, timing_only=True)
    except InputError as error:
        return error
    return None
