"""LoRa time on air, the closed form of Semtech's data sheets, and how far each spreading factor reaches.

    T = (n_preamble + 4.25) Ts + Ts (8 + max(ceil((8 PL - 4 SF + 28 + 16 CRC - 20 IH) / (4 (SF - 2 DE))) (CR + 4), 0))
    Ts = 2^SF / BW, DE = 1 when Ts > 16 ms (low data rate optimisation)

PL is the payload with LoRaWAN's 13 bytes around it. A sender with a duty cycle d is silent for T (1 / d - 1) after
a frame, so it carries 8 B d / T bit/s of application data.

A receiver hears a spreading factor down to its sensitivity, so its coverage class holds up to a coupling loss of
transmit power - sensitivity. A gateway's receiver hears a few dB less than the SX1276 of a sensor; this is left out.
"""

from math import ceil

LORAWAN_OVERHEAD_BYTES = 13
SENSITIVITY_DBM = {7: -123.0, 8: -126.0, 9: -129.0, 10: -132.0, 11: -133.0, 12: -136.0}
"""By spreading factor, in 125 kHz. Semtech SX1276/77/78/79 data sheet rev. 7, RFS_L125_HF, highest LNA gain."""
_LOW_RATE_SYMBOL_S = 0.016


def time_on_air_s(
    payload_bytes: int,
    spreading_factor: int,
    *,
    bandwidth_hz: float = 125e3,
    coding_rate: int = 1,
    preamble_symbols: int = 8,
    checksum: bool = True,
    implicit_header: bool = False,
) -> float:
    """Return a frame's time. `payload_bytes` is the physical payload; coding rate 1 to 4 stands for 4/5 to 4/8."""
    symbol_s = float(2**spreading_factor) / bandwidth_hz
    low_rate = symbol_s > _LOW_RATE_SYMBOL_S
    bits = 8 * payload_bytes - 4 * spreading_factor + 28 + 16 * checksum - 20 * implicit_header
    coded = ceil(bits / (4 * (spreading_factor - 2 * low_rate))) * (coding_rate + 4)
    return (preamble_symbols + 4.25 + 8 + max(coded, 0)) * symbol_s


def application_bps(application_bytes: int, spreading_factor: int, duty_cycle: float) -> float:
    """What a sender that keeps its duty cycle carries, in frames of this many application bytes."""
    frame_s = time_on_air_s(application_bytes + LORAWAN_OVERHEAD_BYTES, spreading_factor)
    return 8 * application_bytes * duty_cycle / frame_s


def largest_coupling_loss_db(spreading_factor: int, transmit_power_dbm: float) -> float:
    """Return up to which coupling loss a sender with this power is heard."""
    return transmit_power_dbm - SENSITIVITY_DBM[spreading_factor]
