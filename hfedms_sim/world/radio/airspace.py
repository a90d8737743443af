"""Who is on the air of a gateway, and what a frame meets there.

A sender (a sensor, or the gateway) is on the air with one transfer at a time, the first of those that it has announced
and that are not over. Sensors are heard in the coverage class they send in, the gateway by all. What meeting means for
a frame is in frame_losses.py.
"""

from collections import Counter
from typing import NamedTuple

from hfedms_sim.frame_trains import Rhythm
from hfedms_sim.rounds import Direction
from hfedms_sim.transfers import Transfer
from hfedms_sim.world.radio.frame_losses import overlap

Sender = tuple[Direction, int]


class Voice(NamedTuple):
    """How a transfer is heard while it is on the air; None: not at all."""

    coverage_class: int
    uplink: Rhythm | None
    """Frames or polls of a sensor of that class."""
    downlink: Rhythm | None
    """Frames of the gateway."""


class Airspace:
    def __init__(self, classes: int) -> None:
        self._announced: dict[Sender, dict[Transfer, Voice]] = {}
        self._uplinks = [_Crowd() for _ in range(classes)]
        self.downlinks: dict[Sender, Rhythm] = {}
        """How the gateway is heard, by the sender whose transfer is on the air."""

    def enter(self, sender: Sender, transfer: Transfer, voice: Voice) -> None:
        announced = self._announced.setdefault(sender, {})
        if not announced:
            self._begin(sender, voice)
        announced.setdefault(transfer, voice)

    def leave(self, sender: Sender, transfer: Transfer) -> None:
        """End a transfer, and let the sender go on with its next. One that is not here changes nothing."""
        announced = self._announced.get(sender, {})
        if transfer not in announced:
            return
        was_on_air = next(iter(announced)) == transfer
        voice = announced.pop(transfer)
        if was_on_air:
            self._end(sender, voice)
            for following in announced.values():
                self._begin(sender, following)
                break
        if not announced:
            del self._announced[sender]

    def uplink_frames_met(self, sender: Sender, coverage_class: int, frame_s: float) -> float:
        """Return how many uplink frames of others of its class a frame of this sender meets, on average."""
        own = next(iter(self._announced.get(sender, {}).values()), None)
        without = own.uplink if own is not None and own.coverage_class == coverage_class else None
        return self._uplinks[coverage_class].met_by(frame_s, without)

    def _begin(self, sender: Sender, voice: Voice) -> None:
        if voice.uplink is not None:
            self._uplinks[voice.coverage_class].enter(voice.uplink)
        if voice.downlink is not None:
            self.downlinks[sender] = voice.downlink

    def _end(self, sender: Sender, voice: Voice) -> None:
        if voice.uplink is not None:
            self._uplinks[voice.coverage_class].leave(voice.uplink)
        if voice.downlink is not None:
            del self.downlinks[sender]


class _Crowd:
    """The senders that are under way, counted by their rhythm."""

    def __init__(self) -> None:
        self._senders: Counter[Rhythm] = Counter()

    def enter(self, rhythm: Rhythm) -> None:
        self._senders[rhythm] += 1

    def leave(self, rhythm: Rhythm) -> None:
        self._senders[rhythm] -= 1
        if not self._senders[rhythm]:
            del self._senders[rhythm]

    def met_by(self, frame_s: float, own: Rhythm | None = None) -> float:
        """Return how many frames of others a frame of this length meets on average.

        `own`: the rhythm of its sender, which is counted here and does not meet itself; None: it is not counted here.
        """
        return sum(
            (count - (rhythm == own)) * overlap(frame_s, rhythm) for rhythm, count in sorted(self._senders.items())
        )
