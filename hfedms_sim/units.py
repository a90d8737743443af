"""Units: the few constants that convert between them, and how quantities are written for people."""

import re
from collections.abc import Mapping

BITS_PER_BYTE = 8
BYTES_PER_MEGABYTE = 1e6
BYTES_PER_PARAMETER = 4  # float32
SECONDS_PER_HOUR = 3600.0
SECONDS_PER_DAY = 86_400.0
TEBIBYTE = 2**40  # the paper's "TB"

_BYTE_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_ENERGY_UNITS = ((1e9, "GJ"), (1e6, "MJ"), (1e3, "kJ"), (1, "J"), (1e-3, "mJ"))
_RATE_UNITS = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"))
_TIME_UNITS = ((60, "min", 1, "s"), (3600, "h", 60, "min"), (86400, "d", 3600, "h"))
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", re.ASCII)
_BYTES = {"": 1.0, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
_SECONDS = {"": 1.0, "s": 1.0, "min": 60.0, "h": SECONDS_PER_HOUR, "d": SECONDS_PER_DAY, "y": 365.25 * SECONDS_PER_DAY}


def parse_bytes(text: str) -> float | None:
    """Return the bytes that a text such as 2GB or 500 MB stands for; None if it is no such text."""
    return _parsed(text, _BYTES)


def parse_seconds(text: str) -> float | None:
    """Return the seconds that a text such as 10s, 5min, 2h, 7d or 1y stands for; None if it is no such text."""
    return _parsed(text, _SECONDS)


def _parsed(text: str, units: Mapping[str, float]) -> float | None:
    match = _QUANTITY.fullmatch(text)
    return None if match is None or match[2] not in units else float(match[1]) * units[match[2]]


def format_bytes(count: float) -> str:
    """Three digits in decimal units, as network engineers count: 26751336 -> '26.8 MB'."""
    for factor, unit in _BYTE_UNITS:
        if count >= factor:
            return f"{count / factor:,.0f} {unit}" if count >= 1000 * factor else f"{count / factor:.3g} {unit}"
    return f"{count:.0f} B"


def format_bps(rate_bps: float) -> str:
    for factor, unit in _RATE_UNITS:
        if rate_bps >= factor:
            return f"{rate_bps / factor:g} {unit}"
    return f"{rate_bps:g} bit/s"


def format_joules(energy_j: float) -> str:
    for factor, unit in _ENERGY_UNITS:
        if energy_j >= factor:
            return f"{energy_j / factor:.3g} {unit}"
    return f"{energy_j:.3g} J"


def format_seconds(seconds: float) -> str:
    """Three digits below a minute, then the two largest units: 8642.5 -> '2 h 24 min'."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 59.95:
        return f"{seconds:.3g} s"
    for large_s, large, small_s, small in _TIME_UNITS:
        whole, rest = divmod(round(seconds / small_s), large_s // small_s)
        next_larger = 24 if large == "h" else 60
        if whole < next_larger or large == "d":
            return f"{whole:,} {large} {rest} {small}"
    raise AssertionError("days take any number")
