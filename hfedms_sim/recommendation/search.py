"""The search: who is trained how far, who is left out and why.

    timing     every candidate on the clock (prospects.py); what is never sooner nor cheaper than another that learns
               the same is left out at once
    rungs      all that are left train an eighth of the rounds; those that promise most go on to a quarter, a half, the
               whole: successive halving. After each rung whoever cannot beat what is already measured is left out for
               certain, because its next round is known to end later and to cost more
    race       the last few play further seeds, one after the other; whoever is clearly slower to the goal drops out

What promises most: each curve is drawn on by a straight line over the logarithm of the round, through the later half of
what is measured, and those are taken, one by one, that add most to the hypervolume (front.py) of all taken so far. That
is a guess; everything else is known.

Which rounds are trained depends on what was measured, never on the time that it took. So the same search ends the same,
whatever the number of processes, and after any number of interruptions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, exp, inf, log
from typing import NamedTuple, Protocol

from hfedms_sim.campaign.statistics import estimate
from hfedms_sim.recommendation.candidates import Candidate
from hfedms_sim.recommendation.front import Box, Point, front_of, hypervolume
from hfedms_sim.recommendation.goal import Goal
from hfedms_sim.recommendation.prospects import Learnt, Prospect
from hfedms_sim.units import format_seconds

RUNGS = (1 / 8, 1 / 4, 1 / 2, 1.0)
"""How far each rung goes, as shares of all rounds."""
KEPT = (1 / 4, 1 / 8, 1 / 16)
"""Which share of all learners goes on after each rung but the last."""
LEAST_KEPT = 4
MOST_FINALISTS = 3
_FEWEST_TO_DRAW_ON = 3  # measured rounds
_NOTHING = (0.0, inf, inf)  # the worth of no point


class Timed(NamedTuple):
    """`refused`: why a candidate cannot be played, in one line."""

    prospects: list[Prospect]
    refused: dict[Candidate, str]


class Player(Protocol):
    """Who plays candidates."""

    def time(self, candidates: Sequence[Candidate], seed: int) -> Timed:
        """Play the clock of these candidates."""

    def train(self, step: str, prospects: Sequence[Prospect], rounds: int, seed: int) -> Learnt:
        """Train each of these up to a round, or until it is as accurate as is asked for."""


class Ended(NamedTuple):
    """Where a candidate was left out, and why."""

    step: str
    why: str


class SeedTimes(NamedTuple):
    """How a finalist did with one seed."""

    seed: int
    reached: Point | None
    """Where it met the goal's accuracy."""
    best: Point | None
    """Where it was at its best; None if nothing was measured."""


@dataclass
class Found:
    """What a search has come to."""

    goal: Goal
    """What can be asked for: the goal, without what no candidate can meet."""
    seeds: tuple[int, ...]
    prospects: list[Prospect] = field(default_factory=list)
    """Of the first seed: all that were timed, with the rounds that count."""
    learnt: dict[str, float] = field(default_factory=dict)
    ended: dict[Candidate, Ended] = field(default_factory=dict)
    finalists: list[Candidate] = field(default_factory=list)
    """Those that no other beats for certain, the recommended one first."""
    by_seed: dict[Candidate, list[SeedTimes]] = field(default_factory=dict)
    relaxed: list[str] = field(default_factory=list)
    """What of the goal no candidate can meet, and is therefore not asked for."""
    trained: set[str] = field(default_factory=set)
    """The lineages that were trained."""


def search(
    player: Player,
    candidates: Sequence[Candidate],
    goal: Goal,
    seeds: Sequence[int],
    *,
    on_step: Callable[[str], None] = lambda line: None,
) -> Found:
    """Return who is left, and what became of the others."""
    found = Found(goal, tuple(seeds))
    timed = _timed(player, candidates, found, on_step)
    alive = _climbed(player, timed, found, on_step)
    _raced(player, alive, found, on_step)
    return found


def _timed(
    player: Player, candidates: Sequence[Candidate], found: Found, on_step: Callable[[str], None]
) -> list[Prospect]:
    on_step(f"timing {len(candidates)} candidates")
    prospects, refused = player.time(candidates, found.seeds[0])
    found.ended |= {candidate: Ended("timing", why) for candidate, why in refused.items()}
    if prospects:
        prospects = _in_time(_lasting(_covering(prospects, found), found), found)
    found.prospects = prospects
    return _without_copies(prospects, found)


def _covering(prospects: list[Prospect], found: Found) -> list[Prospect]:
    """Return those that reach all sensors, or if there is none those that reach most: serving fewer looks fast."""
    fewest = min(each.uncovered for each in prospects)
    if fewest:
        found.relaxed.append(f"no radio reaches all sensors, the best leave out {fewest}")
    for each in prospects:
        if each.uncovered > fewest:
            found.ended[each.candidate] = Ended("timing", f"{each.uncovered} sensors are out of its coverage")
    return [each for each in prospects if each.uncovered == fewest]


def _lasting(prospects: list[Prospect], found: Found) -> list[Prospect]:
    """Return those whose batteries last as long as is asked for; if there is none, that is not asked for."""
    asked_s = found.goal.battery_s
    if asked_s is None:
        return prospects
    lasting = [each for each in prospects if each.battery_s is not None and each.battery_s >= asked_s]
    if not lasting:
        longest_s = max(each.battery_s or 0.0 for each in prospects)
        found.relaxed.append(f"no battery lasts longer than {format_seconds(longest_s)}")
        found.goal = replace(found.goal, battery_s=None)
        return prospects
    for each in prospects:
        if each not in lasting:
            lasts = (
                "no battery is known" if each.battery_s is None else f"a battery lasts {format_seconds(each.battery_s)}"
            )
            found.ended[each.candidate] = Ended("timing", lasts)
    return lasting


def _in_time(prospects: list[Prospect], found: Found) -> list[Prospect]:
    """Return those with a round that ends in time, cut there; if there is none, any time will do."""
    asked_s = found.goal.within_s
    if asked_s is None:
        return prospects
    in_time = {each.candidate: cut for each in prospects if (cut := each.cut(asked_s)).rounds}
    if not in_time:
        soonest_s = min(each.time_s[0] for each in prospects)
        found.relaxed.append(f"no first round ends before {format_seconds(soonest_s)}")
        found.goal = replace(found.goal, within_s=None)
        return prospects
    for each in prospects:
        if each.candidate not in in_time:
            why = f"its first round ends after {format_seconds(each.time_s[0])}"
            found.ended[each.candidate] = Ended("timing", why)
    return list(in_time.values())


def _without_copies(prospects: list[Prospect], found: Found) -> list[Prospect]:
    """Leave out what learns the same as another and is never sooner nor cheaper; of equals the first stays."""
    kept: list[Prospect] = []
    for number, each in enumerate(prospects):
        better = next((other for other in prospects if _is_better_copy(other, each, prospects[:number])), None)
        if better is None:
            kept.append(each)
        else:
            why = f"{better.candidate.words} learns the same, no later and no dearer"
            found.ended[each.candidate] = Ended("timing", why)
    return kept


def _is_better_copy(other: Prospect, each: Prospect, before: Sequence[Prospect]) -> bool:
    if other is each or not each.is_no_better(other):
        return False
    return other in before or not other.is_no_better(each)


def learners_of(prospects: Iterable[Prospect], rounds: int) -> list[Prospect]:
    """Return as few as learn all that these do up to a round."""
    chosen: list[Prospect] = []
    covered: set[str] = set()
    for each in sorted(prospects, key=lambda prospect: -min(rounds, prospect.rounds)):
        if each.leads_to(rounds) not in covered:
            chosen.append(each)
            covered.update(each.lineages[:rounds])
    return chosen


def _train(player: Player, step: str, learners: Sequence[Prospect], rounds: int, seed: int, found: Found) -> None:
    found.learnt |= player.train(step, learners, rounds, seed)
    for each in learners:
        ends = (number for number, accuracy in each.measured(found.learnt) if accuracy >= found.goal.accuracy)
        found.trained.update(each.lineages[: min(rounds, next(ends, rounds))])


def _climbed(player: Player, alive: list[Prospect], found: Found, on_step: Callable[[str], None]) -> list[Prospect]:
    """Train rung after rung, and return those that are left."""
    most_rounds = max((each.rounds for each in alive), default=0)
    everybody = len(learners_of(alive, most_rounds))
    seen = 0
    for number, share in enumerate(RUNGS, start=1):
        rounds, step = ceil(share * most_rounds), f"rung {number}"
        going = [
            each for each in alive if each.rounds > seen and each.reached(found.learnt, found.goal.accuracy) is None
        ]
        learners = learners_of(going, rounds)
        if not learners or rounds == seen:
            continue
        on_step(f"{step}: training {len(learners)} of {everybody} learners to round {rounds} of {most_rounds}")
        _train(player, f"rung-{number}", learners, rounds, found.seeds[0], found)
        alive = _without_beaten(alive, rounds, found, step)
        if number <= len(KEPT):
            most = max(LEAST_KEPT, ceil(KEPT[number - 1] * everybody))
            alive = _most_promising(alive, rounds, most, found, step)
        seen = rounds
    return alive


def _without_beaten(alive: list[Prospect], rounds: int, found: Found, step: str) -> list[Prospect]:
    """Leave out whoever could not beat those that have met the goal even if its next round did."""
    goal = found.goal.accuracy
    met = [(each, point) for each in alive if (point := each.reached(found.learnt, goal)) is not None]
    kept = []
    for each in alive:
        at_best = _at_best(each, rounds, found)
        winner = None if at_best is None else next((who for who, point in met if point.beats(at_best)), None)
        if winner is None:
            kept.append(each)
        else:
            why = f"{winner.candidate.words} met the goal before its round {rounds + 1}, for less"
            found.ended[each.candidate] = Ended(step, why)
    return kept


def _at_best(prospect: Prospect, rounds: int, found: Found) -> Point | None:
    """Return where it would be if its next round met the goal; None if it has met it, or has no more rounds."""
    goal = found.goal.accuracy
    if prospect.rounds <= rounds or prospect.reached(found.learnt, goal) is not None:
        return None
    return Point(prospect.time_s[rounds], prospect.cost[rounds], goal)


def _most_promising(alive: list[Prospect], rounds: int, most: int, found: Found, step: str) -> list[Prospect]:
    """Return who has met the goal, and of the others those that promise most: the soonest first, then the best front.

    At most so many learners go on.
    """
    goal = found.goal.accuracy
    drawn = {each.candidate: drawn_on(each, found.learnt, goal) for each in alive}
    met = [each for each in alive if each.reached(found.learnt, goal) is not None]
    learners: dict[str, list[Prospect]] = {}
    for each in alive:
        if each not in met:
            learners.setdefault(each.lineages[-1], []).append(each)
    taken: set[str] = set()
    measured = [point for each in found.prospects for point in each.points(found.learnt, goal)]
    points = [measured[index] for index in front_of(measured)]
    if points:
        box = Box.around([*points, *_points_of(alive, drawn)], goal)
        while len(taken) < min(most, len(learners)):
            left = [key for key in learners if key not in taken]
            if len(taken) % 2:
                gains = {key: hypervolume([*points, *_points_of(learners[key], drawn)], box) for key in left}
                best = max(left, key=gains.__getitem__)
            else:
                best = min(left, key=lambda key: min(map(_worth, _points_of(learners[key], drawn)), default=_NOTHING))
            taken.add(best)
            points += _points_of(learners[best], drawn)
    kept = [each for each in alive if each in met or each.lineages[-1] in taken]
    for each in alive:
        if each not in kept:
            found.ended[each.candidate] = Ended(step, _least_promising(each, rounds, found.learnt))
    return kept


def _least_promising(prospect: Prospect, rounds: int, learnt: Learnt) -> str:
    best = max((accuracy for number, accuracy in prospect.measured(learnt) if number <= rounds), default=None)
    return "nothing was measured" if best is None else f"promised too little with {100 * best:.1f} % by round {rounds}"


def _points_of(prospects: Iterable[Prospect], drawn: Mapping[Candidate, list[Point]]) -> list[Point]:
    return [point for each in prospects for point in drawn[each.candidate]]


def drawn_on(prospect: Prospect, learnt: Learnt, most: float) -> list[Point]:
    """Return the points that are measured, and those of the line that goes on from them to its last round."""
    known = list(prospect.measured(learnt))
    if len(known) < _FEWEST_TO_DRAW_ON or known[-1][1] >= most:
        return prospect.points_at(iter(known), most)
    later = known[len(known) // 2 :] if len(known) >= 2 * _FEWEST_TO_DRAW_ON else known
    xs, ys = [log(number) for number, _ in later], [accuracy for _, accuracy in later]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    slope = max(0.0, sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread)
    last, best = known[-1][0], max(accuracy for _, accuracy in known)
    guessed = [
        (number, min(1.0, best + slope * (log(number) - log(last)))) for number in range(last + 1, prospect.rounds + 1)
    ]
    return prospect.points_at(iter([*known, *guessed]), most)


def _raced(player: Player, alive: list[Prospect], found: Found, on_step: Callable[[str], None]) -> None:
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
        learners = learners_of((each for each in prospects if each.rounds), rounds)
        if learners:
            _train(player, f"race-seed{seed}", learners, rounds, seed, found)
        for each in prospects:
            racing[each.candidate].append(_seed_times(each, seed, found))
        for slower in _clearly_slower(racing):
            found.ended[slower] = Ended(f"seed {seed}", _how_much_slower(racing, slower))
            del racing[slower]
    found.by_seed, found.finalists = racing, _ranked(racing)


def _finalists(alive: list[Prospect], found: Found) -> list[Prospect]:
    """Return the few that come nearest to the goal and are soonest there, and the cheapest of all."""
    ends = {each.candidate: points[-1] for each in alive if (points := each.points(found.learnt, found.goal.accuracy))}
    soonest = sorted((each for each in alive if each.candidate in ends), key=lambda each: _worth(ends[each.candidate]))
    cheapest = sorted(soonest, key=lambda each: (-ends[each.candidate].accuracy, ends[each.candidate].cost))
    chosen = [*soonest[: MOST_FINALISTS - 1], *cheapest[:1], *soonest[MOST_FINALISTS - 1 :]]
    finalists = list(dict.fromkeys(each.candidate for each in chosen))[:MOST_FINALISTS]
    for each in alive:
        if each.candidate not in finalists:
            found.ended[each.candidate] = Ended("race", "others are nearer to the goal, or sooner there")
    return [each for each in alive if each.candidate in finalists]


def _worth(point: Point) -> tuple[float, float, float]:
    """More accurate first (up to the goal), then sooner, then cheaper."""
    return -point.accuracy, point.time_s, point.cost


def _seed_times(prospect: Prospect, seed: int, found: Found) -> SeedTimes:
    points = prospect.points(found.learnt, found.goal.accuracy)
    return SeedTimes(seed, prospect.reached(found.learnt, found.goal.accuracy), points[-1] if points else None)


def _ranked(by_seed: Mapping[Candidate, Sequence[SeedTimes]]) -> list[Candidate]:
    """Who met the goal with most seeds first, then by the mean of the logarithm of time; else by accuracy."""
    return sorted(by_seed, key=lambda candidate: standing_of(by_seed[candidate]))


def standing_of(times: Sequence[SeedTimes]) -> tuple[int, float, float]:
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
