"""Unequal machines: who computes with what, how long it takes, and how steadily."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.scenario import DEVICES, Compute
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation import run
from hfedms_sim.world.processors import Processors
from tests.conftest import tiny_scenario

OWN = {"dsp": {"multiply_adds_per_s": 5e7, "power_w": 0.1}}


def processors(sensors: int = 20, seed: int = 1, **compute: Any) -> Processors:
    return Processors(Compute.model_validate(compute), sensors, Draws(seed))


def test_one_processor_for_all_takes_the_work_by_its_rate_and_its_power() -> None:
    work = processors(device="mcu").work(3, 1, 1e9)
    assert (work.duration_s, work.energy_j) == (5.0, 2.5)
    assert processors().work(3, 1, 1e9) == (0.0, 0.0)


def test_a_processor_of_ones_own_is_a_rate_and_a_power() -> None:
    assert processors(devices=OWN, device="dsp").work(0, 1, 1e8) == (2.0, 0.2)


def test_a_mix_has_its_shares_in_the_mean_and_one_more_sensor_changes_nobody_elses() -> None:
    mix = {"mcu": 0.7, "cortex-a53": 0.2, "dsp": 0.1}
    many, few = (processors(count, devices=OWN, mix=mix) for count in (20_000, 50))
    names = many.names(np.arange(20_000))
    for name, share in mix.items():
        assert (names == name).mean() == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 20_000))
    assert few.names(np.arange(50)).tolist() == names[:50].tolist()
    assert processors(50, seed=2, devices=OWN, mix=mix).names(np.arange(50)).tolist() != names[:50].tolist()


def test_jitter_is_one_in_the_mean_with_the_given_sigma_and_the_same_within_a_round() -> None:
    scattered = processors(1, device="mcu", jitter=0.3)
    factors = np.array([scattered.work(0, number, 0.2e9).duration_s for number in range(4000)])
    assert factors.mean() == pytest.approx(1.0, abs=0.02)
    assert np.log(factors).std() == pytest.approx(0.3, abs=0.02)
    assert np.log(factors).mean() == pytest.approx(-0.045, abs=0.02)
    twice = scattered.work(0, 7, 0.4e9)
    assert twice.duration_s == pytest.approx(2 * factors[7])
    assert twice.energy_j == pytest.approx(0.5 * twice.duration_s)


def test_a_file_names_the_processor_of_each_sensor(tmp_path: Path) -> None:
    path = tmp_path / "who.csv"
    path.write_text("sensor,device\n2,mcu\n0,dsp\n1,cortex-a53\n")
    found = processors(3, devices=OWN, path=str(path))
    assert found.names(np.arange(3)).tolist() == ["dsp", "cortex-a53", "mcu"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("0,mcu\n", "sensor 1 is missing; there must be the sensors 0 to 1, each once"),
        ("0,mcu\n0,mcu\n", "line 3: sensor = 0: stands in the file twice"),
        ("0,abacus\n1,mcu\n", "line 2: device = 'abacus': must be one of instant, mcu, cortex-a53, edge-gpu"),
        ("2,mcu\n", "line 2: sensor = '2': must be a whole number from 0 to 1"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(rows: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "who.csv"
    path.write_text(f"sensor,device\n{rows}")
    with pytest.raises(InputError) as refused:
        processors(2, path=str(path))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("compute", "said"),
    [
        ("{device: abacus}", "unknown device 'abacus'"),
        ("{mix: {mcu: 0.5, edge-gpu: 0.4}}", "mix: its shares add up to 0.9; must be 1"),
        ("{mix: {mcu: 1.0}, device: mcu}", "device and mix say who computes with what; allowed is one of them"),
        ("{devices: {mcu: {multiply_adds_per_s: 1.0, power_w: 0.0}}}", "'mcu' is the name of a shipped one"),
        ("{mix: {mcu: -1.0}}", "compute.mix.mcu = -1.0: must be at least 1e-09"),
        ("{jitter: 3.0}", "compute.jitter = 3.0: must be at most 2"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(compute: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        load_scenario("quickstart", overrides=[f"compute={compute}"])
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_run_computes_with_unequal_machines_and_says_so() -> None:
    compute = {"devices": OWN, "mix": {"mcu": 0.5, "dsp": 0.5}}
    result = run(tiny_scenario(compute=compute, strategy={"name": "fedavg", "sample_ratio": 1.0}), timing_only=True)
    known = DEVICES | Compute.model_validate(compute).known
    rates = result.sensors.set_index("sensor")["compute"].map(lambda name: known[name].multiply_adds_per_s)
    assert set(result.sensors["compute"]) == {"mcu", "dsp"}
    work = result.work
    took_s = work["end_s"] - work["start_s"]
    needed = took_s * rates[work["sensor"]].to_numpy() / work["samples"]
    assert needed.round(3).nunique() == 1
    assert result.sensors["compute_j"].sum() == pytest.approx(work["energy_j"].sum())


def test_a_mix_of_one_is_that_processor() -> None:
    plain, mixed = (
        run(tiny_scenario(compute=compute), timing_only=True) for compute in ({"device": "mcu"}, {"mix": {"mcu": 1.0}})
    )
    for table in ("rounds", "transfers", "work"):
        assert plain.arrow(table).equals(mixed.arrow(table))
    assert plain.summary["closed_form"]["seconds"] is None
