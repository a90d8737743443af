"""The whole way from a question to its answer, on a factory of a few sensors."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from click.testing import CliRunner

from hfedms_sim.campaign import open_campaign
from hfedms_sim.campaign.workers import HereWorkers
from hfedms_sim.cli import main
from hfedms_sim.data import open_dataset
from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.recommendation import Answer, CampaignPlayer, Choice, Goal, Question, recommend, require_place
from hfedms_sim.recommendation.budget import search_s
from hfedms_sim.recommendation.candidates import STRATEGIES_TRIED, Candidate, candidates_of
from hfedms_sim.simulation import open_run
from hfedms_sim.system.files import shipped_files
from hfedms_sim.units import format_seconds
from tests.campaign.test_commands import assert_nobody_writes

QUESTION = Question(
    "quickstart",
    Goal(0.06),
    rounds=4,
    overrides=("model=tiny-mlp", "sensors.count=12", "sensors.types=3", "strategy.beta=3", "evaluate_every=1"),
)
CHOICE = Choice(("fedavg", "hfedms-plus"), ("lte-cat-m2", "nb-iot-nb2"), (1, 2))


def asked(directory: Path, question: Question = QUESTION, choice: Choice = CHOICE) -> Answer:
    return recommend(CampaignPlayer(question, directory, lambda options: HereWorkers()), choice)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recommend") / "one"


@pytest.fixture(scope="module")
def answer(place: Path) -> Answer:
    return asked(place)


def test_the_answer_names_a_candidate_that_met_the_goal(answer: Answer, place: Path) -> None:
    assert answer.best is not None
    assert answer.meets_goal
    lines = list(answer.lines())
    assert lines[0] == f"For an accuracy of 6 %: {answer.best.words}."
    assert "mean over 1 further seed; " in lines[1]
    written = json.loads((place / "recommendation.json").read_text())
    assert written["recommended"]["strategy"] == answer.best.strategy
    assert written["is_met"]


def test_its_scenario_is_ready_to_run_and_comes_to_what_was_said(answer: Answer, place: Path) -> None:
    assert answer.best is not None
    scenario = load_scenario(str(place / "recommended.yaml"))
    assert scenario == QUESTION.scenario(answer.best, 1)
    reached = answer.found.by_seed[answer.best][0].reached
    assert reached is not None
    runs = [open_run(path) for path in sorted((place / "trials").iterdir()) if path.name.endswith("seed1")]
    best = next(run for run in runs if run.scenario == scenario)
    assert best.time_to_accuracy(0.06) == reached.time_s


def test_the_finalists_are_a_campaign_of_which_nothing_was_trained_again(answer: Answer, place: Path) -> None:
    trials = open_campaign(place).trials
    assert len(trials) == 2 * len(answer.found.finalists)
    for path in (place / "trials").iterdir():
        assert json.loads((path / "provenance.json").read_text())["rounds_trained"] == 0


def test_chance_is_the_share_of_the_most_frequent_class_in_the_test_data(answer: Answer) -> None:
    scenario = QUESTION.base
    dataset = open_dataset(scenario.data, sensors=12, types=3, seed=1)
    counts = Counter(label for sensor in range(12) for label in dataset.test_labels(sensor).tolist())
    assert answer.found.chance == max(counts.values()) / sum(counts.values()) > 1 / 62


def test_everybody_has_an_end(answer: Answer) -> None:
    candidates, refused = candidates_of(QUESTION, CHOICE.strategies, CHOICE.profiles)
    assert not refused
    assert {*answer.found.ended, *answer.found.finalists} == set(candidates)
    assert not set(answer.found.ended) & set(answer.found.finalists)


def test_tables_say_what_was_found(answer: Answer) -> None:
    finalists, front, others = answer.tables
    assert finalists.rows[0][-1] == "recommended"
    assert front.rows
    assert "Not tried: the strategies fedprox" in others.note
    assert answer.figure is not None


def test_it_says_who_sends_more_bytes_a_number(answer: Answer) -> None:
    (line,) = (line for line in answer.not_tried if "bytes a number" in line)
    assert line.startswith("Not tried: fewer bytes a number for fedavg, as hfedms-plus has;")


def test_nobody_takes_the_gain_of_a_codec_for_the_strategys(answer: Answer) -> None:
    assert answer.best is not None
    both = {"fedavg": "plain numbers", "hfedms-plus": "int8"}
    sent, (other,) = both.pop(answer.best.strategy), both
    (line,) = (each for each in answer.lines() if "codec" in each)
    told = f"{answer.best.strategy} sends {sent}, not so {other}"
    assert line == f"{told}: part of the difference may be the codec's; --codec is for all."
    alike = replace(answer, codecs=dict.fromkeys(answer.codecs, "int8"))
    assert not any("codec" in each for each in alike.lines())


@pytest.mark.parametrize(
    ("compression", "codec"),
    [
        ("{uplink: int8, relay: int8, downlink: int8}", "int8"),
        ("{uplink: int8}", "downlink none, relay none, uplink int8"),
        ("{}", "none"),
    ],
)
def test_a_codec_is_named_leg_by_leg_where_these_differ(compression: str, codec: str) -> None:
    question = replace(QUESTION, overrides=(*QUESTION.overrides, f"strategy.compression={compression}"))
    assert question.codec_of(Candidate(1, "hfedms-s", (), "lte-cat-m2")) == codec


def test_a_codec_is_for_everybody_on_every_leg() -> None:
    changed = replace(QUESTION, codec="int8")
    candidates, refused = candidates_of(changed, STRATEGIES_TRIED, CHOICE.profiles)
    assert not refused
    used = {each.strategy: changed.scenario(each).strategy.compression for each in candidates}
    assert {(each.downlink, each.uplink) for each in used.values()} == {("int8", "int8")}
    assert {name: each.relay for name, each in used.items()} == {
        name: "int8" if name.startswith("hfedms") else "none" for name in STRATEGIES_TRIED
    }
    plain = replace(QUESTION, codec="none")
    assert all(plain.scenario(each).strategy.compression.is_off for each in candidates)


def test_a_setting_that_is_given_is_everybodys() -> None:
    changed = replace(QUESTION, overrides=(*QUESTION.overrides, "strategy.learning_rate=0.07"))
    candidates, _ = candidates_of(changed, ("fedavg", "fedadam"), ("lte-cat-m2",))
    assert {changed.scenario(each).strategy.learning_rate for each in candidates} == {0.07}
    assert len({each.settings for each in candidates if each.strategy == "fedavg"}) == 1
    assert len({each.settings for each in candidates if each.strategy == "fedadam"}) > 1


def test_a_mapping_gives_settings_too() -> None:
    changed = replace(QUESTION, overrides=(*QUESTION.overrides[:3], "strategy={name: fedavg, learning_rate: 0.07}"))
    candidates, _ = candidates_of(changed, ("fedavg", "fedadam"), ("lte-cat-m2",))
    assert {changed.scenario(each).strategy.learning_rate for each in candidates} == {0.07}
    assert changed.fixed == {"learning_rate"}


def test_a_setting_that_only_some_strategies_have_is_theirs() -> None:
    """quickstart's own strategy, hfedms-d, has no server rate."""
    changed = replace(QUESTION, overrides=(*QUESTION.overrides, "strategy.server_learning_rate=0.02"))
    candidates, refused = candidates_of(changed, ("fedavg", "fedadam"), ("lte-cat-m2",))
    assert not refused
    rates = {getattr(changed.scenario(each).strategy, "server_learning_rate", None) for each in candidates}
    assert rates == {None, 0.02}


def test_a_setting_that_nobody_has_and_a_strategy_that_is_none_are_refused() -> None:
    changed = replace(QUESTION, overrides=(*QUESTION.overrides, "strategy.speed=2"))
    with pytest.raises(InputError, match=r"^strategy\.speed: no strategy that is tried has it: fedavg, fedadam$"):
        candidates_of(changed, ("fedavg", "fedadam"), ("lte-cat-m2",))
    with pytest.raises(InputError, match=r"^unknown strategy 'fedadm'\. Did you mean 'fedadam'\?"):
        candidates_of(replace(QUESTION, codec="int8"), ("fedavg", "fedadm"), ("lte-cat-m2",))


def test_a_name_given_twice_is_one() -> None:
    once, twice = (candidates_of(QUESTION, ("fedavg",) * count, ("lte-cat-m2",) * count)[0] for count in (1, 2))
    assert once == twice


def test_a_strategy_that_the_scenario_does_not_allow_is_said_and_the_others_are_tried() -> None:
    """The last sensor of a chain does not hold what the server sent, so HFedMS cannot send differences to it."""
    question = Question("quickstart", Goal(0.5), overrides=("strategy={name: fedavg, compression: {uplink: topk}}",))
    candidates, refused = candidates_of(question, ("hfedms-s", "fedavg"), CHOICE.profiles)
    assert {each.strategy for each in candidates} == {"fedavg"}
    assert [line.partition(":")[0] for line in refused] == ["hfedms-s"]
    with pytest.raises(InputError, match=r"^hfedms-s: .*topk"):
        candidates_of(question, ("hfedms-s",), CHOICE.profiles)


def test_two_radios_of_one_name_are_refused(tmp_path: Path) -> None:
    own = tmp_path / "mine.yaml"
    own.write_bytes(shipped_files("network_profiles")["lte-cat-m2"].read_bytes())
    with pytest.raises(InputError, match=r"profiles lte-cat-m2, .*: both are called 'lte-cat-m2'"):
        candidates_of(QUESTION, ("fedavg",), ("lte-cat-m2", str(own)))


def test_joules_that_rest_on_extrapolated_figures_are_told(answer: Answer, place: Path) -> None:
    assert {key.partition(".")[0] for key in answer.extrapolated} == {"lte-cat-m2: energy", "nb-iot-nb2: energy"}
    assert json.loads((place / "recommendation.json").read_text())["extrapolated"] == list(answer.extrapolated)


def test_with_prices_cost_is_what_the_megabytes_of_a_radio_cost(tmp_path: Path) -> None:
    prices = {"lte-cat-m2": 0.5, "nb-iot-nb2": 0.0}
    question = Question(QUESTION.source, QUESTION.goal, 4, QUESTION.overrides, prices)
    player = CampaignPlayer(question, tmp_path, lambda options: HereWorkers())
    found = recommend(player, CHOICE)
    assert found.cost == "price"
    for candidate, seed in player.prospects:
        prospect = player.prospects[candidate, seed]
        sent = open_run(tmp_path / "search" / f"timing-seed{seed}" / "trials" / question.trial(candidate, seed).name)
        rounds = sent.arrow("rounds")
        megabytes = sum(sum(rounds[name].to_pylist()) for name in ("uplink_bytes", "downlink_bytes")) / 1e6
        assert prospect.cost[-1] == pytest.approx(prices[candidate.radio] * megabytes)
    assert {candidate.radio for candidate, _ in found.front()} == {"lte-cat-m2", "nb-iot-nb2"}
    assert "a price of" in "\n".join(found.lines())


def test_asked_again_in_the_same_place_it_answers_the_same_at_once(answer: Answer, place: Path) -> None:
    before = (place / "recommendation.json").read_bytes()
    again = asked(place)
    assert (place / "recommendation.json").read_bytes() == before
    assert again.found.finalists == answer.found.finalists


@pytest.mark.thorough
def test_an_interrupted_search_goes_on_to_the_same_answer(answer: Answer, place: Path, tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    def stop_at_rung_3(line: str) -> None:
        if line.startswith("rung 3"):
            raise EnoughError

    player = CampaignPlayer(QUESTION, tmp_path / "two", lambda options: HereWorkers())
    with pytest.raises(EnoughError):
        recommend(player, CHOICE, on_step=stop_at_rung_3)
    asked(tmp_path / "two")
    assert (tmp_path / "two" / "recommendation.json").read_bytes() == (place / "recommendation.json").read_bytes()


@pytest.mark.thorough
def test_a_search_that_was_killed_in_the_middle_of_a_rung_goes_on_to_the_same_answer(
    answer: Answer, place: Path, tmp_path: Path
) -> None:
    out, rung, records = tmp_path / "killed", "search/rung-1", "search/rung-1/records/*.json"
    overrides = [part for text in QUESTION.overrides for part in ("--set", text)]
    command = ["quickstart", "--accuracy", "0.06", "--rounds", "4", "--strategies", ",".join(CHOICE.strategies)]
    command += ["--profiles", ",".join(CHOICE.profiles), "--seeds", "1,2", "--quiet", "--out", str(out), *overrides]
    process = subprocess.Popen([sys.executable, "-m", "hfedms_sim.cli", "recommend", *command])
    while not list(out.glob(f"{rung}/trials/*/learning/metrics.log")):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert_nobody_writes(out / rung)
    assert len([*out.glob(records)]) < len([*place.glob(records)])
    resumed = CliRunner().invoke(main, ["recommend", *command, "--resume"])
    assert resumed.exit_code == 0, resumed.output
    assert (out / "recommendation.json").read_bytes() == (place / "recommendation.json").read_bytes()


@pytest.mark.thorough
def test_a_goal_out_of_reach_ends_with_the_nearest(tmp_path: Path) -> None:
    choice = replace(CHOICE, profiles=("lte-cat-m2",), seeds=(1,))
    found = asked(tmp_path / "far", replace(QUESTION, goal=Goal(0.999), rounds=2), choice)
    assert found.best is not None
    assert not found.meets_goal
    lines = list(found.lines())
    assert lines[0] == "No candidate is that accurate with every seed; the nearest is with 0 of 1."
    assert lines[1].startswith("The nearest to an accuracy of 99.9 %: ")


def test_an_hour_on_lorawan_ends_with_what_it_would_take(tmp_path: Path) -> None:
    choice = Choice(("fedavg",), ("lorawan-eu868-sf7",), (1,))
    found = asked(tmp_path / "slow", replace(QUESTION, goal=Goal(0.05, within_s=3600.0), rounds=2), choice)
    lines = list(found.lines())
    assert lines[0].startswith("The goal cannot be met: no first round that is measured ends before ")


def test_a_budget_leaves_out_settings_and_says_so(tmp_path: Path) -> None:
    choice = Choice(("fedavg", "hfedms-plus"), ("lte-cat-m2",), (1,), budget_s=1e-3)
    found = asked(tmp_path / "cheap", replace(QUESTION, rounds=2), choice)
    assert len(found.found.prospects) == 2
    assert "Not tried, because the budget does not allow it: 3 candidates." in found.not_tried
    (line,) = (line for line in found.not_tried if line.startswith("One candidate of each strategy is estimated at "))
    assert line.endswith(", the budget is 1 ms.")


def test_strategies_without_a_barrier_learn_anew_on_each_radio() -> None:
    for strategy, learners in (("fedavg", 1), ("fedbuff", 2)):
        both = [Candidate(number, strategy, (), radio) for number, radio in enumerate(CHOICE.profiles)]
        once = search_s(both[:1], {strategy: 1.0}, seeds=1)
        assert search_s(both, {strategy: 1.0}, seeds=1) == pytest.approx(learners * once)


@pytest.fixture(scope="module")
def on_batteries(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    choice = Choice(("fedavg", "hfedms-plus"), ("lte-cat-m2",), (1, 2))
    question = replace(QUESTION, goal=Goal(0.06, battery_s=86400.0))
    return asked(tmp_path_factory.mktemp("batteries") / "one", question, choice)


def test_how_long_a_battery_lasts_is_told_of_the_run_that_meets_the_goal(on_batteries: Answer) -> None:
    best, found = on_batteries.best, on_batteries.found
    assert best is not None
    line = next(line for line in on_batteries.lines() if "battery to be empty" in line)
    lasts = format_seconds(found.lasting_s[best])
    assert line == f"At that pace the first battery to be empty lasts {lasts} with the worst seed."
    assert on_batteries.meets_goal


def test_who_has_a_battery_that_falls_short_with_one_seed_has_not_met_the_goal(on_batteries: Answer) -> None:
    best = on_batteries.best
    assert best is not None
    asked_s = on_batteries.found.lasting_s[best] * 1.01
    goal = replace(on_batteries.asked, battery_s=asked_s)
    short = replace(on_batteries, asked=goal, found=replace(on_batteries.found, goal=goal))
    assert not short.meets_goal
    assert any(line.endswith("with the worst seed, less than is asked for.") for line in short.lines())


def test_another_question_in_the_same_place_is_refused(answer: Answer, place: Path) -> None:
    with pytest.raises(InputError, match=r"one: was asked with another goal.accuracy: 0.06, now 0.5"):
        require_place(place, replace(QUESTION, goal=Goal(0.5)), CHOICE, resume=True)
    with pytest.raises(InputError, match="one: exists already; choose another --out, or --resume"):
        require_place(place, QUESTION, CHOICE, resume=False)
    require_place(place, QUESTION, CHOICE, resume=True)


def test_another_scenario_in_the_same_place_is_refused(answer: Answer, place: Path) -> None:
    refusal = r"one: was asked with another scenario\.name: 'quickstart', now 'assembly-hall'"
    with pytest.raises(InputError, match=refusal):
        require_place(place, replace(QUESTION, source="assembly-hall"), CHOICE, resume=True)


def test_what_an_earlier_version_asked_goes_on_and_its_campaigns_refuse_another_scenario(
    answer: Answer, place: Path, tmp_path: Path
) -> None:
    earlier = tmp_path / "earlier"
    copytree(place, earlier)
    was_asked = json.loads((place / "recommend.json").read_text())
    del was_asked["scenario"]
    (earlier / "recommend.json").write_text(json.dumps(was_asked))
    require_place(earlier, QUESTION, CHOICE, resume=True)
    assert asked(earlier).best == answer.best
    stronger = load_scenario("quickstart", overrides=("sensors.battery_wh=9.9",))
    refusal = r"timing-seed1: was run with another trials\..*\.sensors\.battery_wh: 8\.6, now 9\.9"
    with pytest.raises(InputError, match=refusal):
        asked(earlier, replace(QUESTION, source=stronger))
    assert json.loads((earlier / "recommend.json").read_text()) == was_asked


@pytest.mark.thorough
def test_a_search_goes_on_where_its_data_have_another_path(tmp_path: Path) -> None:
    def with_data(path: Path) -> Question:
        source = load_scenario("quickstart", overrides=("sensors.count=12", f"data={{set: npz, path: {path}}}"))
        return replace(QUESTION, source=source, rounds=1)

    here, there, choice = tmp_path / "here.npz", tmp_path / "there.npz", Choice(("fedavg",), ("lte-cat-m2",), (1,))
    draws = np.random.default_rng(1)
    images = draws.integers(0, 256, (240, 28, 28), dtype=np.uint8)
    np.savez(here, images=images, labels=draws.integers(0, 62, 240), device=np.arange(240) % 12)
    before = asked(tmp_path / "one", with_data(here), choice)
    here.rename(there)
    require_place(tmp_path / "one", with_data(there), choice, resume=True)
    assert asked(tmp_path / "one", with_data(there), choice).as_json() == before.as_json()


def test_a_foreign_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds no recommendation"):
        require_place(tmp_path, QUESTION, CHOICE, resume=True)


@pytest.mark.parametrize("goal", [{"accuracy": 0.0}, {"accuracy": 1.5}, {"accuracy": 0.5, "within_s": 0.0}])
def test_a_goal_that_is_none_is_refused(goal: dict[str, float]) -> None:
    with pytest.raises(InputError, match="must be above 0"):
        Goal(**goal)
