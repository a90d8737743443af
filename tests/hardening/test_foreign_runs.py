"""Directories that somebody else made, or changed: what does not fit together is one line, and nothing is believed."""

import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hfedms_sim.lineage import Metrics
from hfedms_sim.lineage.metrics_log import MetricsLog
from hfedms_sim.simulation import run
from tests.conftest import some_of, tiny_scenario, without_checksums
from tests.hardening.attacked import hfedms_sim, refused, written

DELETED = object()
READERS = (
    ("show", "run"),
    ("explain", "run", "--no-what-ifs"),
    ("report", "run", "--quiet"),
    ("plot", "run", "--kind", "utilisation", "--out", "x.svg"),
)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run and a campaign of one trial, whose lists of checksums are gone: somebody may have changed them."""
    place = tmp_path_factory.mktemp("foreign")
    run(tiny_scenario(rounds=2), out=place / "run", timing_only=True)
    scenario = written(place / "s.yaml")
    compare = ("compare", str(scenario), "--timing-only", "--quiet", "--out", str(place / "out"))
    assert hfedms_sim(*compare).exit_code == 0
    for path in place.rglob("SHA256SUMS"):
        path.unlink()
    return place


@pytest.fixture(autouse=True)
def _in_a_directory_of_its_own(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(played, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


RUN = Path("run")
GO_ON = ("compare", "./s.yaml", "--timing-only", "--quiet", "--out", "out", "--resume")


def changed(path: Path, key: str, value: Any) -> None:
    """Write a JSON file again with one value changed, by its dotted key."""
    content = json.loads(path.read_text())
    *places, last = key.split(".")
    place = content
    for each in places:
        place = place[int(each)] if isinstance(place, list) else place[each]
    if value is DELETED:
        del place[last]
    else:
        place[last] = value
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("content", ['{"a": 1}', "[]", "{", '"[/x]"', '{"scenario": "[/x]"}', "", "\xff", "null"])
def test_a_summary_of_another_program_is_one_line_wherever_it_is_read(content: str) -> None:
    (RUN / "summary.json").write_bytes(content.encode("latin-1"))
    for command in READERS:
        assert "summary.json: damaged" in refused(*command)


SUMMARIES: dict[str, tuple[str, Any, int]] = {
    "a number of 400 digits": ("bytes.up", 10**400, 2),
    "text for a number": ("simulated_s", "long", 2),
    "not a number": ("simulated_s", float("nan"), 2),
    "infinite": ("energy_j", float("inf"), 2),
    "a cell of another factory": ("cells.0.name", "elsewhere", 2),
    "no cells": ("cells", DELETED, 0),
    "a target without costs": ("targets", [{"accuracy": 0.5, "round": 3, "simulated_s": None, "bytes": 1}], 2),
    "no wall time": ("wall_s", DELETED, 0),
    "a stop that is none": ("stopped", 5, 2),
    "a cause without words": ("limited_by.text", None, 2),
}


@pytest.mark.parametrize(("key", "value", "code"), SUMMARIES.values(), ids=SUMMARIES)
def test_a_summary_is_read_if_it_fits_and_refused_if_not(key: str, value: Any, code: int) -> None:
    changed(RUN / "summary.json", key, value)
    for command in READERS:
        done = hfedms_sim(*command)
        assert done.exit_code == code, done.output
        assert code == 0 or len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("timing_only", DELETED, 0),
        ("timing_only", "perhaps", 2),
        ("rounds_reused", "[/b]", 2),
        ("outside", 5, 2),
        ("outside", {"strategy": 5}, 2),
        ("versions", None, 0),
        ("command", ["\x1b[31m"], 0),
    ],
)
def test_a_provenance_is_read_if_it_fits_and_refused_if_not(key: str, value: Any, code: int) -> None:
    changed(RUN / "provenance.json", key, value)
    for command in READERS:
        assert hfedms_sim(*command).exit_code == code


TABLES: dict[str, tuple[str, str, Any]] = {
    "a direction that there is not": ("transfers", "direction", "sideways"),
    "a cell of another factory": ("transfers", "cell", "elsewhere"),
    "an outcome that there is not": ("transfers", "outcome", "[/b]"),
    "a sensor too many": ("transfers", "sensor", 10**6),
    "a sensor too few": ("transfers", "sensor", -(2**62)),
    "a time that is none": ("transfers", "end_s", float("nan")),
    "a time without an end": ("work", "end_s", float("inf")),
    "a round of another run": ("work", "round", 2**62),
    "a gap": ("rounds", "end_s", None),
    "a fault of nobody": ("faults", "entity", "sensor x"),
    "a phase that there is not": ("rounds", "phase", "\x1b[31m"),
}


@pytest.mark.parametrize(("table", "column", "value"), TABLES.values(), ids=TABLES)
def test_a_table_that_does_not_fit_is_no_traceback(table: str, column: str, value: Any) -> None:
    path = RUN / f"{table}.parquet"
    found = pq.read_table(path)
    if table == "faults":
        row = {"time_s": [1.0], "kind": ["x"], "entity": ["x"], "round": [1], "detail": ["x"]}
        found = pa.table(row, schema=found.schema)
    spoilt = pa.array([value, *found[column].to_pylist()[1:]], type=found.schema.field(column).type)
    pq.write_table(found.set_column(found.column_names.index(column), column, spoilt), path)
    exports = [("trace", "run", "--format", each, "--out", each) for each in ("csv", "perfetto")]
    for command in (*READERS, *exports):
        done = hfedms_sim(*command)
        assert done.exit_code in (0, 2), done.output
        assert done.exit_code == 0 or len(done.stderr.splitlines()) == 1


LINES: list[Any] = [
    5,
    [],
    {},
    {"lineage": "b"},
    {"lineage": ["b"], "finite": True},
    {"lineage": "b", "finite": "yes"},
    {"lineage": "b", "probe_round": None, "metrics": 5},
    {"lineage": "b", "probe_round": None, "metrics": []},
    {"lineage": "b", "probe_round": None, "metrics": [1.0] * 99},
    {"lineage": "b", "probe_round": None, "metrics": ["0.9"] * 6},
    {"lineage": "b", "probe_round": None, "metrics": [10**400] * 6},
    {"lineage": "b", "probe_round": {}, "metrics": [0.5] * 6},
    {"lineage": "b", "metrics": [0.5] * 6},
]


def with_checksum(content: bytes) -> bytes:
    return sha256(content).hexdigest()[:16].encode() + b" " + content + b"\n"


@pytest.mark.parametrize("content", [*(json.dumps(line).encode() for line in LINES), b"{", b"\xff", b"[" * 100_000])
def test_a_line_of_the_log_with_a_right_checksum_and_wrong_content_counts_as_not_written(content: bytes) -> None:
    log = MetricsLog(Path("metrics.log"))
    log.note_learnt(1, "a", True)
    log.note_metrics(1, "a", None, Metrics(0.5, 1.0))
    log.close()
    with Path("metrics.log").open("ab") as file:
        file.write(with_checksum(content))
    again = MetricsLog(Path("metrics.log"))
    assert again.damaged_lines == 1
    assert again.finite == {"a": True}
    assert list(again.metrics) == [("a", None)]


def test_a_run_goes_on_behind_a_log_that_somebody_wrote_into() -> None:
    command = ("run", f"./{written(Path('learning.yaml'), rounds=2)}", "--quiet", "--out", "learnt")
    assert hfedms_sim(*command).exit_code == 0
    with (without_checksums(Path("learnt")) / "learning" / "metrics.log").open("ab") as file:
        file.write(with_checksum(b'{"lineage": [], "finite": 1}'))
    done = hfedms_sim(*command, "--resume")
    assert done.exit_code == 0, done.output
    assert "1 damaged lines are skipped" in done.stderr


def test_a_summary_that_somebody_changed_is_not_believed_when_a_campaign_goes_on() -> None:
    sound = Path("out/comparison.csv").read_bytes()
    (trial,) = Path("out/trials").iterdir()
    changed(trial / "summary.json", "simulated_s", 1.0)
    assert hfedms_sim(*GO_ON).exit_code == 0
    assert Path("out/comparison.csv").read_bytes() == sound
    (Path("out/records") / f"{trial.name}.json").unlink()
    assert hfedms_sim(*GO_ON).exit_code == 0
    assert Path("out/comparison.csv").read_bytes() == sound


RECORDS: dict[str, tuple[str, Any]] = {
    "no summary": ("summary", {}),
    "a number of 400 digits": ("summary.bytes.up", 10**400),
    "text for a number": ("curve.simulated_s", ["soon"]),
    "a curve of nothing": ("curve", {}),
    "a provenance of words": ("provenance", {"timing_only": "perhaps"}),
    "a variant of numbers": ("variant", [[1, 2]]),
    "a nested summary": ("summary", [[]]),
}


@pytest.mark.parametrize("name", some_of(RECORDS, kept=("a curve of nothing", "a nested summary")))
def test_a_record_with_a_right_checksum_and_wrong_content_is_refused(name: str) -> None:
    key, value = RECORDS[name]
    (path,) = Path("out/records").iterdir()
    changed(path, key, value)
    content = json.loads(path.read_text())
    del content["sha256"]
    checksum = sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({"sha256": checksum} | content))
    assert "is not the record of a trial" in refused("show", "out")
    done = hfedms_sim(*GO_ON)
    assert done.exit_code == 0, done.output
    assert "the trial is played again" in done.stderr


@pytest.mark.parametrize("name", ["../../elsewhere", "a/b", "\x1b[31m", "", ".hidden"])
def test_a_campaign_whose_trials_lead_elsewhere_is_refused(name: str) -> None:
    content = json.loads(Path("out/campaign.json").read_text())
    content["trials"][name] = next(iter(content["trials"].values()))
    Path("out/campaign.json").write_text(json.dumps(content))
    for command in (("show", "out"), ("report", "out"), GO_ON):
        assert "campaign.json: damaged" in refused(*command)


@pytest.mark.parametrize("scenario", [5, None, [], {}, {"name": "[/x]"}, {"strategy": 5}, {"cells": [{}]}])
def test_a_campaign_whose_scenarios_are_none_is_refused(scenario: Any) -> None:
    content = json.loads(Path("out/campaign.json").read_text())
    content["trials"] = dict.fromkeys(content["trials"], scenario)
    Path("out/campaign.json").write_text(json.dumps(content))
    for command in (("show", "out"), ("show", "out", "--table", "trials"), GO_ON):
        assert refused(*command)
