"""play(scenario): the rounds of a scenario one by one, on the simulated clock and without training."""

from collections.abc import Iterator
from math import inf

from hfedms_sim.feasibility import LONGEST_FIRST_ROUND_S
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation.parts import parts_of
from hfedms_sim.simulation.session import PlayedRound, Session
from hfedms_sim.trace import Trace


def play(scenario: Scenario, *, allow_infeasible: bool = False) -> Iterator[PlayedRound]:
    """Play a scenario's rounds on the simulated clock, without training, each when it is asked for.

    They are the rounds of `run(scenario, timing_only=True)`, and of a trained run as far as it goes. What comes after
    the last round that was asked for is never played. Tables, limits and a summary are left out: `run` makes these.

    Arguments:
        scenario: what to play.
        allow_infeasible: go on even if the first round takes more than 30 simulated days.

    Yields:
        A `PlayedRound(plan, record, cost)` for each round.

    Raises:
        InputError: the scenario cannot be played (nobody in coverage, a file is missing, ...), when the first round is
            asked for.

    Example, the first round of more than ten simulated seconds:

        next(each for each in play(load_scenario("quickstart")) if each.record.end_s - each.record.start_s > 10)
    """
    session = Session(scenario, parts_of(scenario), Trace(), threads=1, device="cpu", store=None)
    yield from session.played_rounds(inf if allow_infeasible else LONGEST_FIRST_ROUND_S)
