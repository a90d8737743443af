"""The product against an independent implementation in plain loops, written from the specification alone."""

from typing import Any

import numpy as np
import pytest
import torch

from hfedms_sim.learning.networks import Weights
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.strategies.hfedms import HFedMSDynamicSettings
from hfedms_sim.strategies.learners.hfedms import CalibratingLearner
from tests.learning.second_hfedms import Settings, Visit, play
from tests.learning.tiny_factory import SHUFFLES, START, RandomImages, parts, record

BATCH = 9
CYCLES = [[[0, 1, 2], [3, 4]], [[4, 0], [5, 2, 1]], [[1, 3], [2, 0]]]  # who comes back, and after how long, differs


def records(interval: int) -> list[RoundRecord]:
    return [
        record(cycle * interval + position + 1, chains, BATCH, interval=interval)
        for cycle, chains in enumerate(CYCLES)
        for position in range(interval)
    ]


def learnt(settings: HFedMSDynamicSettings, source: RandomImages) -> list[Weights]:
    start = {name: value.to(source.dtype) for name, value in START.items()}
    learner = CalibratingLearner(settings, parts(start, source))
    weights = []
    for each in records(settings.interval):
        learner.learn(each)
        weights.append(learner.weights)
    return weights


def learnt_again(settings: HFedMSDynamicSettings, source: RandomImages) -> list[dict[str, Any]]:
    rounds = [
        [
            [
                Visit(
                    each.sensor,
                    source.inputs(each.sensor, each.samples).reshape(-1, 784).astype(np.float64),
                    source.labels(each.sensor, each.samples),
                )
                for each in chain
            ]
            for chain in played.chains
        ]
        for played in records(settings.interval)
    ]
    plain = Settings(
        interval=settings.interval,
        memory=settings.memory,
        learning_rate=settings.learning_rate,
        batch_size=settings.batch_size,
        epochs=settings.epochs,
        calibration_epochs=settings.calibration_epochs,
        scc=settings.scc,
        compensation=settings.compensation,
        absent_class=settings.absent_class,
        clamp=settings.clamp_semantics,
    )
    start = {name: value.double().numpy() for name, value in START.items()}

    def order(sensor: int, round_number: int, size: int, epoch: int) -> Any:
        return SHUFFLES.of(sensor, round_number, size, epoch + 1)[epoch].numpy()

    local_sets = {sensor: local_visit(source, sensor) for sensor in range(6)} if settings.has_initial_memory else None
    return play(start, rounds, plain, order, local_sets)


def local_visit(source: RandomImages, sensor: int) -> Visit:
    images, labels = source.local_set(sensor)
    return Visit(sensor, images.reshape(-1, 784).astype(np.float64), labels)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"interval": 1},
        {"interval": 2},
        {"interval": 4, "memory": 7},
        {"scc": "off"},
        {"compensation": "global"},
        {"compensation": "off"},
        {"absent_class": "zero"},
        {"clamp_semantics": True},
        {"epochs": 2, "calibration_epochs": 3, "batch_size": 4},
        {"initial_memory": "local-set"},
        {"initial_memory": "local-set", "memory": 7, "absent_class": "zero"},
        {"initial_memory": "local-set", "compensation": "off"},
    ],
    ids=str,
)
def test_both_learn_the_same(changes: dict[str, Any], every_engine: str) -> None:
    """In double precision, which the native engine does not have."""
    precise, tolerance = (True, 1e-12) if every_engine != "native" else (False, 1e-5)
    settings = HFedMSDynamicSettings(**({"interval": 3, "memory": 20, "learning_rate": 0.1} | changes))
    for classes in (4, 30):
        source = RandomImages(classes, precise=precise)
        ours, theirs = learnt(settings, source), learnt_again(settings, source)
        for number, (mine, other) in enumerate(zip(ours, theirs, strict=True), start=1):
            for name, value in mine.items():
                difference = torch.as_tensor(other[name]) - value
                assert float(difference.abs().max()) < tolerance, (number, name)
