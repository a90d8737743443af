"""Bytes and seconds of a run without simulating it, where the HFedMS paper gives the formulas.

Each participant of a full round has one uplink and one downlink of the model, and one more downlink where the
merged model is scattered (T > 1); each participant of a calibration round one of each of the classifier. Reports: 4
F bytes a sensor and cycle, or once. Seconds: all transfers one after the other on one half-duplex channel without
overhead, the paper's cell.
"""

from dataclasses import dataclass

from hfedms_sim.overheads import extra_uplink_bytes, model_bytes
from hfedms_sim.scenario import (
    CLASSES,
    ChainSettings,
    FixedGroupsSettings,
    HFedMSDynamicSettings,
    LocalTraining,
    Scenario,
    StaticICGSettings,
)
from hfedms_sim.schedule import cycle_of, interval, participants, position_in_cycle
from hfedms_sim.units import BITS_PER_BYTE, BYTES_PER_PARAMETER

REPORT_BYTES = BYTES_PER_PARAMETER * CLASSES


@dataclass(frozen=True, slots=True)
class Participants:
    """Summed over the full rounds, and over the calibration rounds. The paper's are no whole numbers."""

    full: float
    calibration: float


@dataclass(frozen=True, slots=True)
class Traffic:
    uplink_bytes: float
    downlink_bytes: float
    report_bytes: int

    @property
    def total_bytes(self) -> float:
        """Reports included."""
        return self.uplink_bytes + self.downlink_bytes + self.report_bytes

    def serial_seconds(self, uplink_bps: float, downlink_bps: float) -> float:
        """On one half-duplex channel, reports included."""
        uplink_s = BITS_PER_BYTE * (self.uplink_bytes + self.report_bytes) / uplink_bps
        return uplink_s + BITS_PER_BYTE * self.downlink_bytes / downlink_bps


def full_rounds(rounds: int, interval: int) -> int:
    return -(-rounds // interval)


def traffic(
    who: Participants,
    model_bytes: float,
    classifier_bytes: float,
    scatter: bool,
    report_bytes: int,
    extra_uplink_bytes: int = 0,
) -> Traffic:
    return Traffic(
        uplink_bytes=who.full * (model_bytes + extra_uplink_bytes) + who.calibration * classifier_bytes,
        downlink_bytes=who.full * model_bytes * (2 if scatter else 1) + who.calibration * classifier_bytes,
        report_bytes=report_bytes,
    )


def real_participants(scenario: Scenario) -> Participants:
    """With whole sensors in whole groups."""
    full = calibration = 0
    every = interval(scenario.strategy)
    for round_number in range(1, scenario.rounds + 1):
        count = participants(scenario.strategy, cycle_of(round_number, every), scenario.sensors.count)
        if position_in_cycle(round_number, every) == 0:
            full += count
        else:
            calibration += count
    return Participants(full, calibration)


def exact_traffic(scenario: Scenario) -> Traffic | None:
    """What the run will send; None for options the formulas do not cover."""
    strategy, spec = scenario.strategy, scenario.model_spec
    if scenario.sensors.placement.kind != "none":
        return None  # coverage decides who takes part
    if isinstance(strategy, (ChainSettings, FixedGroupsSettings)) and strategy.leftover != "drop":
        return None
    if isinstance(strategy, HFedMSDynamicSettings) and strategy.scatter != "unicast":
        return None
    every = interval(strategy)
    return traffic(
        real_participants(scenario),
        model_bytes(strategy, spec),
        spec.classifier_bytes,
        scatter=every > 1,
        report_bytes=_reports(strategy, scenario.rounds) * scenario.sensors.count * REPORT_BYTES,
        extra_uplink_bytes=extra_uplink_bytes(strategy),
    )


def _reports(strategy: LocalTraining, rounds: int) -> int:
    """Return how often every sensor reports its class counts."""
    if isinstance(strategy, ChainSettings):
        return full_rounds(rounds, interval(strategy)) if strategy.class_counts == "cycle" else 1
    return 1 if isinstance(strategy, StaticICGSettings) else 0


def exact_seconds(scenario: Scenario) -> float | None:
    """Simulated seconds of the run; None unless all of it goes one after the other through one channel."""
    sent = exact_traffic(scenario)
    profile = scenario.cells[0].profile
    serial = (
        len(scenario.cells) == 1
        and profile.duplex == "cell-half"
        and profile.channels_in("up") == 1
        and profile.resource_units is None
        and profile.class_latencies_s[0] == 0
        and profile.setup_s == 0
        and profile.idle is None
        and profile.blocks is None
        and profile.duty_cycle is None
        and profile.fluctuation is None
        and profile.frames is None
        and scenario.backbone.latency_s == 0
        and scenario.compute.device == "instant"
        and scenario.stream.arrival in ("saturated", "static")
    )
    return sent.serial_seconds(profile.uplink_bps, profile.downlink_bps) if sent and serial else None
