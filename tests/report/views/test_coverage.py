"""The map and the rates: those of the table of sensors, with or without a run."""

import dataclasses

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Dots, Lines
from hfedms_sim.report.views.coverage import coverage_figure, map_figure, sensors_of
from tests.conftest import tiny_scenario
from tests.report.views.samples import PLACED, placed_once, timed, timed_once


def test_a_scenario_has_the_sensors_that_its_run_has() -> None:
    result = placed_once()
    worked_out, written = sensors_of(result.scenario), result.sensors
    for column in ("sensor", "cell", "covered"):
        assert worked_out[column].tolist() == written[column].tolist()
    for column in ("x_m", "y_m", "uplink_bps", "downlink_bps"):
        assert worked_out[column].tolist() == pytest.approx(written[column].tolist(), nan_ok=True)


def test_placed_sensors_are_on_two_maps_with_lines_to_their_base_stations() -> None:
    result = placed_once()
    uplink, downlink, shares = coverage_figure(result).panels
    assert isinstance(uplink, Dots)
    assert isinstance(downlink, Dots)
    assert isinstance(shares, Lines)
    assert uplink.is_map
    assert uplink.extent == (120, 60)
    sensors, stations = uplink.sets
    assert stations.texts == ("west", "east")
    assert stations.marker == "triangle"
    stands = {"west": (20, 30), "east": (100, 30)}
    assert sensors.to == tuple(stands[cell] for cell in result.sensors["cell"])
    highest = max(result.sensors["uplink_bps"])
    assert max(sensors.values) == pytest.approx(highest / {"kbit/s": 1e3, "Mbit/s": 1e6}[uplink.value_label.split()[0]])


def test_sensors_without_coverage_are_crosses_and_lower_the_shares() -> None:
    far = {"kind": "uniform", "width_m": 120, "length_m": 60, "extra_loss_db": 102}
    result = timed(**PLACED | {"sensors": {"count": 12, "placement": far}})
    lost = int((~result.sensors["covered"]).sum())
    assert 0 < lost < 12
    uplink, _, shares = coverage_figure(result).panels
    assert isinstance(uplink, Dots)
    assert isinstance(shares, Lines)
    crosses = next(dots for dots in uplink.sets if dots.marker == "cross")
    assert len(crosses.x) == lost
    assert shares.lines[0].y[0] == pytest.approx((12 - lost) / 12)


def test_a_share_is_that_of_the_sensors_with_at_least_the_rate() -> None:
    result = placed_once()
    shares = coverage_figure(result).panels[-1]
    assert isinstance(shares, Lines)
    for line, column in zip(shares.lines, ("uplink_bps", "downlink_bps"), strict=True):
        size = {"kbit/s": 1e3, "Mbit/s": 1e6}[shares.x_label.split()[-1]]
        rates = result.sensors[column]
        for x, y in zip(line.x[1::2], line.y[1::2], strict=True):
            assert y == pytest.approx((rates >= x * size * (1 - 1e-9)).mean())


def test_sensors_that_stand_nowhere_have_rates_but_no_map() -> None:
    [panel] = coverage_figure(timed_once()).panels
    assert isinstance(panel, Lines)
    with pytest.raises(InputError, match="no map, its sensors stand nowhere"):
        map_figure(tiny_scenario())


def test_a_run_of_an_earlier_version_without_sensors_is_worked_out() -> None:
    result = placed_once()
    earlier = dataclasses.replace(result)
    earlier.__dict__["sensors"] = result.sensors.iloc[:0]
    assert coverage_figure(earlier) == coverage_figure(result)
