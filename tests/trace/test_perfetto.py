"""The Perfetto export: valid against the trace-event format, and readable."""

import json
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import jsonschema
import pytest

from hfedms_sim.loading import load_scenario
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import run
from hfedms_sim.trace import export_trace

COMMON = {"name": {"type": "string", "minLength": 1}, "pid": {"type": "integer"}, "tid": {"type": "integer"}}
TIME = {"type": "number", "minimum": 0}


def event(phase: str, required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["name", "ph", "pid", "tid", *required],
        "properties": COMMON | {"ph": {"const": phase}} | properties,
        "additionalProperties": False,
    }


ARGS, CATEGORY = {"type": "object", "minProperties": 1}, {"enum": ["round", "transfer", "work", "fault"]}
METADATA_NAMES = ["process_name", "process_sort_index", "thread_name", "thread_sort_index"]
# The phases of the Trace Event Format that the export uses: complete, async begin and end, instant, counter, metadata.
SCHEMA = {
    "type": "object",
    "required": ["traceEvents"],
    "properties": {
        "displayTimeUnit": {"enum": ["ms", "ns"]},
        "traceEvents": {
            "type": "array",
            "items": {
                "oneOf": [
                    event("X", ["ts", "dur", "cat", "args"], ts=TIME, dur=TIME, cat=CATEGORY, args=ARGS),
                    event("b", ["ts", "cat", "id", "args"], ts=TIME, cat=CATEGORY, id={"type": "integer"}, args=ARGS),
                    event("i", ["ts", "cat", "s", "args"], ts=TIME, cat=CATEGORY, s={"enum": ["t", "p"]}, args=ARGS),
                    event("e", ["ts", "cat", "id"], ts=TIME, cat=CATEGORY, id={"type": "integer"}),
                    event(
                        "C", ["ts", "args"], ts=TIME, args={"additionalProperties": {"type": "number", "minimum": 0}}
                    ),
                    event("M", ["args"], name={"enum": METADATA_NAMES}, args=ARGS),
                ]
            },
        },
    },
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    out = tmp_path_factory.mktemp("perfetto") / "out"
    return run(load_scenario("paper-stream", rounds=5), timing_only=True, out=out)


@pytest.fixture(scope="module")
def document(result: RunResult) -> Any:
    assert result.directory is not None
    return json.loads(export_trace(result.directory, "perfetto").read_text())


@pytest.fixture(scope="module")
def events(document: Any) -> list[dict[str, Any]]:
    return list(document["traceEvents"])


def names(events: list[dict[str, Any]], kind: str) -> dict[tuple[int, int], str]:
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == kind}


def test_five_rounds_of_paper_stream_are_valid_trace_events(document: Any) -> None:
    jsonschema.validate(document, SCHEMA)


def test_server_cell_and_sensors_have_readable_tracks(events: list[dict[str, Any]]) -> None:
    assert set(names(events, "process_name").values()) == {"server", "cell hall", "sensors"}
    threads = names(events, "thread_name").values()
    assert "rounds" in threads
    assert {f"sensor {sensor} uplink" for sensor in range(368)} <= set(threads)
    asynchronous = {(e["pid"], e["name"]) for e in events if e["ph"] == "b"}
    (cell,) = {pid for pid, _ in asynchronous}
    assert asynchronous == {(cell, "uplink"), (cell, "downlink")}


def test_every_slice_stands_on_a_named_track(events: list[dict[str, Any]]) -> None:
    threads, processes = names(events, "thread_name"), {pid for pid, _ in names(events, "process_name")}
    assert all((e["pid"], e["tid"]) in threads for e in events if e["ph"] == "X")
    assert all(e["pid"] in processes for e in events)


def test_every_transfer_round_and_work_is_there(events: list[dict[str, Any]], result: RunResult) -> None:
    slices = Counter(e["cat"] for e in events if e["ph"] == "X")
    assert slices == {"round": 5, "transfer": len(result.transfers), "work": len(result.work)}
    begun = {e["id"]: e["ts"] for e in events if e["ph"] == "b"}
    ended = {e["id"]: e["ts"] for e in events if e["ph"] == "e"}
    assert set(begun) == set(ended) == set(result.transfers["transfer"])
    assert all(begun[transfer] <= ended[transfer] for transfer in begun)
    last_s = max(e["ts"] + e["dur"] for e in events if e["ph"] == "X") / 1e6
    assert last_s == pytest.approx(result.summary["simulated_s"])


def test_slices_of_one_track_do_not_overlap(events: list[dict[str, Any]]) -> None:
    """Perfetto drops slices of a thread that overlap without nesting."""
    tracks = defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            tracks[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
    for spans in tracks.values():
        spans.sort()
        assert all(end <= start + 1e-3 for (_, end), (start, _) in pairwise(spans))


def test_the_counter_of_active_transfers_returns_to_zero(events: list[dict[str, Any]]) -> None:
    counters = defaultdict(list)
    for e in events:
        if e["ph"] == "C":
            counters[e["name"]].append(e["args"]["transfers"])
    assert set(counters) == {"active uplinks", "active downlinks"}
    assert all(values[-1] == 0 and max(values) > 0 for values in counters.values())


FAULTS: list[dict[str, Any]] = [
    {"kind": "cell-outage", "mean_up_s": 60.0, "mean_down_s": 10.0},
    {"kind": "backbone-outage", "mean_up_s": 60.0, "mean_down_s": 10.0},
    {"kind": "sensor-crash", "mean_up_s": 60.0, "mean_down_s": 30.0},
    {"kind": "transfer-loss", "probability": 0.2},
]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunResult, Any]:
    """Return a run in which a lot goes wrong, and its document."""
    changes = {"faults": FAULTS, "sensors.count": 12, "compute.device": "mcu", "recovery.timeout_s": 15.0}
    scenario = load_scenario("quickstart", strategy="hfedms-s", profile="wifi-halow", rounds=6, overrides=changes)
    result = run(scenario, timing_only=True, out=tmp_path_factory.mktemp("broken") / "out")
    assert result.directory is not None
    return result, json.loads(export_trace(result.directory, "perfetto").read_text())


def test_a_run_with_faults_is_valid_and_on_named_tracks(broken: tuple[RunResult, Any]) -> None:
    _, document = broken
    jsonschema.validate(document, SCHEMA)
    test_every_slice_stands_on_a_named_track(document["traceEvents"])
    test_slices_of_one_track_do_not_overlap(document["traceEvents"])
    test_the_counter_of_active_transfers_returns_to_zero(document["traceEvents"])


def test_what_was_lost_or_aborted_says_so_in_its_name(broken: tuple[RunResult, Any]) -> None:
    result, document = broken
    slices = [e for e in document["traceEvents"] if e["ph"] == "X" and e["cat"] in ("transfer", "work")]
    for rows, category in ((result.transfers, "transfer"), (result.work, "work")):
        for outcome in ("lost", "aborted"):
            found = [e for e in slices if e["cat"] == category and e["name"].endswith(f", {outcome}")]
            assert len(found) == (rows["outcome"] == outcome).sum()
    assert {"ok", "lost", "aborted"} == set(result.transfers["outcome"])


def test_faults_are_instants_on_the_track_of_what_they_hit(broken: tuple[RunResult, Any]) -> None:
    result, document = broken
    processes, threads = (names(document["traceEvents"], f"{kind}_name") for kind in ("process", "thread"))
    instants = [e for e in document["traceEvents"] if e["ph"] == "i"]
    assert len(instants) == len(result.faults) > 0
    for instant, row in zip(instants, result.faults.to_dict("records"), strict=True):
        entity = row["entity"]
        assert instant["ts"] == pytest.approx(1e6 * row["time_s"])
        assert row["kind"] in instant["name"]
        if entity.startswith("sensor "):
            assert threads[instant["pid"], instant["tid"]] == f"{entity} work"
        elif entity.startswith("cell "):
            assert processes[instant["pid"], 0] == entity
        else:
            assert (processes[instant["pid"], 0], entity in instant["name"]) == ("server", True)
    assert {row.split()[0] for row in result.faults["entity"]} >= {"sensor", "cell", "backbone"}
