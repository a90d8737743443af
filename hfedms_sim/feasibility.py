"""What a transfer would take on each radio of a scenario, before anything is simulated.

Alone in the cell, from rest, with the expected repetitions of failed blocks: set-up + 8 B / (r d s (1 - p)) + latency,
where d is the sender's duty cycle and s the cell's mean share of airtime; down also the mean wait for a page; r is the
rate of one sensor, whatever else the cell can carry beside it. A round takes at least one model down and one up; some
radios cannot carry a model in any useful time: better to know before.
"""

from typing import NamedTuple

from hfedms_sim.frame_trains import downlink_train, polled_train, uplink_train
from hfedms_sim.scenario import LegBytes, ModelSpec, NetworkProfile, Scenario
from hfedms_sim.scenario.frames import Frames, FrameTimes
from hfedms_sim.units import BITS_PER_BYTE, format_seconds

LONGEST_FIRST_ROUND_S = 30 * 86_400.0


class RadioCost(NamedTuple):
    profile: str
    model_up_s: float
    model_down_s: float
    classifier_up_s: float
    classifier_down_s: float

    def __str__(self) -> str:
        model = f"one model up {format_seconds(self.model_up_s)}, down {format_seconds(self.model_down_s)}"
        up, down = format_seconds(self.classifier_up_s), format_seconds(self.classifier_down_s)
        return f"{self.profile}: {model}; one classifier up {up}, down {down}"


def radio_costs(scenario: Scenario, model: ModelSpec) -> list[RadioCost]:
    """One for each different profile, in the order of the cells."""
    profiles = {cell.profile.name: cell.profile for cell in scenario.cells}
    compression = scenario.strategy.compression
    whole, classifier = (compression.leg_bytes(each) for each in (model.contents, model.classifier_contents))
    return [
        RadioCost(name, *_message_s(profile, whole), *_message_s(profile, classifier))
        for name, profile in profiles.items()
    ]


def _message_s(profile: NetworkProfile, sent: LegBytes) -> tuple[float, float]:
    """Up and down."""
    return _transfer_s(profile, sent.uplink)[0], _transfer_s(profile, sent.downlink)[1]


def _transfer_s(profile: NetworkProfile, size_bytes: int) -> tuple[float, float]:
    """Up and down."""
    if profile.frames is not None:
        return _frames_s(profile.frames, profile.frame_classes[0], size_bytes)
    arriving = 1 - (profile.blocks.error_rate if profile.blocks else 0.0)
    available = profile.fluctuation.mean_share if profile.fluctuation else 1.0
    duty_up, duty_down = (profile.duty_cycle.uplink, profile.duty_cycle.downlink) if profile.duty_cycle else (1.0, 1.0)
    overhead_s = profile.setup_s + profile.class_latencies_s[0] + (profile.idle.extra_setup_s if profile.idle else 0.0)
    page_s = profile.idle.mean_wait_s if profile.idle else 0.0
    needed_bits = BITS_PER_BYTE * size_bytes / (arriving * available)
    return (
        overhead_s + needed_bits / (profile.uplink_bps * duty_up),
        page_s + overhead_s + needed_bits / (profile.downlink_bps * duty_down),
    )


def _frames_s(frames: Frames, times: FrameTimes, size_bytes: int) -> tuple[float, float]:
    """Frames and the silences between them, without collisions."""
    polled = frames.device_class == "A"
    down = polled_train(times, frames, size_bytes) if polled else downlink_train(times, size_bytes)
    return uplink_train(times, size_bytes).duration_s(), down.duration_s()
