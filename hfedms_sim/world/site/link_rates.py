"""Which rate a placed sensor has: that of its coverage class, or of its signal, and never more than physics allows.

A radio with classes (NB-IoT's repetitions, LTE-M's modes, LoRa's spreading factors) has the rates of the class that
the sensor's coupling loss falls into. Any other has its full rate times min(1, log2(1 + SNR) / log2(101)), and nothing
below -10 dB (path_loss.py).

Either is cut at Shannon's bound of the radio's own budget, n B log2(1 + SNR) with n streams of the antennas, in each
direction with the SNR of that direction: a table of rates by coupling loss says nothing of powers and noise figures,
but both matter. 23 dBm in 180 kHz carry at most 9.0 kbit/s through 154 dB and 0.9 through 164 dB, whatever the table.

Left out: what a real code loses against the bound, and antennas that see different channels: each stream is taken to
have the whole SNR, so that the bound is never too low.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.scenario.base import Direction
from hfedms_sim.world.site import path_loss
from hfedms_sim.world.site.coverage import coverage_class

Floats = NDArray[np.float64]


def shannon_bps(bandwidth_hz: float, streams: int, snr_db: ArrayLike) -> Floats:
    """Return the most that any radio can carry with this signal."""
    snr = np.exp(np.asarray(snr_db) * (math.log(10.0) / 10.0))
    return np.asarray(streams * bandwidth_hz * np.log1p(snr) / math.log(2.0))


def classes_of(profile: NetworkProfile, coupling_loss_db: Floats) -> NDArray[np.int64]:
    """Return each sensor's coverage class: 0 where the radio has none, -1 beyond the last."""
    if not profile.repetitions:
        return np.zeros(len(coupling_loss_db), dtype=np.int64)
    return coverage_class(coupling_loss_db, tuple(each.coupling_loss_db for each in profile.repetitions))


def rate_share(profile: NetworkProfile, direction: Direction, classes: NDArray[np.int64], snr_db: Floats) -> Floats:
    """Return each sensor's rate as a share of its profile's. Beyond the last class it is that one's, at most."""
    assert profile.budget is not None
    full_bps = profile.rate_bps(direction)
    if profile.repetitions:
        own_bps = np.array(
            [each.uplink_bps if direction == "up" else each.downlink_bps for each in profile.repetitions]
        )
        share = (own_bps / full_bps)[classes]
    else:
        share = path_loss.rate_factor(snr_db)
    return np.minimum(share, shannon_bps(profile.budget.bandwidth_hz, profile.budget.streams, snr_db) / full_bps)
