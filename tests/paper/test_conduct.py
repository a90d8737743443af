"""Conducting experiments: directories, sharing, resuming, refusals; on a factory of a dozen sensors."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hfedms_sim.campaign import Standing, read_records, workers_for
from hfedms_sim.campaign.tasks import Options
from hfedms_sim.errors import InputError
from hfedms_sim.paper.catalogue import EXPERIMENTS
from hfedms_sim.paper.conduct import Conductor
from hfedms_sim.paper.scales import SCALES
from hfedms_sim.paper.study import Study
from hfedms_sim.paper.tuned import Tuned, read_tuned
from hfedms_sim.paper.verdicts import judged, judged_table
from hfedms_sim.system.checksums import Checksums

TINY = replace(SCALES["smoke"], sensors=12, types=2, model="tiny-mlp", rounds=12, beta=2, evaluate_every=2)
INTERVALS, FORGETTING, SCC = (EXPERIMENTS[name] for name in ("intervals", "forgetting", "scc"))


def conductor(directory: Path, *, seeds: tuple[int, ...] = (1,), without_training: bool = False) -> Conductor:
    return Conductor(
        Study(TINY, chosen_seeds=seeds),
        directory,
        lambda: workers_for(1, None, Options()),
        "hfedms-sim paper",
        without_training=without_training,
    )


@pytest.fixture(scope="module")
def conducted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Intervals, then forgetting, which has no trial of its own."""
    directory = tmp_path_factory.mktemp("paper")
    for experiment in (INTERVALS, FORGETTING):
        conductor(directory).conduct(experiment)
    return directory


def test_each_experiment_leaves_a_campaign_claims_and_the_command(conducted: Path) -> None:
    place = conducted / "intervals"
    names = {trial.name for trial in INTERVALS.trials(Study(TINY, chosen_seeds=(1,)))}
    assert set(read_records(place)) == names
    claims = json.loads((place / "claims.json").read_text())
    assert {claim["claim"] for claim in claims["claims"]} == {"Q12", "Q13"}
    assert claims["scale"] == "smoke"
    assert (place / "command.txt").read_text() == "hfedms-sim paper\n"


def test_an_experiment_lists_checksums_and_its_claims_are_read_only_if_they_match(
    conducted: Path, tmp_path: Path
) -> None:
    place = shutil.copytree(conducted / "intervals", tmp_path / "intervals")
    listed = Checksums(place).listed()
    assert listed is not None
    assert {"experiment.json", "claims.json", "command.txt", "campaign.json"} < {*listed}
    assert sum(name.startswith("records/") for name in listed) == len(read_records(place))
    assert not Checksums(place).damages()
    conductor(tmp_path, without_training=True).conduct(INTERVALS)
    assert not Checksums(place).damages()
    assert judged([tmp_path])
    (place / "claims.json").write_text((place / "claims.json").read_text() + " ")
    with pytest.raises(InputError, match=r"claims\.json: damaged \(its checksum in SHA256SUMS does not match\)"):
        judged([tmp_path])


def test_what_a_sibling_has_played_is_taken_over(conducted: Path) -> None:
    mine, siblings = read_records(conducted / "forgetting"), read_records(conducted / "intervals")
    assert mine
    for name, record in mine.items():
        assert record.curve == siblings[name].curve
        assert record.provenance["started"] == siblings[name].provenance["started"]  # not played again
    assert not list((conducted / "forgetting" / "trials").iterdir())


def test_resuming_plays_nothing_again_and_writes_the_same(conducted: Path) -> None:
    before = {path.name: path.read_bytes() for path in (conducted / "intervals").glob("*.json")}
    again = conductor(conducted)
    again.require_place(INTERVALS, resume=True)
    told: list[Standing] = []
    again.on_standing = told.append
    again.conduct(INTERVALS)
    assert {path.name: path.read_bytes() for path in (conducted / "intervals").glob("*.json")} == before
    assert all(not standing.ended for standing in told)


def test_without_training_shows_what_is_finished(conducted: Path, tmp_path: Path) -> None:
    shown = conductor(conducted, without_training=True).conduct(INTERVALS)
    assert all(row[1] for row in shown.tables[0].rows)  # an accuracy for each T
    nothing = conductor(tmp_path, without_training=True).conduct(INTERVALS)
    assert not any(row[1] for row in nothing.tables[0].rows)
    assert not (tmp_path / "intervals" / "campaign.json").exists()


def test_an_existing_directory_needs_resume_and_must_be_this_experiments(conducted: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exists already; choose another --out, or --resume"):
        conductor(conducted).require_place(INTERVALS, resume=False)
    with pytest.raises(InputError, match="was made with another seeds"):
        conductor(conducted, seeds=(1, 2)).require_place(INTERVALS, resume=True)
    (tmp_path / "scc").mkdir()
    (tmp_path / "scc" / "precious.txt").write_text("mine")
    for resume in (False, True):
        with pytest.raises(InputError, match="is no experiment's"):
            conductor(tmp_path).require_place(SCC, resume=resume)
    assert [path.name for path in (tmp_path / "scc").iterdir()] == ["precious.txt"]


def test_an_experiment_that_was_killed_before_it_could_write_anything_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "scc").mkdir()
    conductor(tmp_path).require_place(SCC, resume=True)
    (tmp_path / "scc" / ".experiment.json.part").write_text('{"exp')
    conductor(tmp_path).require_place(SCC, resume=True)
    with pytest.raises(InputError, match="is no experiment's"):
        conductor(tmp_path).require_place(SCC, resume=False)


def test_verdicts_are_those_of_the_largest_scale_that_tested_the_claim(conducted: Path, tmp_path: Path) -> None:
    claim = {"claim": "Q12", "settings": "defaults", "verdict": "holds"}
    larger = tmp_path / "intervals" / "claims.json"
    larger.parent.mkdir()
    content = {"scale": "factory", "reading": "text", "study": "a larger one", "claims": [claim]}
    larger.write_text(json.dumps(content))
    found = {each.claim: each for each in judged([conducted, tmp_path])}
    assert (found["Q12"].verdict, found["Q12"].scale) == ("holds", "factory")
    assert found["Q13"].scale == "smoke"
    larger.write_text(larger.read_text().replace("holds", "cannot be tested here"))
    assert {each.claim: each for each in judged([conducted, tmp_path])}["Q12"].scale == "smoke"
    assert len(judged_table(judged([conducted])).rows) == 13


def test_a_larger_scale_that_decides_nothing_stands_beside_the_one_that_does(tmp_path: Path) -> None:
    for scale, reading, verdict in (
        ("factory", "text", "does not hold"), ("full", "text", "undecided"), ("factory", "program", "holds"),
    ):  # fmt: skip
        place = tmp_path / f"{scale}-{reading}"
        place.mkdir()
        claim = {"claim": "Q1", "settings": "defaults", "verdict": verdict}
        content = {"scale": scale, "reading": reading, "study": scale, "claims": [claim]}
        (place / "claims.json").write_text(json.dumps(content))
    found = [(each.reading, each.scale, each.verdict) for each in judged([tmp_path])]
    assert found == [
        ("text", "factory", "does not hold"),
        ("text", "full", "undecided"),
        ("program", "factory", "holds"),
    ]


@pytest.mark.parametrize("content", ["[]", "{", '{"scale": "huge", "study": "", "claims": []}', '{"claims": 3}'])
def test_a_file_that_is_no_experiments_claims_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "claims.json").write_text(content)
    with pytest.raises(InputError, match=r"claims\.json"):
        judged([tmp_path])


@pytest.mark.thorough
def test_tuning_chooses_the_most_accurate_point_and_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = {"fedavg": {"strategy.learning_rate": ("0.001", "0.05")}}
    monkeypatch.setattr("hfedms_sim.paper.experiments.tuning.GRIDS", grid)
    monkeypatch.setattr("hfedms_sim.paper.experiments.tuning.strategies_on", lambda kind: ("fedavg",))
    outcome = conductor(tmp_path).conduct(EXPERIMENTS["tune"])
    scores = {row[2]: row[3] for row in outcome.tables[0].rows if row[0] == "stream"}
    best = max(scores, key=lambda words: float(scores[words] or 0))
    tuned = read_tuned(tmp_path / "tune" / "tuned.json")
    assert tuned.settings("fedavg", "stream") == {"strategy.learning_rate": str(best).split()[-1]}
    assert tuned.best_rival("stream") == "fedavg"
    records = read_records(tmp_path / "tune").values()
    assert {record.summary["seed"] for record in records} == {0}  # judged on by nobody


@pytest.mark.parametrize("content", ["{}", '{"choices": 1, "accuracies": {}}', "nonsense"])
def test_a_file_that_is_no_choice_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tuned.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"tuned\.json"):
        read_tuned(path)
    with pytest.raises(InputError, match="no such file"):
        read_tuned(tmp_path / "absent.json")


def test_nothing_is_tuned_by_default() -> None:
    assert not Tuned()
    assert Tuned().best_rival("stream") in ("fedavg",)
