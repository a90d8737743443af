"""The search on curves made by hand: who is left out for certain, who goes on, and that the winner is never lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.recommendation.answer import Answer
from hfedms_sim.recommendation.candidates import Candidate
from hfedms_sim.recommendation.found import Found, SeedTimes, Timed, by_learner
from hfedms_sim.recommendation.front import Point
from hfedms_sim.recommendation.goal import Goal
from hfedms_sim.recommendation.prospects import Learnt, Prospect
from hfedms_sim.recommendation.search import search

ROUNDS = 16


def candidate(number: int, radio: str = "radio") -> Candidate:
    return Candidate(number, f"s{number}", (), radio)


def prospect(
    who: Candidate,
    seed: int = 1,
    round_s: float = 1.0,
    cost: float = 1.0,
    learner: str = "",
    battery_s: float | None = None,
) -> Prospect:
    """Rounds that all take as long, and learn what `learner` does."""
    numbers = range(1, ROUNDS + 1)
    lineages = tuple(f"{learner or who.strategy}/{seed}:{number}" for number in numbers)
    return Prospect(who, tuple(round_s * n for n in numbers), tuple(cost * n for n in numbers), lineages, battery_s)


@dataclass
class Made:
    """Plays what was made by hand; `accuracies` by learner, the same with every seed but for `noise`."""

    prospects: Mapping[Candidate, Prospect]
    accuracies: Mapping[str, Sequence[float]]
    refused: Mapping[Candidate, str] = field(default_factory=dict)
    trained: list[tuple[str, str, int]] = field(default_factory=list)

    def time(self, candidates: Sequence[Candidate], seed: int) -> Timed:
        timed = [_with_seed(self.prospects[each], seed) for each in candidates if each in self.prospects]
        return Timed(timed, {each: self.refused[each] for each in candidates if each in self.refused})

    def train(self, step: str, prospects: Sequence[Prospect], rounds: int, seed: int) -> Learnt:
        learnt = {}
        for each in prospects:
            self.trained.append((step, each.candidate.strategy, rounds))
            for number, lineage in enumerate(each.lineages[:rounds]):
                learnt[lineage] = self.accuracies[lineage.partition("/")[0]][number] + 1e-4 * (seed - 1)
        return learnt


def _with_seed(each: Prospect, seed: int) -> Prospect:
    lineages = tuple(lineage.replace("/1:", f"/{seed}:") for lineage in each.lineages)
    return Prospect(each.candidate, each.time_s, each.cost, lineages, each.battery_s, each.uncovered)


def rising(speed: float, top: float = 0.9) -> list[float]:
    return [min(top, speed * number) for number in range(1, ROUNDS + 1)]


def found_by(made: Made, goal: Goal, seeds: Sequence[int] = (1, 2, 3)) -> Found:
    return search(made, [*made.prospects, *made.refused], goal, seeds)


def test_the_soonest_is_recommended_and_is_so_with_every_seed() -> None:
    fast, slow = candidate(1), candidate(2)
    made = Made({fast: prospect(fast), slow: prospect(slow, round_s=3.0)}, {"s1": rising(0.1), "s2": rising(0.1)})
    found = found_by(made, Goal(0.8))
    assert found.finalists[0] == fast
    assert [times.reached.time_s for times in found.by_seed[fast] if times.reached] == [8.0, 8.0, 8.0]


def test_a_radio_that_learns_the_same_later_and_dearer_is_never_trained() -> None:
    one, other = candidate(1, "fast"), candidate(2, "slow")
    made = Made(
        {one: prospect(one, learner="same"), other: prospect(other, round_s=2.0, cost=2.0, learner="same")},
        {"same": rising(0.1)},
    )
    found = found_by(made, Goal(0.8))
    assert {who for _, who, _ in made.trained} == {"s1"}
    assert found.ended[other].why == "s1 over fast learns the same, no later and no dearer"


def test_equal_ones_are_one() -> None:
    one, other = candidate(1, "a"), candidate(2, "b")
    made = Made({one: prospect(one, learner="x"), other: prospect(other, learner="x")}, {"x": rising(0.1)})
    found = found_by(made, Goal(0.8))
    assert list(found.ended) == [other]


def test_what_another_has_met_the_goal_before_is_trained_no_further() -> None:
    """The first has 0.8 after 2 of its rounds, 2 s; the second's third round ends after 30 s."""
    quick, late = candidate(1), candidate(2)
    made = Made(
        {quick: prospect(quick), late: prospect(late, round_s=10.0, cost=5.0)}, {"s1": rising(0.4), "s2": rising(0.01)}
    )
    found = found_by(made, Goal(0.8))
    assert max(rounds for _, who, rounds in made.trained if who == "s2") == 2
    assert found.ended[late].why == "s1 over radio met the goal before its round 3, for less"
    assert len(found.trained) == 2 + 2 + 2 * 2  # both to round 2, then the winner with two more seeds


def test_a_goal_in_time_leaves_out_rounds_that_end_later() -> None:
    one, other = candidate(1), candidate(2)
    made = Made({one: prospect(one), other: prospect(other, round_s=7.0)}, {"s1": rising(0.05), "s2": rising(0.3)})
    found = found_by(made, Goal(0.8, within_s=6.0))
    assert found.ended[other].why == "its first round that is measured ends after 7 s"
    assert found.finalists == [one]
    assert found.by_seed[one][0].best is not None
    assert found.by_seed[one][0].best.accuracy == pytest.approx(0.3)


def test_a_time_that_nobody_can_keep_is_not_asked_for() -> None:
    one = candidate(1)
    found = found_by(Made({one: prospect(one)}, {"s1": rising(0.1)}), Goal(0.8, within_s=0.5))
    assert found.relaxed == ["no first round that is measured ends before 1 s"]
    assert found.finalists == [one]


def test_batteries_that_last_are_asked_for_unless_there_are_none() -> None:
    lasting, empty = candidate(1), candidate(2)
    made = Made(
        {lasting: prospect(lasting, round_s=2.0, battery_s=100.0), empty: prospect(empty, battery_s=10.0)},
        {"s1": rising(0.1), "s2": rising(0.1)},
    )
    assert found_by(made, Goal(0.8, battery_s=50.0)).finalists == [lasting]
    found = found_by(made, Goal(0.8, battery_s=500.0))
    assert found.finalists == [lasting]
    assert found.relaxed == ["no battery lasts longer than 1 min 40 s"]


def test_of_batteries_that_are_all_empty_too_soon_those_stay_that_last_nearly_longest() -> None:
    longest, nearly, empty = candidate(1), candidate(2), candidate(3)
    made = Made(
        {
            longest: prospect(longest, round_s=2.0, cost=2.0, battery_s=100.0),
            nearly: prospect(nearly, battery_s=91.0),
            empty: prospect(empty, round_s=0.5, battery_s=89.0),
        },
        {"s1": rising(0.1), "s2": rising(0.1), "s3": rising(0.1)},
    )
    found = found_by(made, Goal(0.8, battery_s=500.0))
    assert found.finalists[0] == nearly
    assert found.ended[empty].why == "a battery lasts 1 min 29 s"


def test_batteries_of_which_nothing_is_known_are_not_asked_for() -> None:
    one = candidate(1)
    found = found_by(Made({one: prospect(one)}, {"s1": rising(0.1)}), Goal(0.8, battery_s=50.0))
    assert found.finalists == [one]
    assert found.relaxed == ["how long batteries last is not known of any of these radios"]


def test_a_radio_that_leaves_sensors_out_is_left_out_and_if_all_do_the_answer_says_so() -> None:
    whole, part = candidate(1), candidate(2)
    seen, deaf = prospect(whole, round_s=3.0), replace(prospect(part), uncovered=2)
    curves = {"s1": rising(0.1), "s2": rising(0.1)}
    found = found_by(Made({whole: seen, part: deaf}, curves), Goal(0.8))
    assert (found.finalists, found.notes) == ([whole], [])
    assert found.ended[part].why == "2 sensors are out of its coverage"
    found = found_by(Made({part: deaf}, curves), Goal(0.8))
    assert found.notes == ["No radio reaches all sensors; those that are left leave out 2."]
    assert not found.relaxed


def test_rungs_end_with_rounds_that_are_looked_at() -> None:
    many = [candidate(number) for number in range(6)]
    curves = {each.strategy: rising(0.01 * (each.number + 1)) for each in many}
    made = Made({each: prospect(each) for each in many}, curves)
    search(made, many, Goal(0.8), (1,), 5)
    assert {rounds for _, _, rounds in made.trained} == {5, 10, ROUNDS}


def test_what_learns_the_beginning_of_another_is_not_a_learner_of_its_own() -> None:
    """Cut by the time that is asked for, a slow radio learns the first rounds of what a fast one learns."""
    fast, slow = candidate(1, "fast"), candidate(2, "slow")
    long = prospect(fast, learner="same")
    short = prospect(slow, round_s=2.0, cost=0.5, learner="same").cut(ROUNDS)
    assert by_learner([short, long]) == {long.lineages[-1]: [long, short]}


def test_what_is_refused_is_told_and_if_all_are_nothing_is_recommended() -> None:
    one, other = candidate(1), candidate(2)
    made = Made({one: prospect(one)}, {"s1": rising(0.1)}, {other: "months"})
    assert found_by(made, Goal(0.8)).ended[other] == ("timing", "months")
    nobody = found_by(Made({}, {}, {other: "months"}), Goal(0.8))
    assert (nobody.finalists, nobody.trained) == ([], set())


def test_a_goal_that_nobody_meets_ends_with_the_nearest() -> None:
    one, other = candidate(1), candidate(2)
    made = Made({one: prospect(one), other: prospect(other)}, {"s1": rising(0.1, 0.5), "s2": rising(0.1, 0.6)})
    found = found_by(made, Goal(0.8))
    assert found.finalists[0] == other
    assert all(times.reached is None for times in found.by_seed[other])


def test_a_learner_that_diverges_is_left_out() -> None:
    one, other = candidate(1), candidate(2)
    made = Made({one: prospect(one), other: prospect(other)}, {"s1": [0.02] * ROUNDS, "s2": rising(0.1)})
    assert found_by(made, Goal(0.8)).finalists[0] == other


def at_chance(accuracies: Sequence[float], chance: float) -> Found:
    """Search among six that stay at these accuracies; who is first is also the soonest."""
    who = [candidate(number) for number in range(len(accuracies))]
    made = Made(
        {each: prospect(each, round_s=1.0 + each.number) for each in who},
        {each.strategy: [accuracy] * ROUNDS for each, accuracy in zip(who, accuracies, strict=True)},
    )
    return search(made, who, Goal(0.8), (1,), 1, chance)


def test_who_is_left_out_where_nobody_has_learnt_anything_is_not_called_slower_or_less_promising() -> None:
    found = at_chance((0.02, 0.02, 0.01, 0.02, 0.01, 0.02), chance=0.02)
    assert {why for _, why in found.ended.values()} == {
        "had learnt nothing by round 2, like all others",
        "had learnt nothing, like all others",
    }
    assert found.notes == ["By round 2 nothing had learnt anything: whom to leave out there was a blind guess."]
    lines = list(Answer(Goal(0.8), found, "joules").lines())
    assert "Nothing has learnt anything: no model is more accurate than the most frequent class alone, 2.0 %." in lines


def test_where_one_has_learnt_something_the_others_promised_too_little() -> None:
    found = at_chance((0.02, 0.02, 0.01, 0.02, 0.01, 0.03), chance=0.02)
    assert found.finalists[0].strategy == "s5"
    assert all("like all others" not in why for _, why in found.ended.values())
    assert found.notes == []
    assert not any("learnt" in line for line in Answer(Goal(0.8), found, "joules").lines())


def test_where_all_are_always_wrong_nothing_is_recommended_and_the_reason_is_told() -> None:
    found = at_chance((0.0,) * 6, chance=0.0)
    assert len(found.trained) == 6 * 2 + 4 * (ROUNDS - 2)
    first, *reasons = Answer(Goal(0.8), found, "joules").lines()
    assert first == "Nothing can be recommended for an accuracy of 80 %: nothing has learnt anything."
    assert reasons == ["had learnt nothing by round 2, like all others", "had learnt nothing, like all others"]


def test_without_test_data_the_search_ends_at_once_and_says_so() -> None:
    class Unmeasured(Made):
        def train(self, step: str, prospects: Sequence[Prospect], rounds: int, seed: int) -> Learnt:
            super().train(step, prospects, rounds, seed)
            return {}

    one = candidate(1)
    made = Unmeasured({one: prospect(one)}, {"s1": rising(0.1)})
    lines = list(Answer(Goal(0.8), found_by(made, Goal(0.8)), "joules").lines())
    assert made.trained == [("rung-1", "s1", 2)]
    assert lines == [
        "Nothing can be recommended for an accuracy of 80 %: nothing was measured.",
        "nothing was measured",
    ]


SPEEDS = st.lists(st.floats(0.01, 0.5), min_size=2, max_size=8)


@settings(max_examples=60)
@given(SPEEDS, st.lists(st.floats(0.1, 10.0), min_size=8, max_size=8))
def test_among_few_straight_curves_the_soonest_to_the_goal_wins(speeds: list[float], round_s: list[float]) -> None:
    """Straight lines promise what they keep, so nobody who would win is left out."""
    who = [candidate(number) for number in range(len(speeds))]
    made = Made(
        {each: prospect(each, round_s=round_s[place], cost=round_s[place]) for place, each in enumerate(who)},
        {f"s{number}": rising(speed) for number, speed in enumerate(speeds)},
    )
    soonest = {each: _time_to(made, each, 0.8) for each in who}
    found = found_by(made, Goal(0.8), seeds=(1,))
    if min(soonest.values()) < inf:
        assert soonest[found.finalists[0]] == min(soonest.values())


def _time_to(made: Made, who: Candidate, accuracy: float) -> float:
    curve = made.accuracies[who.strategy]
    return next((made.prospects[who].time_s[n] for n, each in enumerate(curve) if each >= accuracy), inf)


@pytest.mark.parametrize(("cost", "stays"), [(0.5, True), (1.0, False)], ids=["cheaper", "dearer"])
def test_whoever_is_clearly_slower_stays_in_the_race_only_if_it_is_cheaper(cost: float, stays: bool) -> None:
    """The second meets the goal a round later, within the same rung, so that nothing leaves it out before."""
    fast, slow = candidate(1), candidate(2)
    made = Made({fast: prospect(fast), slow: prospect(slow, cost=cost)}, {"s1": rising(0.27), "s2": rising(0.21)})
    found = found_by(made, Goal(0.8))
    assert found.finalists == ([fast, slow] if stays else [fast])
    if not stays:
        assert found.ended[slow] == ("seed 2", "takes 1.33 (1.13 to 1.58) times as long as s1 over radio")
        answer = Answer(Goal(0.8), found, "joules")
        assert "The next best, s2 over radio, takes 1.33 (1.13 to 1.58) times as long: clear." in answer.lines()
        assert answer.tables[2].rows[0][:2] == ("s2", "radio")


def test_who_is_refused_with_a_further_seed_is_told_also_if_nobody_is_left() -> None:
    one = candidate(1)

    @dataclass
    class RefusedLater(Made):
        def time(self, candidates: Sequence[Candidate], seed: int) -> Timed:
            return super().time(candidates, seed) if seed == 1 else Timed([], dict.fromkeys(candidates, "months"))

    found = found_by(RefusedLater({one: prospect(one)}, {"s1": rising(0.1)}), Goal(0.8))
    assert (found.finalists, found.ended[one]) == ([], ("seed 2", "months"))


def next_best_line(goal: Goal, times: Mapping[Candidate, list[SeedTimes]]) -> str:
    """Return what the answer says of the second of these."""
    found = Found(goal, (1, 2, 3), finalists=[*times], by_seed={**times})
    (line,) = (line for line in Answer(goal, found, "joules").lines() if line.startswith("The next best"))
    return line.removeprefix("The next best, s2 over radio, ")


def met(seed: int, time_s: float) -> SeedTimes:
    point = Point(time_s, 1.0, 0.8)
    return SeedTimes(seed, point, point)


def test_who_is_sooner_but_has_a_battery_that_does_not_last_is_told_so() -> None:
    lasting, empty = candidate(1), candidate(2)
    times = {lasting: [met(1, 100.0)], empty: [met(1, 80.0)]}
    found = Found(Goal(0.8, battery_s=50.0), (1,), finalists=[*times], by_seed=times)
    found.lasting_s = {lasting: 60.0, empty: 40.0}
    (line,) = (line for line in Answer(found.goal, found, "joules").lines() if line.startswith("The next best"))
    assert line.endswith("; its first battery is empty sooner than is asked for.")


def missed(seed: int, accuracy: float) -> SeedTimes:
    return SeedTimes(seed, None, Point(1.0, 1.0, accuracy))


def test_it_is_said_with_how_many_seeds_the_next_best_has_missed_the_goal() -> None:
    times = {candidate(1): [met(1, 4.0), met(2, 4.0)], candidate(2): [met(1, 5.0), missed(2, 0.7)]}
    line = next_best_line(Goal(0.8), times)
    assert line == "takes 1.25 times as long: one seed, which decides nothing; it has missed the goal with 1 seed."


@pytest.mark.parametrize(
    ("accuracies", "said"),
    [
        ((0.69, 0.68, 0.67), "is 2.0 (-0.5 to 4.5) points less accurate at its best: no clear difference"),
        ((0.680, 0.679, 0.678), "is 2.1 (1.9 to 2.3) points less accurate at its best: clear"),
    ],
)
def test_where_the_goal_is_missed_best_accuracies_are_compared_seed_by_seed(
    accuracies: tuple[float, ...], said: str
) -> None:
    """Differences of 1, 2 and 3 points have mean 2, and an interval of 4.303 / sqrt(3) points to either side."""
    times = {
        candidate(1): [missed(seed, 0.7) for seed in (1, 2, 3)],
        candidate(2): [missed(seed, each) for seed, each in enumerate(accuracies, start=1)],
    }
    assert next_best_line(Goal(0.8), times) == f"{said}; it has missed the goal with 3 seeds."


def test_times_are_not_compared_unless_the_best_has_met_the_goal_with_every_seed_and_the_next_with_one() -> None:
    """With the first pair the next best has met the goal sooner, with the only seed with which both did."""
    both, one, none = [met(1, 4.0), met(2, 4.0)], [met(1, 4.0), missed(2, 0.7)], [missed(1, 0.7), missed(2, 0.7)]
    sooner = [met(1, 2.0), missed(2, 0.6)]
    less = next_best_line(Goal(0.8), {candidate(1): one, candidate(2): sooner})
    assert less.startswith("is 5.0 (-58.5 to 68.5) points less accurate at its best: no clear difference; ")
    far = next_best_line(Goal(0.8), {candidate(1): both, candidate(2): none})
    assert far.startswith("is 10.0 (10.0 to 10.0) points less accurate at its best: clear; ")


def test_who_was_left_out_before_the_goal_was_missed_is_told_up_to_then() -> None:
    """With the third seed nobody learns enough."""
    fast, slow = candidate(1), candidate(2)

    @dataclass
    class WeakLater(Made):
        def train(self, step: str, prospects: Sequence[Prospect], rounds: int, seed: int) -> Learnt:
            learnt = super().train(step, prospects, rounds, seed)
            return learnt if seed < 3 else {lineage: accuracy / 2 for lineage, accuracy in learnt.items()}

    found = found_by(
        WeakLater({fast: prospect(fast), slow: prospect(slow)}, {"s1": rising(0.27), "s2": rising(0.21)}), Goal(0.8)
    )
    assert found.finalists == [fast]
    lines = list(Answer(Goal(0.8), found, "joules").lines())
    assert lines[0] == "No candidate is that accurate with every seed; the nearest is with 2 of 3."
    assert lines[-1] == "The next best, s2 over radio, takes 1.33 (1.13 to 1.58) times as long: clear up to seed 2."


def test_the_table_compares_finalists_in_the_same_words() -> None:
    times = {candidate(1): [missed(1, 0.7)], candidate(2): [missed(1, 0.6)]}
    found = Found(Goal(0.8), (1,), finalists=[*times], by_seed=times)
    finalists, *_ = Answer(Goal(0.8), found, "joules").tables
    assert [row[-1] for row in finalists.rows] == ["recommended", "is 10.0 points less accurate at its best"]
