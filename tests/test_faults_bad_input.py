"""Faults, rosters and recoveries that cannot be: one line, exit code 2, nothing written. And some that can."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from hfedms_sim.cli import main

BASE: dict[str, Any] = {
    "name": "bad",
    "rounds": 3,
    "model": "tiny-mlp",
    "sensors": {"count": 4},
    "cells": [{"name": "hall", "profile": "ethernet"}, {"name": "yard", "profile": "ethernet"}],
    "strategy": {"name": "fedavg", "sample_ratio": 1.0},
}
LONGEST_WALL_S = 120  # not how long it takes: a hang, on a busy machine too


@pytest.fixture(autouse=True)
def _never_a_hang() -> Iterator[None]:
    class TookTooLong(BaseException):
        pass

    def ring(*_: object) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(LONGEST_WALL_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def command(directory: Path, *options: str, **keys: Any) -> Result:
    path = directory / "bad.yaml"
    path.write_text(yaml.safe_dump(BASE | keys))
    run = ["run", str(path), "--timing-only", "--quiet", "--out", str(directory / "out"), *options]
    return CliRunner().invoke(main, run)


def error_of(result: Result) -> str:
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("error: ")
    assert "Traceback" not in line
    assert len(line) < 1_000
    return line


def assert_stalled(result: Result, directory: Path) -> dict[str, Any]:
    """Check that a run came to an end of its own, and return its summary: the directory is complete."""
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code == 1, result.output
    (line,) = result.stderr.strip().splitlines()
    assert "stalled" in line
    summary: dict[str, Any] = json.loads((directory / "out" / "summary.json").read_text())
    assert summary["stopped"]["reason"] == "stalled"
    return summary


def spell(kind: str = "sensor-outage", **keys: Any) -> dict[str, Any]:
    return {"kind": kind} | keys


def roster(**shift: Any) -> dict[str, Any]:
    return {"kind": "roster", "groups": [{"sensors": 4, "from_h": 6, "hours": 8} | shift]}


SLOW = {"name": "slow", "uplink_bps": 1e3, "downlink_bps": 1e3}

BAD_FAULTS: dict[str, list[Any]] = {
    "unknown kind": [spell("cell-outrage", at_s=1.0, for_s=1.0)],
    "no kind": [{"at_s": 1.0, "for_s": 1.0}],
    "unknown cell": [spell("cell-outage", cell="hal", at_s=1.0, for_s=1.0)],
    "sensor number out of range": [spell(sensors=[4], at_s=1.0, for_s=1.0)],
    "negative sensor number": [spell(sensors=[-1], at_s=1.0, for_s=1.0)],
    "negative begin": [spell(at_s=-1.0, for_s=1.0)],
    "negative length": [spell(at_s=1.0, for_s=-1.0)],
    "no length at all": [spell(at_s=1.0, for_s=0.0)],
    "not a number": [spell(at_s=float("nan"), for_s=1.0)],
    "endless number": [spell(at_s=1.0, for_s=float("inf"))],
    "both at a time and again and again": [spell(at_s=1.0, for_s=1.0, mean_up_s=10.0, mean_down_s=1.0)],
    "neither at a time nor again and again": [spell()],
    "a length without a begin": [spell(for_s=1.0)],
    "up without down": [spell(mean_up_s=10.0)],
    "down without up": [spell(mean_down_s=10.0)],
    "up for no time": [spell(mean_up_s=0.0, mean_down_s=1.0)],
    "a cell's key for sensors": [spell(cell="hall", at_s=1.0)],
    "sensors of a server": [spell("server-outage", sensors=[1], at_s=1.0)],
    "no sensors": [spell(sensors=[], at_s=1.0)],
    "a battery at a time": [spell("battery", at_s=1.0)],
    "loss without probability": [spell("transfer-loss")],
    "loss above one": [spell("transfer-loss", probability=1.5)],
    "shadowing without a share": [spell("shadowing", at_s=1.0)],
    "shadowing of everything": [spell("shadowing", at_s=1.0, rate_share=0.0)],
    "shadowing above one": [spell("shadowing", at_s=1.0, rate_share=2.0)],
    "straggler without a factor": [spell("straggler", at_s=1.0)],
    "straggler that never ends": [spell("straggler", at_s=1.0, factor=float("inf"))],
    "overlapping outages of one cell": [
        spell("cell-outage", cell="hall", at_s=10.0, for_s=10.0),
        spell("cell-outage", cell="hall", at_s=15.0, for_s=1.0),
    ],
    "overlapping outages of a cell and of each": [
        spell("cell-outage", at_s=10.0, for_s=10.0),
        spell("cell-outage", cell="yard", at_s=15.0, for_s=10.0),
    ],
    "overlapping outages of the server": [
        spell("server-outage", at_s=10.0),
        spell("server-outage", at_s=1e6, for_s=1.0),
    ],
    "overlapping crashes of one sensor": [
        spell("sensor-crash", sensors=[0, 1], at_s=10.0, for_s=10.0),
        spell("sensor-crash", sensors=[1, 2], at_s=12.0, for_s=1.0),
    ],
    "not a list": [3],
}
BAD_KEYS: dict[str, dict[str, Any]] = {
    "faults that are no list": {"faults": {"kind": "battery"}},
    "a roster without groups": {"availability": {"kind": "roster"}},
    "an empty roster": {"availability": {"kind": "roster", "groups": []}},
    "a roster of too few sensors": {"availability": roster(sensors=3)},
    "a shift at no hour": {"availability": roster(from_h=25)},
    "a shift of no hours": {"availability": roster(hours=0)},
    "a day that is none": {"availability": roster(days=["moon"])},
    "a negative holiday": {"availability": roster() | {"holidays": [-1]}},
    "an unknown availability": {"availability": {"kind": "rooster"}},
    "a file without a path": {"availability": {"kind": "csv"}},
    "a file that is missing": {"availability": {"kind": "csv", "path": "nothing.csv"}},
    "a negative timeout": {"recovery": {"timeout_s": -1.0}},
    "half a retry": {"recovery": {"retries": 0.5}},
    "an unknown way round a gap": {"recovery": {"on_gap": "jump"}},
    "no void round": {"recovery": {"void_rounds": 0}},
    "a deadline at once": {"deadline_s": 0.0},
    "a negative period": {"round_period_s": -1.0},
    "a quorum above one": {"quorum": 1.5},
    "a negative over-selection": {"strategy": {"name": "fedavg", "over_selection": -0.5}},
    "an unknown way through an outage": {"cells": [{"name": "hall", "profile": SLOW | {"on_outage": "stop"}}]},
}  # fmt: skip


@pytest.mark.parametrize("faults", BAD_FAULTS.values(), ids=BAD_FAULTS)
def test_a_bad_fault_is_refused_in_one_line(faults: list[Any], tmp_path: Path) -> None:
    line = error_of(command(tmp_path, faults=faults))
    assert "fault" in line
    assert [path.name for path in tmp_path.iterdir()] == ["bad.yaml"]


@pytest.mark.parametrize("keys", BAD_KEYS.values(), ids=BAD_KEYS)
def test_bad_settings_of_what_is_done_about_it_are_refused_in_one_line(keys: dict[str, Any], tmp_path: Path) -> None:
    line = error_of(command(tmp_path, **keys))
    (key,) = keys
    assert key in line or "nothing.csv" in line
    assert [path.name for path in tmp_path.iterdir()] == ["bad.yaml"]


def test_the_line_names_what_is_wrong(tmp_path: Path) -> None:
    assert "'cell-outrage'" in error_of(command(tmp_path, faults=BAD_FAULTS["unknown kind"]))
    assert "cell-outage" in error_of(command(tmp_path, faults=BAD_FAULTS["unknown kind"]))
    line = error_of(command(tmp_path, faults=BAD_FAULTS["unknown cell"]))
    assert "hal" in line
    assert "hall" in line
    assert "4" in error_of(command(tmp_path, faults=BAD_FAULTS["sensor number out of range"]))


PRESENCE = {
    "unsorted times": "sensor,from_s,until_s\n0,50,60\n0,10,20\n",
    "overlapping times": "sensor,from_s,until_s\n0,10,30\n0,20,40\n",
    "a time that ends before it begins": "sensor,from_s,until_s\n0,30,20\n",
    "a negative time": "sensor,from_s,until_s\n0,-5,20\n",
    "a sensor that is none": "sensor,from_s,until_s\n4,0,20\n",
    "a missing column": "sensor,from_s\n0,0\n",
    "no numbers": "sensor,from_s,until_s\n0,morning,evening\n",
    "NaN": "sensor,from_s,until_s\n0,nan,5\n",
    "an empty file": "",
    "bytes that are no text": "\udcff\udcfe",
}


@pytest.mark.parametrize("content", PRESENCE.values(), ids=PRESENCE)
def test_a_bad_presence_file_is_refused_in_one_line(content: str, tmp_path: Path) -> None:
    (tmp_path / "presence.csv").write_bytes(content.encode(errors="surrogateescape"))
    line = error_of(command(tmp_path, availability={"kind": "csv", "path": "presence.csv"}))
    assert "presence.csv" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.yaml", "presence.csv"]


def test_check_refuses_what_run_refuses(tmp_path: Path) -> None:
    for number, faults in enumerate(BAD_FAULTS.values()):
        path = tmp_path / f"{number}.yaml"
        path.write_text(yaml.safe_dump(BASE | {"faults": faults}))
        result = CliRunner().invoke(main, ["check", str(path)])
        assert result.exit_code == 2, faults
        assert "Traceback" not in result.output


# ---------------------------------------------------------------------------------------------- what is not refused

GOOD = {
    "an outage for ever": [spell(sensors=[1], at_s=1e6)],
    "two that touch": [spell(at_s=1.0, for_s=1.0), spell(at_s=2.0, for_s=1.0)],
    "two kinds at once": [spell(at_s=1.0, for_s=9.0), spell("sensor-crash", at_s=2.0, for_s=1.0)],
    "two sensors at once": [spell(sensors=[0], at_s=1.0, for_s=9.0), spell(sensors=[1], at_s=2.0, for_s=1.0)],
    "two cells at once": [spell("cell-outage", cell=cell, at_s=1.0, for_s=9.0) for cell in ("hall", "yard")],
    "cell and backbone together": [spell(kind, at_s=1.0, for_s=9.0) for kind in ("cell-outage", "backbone-outage")],
    "a loss that never happens": [spell("transfer-loss", probability=0.0)],
}


@pytest.mark.parametrize("faults", GOOD.values(), ids=GOOD)
def test_what_is_allowed_is_played(faults: list[Any], tmp_path: Path) -> None:
    result = command(tmp_path, faults=faults)
    assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["rounds"], summary["stopped"]) == (3, None)


ENDLESS: dict[str, dict[str, Any]] = {
    "no server from the start": {"faults": [spell("server-outage", at_s=0.0)]},
    "no backbone from the start": {"faults": [spell("backbone-outage", at_s=0.0)]},
    "no cell from the start": {"faults": [spell("cell-outage", at_s=0.0)]},
    "every transfer lost": {"faults": [spell("transfer-loss", probability=1.0)]},
}
REPORTING = {"name": "hfedms-s", "beta": 2, "sample_ratio": 1.0}


@pytest.mark.parametrize("kind", ["sensor-crash", "sensor-outage"])
def test_a_factory_without_anybody_from_the_start_is_refused(kind: str, tmp_path: Path) -> None:
    assert "leave nobody" in error_of(command(tmp_path, faults=[spell(kind, at_s=0.0)]))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "strategy", [BASE["strategy"], REPORTING, {"name": "hfedms-d", "beta": 2}], ids=lambda s: s["name"]
)
@pytest.mark.parametrize("keys", ENDLESS.values(), ids=ENDLESS)
def test_a_factory_that_will_never_do_anything_stalls(
    keys: dict[str, Any], strategy: dict[str, Any], tmp_path: Path
) -> None:
    """With a million rounds to play it would go on for ever, if nobody noticed. The directory is complete."""
    result = command(tmp_path, rounds=1_000_000, strategy=strategy, **keys)
    summary = assert_stalled(result, tmp_path)
    assert summary["rounds"] <= 100
    assert summary["bytes"]["up"] == 0 or strategy != BASE["strategy"]  # reports get as far as the base station


def test_a_factory_nobody_comes_back_to_stalls(tmp_path: Path) -> None:
    """By a file that has an end, and an announced absence from then on."""
    rows = "".join(f"{sensor},0,1\n" for sensor in range(4))
    (tmp_path / "presence.csv").write_text("sensor,from_s,until_s\n" + rows)
    away = {"kind": "csv", "path": "presence.csv"}
    result = command(tmp_path, rounds=1_000_000, availability=away)
    summary = assert_stalled(result, tmp_path)
    assert summary["rounds"] >= 1


def test_a_transfer_that_never_fits_between_two_absences_does_not_go_on_for_ever(tmp_path: Path) -> None:
    """A model takes minutes, the sensors are there for three seconds in ten, and the radio starts again each time.
    Nobody waits for longer than the timeout, so that the patience of the protocol never ends."""
    rows = "".join(f"{sensor},0,3\n" for sensor in range(4))
    (tmp_path / "presence.csv").write_text("sensor,from_s,until_s\n" + rows)
    away = {"kind": "csv", "path": "presence.csv", "repeat_s": 10.0}
    cells = [{"name": "hall", "profile": SLOW | {"on_outage": "restart"}}]
    result = command(tmp_path, cells=cells, availability=away)
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert (tmp_path / "out" / "summary.json").exists()


def test_a_roster_of_holidays_alone_is_waited_out(tmp_path: Path) -> None:
    """Nobody comes for a hundred days."""
    result = command(tmp_path, availability=roster() | {"holidays": list(range(100))})
    assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["simulated_s"] > 100 * 86_400


def test_a_run_that_stalled_can_be_opened_and_traced(tmp_path: Path) -> None:
    lost = [spell("transfer-loss", probability=1.0)]
    assert_stalled(command(tmp_path, rounds=5, faults=lost, recovery={"void_rounds": 2}), tmp_path)
    traced = CliRunner().invoke(main, ["trace", str(tmp_path / "out"), "--format", "csv"])
    assert traced.exit_code == 0, traced.output
