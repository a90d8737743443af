"""Successive halving over rounds: all train an eighth of them, those that promise most go on.

What promises most is a guess: each curve is drawn on by a straight line over the logarithm of the round, through the
later half of what is measured. By turns the one that is then soonest at the goal goes on, and the one that adds most to
the hypervolume of all that is measured or taken (front.py). Who is left out otherwise is left out for certain.
"""

from collections.abc import Callable, Iterable, Mapping
from math import ceil, inf, log

from hfedms_sim.recommendation.candidates import Candidate
from hfedms_sim.recommendation.found import Ended, Found, Player, by_learner, learners_of, train, worth_of
from hfedms_sim.recommendation.front import Box, Point, front_of, hypervolume
from hfedms_sim.recommendation.prospects import Learnt, Prospect

RUNGS = (1 / 8, 1 / 4, 1 / 2, 1.0)
"""How far each rung goes, as shares of all rounds; it ends with a round that is looked at."""
KEPT = (1 / 4, 1 / 8, 1 / 16)
"""Which share of all learners goes on after each rung but the last."""
LEAST_KEPT = 4
_FEWEST_TO_DRAW_ON = 3  # measured rounds
_NOTHING = (0.0, inf, inf)  # the worth of no point


def climb(player: Player, alive: list[Prospect], found: Found, on_step: Callable[[str], None]) -> list[Prospect]:
    """Train rung after rung, and return those that are left."""
    most_rounds = max((each.rounds for each in alive), default=0)
    everybody = len(learners_of(alive, most_rounds))
    seen = 0
    for number, share in enumerate(RUNGS, start=1):
        rounds, step = min(most_rounds, found.every * ceil(share * most_rounds / found.every)), f"rung {number}"
        going = [
            each for each in alive if each.rounds > seen and each.reached(found.learnt, found.goal.accuracy) is None
        ]
        learners = learners_of(going, rounds)
        if not learners or rounds == seen:
            continue
        on_step(f"{step}: training {len(learners)} of {everybody} learners to round {rounds} of {most_rounds}")
        train(player, f"rung-{number}", learners, rounds, found.seeds[0], found)
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
    """Return who has met the goal or has no more rounds, and of the others those that promise most.

    By turns the soonest and the one that adds most to the front, at most so many learners.
    """
    goal = found.goal.accuracy
    going = [each for each in alive if each.rounds > rounds and each.reached(found.learnt, goal) is None]
    learners = by_learner(going)
    taken = _by_promise(learners, alive, most, found)
    left_out = {each.candidate: each for key in learners if key not in taken for each in learners[key]}
    found.ended |= {who: Ended(step, _least_promising(each, rounds, found)) for who, each in left_out.items()}
    if left_out and found.nothing_learnt:
        found.notes.append(f"By round {rounds} nothing had learnt anything: whom to leave out there was a blind guess.")
    return [each for each in alive if each.candidate not in left_out]


def _by_promise(learners: Mapping[str, list[Prospect]], alive: list[Prospect], most: int, found: Found) -> list[str]:
    """Return the learners that promise most; the first ones if all are always wrong, none if nothing is measured."""
    goal = found.goal.accuracy
    drawn = {each.candidate: drawn_on(each, found.learnt, goal) for each in alive}
    measured = [point for each in found.prospects for point in each.points(found.learnt, goal)]
    points = [measured[index] for index in front_of(measured)]
    if not points:
        return [*learners][:most] if found.learnt else []
    box = Box.around([*points, *_points_of(alive, drawn)], goal)
    taken: list[str] = []
    while len(taken) < min(most, len(learners)):
        left = [key for key in learners if key not in taken]
        if len(taken) % 2:
            gains = {key: hypervolume([*points, *_points_of(learners[key], drawn)], box) for key in left}
            best = max(left, key=gains.__getitem__)
        else:
            best = min(left, key=lambda key: min(map(worth_of, _points_of(learners[key], drawn)), default=_NOTHING))
        taken.append(best)
        points += _points_of(learners[best], drawn)
    return taken


def _least_promising(prospect: Prospect, rounds: int, found: Found) -> str:
    best = max((accuracy for number, accuracy in prospect.measured(found.learnt) if number <= rounds), default=None)
    if best is None:
        return "nothing was measured"
    if found.nothing_learnt:
        return f"had learnt nothing by round {rounds}, like all others"
    return f"promised too little with {100 * best:.1f} % by round {rounds}"


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
