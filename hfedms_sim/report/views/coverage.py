"""Where sensors stand, which base station each uses, and at which rates; and how many sensors have at least which rate.

A rate is that of a sensor alone in its cell. Of a run it is read from its table of sensors; of a scenario, or a run of
an earlier version without that table, it is worked out as a run would. Sensors that stand nowhere have rates, but no
map.
"""

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Dots, DotSet, Figure, Line, Lines, Panel
from hfedms_sim.report.views.scales import Unit, rate_unit
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import Scenario
from hfedms_sim.scenario.placement import InHall
from hfedms_sim.seeds import Draws
from hfedms_sim.units import format_bps
from hfedms_sim.world.sensor_rows import rates
from hfedms_sim.world.site.attachment import Placed, make_attachment

Link = Literal["uplink", "downlink"]
LINKS: tuple[Link, Link] = ("uplink", "downlink")
_WIDE_RANGE = 30.0  # from the lowest rate to the highest, above which the axis is logarithmic


def coverage_figure(result: RunResult) -> Figure:
    """Return the hall's map for each direction, if sensors are placed, and which share of sensors has which rates."""
    sensors = result.sensors if len(result.sensors) else sensors_of(result.scenario)
    if not sensors["covered"].any():
        raise InputError(f"{result.scenario.name}: no sensor is in coverage")
    placement = result.scenario.sensors.placement
    maps = _maps(result.scenario, placement, sensors) if isinstance(placement, InHall) else ()
    return _figure(result.scenario, sensors, (*maps, *_shares(sensors)))


def map_figure(scenario: Scenario) -> Figure:
    """Return the hall's map for each direction, before anything is run. Sensors that stand nowhere have none."""
    placement = scenario.sensors.placement
    if not isinstance(placement, InHall):
        raise InputError(f"{scenario.name}: no map, its sensors stand nowhere (sensors.placement.kind: none)")
    sensors = sensors_of(scenario)
    return _figure(scenario, sensors, _maps(scenario, placement, sensors))


def sensors_of(scenario: Scenario) -> pd.DataFrame:
    """Return of each sensor its cell, place, coverage and rates: those columns of the table `sensors` of a run."""
    attachment = make_attachment(scenario, Draws(scenario.seed))
    numbers = np.arange(scenario.sensors.count)
    covered = np.isin(numbers, attachment.covered)
    places = attachment.positions_m if isinstance(attachment, Placed) else np.full((len(numbers), 2), np.nan)
    names = np.array([cell.name for cell in scenario.cells], dtype=object)
    columns = {"sensor": numbers, "cell": names[attachment.cells(numbers)], "x_m": places[:, 0], "y_m": places[:, 1]}
    return pd.DataFrame({**columns, "covered": covered, **rates(scenario, attachment, numbers, covered)})


def _figure(scenario: Scenario, sensors: pd.DataFrame, panels: tuple[Panel, ...]) -> Figure:
    names = ", ".join(dict.fromkeys(cell.profile.name for cell in scenario.cells))
    lost = int((~sensors["covered"].astype(bool)).sum())
    out = f", {lost} of them out of coverage" if lost else ""
    return Figure("coverage", f"{scenario.name}: {len(sensors)} sensors on {names}{out}", panels)


def _maps(scenario: Scenario, hall: InHall, sensors: pd.DataFrame) -> tuple[Dots, ...]:
    return tuple(_map(scenario, hall, sensors, link) for link in LINKS)


def _map(scenario: Scenario, hall: InHall, sensors: pd.DataFrame, link: Link) -> Dots:
    stations = {cell.name: (float(cell.x_m or 0.0), float(cell.y_m or 0.0)) for cell in scenario.cells}
    covered = sensors["covered"].to_numpy(dtype=bool)
    heard, lost = sensors[covered], sensors[~covered]
    rates_bps = _rates_bps(sensors, link)
    unit = rate_unit(float(rates_bps.max()))
    named = tuple(stations)
    sets = (
        DotSet(
            "sensor",
            *_places(heard),
            values=unit.of(rates_bps.tolist()),
            texts=tuple(
                f"sensor {number}, {cell}, {format_bps(_three_digits(rate_bps))}"
                for number, cell, rate_bps in zip(heard["sensor"], heard["cell"], rates_bps.tolist(), strict=True)
            ),
            to=tuple(stations[cell] for cell in heard["cell"]),
        ),
        DotSet("no coverage", *_places(lost), texts=tuple(f"sensor {each}" for each in lost["sensor"]), marker="cross"),
        DotSet(
            "base station",
            tuple(x_m for x_m, _ in stations.values()),
            tuple(y_m for _, y_m in stations.values()),
            texts=named,
            marker="triangle",
            is_named=True,
        ),
    )
    return Dots(
        f"{link.capitalize()}, {_range_of(rates_bps)}",
        "x in m",
        "y in m",
        tuple(dots for dots in sets if dots.x),
        value_label=f"{unit.name} alone in the cell",
        is_map=True,
        extent=(hall.width_m, hall.length_m),
    )


def _places(sensors: pd.DataFrame) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(sensors["x_m"].astype(float)), tuple(sensors["y_m"].astype(float))


def _shares(sensors: pd.DataFrame) -> tuple[Lines]:
    """Return the share of all sensors that have at least a rate; one without coverage has none."""
    highest_bps = max(float(_rates_bps(sensors, link).max()) for link in LINKS)
    unit = rate_unit(highest_bps)
    lowest_bps = min(float(_rates_bps(sensors, link).min()) for link in LINKS)
    is_log = highest_bps > _WIDE_RANGE * lowest_bps > 0
    from_bps = lowest_bps / 2 if is_log else 0.0
    lines = tuple(_share_line(_rates_bps(sensors, link), len(sensors), from_bps, unit, link) for link in LINKS)
    x_label = f"rate alone in the cell, in {unit.name}"
    title, x_limits = "How many sensors have at least this rate", (from_bps / unit.size, None)
    panel = Lines(title, x_label, "share of all sensors", lines, log_x=is_log, x_limits=x_limits, y_limits=(0.0, 1.02))
    return (panel,)


def _share_line(rates_bps: NDArray[np.float64], count: int, from_bps: float, unit: Unit, label: str) -> Line:
    """Return the steps down from the share that has any rate: at each rate, those who have it are still counted."""
    ordered, distinct = np.sort(rates_bps), np.unique(rates_bps)
    at_least = len(ordered) - np.searchsorted(ordered, distinct, side="left")
    above = len(ordered) - np.searchsorted(ordered, distinct, side="right")
    x = np.concatenate([[from_bps], np.repeat(distinct, 2)])
    y = np.concatenate([[len(ordered)], np.stack([at_least, above], axis=1).ravel()]) / count
    return Line(label, unit.of(x.tolist()), tuple(y.tolist()))


def _rates_bps(sensors: pd.DataFrame, link: Link) -> NDArray[np.float64]:
    """Return the rates of the sensors in coverage, in their order."""
    return sensors.loc[sensors["covered"].astype(bool), f"{link}_bps"].to_numpy(dtype=float, na_value=np.nan)


def _range_of(rates_bps: NDArray[np.float64]) -> str:
    lowest, highest = (format_bps(_three_digits(float(each))) for each in (rates_bps.min(), rates_bps.max()))
    return lowest if lowest == highest else f"{lowest} to {highest}"


def _three_digits(rate_bps: float) -> float:
    return float(f"{rate_bps:.3g}")
