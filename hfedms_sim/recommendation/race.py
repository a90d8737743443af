"""The race of the last few over further seeds: whoever is clearly slower to the goal, and not cheaper, drops out.

Times are compared as logarithms of their ratios, seed by seed: both saw the same streams and failures.
"""

from collections.abc import Callable, Mapping, Sequence
from math import exp, log

from hfedms_sim.campaign.statistics import estimate
from hfedms_sim.recommendation.candidates import Candidate
from hfedms_sim.recommendation.found import Ended, Found, Player, SeedTimes, learners_of, train, worth_of
from hfedms_sim.recommendation.prospects import Prospect

MOST_FINALISTS = 3


def race(player: Player, alive: list[Prospect], found: Found, on_step: Callable[[str], None]) -> None:
    """Play further seeds, and note how each finalist did with each; the best comes first."""
    first, *further = found.seeds
    racing = {each.candidate: [_seed_times(each, first, found)] for each in _finalists(alive, found)}
    for seed in further:
        if not racing:
            break
        on_step(f"race: {len(racing)} candidates with seed {seed}")
        prospects, refused = player.time(list(racing), seed)
        for candidate, why in refused.items():
            found.ended[candidate] = Ended(f"seed {seed}", why)
            del racing[candidate]
        if found.goal.within_s is not None:
            prospects = [each.cut(found.goal.within_s) for each in prospects]
        rounds = max((each.rounds for each in prospects), default=0)
        if rounds:
            train(player, f"race-seed{seed}", learners_of(prospects, rounds), rounds, seed, found)
        for each in prospects:
            racing[each.candidate].append(_seed_times(each, seed, found))
        for slower in _clearly_slower(racing):
            found.ended[slower] = Ended(f"seed {seed}", _how_much_slower(racing, slower))
            del racing[slower]
    found.by_seed, found.finalists = racing, _ranked(racing)


def _finalists(alive: list[Prospect], found: Found) -> list[Prospect]:
    """Return the few that come nearest to the goal and are soonest there, and the cheapest of all."""
    ends = {each.candidate: points[-1] for each in alive if (points := each.points(found.learnt, found.goal.accuracy))}
    soonest = sorted(
        (each for each in alive if each.candidate in ends), key=lambda each: worth_of(ends[each.candidate])
    )
    cheapest = sorted(soonest, key=lambda each: (-ends[each.candidate].accuracy, ends[each.candidate].cost))
    chosen = [*soonest[: MOST_FINALISTS - 1], *cheapest[:1], *soonest[MOST_FINALISTS - 1 :]]
    finalists = list(dict.fromkeys(each.candidate for each in chosen))[:MOST_FINALISTS]
    for each in alive:
        if each.candidate not in finalists:
            found.ended[each.candidate] = Ended("race", "others are nearer to the goal, or sooner there")
    return [each for each in alive if each.candidate in finalists]


def _seed_times(prospect: Prospect, seed: int, found: Found) -> SeedTimes:
    points = prospect.points(found.learnt, found.goal.accuracy)
    return SeedTimes(seed, prospect.reached(found.learnt, found.goal.accuracy), points[-1] if points else None)


def _ranked(by_seed: Mapping[Candidate, Sequence[SeedTimes]]) -> list[Candidate]:
    """Who met the goal with most seeds first, then by the mean of the logarithm of time; else by accuracy."""
    return sorted(by_seed, key=lambda candidate: _standing_of(by_seed[candidate]))


def _standing_of(times: Sequence[SeedTimes]) -> tuple[int, float, float]:
    reached = [each.reached for each in times if each.reached is not None]
    accuracy = sum(each.best.accuracy for each in times if each.best is not None) / len(times)
    mean_log = sum(log(point.time_s) for point in reached) / len(reached) if reached else 0.0
    return -len(reached), -accuracy if len(reached) < len(times) else 0.0, mean_log


def log_ratios(one: Sequence[SeedTimes], other: Sequence[SeedTimes]) -> list[float]:
    """Return by how much the second is slower to the goal, as logarithms of ratios, of the seeds with both."""
    pairs = ((a.reached, b.reached) for a, b in zip(one, other, strict=True))
    return [log(b.time_s / a.time_s) for a, b in pairs if a is not None and b is not None]


def _clearly_slower(by_seed: Mapping[Candidate, Sequence[SeedTimes]]) -> list[Candidate]:
    """Return those whose paired difference to the best is above zero with its whole interval, and that cost more."""
    ranked = _ranked(by_seed)
    return [each for each in ranked[1:] if _is_clearly_slower(by_seed[ranked[0]], by_seed[each])]


def _is_clearly_slower(best: Sequence[SeedTimes], other: Sequence[SeedTimes]) -> bool:
    slower = estimate(log_ratios(best, other))
    is_slower = slower is not None and slower.half_width is not None and slower.mean > slower.half_width
    pairs = [(a.reached, b.reached) for a, b in zip(best, other, strict=True)]
    is_dearer = all(b is None or (a is not None and a.cost <= b.cost) for a, b in pairs)
    return is_slower and is_dearer


def _how_much_slower(by_seed: Mapping[Candidate, Sequence[SeedTimes]], slower: Candidate) -> str:
    best = _ranked(by_seed)[0]
    found = estimate(log_ratios(by_seed[best], by_seed[slower]))
    assert found is not None
    return f"takes {exp(found.mean):.2f} times as long as {best.words}"
