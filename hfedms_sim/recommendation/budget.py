"""How long a search takes at most, before anything is played, and who is left out so that it takes no longer.

The training of a search is a sum over its rungs and its race, each by the estimate of a whole run, which is right
within a factor of three (simulation/estimate.py). Radios are taken to share what is learnt, but for strategies without
a barrier, which learn in the order of arrival. Timing is left out: it is seconds where training is minutes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil

from hfedms_sim.recommendation.candidates import Candidate, Question
from hfedms_sim.recommendation.race import MOST_FINALISTS
from hfedms_sim.recommendation.rungs import KEPT, LEAST_KEPT, RUNGS
from hfedms_sim.simulation import estimate_of, parts_of
from hfedms_sim.strategies import STRATEGIES
from hfedms_sim.strategies.windows import Windowed


def training_s(question: Question, candidates: Sequence[Candidate]) -> dict[str, float]:
    """Return the processor seconds that a whole run of each strategy takes, with its first settings."""
    found: dict[str, float] = {}
    for each in candidates:
        if each.strategy not in found:
            scenario = question.scenario(each)
            found[each.strategy] = estimate_of(scenario, parts_of(scenario), timing_only=False).processor_s
    return found


def search_s(candidates: Sequence[Candidate], whole_s: Mapping[str, float], seeds: int) -> float:
    """Return the processor seconds that a search among these takes; `whole_s`: those of a run, by strategy."""
    learners = {
        (each.strategy, each.settings, each.radio if issubclass(STRATEGIES[each.strategy], Windowed) else "")
        for each in candidates
    }
    if not learners:
        return 0.0
    mean_s = sum(whole_s[strategy] for strategy, *_ in learners) / len(learners)
    sizes = [len(learners), *(min(len(learners), max(LEAST_KEPT, ceil(share * len(learners)))) for share in KEPT)]
    steps = [share - before for share, before in zip(RUNGS, (0.0, *RUNGS), strict=False)]
    rungs = sum(size * step for size, step in zip(sizes, steps, strict=True))
    return mean_s * (rungs + (seeds - 1) * min(MOST_FINALISTS, sizes[-1]))


def affordable(
    candidates: Sequence[Candidate], whole_s: Mapping[str, float], seeds: int, budget_s: float
) -> list[Candidate]:
    """Return as many as can be searched in time: the last settings of whichever strategy has most of them go first.

    The first of each strategy stay, whatever they take.
    """
    points = {(each.strategy, each.settings): None for each in candidates}
    while (
        search_s([each for each in candidates if (each.strategy, each.settings) in points], whole_s, seeds) > budget_s
    ):
        count = Counter(strategy for strategy, _ in points)
        strategy, most = count.most_common(1)[0]
        if most == 1:
            break
        last = [point for point in points if point[0] == strategy][-1]
        del points[last]
    return [each for each in candidates if (each.strategy, each.settings) in points]
