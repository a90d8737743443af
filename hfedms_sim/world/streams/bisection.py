"""A random path over whole positions 0, 1, 2, ..., drawn coarse to fine and read anywhere in O(log position) draws.

The path has a value at every position and never falls. Its first values are drawn at the positions 1, 2, 4, 8, ...,
each from the one before (`extend`); then an interval between two known positions is halved, and the value in the
middle is drawn given the values at both ends (`split`). So every position's value is drawn at one place in this
tree, given the same two values, from a key of its own: whoever asks, and in which order, reads the same path.

For each sensor asked, the values around the last place are kept: the next question draws only below the smallest
interval that holds both places, and a question far away costs two draws per doubling. What is kept only saves time:
forgetting it changes no answer.
"""

from collections.abc import Callable, MutableSequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Value = TypeVar("Value")
Reached = Callable[[int, Value], bool]


@dataclass(slots=True)
class _Place(Generic[Value]):
    """The values at both ends of the intervals around `position`: widest first, then half as wide each, down to 1."""

    position: int
    lows: MutableSequence[Value]
    highs: MutableSequence[Value]


@dataclass(frozen=True)
class Bisection(Generic[Value]):
    """`extend(sensor, end, start, low)`: the value at `end`, given `low` at `start`.

    `split(sensor, middle, half_width, low, high)`: the value at `middle`, given those `half_width` before and after.
    Nobody looks further than `last`, a power of two. `stack` makes a container for the values kept for one sensor.
    """

    zero: Value
    last: int
    extend: Callable[[int, int, int, Value], Value]
    split: Callable[[int, int, int, Value, Value], Value]
    stack: Callable[[], MutableSequence[Value]] = list
    _places: dict[int, _Place[Value]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def find(self, sensor: int, reached: Reached[Value]) -> tuple[int, Value, Value] | None:
        """Return the last position not yet `reached`, its value, and the next one's; None if `last` is not reached.

        `reached(position, value)` must be false at position 0 and, once true, stay true.
        """
        place = self._places.pop(sensor, None)
        start, width = (0, 1) if place is None else _climb(place, reached)
        if place is None or reached(start, place.lows[-1]):
            place, start, width = self._origin(sensor), 0, 1
        while not reached(start + width, place.highs[-1]):
            if start + width >= self.last:
                return None
            start = width = start + width
            place.lows[-1] = place.highs[-1]
            place.highs[-1] = self.extend(sensor, start + width, start, place.lows[-1])
        self._places[sensor] = place
        return self._descend(sensor, place, start, width, reached)

    def _origin(self, sensor: int) -> _Place[Value]:
        place = _Place(0, self.stack(), self.stack())
        place.lows.append(self.zero)
        place.highs.append(self.extend(sensor, 1, 0, self.zero))
        return place

    def _descend(
        self, sensor: int, place: _Place[Value], start: int, width: int, reached: Reached[Value]
    ) -> tuple[int, Value, Value]:
        lows, highs = place.lows, place.highs
        low, high = lows[-1], highs[-1]
        while width > 1:
            width //= 2
            middle = self.split(sensor, start + width, width, low, high)
            if reached(start + width, middle):
                high = middle
            else:
                start, low = start + width, middle
            lows.append(low)
            highs.append(high)
        place.position = start
        return start, low, high


def _climb(place: _Place[Value], reached: Reached[Value]) -> tuple[int, int]:
    """Forget the intervals without the place sought, but for the widest; return start and width of the last kept."""
    lows, highs, start, width = place.lows, place.highs, place.position, 1
    last = len(lows) - 1
    while last and (reached(start, lows[last]) or not reached(start + width, highs[last])):
        last -= 1
        width *= 2
        start &= -width
    del lows[last + 1 :], highs[last + 1 :]
    return start, width
