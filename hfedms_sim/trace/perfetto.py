"""A run in the Chrome trace-event format, which ui.perfetto.dev opens.

Tracks: the server's rounds; per cell the transfers of each direction (stacked, as they overlap) and a counter of
how many are active; per sensor its transfers and its work. What was lost or aborted says so in its name; faults are
instants on the track of the sensor or cell that they hit, or else on the server's. Simulated microseconds. Format:
"Trace Event Format", the Chromium project.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

Event = dict[str, Any]
Row = dict[str, Any]

SERVER_PID, ROUNDS_TID = 1, 1
SENSORS_PID = 2
FIRST_CELL_PID = 10
_DIRECTIONS = {"up": "uplink", "down": "downlink"}
_SENSOR = re.compile(r"sensor ([0-9]{1,18})")


def write_perfetto(tables: Mapping[str, pa.Table], path: Path) -> None:
    """Event by event, so that a long trace needs no more memory than its tables."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit": "ms", "traceEvents": [\n')
        separator = ""
        for event in perfetto_events(tables):
            file.write(separator + json.dumps(event, separators=(",", ":")))
            separator = ",\n"
        file.write("\n]}\n")


def perfetto_events(tables: Mapping[str, pa.Table]) -> Iterator[Event]:
    rounds, transfers, work, faults = (tables[name].to_pylist() for name in ("rounds", "transfers", "work", "faults"))
    faults = [row for row in faults if row["round"] > 0]  # before the first: who takes no part in the run
    failed_cells = (_cell_of(row["entity"]) for row in faults if row["entity"].startswith("cell "))
    names = dict.fromkeys([*(row["cell"] for row in transfers), *failed_cells])
    cells = {name: FIRST_CELL_PID + index for index, name in enumerate(names)}
    failed = {sensor for row in faults if (sensor := _sensor_of(row["entity"])) is not None}
    yield from _names(cells, failed | {row["sensor"] for row in transfers if row["sensor"] >= 0})
    for row in rounds:
        details = {key: row[key] for key in ("groups", "participants", "uplink_bytes", "downlink_bytes")}
        name = f"round {row['round']} {row['phase']}"
        yield _slice(name, "round", SERVER_PID, ROUNDS_TID, row["start_s"], row["end_s"], details)
    for row in transfers:
        yield from _transfer(row, cells[row["cell"]])
    yield from _active_counters(transfers, cells)
    for row in work:
        thread, details = _thread(row["sensor"], "work"), {"round": row["round"], "samples": row["samples"]}
        name = _with_outcome(row["kind"], row["outcome"])
        yield _slice(name, "work", SENSORS_PID, thread, row["start_s"], row["end_s"], details)
    for row in faults:
        yield _fault(row, cells)


def _fault(row: Row, cells: dict[str, int]) -> Event:
    """An instant; `s` is how far it reaches: over its thread, or its process."""
    name, (pid, tid, scope) = row["kind"], (SERVER_PID, ROUNDS_TID, "t")
    sensor = _sensor_of(row["entity"])
    if sensor is not None:
        pid, tid = SENSORS_PID, _thread(sensor, "work")
    elif row["entity"].startswith("cell "):
        pid, tid, scope = cells[_cell_of(row["entity"])], 0, "p"
    else:
        name = f"{row['entity']}: {row['kind']}"
    details = {key: row[key] for key in ("round", "entity", "detail")}
    return {
        "name": name, "cat": "fault", "ph": "i", "ts": _us(row["time_s"]), "s": scope,
        "pid": pid, "tid": tid, "args": details,
    }  # fmt: skip


def _cell_of(entity: str) -> str:
    """Return the name of a cell."""
    return entity.removeprefix("cell ")


def _sensor_of(entity: str) -> int | None:
    """Return the number of a sensor; None for what is none."""
    found = _SENSOR.fullmatch(entity)
    return None if found is None else int(found[1])


def _with_outcome(name: str, outcome: str | None) -> str:
    """Return the name with what became of it, unless it went well."""
    return name if outcome in (None, "ok") else f"{name}, {outcome}"


def _names(cells: dict[str, int], sensors: set[int]) -> Iterator[Event]:
    yield _metadata("process_name", SERVER_PID, 0, {"name": "server"})
    yield _metadata("process_sort_index", SERVER_PID, 0, {"sort_index": 0})
    yield _metadata("thread_name", SERVER_PID, ROUNDS_TID, {"name": "rounds"})
    for name, pid in cells.items():
        yield _metadata("process_name", pid, 0, {"name": f"cell {name}"})
        yield _metadata("process_sort_index", pid, 0, {"sort_index": 1})
    yield _metadata("process_name", SENSORS_PID, 0, {"name": "sensors"})
    yield _metadata("process_sort_index", SENSORS_PID, 0, {"sort_index": 2})
    for sensor in sorted(sensors):
        for kind in ("up", "down", "work"):
            thread = _thread(sensor, kind)
            yield _metadata(
                "thread_name", SENSORS_PID, thread, {"name": f"sensor {sensor} {_DIRECTIONS.get(kind, kind)}"}
            )
            yield _metadata("thread_sort_index", SENSORS_PID, thread, {"sort_index": thread})


def _thread(sensor: int, kind: str) -> int:
    """A sensor may send, receive and work at once: a thread for each, because slices of one thread must nest."""
    return 4 * sensor + {"up": 1, "down": 2, "work": 3}[kind]


def _transfer(row: Row, cell_pid: int) -> Iterator[Event]:
    """An async slice on its cell's track, and a slice on its sensor's."""
    details = {key: row[key] for key in ("round", "group", "hop", "source", "target", "bytes", "airtime_s", "outcome")}
    who = f"sensor {row['sensor']}" if row["sensor"] >= 0 else "everybody"
    shared = {
        "name": _DIRECTIONS[row["direction"]],
        "cat": "transfer",
        "id": row["transfer"],
        "pid": cell_pid,
        "tid": 0,
    }
    yield shared | {"ph": "b", "ts": _us(row["start_s"]), "args": {"sensor": who, "payload": row["payload"]} | details}
    yield shared | {"ph": "e", "ts": _us(row["end_s"])}
    if row["sensor"] >= 0:
        thread = _thread(row["sensor"], row["direction"])
        name = _with_outcome(row["payload"], row["outcome"])
        yield _slice(name, "transfer", SENSORS_PID, thread, row["start_s"], row["end_s"], details)


def _active_counters(transfers: list[Row], cells: dict[str, int]) -> Iterator[Event]:
    changes: dict[tuple[str, str], dict[float, int]] = {}
    for row in transfers:
        change = changes.setdefault((row["cell"], row["direction"]), {})
        change[row["start_s"]] = change.get(row["start_s"], 0) + 1
        change[row["end_s"]] = change.get(row["end_s"], 0) - 1
    for (cell, direction), change in changes.items():
        active = 0
        for time_s in sorted(change):
            active += change[time_s]
            name = f"active {_DIRECTIONS[direction]}s"
            yield {
                "name": name,
                "ph": "C",
                "ts": _us(time_s),
                "pid": cells[cell],
                "tid": 0,
                "args": {"transfers": active},
            }


def _slice(name: str, category: str, pid: int, tid: int, start_s: float, end_s: float, args: dict[str, Any]) -> Event:
    start_us = _us(start_s)
    return {
        "name": name, "cat": category, "ph": "X", "ts": start_us, "dur": _us(end_s) - start_us,
        "pid": pid, "tid": tid, "args": args,
    }  # fmt: skip


def _metadata(name: str, pid: int, tid: int, args: dict[str, Any]) -> Event:
    return {"name": name, "ph": "M", "pid": pid, "tid": tid, "args": args}


def _us(seconds: float) -> float:
    """Whole nanoseconds: what Perfetto keeps."""
    return round(seconds * 1e9) / 1e3
