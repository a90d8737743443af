"""The search: who is trained how far, who is left out and why.

    timing     every candidate on the clock (prospects.py); what cannot meet the goal, or learns the same as another no
               sooner and no cheaper, is left out at once (eligible.py)
    rungs      what is left trains further and further, as long as it can win (rungs.py)
    race       the last few play further seeds (race.py)

Which rounds are trained depends on what was measured, never on the time that it took. So the same search ends the same,
whatever the number of processes, and after any number of interruptions.
"""

from collections.abc import Callable, Sequence

from hfedms_sim.recommendation.candidates import Candidate
from hfedms_sim.recommendation.eligible import eligible, without_copies
from hfedms_sim.recommendation.found import Ended, Found, Player
from hfedms_sim.recommendation.goal import Goal
from hfedms_sim.recommendation.race import race
from hfedms_sim.recommendation.rungs import climb


def search(
    player: Player,
    candidates: Sequence[Candidate],
    goal: Goal,
    seeds: Sequence[int],
    every: int = 1,
    chance: float = 0.0,
    *,
    on_step: Callable[[str], None] = lambda line: None,
) -> Found:
    """Return who is left, and what became of the others.

    Models are looked at after every this many rounds; `chance` is the accuracy of the most frequent class alone.
    """
    found = Found(goal, tuple(seeds), every, chance)
    on_step(f"timing {len(candidates)} candidates")
    prospects, refused = player.time(candidates, found.seeds[0])
    found.ended |= {candidate: Ended("timing", why) for candidate, why in refused.items()}
    found.prospects = eligible(prospects, found)
    alive = climb(player, without_copies(found.prospects, found), found, on_step)
    race(player, alive, found, on_step)
    return found
