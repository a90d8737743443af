"""A run that is as it was passes in all it holds; whatever was changed is found, also where there is no checksum."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file, save_file

from hfedms_sim import InputError, Verification, run, verify
from hfedms_sim.data import from_arrays
from hfedms_sim.integrity import At
from hfedms_sim.lineage import Metrics
from hfedms_sim.simulation import Progress, open_run
from hfedms_sim.system.checksums import Checksums, write_checksums
from hfedms_sim.trace import TABLES, export_trace
from tests.conftest import tiny_scenario, without_checksums
from tests.contracts.toy import DEVICES, write_toy

WILD = {"name": "fedavg", "learning_rate": 1e12}
STORM = [
    {"kind": "sensor-crash", "mean_up_s": 400.0, "mean_down_s": 300.0},
    {"kind": "cell-outage", "mean_up_s": 150.0, "mean_down_s": 30.0},
    {"kind": "transfer-loss", "probability": 0.05},
]
NOBODY = [{"kind": "server-outage", "mean_up_s": 1.0, "mean_down_s": 1e9}]
TRAINED: dict[str, dict[str, Any]] = {
    "plain": {"probe_round": 2, "evaluate_every": 2, "targets": [0.01, 0.99]},
    "at its target": {"stop_at": 0.001, "evaluate_every": 2},
    "out of time": {"stop_after_s": 100.0},
    "diverged": {"strategy": WILD},
    "in a storm": {"faults": STORM, "strategy": {"name": "fedavg", "sample_ratio": 0.5}, "deadline_s": 60.0},
    "without a barrier": {"strategy": {"name": "fedbuff"}},
    "stalled": {"faults": NOBODY, "recovery": {"void_rounds": 2, "timeout_s": 5.0}},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained run, to be copied."""
    out = tmp_path_factory.mktemp("runs") / "one"
    run(tiny_scenario(rounds=5, **TRAINED["plain"]), out=out)
    return out


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished, tmp_path / "copy")


@pytest.fixture
def early(copy: Path) -> Path:
    """The same without checksums, as earlier versions left it."""
    return without_checksums(copy)


def only_problem(found: Verification) -> str:
    (line,) = found.problems
    return line


def contents(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


# ------------------------------------------------------------------------------------------------------ all is well


@pytest.mark.parametrize("kind", TRAINED)
def test_a_trained_run_is_sound_however_it_ended_and_is_left_as_it_is(kind: str, tmp_path: Path) -> None:
    played = run(tiny_scenario(**TRAINED[kind]), out=tmp_path / "run")
    stopped = played.summary["stopped"]
    reasons = {"at its target": "target", "out of time": "time", "diverged": "diverged", "stalled": "stalled"}
    assert (None if stopped is None else stopped["reason"]) == reasons.get(kind)
    before = contents(tmp_path / "run")
    found = verify(tmp_path / "run")
    assert (found.problems, found.notes) == ((), ())
    assert found.is_sound
    assert f"{played.summary['rounds']} rounds replayed" in found.checks[-1].line
    assert contents(tmp_path / "run") == before


def test_a_run_that_has_learnt_from_another_is_sound(tmp_path: Path) -> None:
    run(tiny_scenario(), out=tmp_path / "first")
    other = tiny_scenario(cells=[{"name": "hall", "profile": {"name": "r", "uplink_bps": 1e5, "downlink_bps": 1e5}}])
    assert run(other, out=tmp_path / "second", learn_from=[tmp_path / "first"]).provenance["rounds_trained"] == 0
    found = verify(tmp_path / "second")
    assert (found.problems, found.notes) == ((), ())
    assert any("no state of its round is kept here" in check.line for check in found.checks)


def test_it_tells_how_many_rounds_are_replayed_and_every_check_as_it_is_done(tmp_path: Path) -> None:
    run(tiny_scenario(), timing_only=True, out=tmp_path / "run")
    heard: list[str] = []
    at: list[At] = []
    found = verify(tmp_path / "run", on_check=lambda check: heard.append(str(check)), on_progress=at.append)
    assert heard == [str(check) for check in found.checks]
    assert len(heard) == 3
    assert at == [At(number, 6, "rounds") for number in range(1, 7)]


def test_without_a_replay_nothing_is_played(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hfedms_sim.integrity.runs.replay", lambda *_, **__: pytest.fail("was played"))
    assert verify(copy, replay=False).is_sound


# ------------------------------------------------------------------------------------------------- against the list


def test_files_that_are_changed_missing_not_listed_and_nobodys_are_told_apart(copy: Path) -> None:
    lines = (copy / "SHA256SUMS").read_text().splitlines(keepends=True)
    (copy / "SHA256SUMS").write_text("".join(line for line in lines if "captures" not in line))
    export_trace(copy, "perfetto")
    (copy / "work.parquet").write_bytes((copy / "work.parquet").read_bytes() + b" ")
    (copy / "sensors.parquet").unlink()
    found = verify(copy)
    assert found.problems == (
        f"{copy}/sensors.parquet: damaged (it is missing, and SHA256SUMS lists it)",
        f"{copy}/work.parquet: damaged (its checksum in SHA256SUMS does not match)",
        f"{copy}/captures.parquet: SHA256SUMS does not list it",
    )
    assert found.notes == (f"{copy}: trace.perfetto.json is not listed, and not looked at",)


def test_what_was_exported_into_a_run_is_a_note(copy: Path) -> None:
    export_trace(copy, "csv")
    found = verify(copy, replay=False)
    assert found.is_sound
    (line,) = found.notes
    assert line == (
        f"{copy}: trace-csv/captures.csv, trace-csv/faults.csv, trace-csv/rounds.csv and 3 more are not listed,"
        " and not looked at"
    )


def test_a_list_that_cannot_be_read_is_the_problem(copy: Path) -> None:
    (copy / "SHA256SUMS").write_text("?")
    assert only_problem(verify(copy)).startswith(f"{copy}/SHA256SUMS: damaged")


def test_a_run_whose_summary_is_gone_is_damaged_not_unknown(copy: Path) -> None:
    (copy / "summary.json").unlink()
    assert "summary.json: damaged (it is missing" in only_problem(verify(copy))


# ------------------------------------------------------------------------------------------------------- by content


def test_a_run_of_an_earlier_version_has_no_list_which_is_a_note_and_all_else_is_looked_at(early: Path) -> None:
    found = verify(early)
    assert found.is_sound
    (line,) = found.notes
    assert line.startswith(f"{early}: has no SHA256SUMS")
    assert "5 rounds replayed" in found.checks[-1].line


def change_table(directory: Path, name: str, column: str, change: Callable[[Any], Any]) -> None:
    """Change the third value of a column."""
    path = directory / f"{name}.parquet"
    table = pq.read_table(path)
    values = table[column].to_pylist()
    values[2] = change(values[2])
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, column, pa.array(values, table.schema.field(column).type)), path)


@pytest.mark.parametrize(
    ("name", "column", "change", "said"),
    [
        ("transfers", "end_s", lambda value: value + 1e-9, "a replay does not agree: transfers.end_s is"),
        ("work", "samples", lambda value: value + 1, "a replay does not agree: work.samples is"),
        ("captures", "captured", lambda value: value - 1, "a replay does not agree: captures.captured is"),
        ("sensors", "airtime_s", lambda value: None, "airtime_s has gaps"),
        ("rounds", "start_s", lambda value: value * 2, "a replay does not agree: rounds.start_s is"),
        ("rounds", "void", lambda value: not value, "a replay does not agree: rounds.void is True in row 2"),
        ("rounds", "lineage", lambda value: value[::-1], "the lineage of round 3 does not follow"),
    ],
)
def test_a_changed_table_does_not_agree_with_a_replay(
    early: Path, name: str, column: str, change: Callable[[Any], Any], said: str
) -> None:
    change_table(early, name, column, change)
    assert said in only_problem(verify(early))


def test_a_table_with_fewer_rows_does_not_agree_with_a_replay(early: Path) -> None:
    pq.write_table(pq.read_table(early / "work.parquet")[:-1], early / "work.parquet")
    assert "a replay does not agree: work has" in only_problem(verify(early))


@pytest.mark.parametrize(
    ("column", "change", "said"),
    [
        ("uplink_bytes", lambda value: value + 1, "summary.json says bytes.up = "),
        ("accuracy", lambda value: 0.5, "metrics.log: does not say what rounds.parquet does of round 3"),
    ],
)
def test_changed_rounds_do_not_agree_with_the_summary_or_the_log(
    early: Path, column: str, change: Callable[[Any], Any], said: str
) -> None:
    change_table(early, "rounds", column, change)
    assert any(said in line for line in verify(early, replay=False).problems)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("rounds", 4, "summary.json says rounds = 4, rounds.parquet 5"),
        ("simulated_s", 1.0, "summary.json says simulated_s = 1.0"),
        ("final_accuracy", 0.9, "summary.json says final_accuracy = 0.9"),
        ("best_accuracy", 0.9, "summary.json says best_accuracy = 0.9"),
        ("final_loss", 0.0, "summary.json says final_loss = 0.0"),
        ("lineage", "0" * 64, "summary.json says lineage = "),
    ],
)
def test_a_changed_summary_does_not_agree_with_the_rounds(early: Path, key: str, value: Any, said: str) -> None:
    summary = json.loads((early / "summary.json").read_text())
    (early / "summary.json").write_text(json.dumps(summary | {key: value}))
    assert said in only_problem(verify(early, replay=False))


@pytest.mark.parametrize("key", ["round", "simulated_s", "bytes"])
def test_what_a_target_took_is_that_of_its_round(early: Path, key: str) -> None:
    summary = json.loads((early / "summary.json").read_text())
    assert summary["targets"][0]["round"] is not None
    summary["targets"][0][key] += 1
    (early / "summary.json").write_text(json.dumps(summary))
    assert f"summary.json says targets.0.01.{key} = " in only_problem(verify(early, replay=False))


def test_a_figure_that_no_table_has_does_not_agree_with_a_replay(early: Path) -> None:
    summary = json.loads((early / "summary.json").read_text())
    summary["closed_form"]["bytes"] += 1
    (early / "summary.json").write_text(json.dumps(summary))
    assert "a replay does not agree: summary.closed_form.bytes is" in only_problem(verify(early))
    assert verify(early, replay=False).is_sound


def test_a_changed_model_is_not_that_of_the_state_that_is_kept(early: Path) -> None:
    path = early / "learning" / "model.safetensors"
    weights = load_file(path)
    name = next(iter(weights))
    save_file(weights | {name: np.nextafter(weights[name], np.float32(9))}, path)
    assert "model.safetensors: is not the model of the state that is kept after round 5" in only_problem(verify(early))


def test_a_changed_state_is_found_by_its_own_checksum(early: Path) -> None:
    (state, *_) = sorted((early / "learning").glob("*/*.safetensors"))
    content = bytearray(state.read_bytes())
    content[-1] ^= 1
    state.write_bytes(content)
    found = verify(early, replay=False)
    assert only_problem(found) == f"{state}: damaged (its checksum does not match)"


def test_changed_settings_at_the_root_and_a_damaged_line_of_the_log_are_found(early: Path) -> None:
    root, log = early / "learning" / "root.json", early / "learning" / "metrics.log"
    root.write_text(root.read_text().replace('"threads": 1', '"threads": 2'))
    log.write_text(log.read_text() + "0123 {}\n")
    found = verify(early, replay=False)
    assert only_problem(found).startswith(f"{root}: damaged")
    assert found.notes[1] == f"{log}: 1 damaged lines count as not written"


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("seed: 1\n", "seed: 3\n", "its scenario is not what was trained: seed was 1, is 3"),
        ("learning_rate: 0.01\n", "learning_rate: 0.02\n", "strategy.learning_rate was 0.01, is 0.02"),
        ("uplink_bps: 8000.0\n", "uplink_bps: 8008.0\n", "a replay does not agree: rounds.start_s is"),
    ],
)
def test_a_changed_scenario_is_not_what_was_trained_or_plays_otherwise(
    early: Path, was: str, now: str, said: str
) -> None:
    text = (early / "scenario.yaml").read_text()
    assert was in text
    (early / "scenario.yaml").write_text(text.replace(was, now))
    assert said in only_problem(verify(early))


@pytest.mark.parametrize("name", ["scenario.yaml", "provenance.json", "summary.json", "faults.parquet"])
def test_a_file_that_cannot_be_read_is_a_problem_where_there_is_no_list(early: Path, name: str) -> None:
    (early / name).write_text("{")
    assert name in only_problem(verify(early, replay=False))


# ------------------------------------------------------------------------------------------- what cannot be replayed


def test_an_earlier_version_is_compared_in_the_columns_that_it_has(early: Path) -> None:
    for name, table in TABLES.items():
        added = [each.name for each in table.columns if each.is_nullable and each.name not in Metrics._fields]
        assert added or name == "faults" or name == "captures"
        pq.write_table(pq.read_table(early / f"{name}.parquet").drop_columns(added), early / f"{name}.parquet")
    (early / "sensors.parquet").unlink()
    assert verify(early).is_sound
    change_table(early, "transfers", "end_s", lambda value: value + 1)
    assert "transfers.end_s" in only_problem(verify(early))


def test_another_version_of_the_package_may_differ_which_is_a_note(early: Path) -> None:
    provenance = json.loads((early / "provenance.json").read_text())
    provenance["versions"]["hfedms_sim"] = "0.0.1"
    (early / "provenance.json").write_text(json.dumps(provenance))
    assert verify(early).is_sound
    change_table(early, "work", "end_s", lambda value: value + 1)
    found = verify(early)
    assert found.is_sound
    assert "a replay does not agree: work.end_s is" in found.notes[-1]
    assert "it was made with hfedms_sim 0.0.1 (here" in found.notes[-1]


def test_a_lineage_can_be_followed_on_another_machine_and_with_another_torch(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tiny_scenario(), timing_only=True, out=tmp_path / "timed")
    monkeypatch.setattr("hfedms_sim.simulation.session.instruction_set", lambda engine: "abacus")
    for directory in (copy, tmp_path / "timed"):
        found = verify(directory)
        assert (found.problems, found.notes) == ((), ())


def test_data_that_are_gone_or_others_by_now_are_not_replayed(tmp_path: Path) -> None:
    toy = write_toy(tmp_path / "toy.npz")
    data = {"set": "npz", "path": str(toy)}
    run(tiny_scenario(rounds=2, sensors={"count": DEVICES}, data=data, stream={"batch": 5}), out=tmp_path / "run")
    assert verify(tmp_path / "run").notes == ()
    arrays = dict(np.load(toy))
    np.savez(toy, **{name: values[::-1] if name == "images" else values for name, values in arrays.items()})
    (line,) = verify(tmp_path / "run").notes
    assert "cannot be replayed here: its data or code have changed since (data.sha256 was" in line
    toy.unlink()
    (line,) = verify(tmp_path / "run").notes
    assert f"cannot be replayed here: {toy}: no such file" in line
    assert verify(tmp_path / "run").is_sound


def test_data_that_were_an_object_are_not_replayed(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    mine = from_arrays(random.normal(size=(400, 1, 28, 28)), np.arange(400) % 62, device=np.arange(400) % 8)
    run(tiny_scenario(rounds=1), data=mine, out=tmp_path / "run")
    found = verify(tmp_path / "run")
    assert found.is_sound
    assert "was passed as an object" in found.notes[0]


@pytest.mark.parametrize("has_list", [True, False])
def test_a_strategy_that_is_not_known_here_is_a_note_and_one_that_nobody_named_is_damage(
    copy: Path, has_list: bool
) -> None:
    directory = copy if has_list else without_checksums(copy)
    scenario, provenance = directory / "scenario.yaml", directory / "provenance.json"
    scenario.write_text(scenario.read_text().replace("name: hfedms-d", "name: theirs"))
    content = json.loads(provenance.read_text())
    provenance.write_text(json.dumps(content | {"outside": {"strategy": "their.module:Theirs"}}))
    if has_list:
        write_checksums(directory, Checksums(directory).listed() or {})
    found = verify(directory)
    assert found.is_sound
    assert "needs the strategy 'theirs'" in found.notes[-1]
    if not has_list:
        provenance.write_text(json.dumps(content))
        assert "theirs" in only_problem(verify(directory))


# --------------------------------------------------------------------------------------------------------- bad input


def test_what_is_no_run_and_what_is_not_finished_is_refused(tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(InputError, match="no such directory"):
        verify(tmp_path / "nothing")
    with pytest.raises(InputError, match="is neither a run nor a campaign"):
        verify(tmp_path)
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  of a stranger\n")
    with pytest.raises(InputError, match="is neither a run nor a campaign"):
        verify(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(tiny_scenario(), timing_only=True, out=tmp_path / "run", on_round=interrupt)
    with pytest.raises(InputError, match="is not a finished run; --resume goes on with it"):
        verify(tmp_path / "run")


def test_what_is_verified_can_be_opened(copy: Path) -> None:
    assert verify(str(copy)).directory == copy
    assert len(open_run(copy).rounds) == 5
