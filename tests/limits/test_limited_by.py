"""Factories made so that it is known what limits them: `limited_by` must say so, with the right place."""

from pathlib import Path
from typing import Any

import pytest

from hfedms_sim.limits import CAUSES
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import run
from tests.conftest import tiny_scenario

EVERYBODY = {"name": "fedavg", "sample_ratio": 1.0}
BROAD = {"name": "broad", "uplink_bps": 8e6, "downlink_bps": 8e6, "channels": "dedicated"}
BUDGET = {"carrier_ghz": 0.8, "bandwidth_hz": 1e6, "device_power_dbm": 23.0, "base_power_dbm": 30.0}
BLOCKS = {"uplink_bits": 800, "downlink_bits": 800, "error_rate": 0.3}
LORA_LIKE = {
    "name": "lora-like", "uplink_bps": 5e3, "downlink_bps": 5e3, "channels": 8,
    "frames": {
        "uplink_payload_bytes": 200, "downlink_payload_bytes": 200, "uplink_frame_s": 0.3, "downlink_frame_s": 0.3,
        "uplink_silence_s": 29.7, "downlink_silence_s": 2.7,
    },
}  # fmt: skip


def scenario(profile: dict[str, Any], **changes: Any) -> Scenario:
    return tiny_scenario(
        **{"rounds": 3, "strategy": EVERYBODY, "cells": [{"name": "hall", "profile": profile}]} | changes
    )


def limited(made: Scenario) -> dict[str, Any]:
    found = run(made, timing_only=True, allow_infeasible=True).summary["limited_by"]
    assert found["cause"] in CAUSES
    shares = [each["share"] for each in found["shares"]]
    assert sum(shares) == pytest.approx(1)
    assert found["share"] == max(shares)
    return dict(found)


def test_a_full_downlink() -> None:
    """Eight models of 54 kB come down at 8 kbit/s, one after the other in effect; up there is room for all."""
    found = limited(scenario({"name": "asymmetric", "uplink_bps": 8e6, "downlink_bps": 8e3}))
    assert (found["cause"], found["detail"]["cell"], found["detail"]["direction"]) == ("cell direction", "hall", "down")
    assert found["share"] > 0.99
    assert found["text"].startswith("transfers that wait for each other, most in downlink of hall (")


def test_a_full_uplink() -> None:
    found = limited(scenario({"name": "asymmetric", "uplink_bps": 8e3, "downlink_bps": 8e6}))
    assert (found["cause"], found["detail"]["direction"]) == ("cell direction", "up")


@pytest.mark.parametrize("sharing", ["fair", "fifo"])
def test_one_airtime_for_both_directions_is_named_as_such(sharing: str) -> None:
    half = {"name": "half", "uplink_bps": 8e3, "downlink_bps": 8e3, "duplex": "cell-half", "sharing": sharing}
    found = limited(scenario(half))
    assert (found["cause"], found["detail"]["direction"]) == ("cell direction", "both")


def slow_sensor(tmp_path: Path) -> Scenario:
    """Seven sensors stand beside the base station, the sixth of eight where a hundredth of the rate is left."""
    places = tmp_path / "places.csv"
    places.write_text("sensor,x_m,y_m\n" + "".join(f"{n},{900 if n == 5 else 11 + n},10\n" for n in range(8)))
    hall = {"kind": "csv", "path": str(places), "width_m": 1000.0, "length_m": 20.0, "environment": "SL"}
    classes = [
        {"coupling_loss_db": 95.0, "uplink_bps": 8e6, "downlink_bps": 8e6},
        {"coupling_loss_db": 250.0, "uplink_bps": 8e4, "downlink_bps": 8e4},
    ]
    profile = BROAD | {"channels": 1, "budget": BUDGET, "repetitions": classes}
    cells = [{"name": "hall", "profile": profile, "x_m": 10.0, "y_m": 10.0}]
    return scenario(profile, cells=cells, sensors={"count": 8, "placement": hall})


def test_a_slow_sensor(tmp_path: Path) -> None:
    found = limited(slow_sensor(tmp_path))
    assert (found["cause"], found["detail"]["sensor"]) == ("sensor rate", 5)
    assert found["text"].startswith("slow rate of sensor 5")


def test_a_lone_transfer_at_full_rate_is_limited_by_what_one_sensor_may_send() -> None:
    found = limited(scenario(BROAD))
    assert found["cause"] == "sensor rate"
    assert found["text"].startswith("rate of one device")


def test_the_duty_cycle_of_sensors() -> None:
    """A frame up every 30 s; down one every 3 s."""
    found = limited(scenario(LORA_LIKE, sensors={"count": 2}))
    assert (found["cause"], found["detail"]["direction"]) == ("duty cycle", "up")
    assert found["detail"]["sensor"] in (0, 1)


def test_the_duty_cycle_of_a_gateway() -> None:
    """Each of 40 sensors waits for the gateway's silences behind those before it."""
    found = limited(scenario(LORA_LIKE, sensors={"count": 40}))
    assert (found["cause"], found["detail"]["direction"], found["detail"]["sensor"]) == ("duty cycle", "down", None)
    assert "base station" in found["text"]


@pytest.mark.parametrize(("direction", "uplink", "downlink"), [("up", 0.01, 0.9), ("down", 0.9, 0.01)])
def test_a_duty_cycle_on_shared_airtime(direction: str, uplink: float, downlink: float) -> None:
    profile = BROAD | {"duty_cycle": {"uplink": uplink, "downlink": downlink}, "channels": 1}
    found = limited(scenario(profile, sensors={"count": 1}))
    assert (found["cause"], found["detail"]["direction"]) == ("duty cycle", direction)


def test_long_chains() -> None:
    """All eight sensors are one chain, which has the cell for itself."""
    chain = {"name": "hfedms-s", "alpha": 1, "beta": 1, "growth": "log", "sample_ratio": 1.0}
    found = limited(scenario(BROAD, strategy=chain, rounds=1))
    assert (found["cause"], found["detail"]["chain_sensors"]) == ("chain length", 8)


def test_slow_compute() -> None:
    found = limited(scenario(BROAD, compute={"device": "mcu"}, model="small-cnn"))
    assert (found["cause"], found["detail"]["sensor"] in range(8)) == ("compute", True)


def test_starved_streams() -> None:
    """A batch of 50 takes 5,000 s to come together, a model less than a second to go there and back."""
    stream = {"arrival": "periodic", "rate_hz": 0.01, "batch": 50, "buffer": 50, "short": "wait"}
    found = limited(scenario(BROAD, stream=stream))
    assert (found["cause"], found["detail"]["sensor"] in range(8)) == ("waiting for samples", True)


def test_set_up() -> None:
    assert limited(scenario(BROAD | {"setup_s": 30.0}))["cause"] == "set-up and paging"


@pytest.mark.parametrize(("where", "radio_s", "backbone_s"), [("hall", 30.0, 0.1), ("the backbone", 0.1, 30.0)])
def test_latency(where: str, radio_s: float, backbone_s: float) -> None:
    found = limited(scenario(BROAD | {"latency_s": radio_s}, backbone={"latency_s": backbone_s}))
    assert found["cause"] == "latency"
    assert found["text"].startswith(f"latency of {where}")


@pytest.mark.parametrize("seed", [1, 14, 19])  # with these another cell's sensor has most seconds of all
def test_the_sensor_that_is_named_is_in_the_cell_that_is_named(seed: int) -> None:
    lossy = {"uplink_bps": 8e3, "downlink_bps": 8e3, "channels": 20, "blocks": BLOCKS}
    cells = [{"name": name, "profile": {"name": name, **lossy}} for name in ("one", "two")]
    made = tiny_scenario(seed=seed, rounds=12, cells=cells, strategy={"name": "fedavg", "sample_ratio": 0.5})
    result = run(made, timing_only=True)
    found = result.summary["limited_by"]
    assert found["cause"] == "sensor rate"
    assert result.sensors["cell"][found["detail"]["sensor"]] == found["detail"]["cell"]
