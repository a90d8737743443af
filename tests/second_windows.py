"""Windows of arrivals a second time, as a plain event loop that trains inside its events: what the package is compared
with. Written from docs/windows.md alone.

Each sensor takes the same time for every turn, so channels are its own. The docs do not say who of several that were
under way when the window began, and have arrived since, starts first; here it is who is first in the window's draws.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.seeds import Draws

Model = dict[str, NDArray[np.float64]]
W1, B1, W2, B2 = "extractor.1.weight", "extractor.1.bias", "classifier.weight", "classifier.bias"


class Chain(NamedTuple):
    """A sensor's turn. Chains that end at one instant are ordered by when they started: window, then number."""

    end_s: float
    window: int
    number: int
    sensor: int
    start_s: float
    start: Any = None
    trained: Any = None


@dataclass
class Window:
    number: int
    start_s: float
    end_s: float = 0.0
    arrived: list[Chain] = field(default_factory=list)
    started: list[Chain] = field(default_factory=list)
    under_way: int = 0

    @property
    def staleness(self) -> list[int]:
        return [self.number - chain.window for chain in self.arrived]


class Server:
    """What is made of the arrivals; without training it is nothing."""

    model: Any = None

    def train(self, sensor: int, window: int) -> Any:
        return None

    def merge(self, arrived: Sequence[Chain], staleness: Sequence[int]) -> None: ...


class _Play:
    """A factory in which every sensor is always there, and takes the same seconds for each of its turns."""

    def __init__(
        self, durations_s: Sequence[float], awaited: int, concurrency: int, draws: Draws, server: Server
    ) -> None:
        self._durations_s = durations_s
        self._awaited = awaited
        self._concurrency = concurrency
        self._draws = draws
        self._server = server
        self._now_s = 0.0
        self._under_way: list[Chain] = []  # a heap

    def window(self, number: int) -> Window:
        window = Window(number, self._now_s)
        busy = self._busy()
        drawn = self._order([each for each in range(len(self._durations_s)) if each not in busy], number)
        free = self._concurrency - len(busy)
        standby = drawn[free:] + self._order(sorted(busy), number)
        for sensor in sorted(drawn[:free]):
            self._start(sensor, window)
        while self._under_way and len(window.arrived) < self._awaited:
            ended = self._take_in(window)
            if len(window.arrived) < self._awaited:
                for _ in range(ended):
                    ready = [each for each in standby if each not in self._busy()]
                    for sensor in ready[:1]:
                        standby.remove(sensor)
                        self._start(sensor, window)
        window.end_s, window.under_way = self._now_s, len(self._under_way)
        self._server.merge(window.arrived, window.staleness)
        return window

    def _take_in(self, window: Window) -> int:
        """Go to the next instant at which somebody arrives; return how many the window has taken in."""
        before, self._now_s = len(window.arrived), self._under_way[0].end_s
        while self._under_way and self._under_way[0].end_s == self._now_s and len(window.arrived) < self._awaited:
            window.arrived.append(heapq.heappop(self._under_way))
        return len(window.arrived) - before

    def _start(self, sensor: int, window: Window) -> None:
        end_s, place = self._now_s + self._durations_s[sensor], len(window.started)
        trained = self._server.train(sensor, window.number)
        chain = Chain(end_s, window.number, place, sensor, self._now_s, self._server.model, trained)
        window.started.append(chain)
        heapq.heappush(self._under_way, chain)

    def _busy(self) -> set[int]:
        return {chain.sensor for chain in self._under_way}

    def _order(self, sensors: Sequence[int], number: int) -> list[int]:
        drawn: list[int] = self._draws.order("selection", np.array(sensors, dtype=np.int64), number).tolist()
        return drawn


def played(
    durations_s: Sequence[float],
    awaited: int,
    concurrency: int,
    windows: int,
    seed: int = 1,
    server: Server | None = None,
) -> list[Window]:
    """Return so many windows of a factory whose sensors take these seconds for a turn."""
    play = _Play(durations_s, awaited, concurrency, Draws(seed), server or Server())
    return [play.window(number) for number in range(1, windows + 1)]


# ------------------------------------------------------------------------------------------------------- learning


class Lesson(NamedTuple):
    """What a sensor learns from in a turn: inputs (n, pixels), labels, and the order of each pass over them."""

    inputs: NDArray[np.float64]
    labels: NDArray[np.int64]
    orders: Sequence[NDArray[np.int64]]


def descended(model: Model, lesson: Lesson, settings: Mapping[str, Any]) -> Model:
    """Return the model after plain SGD."""
    own = {name: value.copy() for name, value in model.items()}
    for order in lesson.orders:
        for first in range(0, len(order), settings["batch_size"]):
            batch = order[first : first + settings["batch_size"]]
            for name, gradient in _gradient(own, lesson.inputs[batch], lesson.labels[batch]).items():
                own[name] -= settings["learning_rate"] * gradient
    return own


def mean(models: Sequence[Model], shares: Sequence[float]) -> Model:
    total = sum(shares)
    return {
        name: sum(share / total * model[name] for model, share in zip(models, shares, strict=True))  # type: ignore[misc]
        for name in models[0]
    }


def _gradient(model: Model, inputs: NDArray[np.float64], labels: NDArray[np.int64]) -> Model:
    """Return the gradient of the mean cross-entropy of a network with one hidden layer of rectifiers."""
    hidden = np.maximum(inputs @ model[W1].T + model[B1], 0.0)
    logits = hidden @ model[W2].T + model[B2]
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    error = shares / shares.sum(axis=1, keepdims=True)
    error[np.arange(len(labels)), labels] -= 1.0
    error /= len(labels)
    behind = (error @ model[W2]) * (hidden > 0.0)
    return {W2: error.T @ hidden, B2: error.sum(axis=0), W1: behind.T @ inputs, B1: behind.sum(axis=0)}


def discount(law: Mapping[str, Any], staleness: int) -> float:
    """Return s(t)."""
    if law["staleness"] == "constant":
        return 1.0
    if law["staleness"] == "polynomial":
        return float((1 + staleness) ** -law["staleness_exponent"])
    beyond = staleness - law["staleness_limit"]
    return 1.0 if beyond <= 0 else 1.0 / (law["staleness_slope"] * beyond + 1.0)


def mixed(model: Model, arrived: Model, share: float) -> Model:
    return {name: (1.0 - share) * value + share * arrived[name] for name, value in model.items()}


class Training(Server):
    """Sensors train when they start, on the model of that moment."""

    def __init__(self, start: Model, lesson: Callable[[int, int], Lesson], settings: Mapping[str, Any]) -> None:
        self.model = start
        self.models: list[Model] = []
        self._lesson = lesson
        self._settings = settings

    def train(self, sensor: int, window: int) -> Model:
        return descended(self.model, self._lesson(sensor, window), self._settings)


class FedAsyncServer(Training):
    def merge(self, arrived: Sequence[Chain], staleness: Sequence[int]) -> None:
        for chain, old in zip(arrived, staleness, strict=True):
            self.model = mixed(self.model, chain.trained, self._settings["mixing"] * discount(self._settings, old))
        self.models.append(self.model)


class FedBuffServer(Training):
    """By uniform weights."""

    def merge(self, arrived: Sequence[Chain], staleness: Sequence[int]) -> None:
        model = self.model
        for name in self.model:
            change = sum(
                discount(self._settings, old) * (chain.trained[name] - chain.start[name])
                for chain, old in zip(arrived, staleness, strict=True)
            )
            step = self._settings["server_learning_rate"] / len(arrived) * change
            model = model | {name: model[name] + step}
        self.model = model
        self.models.append(model)
