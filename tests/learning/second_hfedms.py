"""HFedMS-D a second time, in plain loops, written from the specification alone: what the product is compared with."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
Weights = dict[str, Array]
Order = Callable[[int, int, int, int], Labels]  # (sensor, round, size, epoch counted from 0) -> permutation
Labelled = tuple[Array, int]  # an image, or a semantic vector, and its label
Gradient = Callable[[Weights, list[Labelled]], Weights]

W1, B1, W2, B2 = "extractor.1.weight", "extractor.1.bias", "classifier.weight", "classifier.bias"
EXTRACTOR, CLASSIFIER = (W1, B1), (W2, B2)

# Distances that agree to so many decimals are a tie. Without this, rounding noise would decide between the two members
# of a class with two candidates, which lie equally far from their mean, where the specification says "older first".
TIE_DECIMALS = 9


@dataclass(frozen=True)
class Visit:  # one sensor's turn in a chain: images (n, 784), labels (n,)
    sensor: int
    images: Array
    labels: Labels


@dataclass(frozen=True)
class Settings:
    interval: int
    memory: int
    learning_rate: float
    batch_size: int
    epochs: int = 1
    calibration_epochs: int = 1
    scc: str = "on"  # on | off
    compensation: str = "class"  # class | global | off
    absent_class: str = "batch-mean"  # batch-mean | zero
    storage: str = "overall"
    clamp: bool = False


@dataclass
class Sensor:  # what one sensor keeps
    memory: list[Labelled] = field(default_factory=list)  # oldest first
    backup: Weights | None = None  # the extractor in whose space the memory is
    cycle: list[Labelled] = field(default_factory=list)  # S(r0), S(r0+1), ... of the running cycle


def extract(weights: Weights, image: Array) -> Array:
    return np.maximum(weights[W1] @ image + weights[B1], 0.0)


def loss_and_error(weights: Weights, z: Array, label: int) -> tuple[float, Array]:
    """Cross-entropy of one sample, and its derivative by the logits: softmax minus one-hot."""
    logits = weights[W2] @ z + weights[B2]
    exponentials = np.exp(logits - logits.max())
    probabilities = exponentials / exponentials.sum()
    loss = float(np.log(exponentials.sum()) - (logits[label] - logits.max()))
    return loss, probabilities - np.eye(len(logits))[label]


def classifier_gradient(weights: Weights, batch: list[Labelled]) -> Weights:
    """Gradient by the classifier of the mean loss over a mini-batch of semantic vectors."""
    gradient = {name: np.zeros_like(weights[name]) for name in CLASSIFIER}
    for z, label in batch:
        _, error = loss_and_error(weights, z, label)
        gradient[W2] += np.outer(error, z) / len(batch)
        gradient[B2] += error / len(batch)
    return gradient


def full_gradient(weights: Weights, batch: list[Labelled]) -> Weights:
    """Gradient by all weights of the mean loss over a mini-batch of images."""
    gradient = {name: np.zeros_like(weights[name]) for name in EXTRACTOR + CLASSIFIER}
    for image, label in batch:
        z = extract(weights, image)
        _, error = loss_and_error(weights, z, label)
        behind_relu = (weights[W2].T @ error) * (z > 0.0)
        gradient[W2] += np.outer(error, z) / len(batch)
        gradient[B2] += error / len(batch)
        gradient[W1] += np.outer(behind_relu, image) / len(batch)
        gradient[B1] += behind_relu / len(batch)
    return gradient


def train(
    weights: Weights, data: list[Labelled], gradient_of: Gradient, orders: list[Labels], rule: Settings
) -> Weights:
    """Plain SGD over mini-batches, one epoch per order; weights without a gradient stay as they are."""
    weights = dict(weights)
    for positions in orders:
        if sorted(positions) != list(range(len(data))):
            raise ValueError("order() must return a permutation")
        for start in range(0, len(positions), rule.batch_size):
            batch = [data[position] for position in positions[start : start + rule.batch_size]]
            for name, gradient in gradient_of(weights, batch).items():
                weights[name] = weights[name] - rule.learning_rate * gradient
    return weights


def mean(vectors: list[Array]) -> Array:
    total = np.zeros_like(vectors[0])
    for vector in vectors:
        total = total + vector
    return total / len(vectors)


def compensate(memory: list[Labelled], visit: Visit, new: Weights, old: Weights, settings: Settings) -> list[Labelled]:
    """The memory moved from the old extractor's space to the new one's, by the drift seen on this round's batch."""
    if settings.compensation == "off":
        return memory

    def drift(images: list[Array]) -> Array:
        return mean([extract(new, image) for image in images]) - mean([extract(old, image) for image in images])

    moved = []
    for z, label in memory:
        of_class = [image for image, its_label in samples_of(visit) if its_label == label]
        if settings.compensation == "global":
            z = z + drift(list(visit.images))
        elif of_class:
            z = z + drift(of_class)
        elif settings.absent_class == "batch-mean":
            z = z + drift(list(visit.images))
        if settings.clamp:
            z = np.maximum(z, 0.0)
        moved.append((z, label))
    return moved


def store(candidates: list[Labelled], capacity: int) -> list[Labelled]:
    """Return, of candidates in age order, those nearest their class mean, overall; still in age order."""
    ranking = []
    for age, (z, label) in enumerate(candidates):
        centre = mean([other for other, its_label in candidates if its_label == label])
        distance = math.sqrt(float(((z - centre) ** 2).sum()))
        ranking.append((round(distance, TIE_DECIMALS), age))
    kept = sorted(age for _, age in sorted(ranking)[:capacity])
    return [candidates[age] for age in kept]


def samples_of(visit: Visit) -> list[Labelled]:
    return [(image, int(label)) for image, label in zip(visit.images, visit.labels, strict=True)]


def semantics_of(weights: Weights, visit: Visit) -> list[Labelled]:
    return [(extract(weights, image), label) for image, label in samples_of(visit)]


def calibrate(model: Weights, visit: Visit, sensor: Sensor, number: int, settings: Settings, order: Order) -> Weights:
    """One sensor's turn in a calibration round: `model` is the scattered extractor and the classifier handed on."""
    position = (number - 1) % settings.interval
    extractor = {name: model[name] for name in EXTRACTOR}
    semantics = semantics_of(model, visit)
    if settings.scc == "on" and position == 1:
        if sensor.backup is not None:  # not the first time it takes part
            sensor.memory = compensate(sensor.memory, visit, extractor, sensor.backup, settings)
        sensor.backup = extractor
    # The memory stays empty with scc = off, and until a sensor's first cycle has ended.
    calibration_set = semantics + sensor.memory
    orders = [order(visit.sensor, number, len(calibration_set), epoch) for epoch in range(settings.calibration_epochs)]
    model = train(model, calibration_set, classifier_gradient, orders, settings)
    if settings.scc == "on":
        sensor.cycle = sensor.cycle + semantics
        if position == settings.interval - 1:
            sensor.memory = store(sensor.memory + sensor.cycle, settings.memory)
            sensor.cycle = []
    return model


def play(
    weights: Weights,
    rounds: list[list[list[Visit]]],
    settings: Settings,
    order: Order,
    local_sets: dict[int, Visit] | None = None,
) -> list[Weights]:
    """The global weights after each round. rounds[r-1] holds round r's chains, each a list of visits in chain order.

    order(sensor, round_number, size, epoch) is the permutation in which a sensor goes through its (calibration) set
    of `size` in that epoch (0, 1, ...); positions 0.. are the new batch's samples in their order, then the memory's
    vectors in the order they are stored (oldest first). With local_sets a sensor's memory holds at first what its local
    set is under the extractor of `weights`, in the local set's order, and that extractor is its backup.
    """
    if settings.scc not in ("on", "off") or settings.compensation not in ("class", "global", "off"):
        raise ValueError(f"unknown option in {settings}")
    if settings.absent_class not in ("batch-mean", "zero") or settings.storage != "overall":
        raise ValueError(f"unknown option in {settings}")
    weights = {name: np.array(weights[name], dtype=np.float64) for name in EXTRACTOR + CLASSIFIER}
    initial = {name: weights[name] for name in EXTRACTOR}
    sensors = {k: Sensor(semantics_of(initial, each), initial) for k, each in (local_sets or {}).items()}
    participants: list[int] = []
    history = []
    for number, chains in enumerate(rounds, start=1):
        position = (number - 1) % settings.interval
        present = sorted(visit.sensor for chain in chains for visit in chain)
        if len(set(present)) != len(present) or (position > 0 and present != participants):
            raise ValueError(f"round {number}: a sensor twice, or not the sensors of the cycle's full synchronisation")
        participants = present
        results = []
        for chain in chains:
            model = weights  # every chain starts from the same global weights
            for visit in chain:
                if position > 0:
                    model = calibrate(model, visit, sensors[visit.sensor], number, settings, order)
                else:
                    size = len(visit.images)
                    orders = [order(visit.sensor, number, size, epoch) for epoch in range(settings.epochs)]
                    model = train(model, samples_of(visit), full_gradient, orders, settings)
            results.append(model)
        names = CLASSIFIER if position > 0 else EXTRACTOR + CLASSIFIER
        weights = {**weights, **{name: mean([model[name] for model in results]) for name in names}}
        if position == 0 and settings.interval > 1:  # scatter: everybody who took part gets it, extracts S(r0)
            for visit in (visit for chain in chains for visit in chain):
                sensor = sensors.setdefault(visit.sensor, Sensor())
                sensor.cycle = semantics_of(weights, visit) if settings.scc == "on" else []
        history.append({name: array.copy() for name, array in weights.items()})
    return history
