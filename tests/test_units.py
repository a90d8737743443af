"""Quantities as people read them."""

import pytest

from hfedms_sim.units import format_bps, format_bytes, format_seconds


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (26_751_336, "26.8 MB"), (2.88e12, "2.88 TB"), (4.2e15, "4,200 TB")],
)
def test_bytes_have_three_digits_and_a_decimal_unit(count: float, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0123, "12.3 ms"),
        (53.5, "53.5 s"),
        (59.999, "1 min 0 s"),
        (61, "1 min 1 s"),
        (3599.9, "1 h 0 min"),
        (8642.5, "2 h 24 min"),
        (86399, "1 d 0 h"),
        (4_624_159.5, "53 d 12 h"),
    ],
)
def test_durations_have_their_two_largest_units(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(("rate_bps", "text"), [(600, "600 bit/s"), (62_500, "62.5 kbit/s"), (7e6, "7 Mbit/s")])
def test_rates_have_a_decimal_unit(rate_bps: float, text: str) -> None:
    assert format_bps(rate_bps) == text
