"""hfedms-plus against its rivals, and part by part: who is played, and what is made of results made by hand."""

from math import exp, log, sqrt

import pytest

from hfedms_sim.campaign import Curve, Trial, TrialResult
from hfedms_sim.exhibits import Table
from hfedms_sim.paper.catalogue import EXPERIMENTS, PAPER
from hfedms_sim.paper.experiment import Experiment, Results
from hfedms_sim.paper.experiments.beyond.ablation import ABLATION, BASE, PLACES
from hfedms_sim.paper.experiments.beyond.contender import Arrival, Hours, arrivals
from hfedms_sim.paper.experiments.beyond.lead import (
    AVAILABLE_PERCENT,
    EVERY,
    LEAD,
    PLAIN_PLUS,
    PLUS,
    places_of,
    standings_of,
)
from hfedms_sim.paper.experiments.tuning import strategies_on
from hfedms_sim.paper.scales import SCALES
from hfedms_sim.paper.study import Study
from hfedms_sim.strategies.hfedms_plus import HFedMSPlusSettings
from tests.paper.made_up import KINDS, End, diverging, every_choice, results

_BEST = "fedyogi"
FACTORY = Study(SCALES["factory"], tuned=every_choice(_BEST))
CELL, LTE, NB_IOT, AWAY, STATIC = places_of(FACTORY)


def played(experiment: Experiment, hours: dict[str, float], best: float = 0.8, best_int8: float = 0.8) -> Results:
    """Return results in which a strategy's rounds last as given, in hours times the seed, and end at `best`."""

    def end(trial: Trial) -> End:
        return best_int8 if trial.scenario.strategy.compression.uplink == "int8" else best, 1.0

    made = results(experiment, FACTORY, end).results
    return Results([_stretched(each, hours.get(each.trial.scenario.strategy.name, 1.0)) for each in made])


def _stretched(result: TrialResult, round_hours: float) -> TrialResult:
    by_seed = 3600.0 * round_hours * result.trial.scenario.seed
    rows = (row._replace(simulated_s=by_seed * row.round) for row in result.curve.rows)
    return TrialResult(result.trial, result.summary, result.provenance, Curve(tuple(rows)))


def column(table: Table, name: str) -> list[object]:
    return [row[table.header.index(name)] for row in table.rows]


@pytest.mark.parametrize("experiment", [ABLATION, LEAD], ids=lambda each: each.name)
def test_it_is_beyond_the_paper_and_claims_nothing_of_it(experiment: Experiment) -> None:
    assert EXPERIMENTS[experiment.name] is experiment
    assert experiment.name not in PAPER
    assert experiment.claims == ()


def test_hfedms_plus_is_played_by_its_own_rule() -> None:
    """Only the sensors' rate is said, because the scale has the paper's."""
    own = [trial.scenario.strategy for trial in LEAD.trials(FACTORY) if trial.scenario.strategy.name == "hfedms-plus"]
    as_it_is = HFedMSPlusSettings(sample_ratio=0.3, batch_size=5)
    assert {each.model_dump_json() for each in own if each.compression.relay == "int8"} == {as_it_is.model_dump_json()}
    assert {each.learning_rate for each in own} == {as_it_is.learning_rate}


def test_every_tuned_strategy_is_a_rival_on_all_three_radios() -> None:
    variants = {trial.variant for trial in LEAD.trials(FACTORY)}
    for place in (CELL, LTE, NB_IOT):
        found = {
            dict(each)["strategy"]
            for each in variants
            if dict(each)["settings"] == "tuned"
            and dict(each)["data"] == "stream"
            and dict(each).get("cells.0.profile") == dict(place.changes).get("cells.0.profile")
        }
        assert found == {*strategies_on("stream")}


def test_nothing_is_played_on_the_seed_of_the_tuning_and_static_data_have_one_seed() -> None:
    seeds = {kind: {t.scenario.seed for t in LEAD.trials(FACTORY) if dict(t.variant)["data"] == kind} for kind in KINDS}
    assert seeds == {"stream": {1, 2, 3}, "static": {1}}


def test_sensors_are_out_of_reach_in_one_place_only() -> None:
    with_faults = [trial for trial in LEAD.trials(FACTORY) if trial.scenario.faults]
    assert {dict(trial.variant)["strategy"] for trial in with_faults} == {"hfedms-plus", _BEST, "hfedms-s"}
    assert str(AVAILABLE_PERCENT) in AWAY.label


def test_the_lead_is_the_ratio_of_hours_to_the_best_rival_of_each_target() -> None:
    """hfedms-plus is there in a quarter of the rounds; FedAdam is the quickest rival."""
    slow = dict.fromkeys(strategies_on("stream"), 40.0)
    found = played(LEAD, slow | {"fedadam": 2.5, "hfedms-plus": 1.0})
    answers = LEAD.outcome(FACTORY, found).tables[0]
    to_target = column(answers, "hours to 0.7, of the best rival's")
    assert to_target[0] == "0.10 (0.10 to 0.10)"  # 22 rounds of 1 h against 88 of 2.5 h


def test_int8_is_compared_with_int8_and_aims_at_what_int8_reaches() -> None:
    found = standings_of(FACTORY, played(LEAD, {}, best=0.8, best_int8=0.75), CELL)
    legs = {rival.strategy: dict(rival.settings)["strategy.compression"] for rival in found.compressed}
    assert legs == {
        _BEST: "{downlink: int8, uplink: int8}",
        "fedavg": "{downlink: int8, uplink: int8}",
        "hfedms-s": "{downlink: int8, relay: int8, uplink: int8}",
    }
    assert found.best_accuracy(PLUS) == pytest.approx(dict.fromkeys((1, 2, 3), 0.75), abs=1e-3)
    assert found.best_accuracy(PLAIN_PLUS) == pytest.approx(dict.fromkeys((1, 2, 3), 0.8), abs=1e-3)
    assert standings_of(FACTORY, played(LEAD, {}), STATIC).compressed == {}


def test_who_sends_int8_is_looked_for_at_the_best_of_those_who_do() -> None:
    table = LEAD.outcome(FACTORY, played(LEAD, {}, best=0.8, best_int8=0.75)).tables[1]
    there = {(row[0], row[1]): row[-1] for row in table.rows}
    for label in (PLUS.label, PLAIN_PLUS.label, "hfedms-s, tuned, int8", "hfedms-s, tuned"):
        assert there[CELL.label, label] == 3


def test_tables_and_figures_stand_before_anything_was_played() -> None:
    for experiment in (ABLATION, LEAD):
        outcome = experiment.outcome(FACTORY, Results([]))
        assert all(table.rows for table in outcome.tables)


def test_each_variant_of_the_ablation_is_another_scenario() -> None:
    trials = [trial for trial in ABLATION.trials(FACTORY) if trial.scenario.seed == 1]
    variants = sum(len(place.variants) for place in PLACES)
    assert len({trial.scenario.model_dump_json() for trial in trials}) == variants == len(trials)
    assert {trial.scenario.strategy.compression.relay for trial in trials} == {"none", "int8"}


def test_a_variant_that_takes_twice_as_long_has_a_ratio_of_two() -> None:
    found = played(ABLATION, {"hfedms-d": 2.0, "hfedms-plus": 1.0})
    table, _ = ABLATION.outcome(FACTORY, found).tables
    by_label = dict(zip(column(table, "variant"), column(table, "hours to 0.7, of the rule's"), strict=True))
    assert by_label[BASE.label] == ""
    half = 0.5 / 14  # 0.7 of 0.8 after a quarter of 60 rounds
    assert by_label["and with a memory (SCC)"] == f"2.00 ({2 * exp(-half):.2f} to {2 * exp(half):.2f})"
    assert by_label["constant rate"] == f"1.00 ({exp(-half):.2f} to {exp(half):.2f})"


def hours(reached: dict[int, float], end: float, seeds: int = 3, resolution: float = 0.0) -> Hours:
    at = {seed: Arrival(value, resolution) for seed, value in reached.items()}
    return Hours(at, dict.fromkeys(range(1, seeds + 1), end))


def test_a_ratio_has_the_interval_of_its_logarithm() -> None:
    """With three seeds t is 4.303, and logs of 0, 1, 2 have a standard deviation of 1."""
    ours, theirs = hours({1: 1.0, 2: exp(1), 3: exp(2)}, 9.0), hours(dict.fromkeys((1, 2, 3), 1.0), 9.0)
    half = 4.302653 / sqrt(3)
    assert ours.relative_to(theirs) == f"{exp(1):.2f} ({exp(1 - half):.2f} to {exp(1 + half):.2f})"


def test_no_interval_is_narrower_than_half_of_what_lies_between_two_looks() -> None:
    ours, theirs = ({1: 2.0, 2: 2.0, 3: 2.0}, {1: 4.0, 2: 4.0, 3: 4.0})
    found = hours(ours, 9.0, resolution=0.1).relative_to(hours(theirs, 9.0, resolution=0.05))
    assert found == f"0.50 ({exp(log(0.5) - 0.1):.2f} to {exp(log(0.5) + 0.1):.2f})"


def test_an_arrival_is_known_to_half_of_the_time_since_the_look_before() -> None:
    found = played(LEAD, {"hfedms-plus": 1.0}).of("hfedms-plus", "stream", dict([*EVERY.items(), *PLUS.settings]))
    first = arrivals(found, 0.7)[1]
    assert first == (pytest.approx(22.0), pytest.approx(0.5 / 22))  # 0.8 after a quarter of 100 rounds


def test_what_diverged_in_the_end_never_got_there() -> None:
    found = diverging(played(LEAD, {}), {("hfedms-plus", 2)})
    ours = found.of("hfedms-plus", "stream", dict([*EVERY.items(), *PLUS.settings]))
    assert arrivals(ours, 0.7).keys() == {1, 3}


def test_who_never_got_there_is_a_bound() -> None:
    there, never = hours({1: 1.0}, 5.0, seeds=1), hours({}, 4.0, seeds=1)
    assert there.relative_to(never) == "at most 0.25"
    assert never.relative_to(there) == "at least 4.00"
    assert never.relative_to(never) == ""


def test_one_seed_without_an_arrival_makes_the_whole_ratio_a_bound() -> None:
    """Of the third nothing is known but that it takes more than 1.5: no bound from above."""
    ours, theirs = hours({1: 1.0, 2: 1.0}, 1.5), hours({1: 2.0, 2: 2.0, 3: 2.0}, 4.0)
    assert ours.relative_to(theirs) == f"at least {(0.5 * 0.5 * 0.75) ** (1 / 3):.2f}"
    assert theirs.relative_to(ours) == f"at most {(2 * 2 / 0.75) ** (1 / 3):.2f}"


def test_bounds_both_ways_decide_nothing() -> None:
    ours, theirs = hours({1: 1.0, 2: 1.0}, 5.0), hours({1: 2.0, 3: 2.0}, 5.0)
    assert ours.relative_to(theirs) == "undecided"


def test_seeds_with_which_neither_got_there_are_counted() -> None:
    ours, theirs = hours({1: 1.0, 2: 1.0}, 5.0), hours({1: 2.0, 2: 2.0}, 5.0)
    assert ours.relative_to(theirs) == "0.50 (0.50 to 0.50), 2 of 3 seeds"


def test_the_best_rival_is_the_first_of_each_seed() -> None:
    one, other = hours({1: 1.0, 2: 3.0}, 5.0), hours({1: 2.0, 2: 2.0}, 4.0)
    least = Hours.least([one, other])
    assert {seed: each.hours for seed, each in least.reached.items()} == {1: 1.0, 2: 2.0}
    assert least.end == dict.fromkeys((1, 2, 3), 4.0)
