"""What limited a run: the cause with the largest share of the critical paths of its rounds.

| cause | seconds of the critical paths (critical_path.py) |
|---|---|
| `cell direction` | waiting for others and sharing with them, and own airtime meanwhile |
| `chain length` | own airtime at full rate with nobody in the way, in a chain of several sensors |
| `sensor rate` | airtime beyond that at the profile's full rate; own airtime, as above, of a lone hop |
| `duty cycle` | silences that a duty cycle or a quota demands |
| `compute` | work of the sensors |
| `waiting for samples` | a sensor has the model, and too few samples |
| `set-up and paging` | connections are set up |
| `latency` | of the radio after the airtime, and of the backbone |
| `faults` | transfers and work that were lost or aborted, transfers off the air, waits for what is down |

The detail names where most of the cause's seconds were spent. A chain's other seconds grow with its length too: they
count for what they are, because that is what a user can change without another algorithm.
"""

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.limits.critical_path import CriticalPath
from hfedms_sim.limits.links import Link

Cause = Literal[
    "cell direction", "chain length", "sensor rate", "duty cycle", "compute", "waiting for samples",
    "set-up and paging", "latency", "faults",
]  # fmt: skip
CAUSES: tuple[Cause, ...] = get_args(Cause)

Floats = NDArray[np.float64]


class Detail(NamedTuple):
    """Where a cause has most of its seconds. None where that says nothing."""

    cell: str | None = None
    direction: str | None = None
    """up, down, or both where one airtime serves both."""
    sensor: int | None = None
    chain_sensors: float | None = None
    """How many sensors a chain on the critical paths has, on average."""


class LimitedBy(NamedTuple):
    cause: Cause
    share: float
    """The part of the time of all rounds that were looked at."""
    detail: Detail
    text: str
    """The same in words."""


class CauseShare(NamedTuple):
    cause: Cause
    share: float


def seconds_by_cause(path: CriticalPath) -> dict[Cause, Floats]:
    """Return for each cause what it has of the seconds of each step."""
    in_chain = path.chain_sensors > 1
    airtime_s = path.of("airtime_s")
    return {
        "cell direction": path.of("waiting_s") + path.of("shared_airtime_s"),
        "chain length": np.where(in_chain, airtime_s, 0.0),
        "sensor rate": path.of("slow_rate_s") + np.where(in_chain, 0.0, airtime_s),
        "duty cycle": path.of("silence_s"),
        "compute": path.of("compute_s"),
        "waiting for samples": path.of("samples_s"),
        "set-up and paging": path.of("setup_s"),
        "latency": path.of("latency_s") + path.of("backbone_s"),
        "faults": path.of("lost_s") + path.of("outage_s"),
    }


def cause_shares(path: CriticalPath) -> list[CauseShare]:
    """Return the shares of all causes, the largest first; nothing if the rounds took no time."""
    totals_s = {cause: float(seconds.sum()) for cause, seconds in seconds_by_cause(path).items()}
    time_s = sum(totals_s.values())
    if not time_s:
        return []
    ranked = sorted(CAUSES, key=lambda cause: -totals_s[cause])
    return [CauseShare(cause, totals_s[cause] / time_s) for cause in ranked]


def limited_by(path: CriticalPath) -> LimitedBy | None:
    """Return the cause with the largest share; None if the rounds took no time."""
    shares = cause_shares(path)
    if not shares:
        return None
    cause, share = shares[0]
    detail, words = _detail(path, cause)
    return LimitedBy(cause, share, detail, f"{words} ({share:.0%} of the critical path)")


def _detail(path: CriticalPath, cause: Cause) -> tuple[Detail, str]:
    """Return where the cause has most of its seconds, also in words."""
    seconds = seconds_by_cause(path)[cause]
    link, sensor = _most(path.link, seconds), _most(path.sensor, seconds)
    where = None if link is None else path.links[link]
    cell, direction = (None, None) if where is None else (where.cell, _direction(where, path.links))
    if cause == "cell direction":
        assert where is not None
        return Detail(cell, direction), f"transfers that wait for each other, most in {_name(where, path.links)}"
    if cause == "chain length":
        sensors = float(np.average(path.chain_sensors, weights=seconds))
        return Detail(chain_sensors=sensors), f"chain length: {sensors:.3g} sensors one after the other"
    if cause == "duty cycle":
        assert where is not None
        return _silent(path, seconds, where, direction)
    if cause == "sensor rate":
        there = sensor if link is None else _most(path.sensor, np.where(path.link == link, seconds, 0.0))
        return Detail(cell, direction, there), _rate(path, where, there)
    if cause == "compute":
        return Detail(sensor=sensor), f"compute: most on sensor {sensor}"
    if cause == "waiting for samples":
        return Detail(sensor=sensor), f"waiting for samples: longest on sensor {sensor}"
    if cause == "set-up and paging":
        return Detail(cell, direction), f"set-up and paging in {cell}"
    if cause == "faults":
        return _failed(path)
    if path.of("backbone_s").sum() > path.of("latency_s").sum():
        return Detail(), "latency of the backbone"
    return Detail(cell, direction), f"latency of {cell}"


def _silent(path: CriticalPath, seconds: Floats, where: Link, direction: str | None) -> tuple[Detail, str]:
    if where.is_one_sender:
        return Detail(where.cell, direction), f"duty cycle of the base station, {where.name}"
    on_link = np.where([each >= 0 and path.links[each] is where for each in path.link.tolist()], seconds, 0.0)
    sensor = _most(path.sensor, on_link)
    return Detail(where.cell, direction, sensor), f"duty cycle of the sensors, {where.name}"


def _failed(path: CriticalPath) -> tuple[Detail, str]:
    """Return the sensor where most was lost, and the cell; a wait counts for the sensor that failed last."""
    sensor = _most(np.append(path.sensor, path.failed), np.append(path.of("lost_s"), path.of("outage_s")))
    link = _most(path.link, path.of("lost_s"))
    cell = None if link is None else path.links[link].cell
    if sensor is None and cell is None:
        return Detail(), "faults: waits for what was down"
    places = [f"sensor {sensor}"] * (sensor is not None) + [str(cell)] * (cell is not None)
    return Detail(cell=cell, sensor=sensor), f"faults: most was lost at {' and in '.join(places)}"


def _rate(path: CriticalPath, where: Link | None, sensor: int | None) -> str:
    name = "the slowest listener" if sensor is None else f"sensor {sensor}"
    place = "" if where is None else f", {where.name}"
    lone_s = np.where(path.chain_sensors > 1, 0.0, path.of("airtime_s")).sum()
    is_slow = path.of("slow_rate_s").sum() > lone_s
    return f"slow rate of {name}{place}" if is_slow else f"rate of one device, such as {name}{place}"


def _direction(link: Link, links: tuple[Link, ...]) -> str:
    return "both" if any(each is not link and each.pool == link.pool for each in links) else link.direction


def _name(link: Link, links: tuple[Link, ...]) -> str:
    return f"{link.cell}, both directions" if _direction(link, links) == "both" else link.name


def _most(numbers: NDArray[np.int64], seconds: Floats) -> int | None:
    """Return the number (of a link, of a sensor) with the most seconds; None if no number has any."""
    known = (numbers >= 0) & (seconds > 0)
    if not known.any():
        return None
    found, place = np.unique(numbers[known], return_inverse=True)
    return int(found[np.bincount(place, weights=seconds[known]).argmax()])
