"""The race of the last few over further seeds: whoever is clearly slower to the goal, and not cheaper, drops out.

Times are compared as logarithms of their ratios, seed by seed: both saw the same streams and failures. A time is known
to half of what lies between two looks at the model, so no interval is narrower than that. Where the goal is missed the
best accuracies are compared instead, by their differences; nobody drops out for these.
"""

from collections.abc import Callable, Mapping, Sequence
from math import log
from statistics import fmean
from typing import NamedTuple

from hfedms_sim.campaign.statistics import Ratio, estimate, ratio
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
        for slower, longer in _clearly_slower(racing).items():
            best = _ranked(racing)[0]
            found.ended[slower] = Ended(f"seed {seed}", f"takes {longer.words} times as long as {best.words}")
            found.outrun[slower] = longer
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
    why = "others are nearer to the goal, or sooner there"
    if not found.learnt:
        why = "nothing was measured"
    elif found.nothing_learnt:
        why = "had learnt nothing, like all others"
    found.ended |= {each.candidate: Ended("race", why) for each in alive if each.candidate not in finalists}
    return [each for each in alive if each.candidate in finalists]


def _seed_times(prospect: Prospect, seed: int, found: Found) -> SeedTimes:
    points = prospect.points(found.learnt, found.goal.accuracy)
    reached = prospect.reached(found.learnt, found.goal.accuracy)
    looked_s = [prospect.time_s[number - 1] for number, _ in prospect.measured(found.learnt)]
    before_s = max((time_s for time_s in looked_s if reached is not None and time_s < reached.time_s), default=0.0)
    resolution = 0.0 if reached is None else (1 - before_s / reached.time_s) / 2
    return SeedTimes(seed, reached, points[-1] if points else None, resolution)


def _ranked(by_seed: Mapping[Candidate, Sequence[SeedTimes]]) -> list[Candidate]:
    """Who met the goal with most seeds first, where not all did by accuracy; then by the mean of log time, and cost."""
    return sorted(by_seed, key=lambda candidate: _standing_of(by_seed[candidate]))


def _standing_of(times: Sequence[SeedTimes]) -> tuple[int, float, float, float]:
    met = sum(each.reached is not None for each in times)
    points = [each.point for each in times if each.point is not None]
    if not points:
        return 0, 0.0, 0.0, 0.0
    accuracy = sum(point.accuracy for point in points) / len(times)
    mean_log, cost = fmean(log(point.time_s) for point in points), fmean(point.cost for point in points)
    return -met, -accuracy if met < len(times) else 0.0, mean_log, cost


def times_as_long(other: Sequence[SeedTimes], best: Sequence[SeedTimes]) -> Ratio | None:
    """Return how many times as long the one takes to the goal as the best, over the seeds with which both met it."""
    both = [
        (log(a.reached.time_s / b.reached.time_s), a.resolution, b.resolution)
        for a, b in zip(other, best, strict=True)
        if a.reached is not None and b.reached is not None
    ]
    if not both:
        return None
    logarithms, own, bests = zip(*both, strict=True)
    return ratio(logarithms, max(fmean(own), fmean(bests)))


class Behind(NamedTuple):
    """How far a finalist is behind the best, in words, and whether the whole interval says so (None: one seed)."""

    words: str
    is_clear: bool | None


def behind(other: Sequence[SeedTimes], best: Sequence[SeedTimes]) -> Behind | None:
    """Return how far another is behind the best, seed by seed; None if no seed has measured both.

    In time where the best met the goal with all seeds and the other with some, else in the best accuracy that each had.
    """
    longer = times_as_long(other, best)
    if longer is not None and all(each.reached is not None for each in best):
        return Behind(f"takes {longer.words} times as long", None if longer.low is None else longer.is_more)
    pairs = [(a.best, b.best) for a, b in zip(other, best, strict=True) if a.best is not None and b.best is not None]
    less = estimate([100 * (b.accuracy - a.accuracy) for a, b in pairs])
    if less is None:
        return None
    mean, half = less
    interval = "" if half is None else f" ({mean - half:.1f} to {mean + half:.1f})"
    words = f"is {mean:.1f}{interval} points less accurate at its best"
    return Behind(words, None if half is None else mean > half)


def _clearly_slower(by_seed: Mapping[Candidate, Sequence[SeedTimes]]) -> dict[Candidate, Ratio]:
    """Return who takes longer than the best with the whole interval, and costs more; with how much longer."""
    ranked = _ranked(by_seed)
    found: dict[Candidate, Ratio] = {}
    for each in ranked[1:]:
        longer = times_as_long(by_seed[each], by_seed[ranked[0]])
        if longer is not None and longer.is_more and _is_dearer(by_seed[each], by_seed[ranked[0]]):
            found[each] = longer
    return found


def _is_dearer(one: Sequence[SeedTimes], other: Sequence[SeedTimes]) -> bool:
    """Return whether the one is cheaper with no seed."""
    pairs = [(a.reached, b.reached) for a, b in zip(one, other, strict=True)]
    return all(a is None or (b is not None and b.cost <= a.cost) for a, b in pairs)
