"""LoRa time on air and the duty-limited rate against the published table of EU868."""

from math import log10

import pytest

from tests.world.radio.lora import (
    LORAWAN_OVERHEAD_BYTES,
    SENSITIVITY_DBM,
    application_bps,
    largest_coupling_loss_db,
    time_on_air_s,
)

# spreading factor, application payload (RP002-1.0.4), time on air in ms, application bit/s at 1 %
TABLE = [
    (7, 222, 368.9, 48.1),
    (8, 222, 655.9, 27.1),
    (9, 115, 676.9, 13.6),
    (10, 51, 698.4, 5.8),
    (11, 51, 1560.6, 2.6),
    (12, 51, 2793.5, 1.5),
]


@pytest.mark.parametrize(("spreading_factor", "payload_bytes", "time_ms", "rate_bps"), TABLE)
def test_a_full_frame_takes_what_the_table_says(
    spreading_factor: int, payload_bytes: int, time_ms: float, rate_bps: float
) -> None:
    frame_s = time_on_air_s(payload_bytes + LORAWAN_OVERHEAD_BYTES, spreading_factor)
    assert frame_s * 1000 == pytest.approx(time_ms, abs=0.1)
    assert application_bps(payload_bytes, spreading_factor, 0.01) == pytest.approx(rate_bps, abs=0.1)


def test_a_frame_is_counted_by_hand() -> None:
    """SF7, 20 bytes: 160 - 28 + 28 + 16 = 176 bits / 28 = 7 groups of 5; 12.25 + 8 + 35 symbols of 1.024 ms."""
    assert time_on_air_s(20, 7) == pytest.approx(55.25 * 1.024e-3)


def test_an_empty_frame_is_preamble_and_header() -> None:
    assert time_on_air_s(0, 12, checksum=False, implicit_header=True) == pytest.approx(20.25 * 4096 / 125e3)


def test_a_model_over_sf7_takes_51_days() -> None:
    seconds = 8 * 26_751_336 / application_bps(222, 7, 0.01)
    assert round(seconds / 86_400) == 51


def test_a_spreading_factor_reaches_from_power_down_to_sensitivity() -> None:
    """14 dBm, the limit of most of the 868 MHz band: 137 dB on SF7, 150 dB on SF12."""
    assert [largest_coupling_loss_db(spreading, 14.0) for spreading in range(7, 13)] == [137, 140, 143, 146, 147, 150]


@pytest.mark.parametrize("spreading_factor", sorted(SENSITIVITY_DBM))
def test_the_sensitivity_is_thermal_noise_and_the_signal_that_a_spreading_factor_needs(spreading_factor: int) -> None:
    """A noise figure of 6 dB, and a signal-to-noise ratio of -7.5 dB on SF7, 2.5 dB less on each that follows."""
    needed_db = -7.5 - 2.5 * (spreading_factor - 7)
    assert SENSITIVITY_DBM[spreading_factor] == pytest.approx(-174 + 10 * log10(125e3) + 6 + needed_db, abs=1.6)
