"""Bytes and seconds of a run without simulating it, where the HFedMS paper gives the formulas.

Each participant of a full round has one uplink and one downlink of the model, and one more downlink where the
merged model is scattered (T > 1); each participant of a calibration round one of each of the classifier. Reports: 4
F bytes a sensor and cycle, or once. Seconds: all transfers one after the other on one half-duplex channel without
overhead, the paper's cell.

Who takes part and what is sent is said here once more, from the papers: nothing is shared with the plans whose bytes
these formulas check. A strategy that is not in `_TRAFFIC` has no closed form.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, floor, log, log1p
from typing import Any

from hfedms_sim.scenario import ModelSpec, NetworkProfile, Scenario
from hfedms_sim.units import BITS_PER_BYTE, BYTES_PER_PARAMETER

_ROUNDING = 1e-9


_IN_THE_FORMULA = {
    "uplink_bps", "downlink_bps", "uplink_capacity_bps", "downlink_capacity_bps", "duplex", "channels", "latency_s",
}  # fmt: skip
"""Keys of profiles that the formula of seconds reads, or looks at before it applies."""
_WITHOUT_SECONDS = {
    "name", "description", "sources", "sharing", "multicast", "inactivity_s", "release_assistance", "on_outage",
    "energy", "budget", "repetitions",
}  # fmt: skip
"""Keys that take no time on one channel, without set-ups, outages or places. There is no closed form of seconds where
any other key is used."""


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
        """Return the seconds of a run on one half-duplex channel, reports included."""
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


def exact_traffic(scenario: Scenario, model: ModelSpec) -> Traffic | None:
    """Return what the run will send; None for strategies and options that the formulas do not cover."""
    if scenario.sensors.placement.kind != "none" or not scenario.is_steady:
        return None  # coverage, or what goes wrong, decides who takes part
    if not scenario.strategy.compression.is_off:
        return None  # the papers' formulas are of whole models
    formula = _TRAFFIC.get(scenario.strategy.name)
    return None if formula is None else formula(scenario, scenario.strategy, model)


def _averaging(
    scenario: Scenario, settings: Any, model: ModelSpec, extra_parameters: int = 0, extra_uplink_bytes: int = 0
) -> Traffic:
    """Return the traffic where every participant trains alone."""
    participations = scenario.rounds * _selected(settings.sample_ratio, scenario.sensors.count)
    sent_bytes = model.model_bytes + BYTES_PER_PARAMETER * extra_parameters
    return traffic(Participants(participations, 0), sent_bytes, 0, False, 0, extra_uplink_bytes)


def _fusion(scenario: Scenario, settings: Any, model: ModelSpec) -> Traffic:
    channels = model.convolutions[-1].outputs
    fused = {"conv": (2 * channels + 1) * channels, "multi": channels, "single": 1}[settings.operator]
    return _averaging(scenario, settings, model, extra_parameters=fused)


def _inverse_distance(scenario: Scenario, settings: Any, model: ModelSpec) -> Traffic:
    accuracy_bytes = 4 if settings.variant == "intrac" else 0
    return _averaging(scenario, settings, model, extra_uplink_bytes=accuracy_bytes)


def _edge_averaging(scenario: Scenario, settings: Any, model: ModelSpec) -> Traffic:
    """Return the traffic of as many rounds as base stations average: whoever takes part does so in all of a round's."""
    edge_rounds = scenario.model_copy(update={"rounds": scenario.rounds * settings.edge_rounds})
    return _averaging(edge_rounds, settings, model)


def _fixed_groups(scenario: Scenario, settings: Any, model: ModelSpec, reports: int = 0) -> Traffic | None:
    if settings.leftover != "drop":
        return None
    sensors = scenario.sensors.count
    groups = min(settings.beta, sensors)
    participations = scenario.rounds * _selected(settings.sample_ratio, groups) * (sensors // groups)
    who = Participants(participations, 0)
    return traffic(who, model.model_bytes, 0, False, reports * sensors * _report_bytes(model))


def _fixed_groups_by_report(scenario: Scenario, settings: Any, model: ModelSpec) -> Traffic | None:
    return _fixed_groups(scenario, settings, model, reports=1)


def _growing_groups(scenario: Scenario, settings: Any, model: ModelSpec, interval: int = 1) -> Traffic | None:
    if settings.leftover != "drop":
        return None
    reports = full_rounds(scenario.rounds, interval) if settings.class_counts == "cycle" else 1
    return traffic(
        participants_of_chains(scenario, settings, interval),
        model.model_bytes,
        model.classifier_bytes,
        scatter=interval > 1,
        report_bytes=reports * scenario.sensors.count * _report_bytes(model),
    )


def _report_bytes(model: ModelSpec) -> int:
    """Return the size of a report: a number of four bytes for each class."""
    return BYTES_PER_PARAMETER * model.classes


def _calibrated(scenario: Scenario, settings: Any, model: ModelSpec) -> Traffic | None:
    if settings.scatter != "unicast":
        return None
    return _growing_groups(scenario, settings, model, settings.interval)


_TRAFFIC: dict[str, Callable[[Scenario, Any, ModelSpec], Traffic | None]] = {
    **dict.fromkeys(("fedavg", "fedprox", "fedmmd", "fedadagrad", "fedadam", "fedyogi"), _averaging),
    "hierfavg": _edge_averaging,
    "fedfusion": _fusion,
    "ida": _inverse_distance,
    "static-groups": _fixed_groups,
    "static-icg": _fixed_groups_by_report,
    "hfedms-s": _growing_groups,
    "hfedms-d": _calibrated,
}


def participants_of_chains(scenario: Scenario, settings: Any, interval: int) -> Participants:
    """Return how many take part in chains of equal length: whole sensors in whole groups, cycle by cycle."""
    full = calibration = 0
    sensors = scenario.sensors.count
    for first_round in range(1, scenario.rounds + 1, interval):
        groups = min(settings.beta * _growth(settings, (first_round - 1) // interval, sensors), sensors)
        each_round = _selected(settings.sample_ratio, groups) * (sensors // groups)
        full += each_round
        calibration += each_round * (min(interval, scenario.rounds - first_round + 1) - 1)
    return Participants(full, calibration)


def _growth(settings: Any, past_cycles: int, most: int) -> int:
    """Return by how much the number of groups has grown after this many cycles, at most `most`."""
    factor: float = {
        "log": 1 + settings.alpha * log(past_cycles + 1),
        "linear": 1 + settings.alpha * past_cycles,
        "exp": exp(min(past_cycles * log1p(settings.alpha), log(most) + 1)),
    }[settings.growth]
    return floor(min(factor, most) + _ROUNDING)


def _selected(ratio: float, count: int) -> int:
    return max(1, floor(ratio * count + _ROUNDING))


def exact_seconds(scenario: Scenario, model: ModelSpec) -> float | None:
    """Simulated seconds of the run; None unless all of it goes one after the other through one channel."""
    sent = exact_traffic(scenario, model)
    profile = scenario.cells[0].profile
    serial = (
        len(scenario.cells) == 1
        and _is_one_plain_channel(profile)
        and scenario.backbone.latency_s == 0
        and scenario.compute.is_instant
        and scenario.stream.arrival in ("saturated", "static")
    )
    return sent.serial_seconds(profile.uplink_bps, profile.downlink_bps) if sent and serial else None


def _is_one_plain_channel(profile: NetworkProfile) -> bool:
    """Return whether transfers follow one another at the profile's rates, and nothing else takes time."""
    fields = type(profile).model_fields
    changed = {key for key, field in fields.items() if getattr(profile, key) != field.get_default()}
    is_serial = profile.duplex == "cell-half" and profile.channels_in("up") == 1 and profile.class_latencies_s[0] == 0
    return is_serial and changed <= _IN_THE_FORMULA | _WITHOUT_SECONDS
