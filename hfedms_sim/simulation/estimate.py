"""How much memory and processor time a run will take at most, and how much room on the disk, before it is played.

A sum over its parts, each by a figure that was measured on one core of a virtual AMD EPYC (docs/performance.md). Meant
to be right within a factor of two (memory) and three (time) on a machine like that one, and to be worked out at once
for any scenario that can be written down. What may end a run early (`stop_at`, `stop_after_s`, a training that
diverges) is left out, and so are sensors out of coverage: both make it smaller.
"""

import os
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hfedms_sim.errors import ALLOW_LARGE, InputError
from hfedms_sim.grouping import is_large
from hfedms_sim.learning import BUNDLE_BYTES
from hfedms_sim.scenario import ModelSpec, NetworkProfile, Scenario
from hfedms_sim.simulation.engines import engine_of
from hfedms_sim.simulation.parts import Parts
from hfedms_sim.strategies import Workload, strategy_of
from hfedms_sim.system.machine import MEMORY_LIMIT, available_memory_bytes, free_disk_bytes, limit_of
from hfedms_sim.units import BYTES_PER_PARAMETER, format_bytes, format_seconds, parse_seconds

TIME_LIMIT = "HFEDMS_SIM_TIME_LIMIT"
"""Environment variable: how much processor time a run may take, such as 10min, instead of any."""

_START_S, _START_BYTES = 1.5, 160e6  # Python with what a timing-only run imports
_TORCH_S, _TORCH_BYTES = 2.0, 230e6
_TRANSFER_S = 40e-6  # on the paper's cell, whose radio has a rate and a latency only
_DETAILED_RADIO_FACTOR = 2.0  # times that, where radios have losses, set-ups or joules
_FAULTS_FACTOR = 2.0  # times that, where something can go wrong: outages, deadlines
_ROUND_S = 1.2e-3
_SENSOR_BYTES, _UNDER_WAY_BYTES = 600, 2_000
_ROW_BYTES, _ANALYSED_ROWS = 580, 1_000_000  # of transfers, when the run's limits are worked out
_ROUND_BYTES = 400
_STORED_ROW_BYTES, _STORED_ROUND_BYTES = 30, 200  # on the disk
_CAPTURED_S = 80e-6  # to take a sample, to brighten and crop it
_TEST_COPIES = 2  # while they are gathered
_MODEL_COPIES = 8
_STATES_KEPT = 20  # distinct extractors behind the sensors' memories
_CALIBRATED_S = 20e-6  # a vector
_DEVICES_ASKED = 1_000
_PULP_PAIRS, _PULP_S, _PULP_PAIR_S = 25_000, 5e-3, 22e-6
_PAIR_S, _WORK_S, _PAIR_BYTES = 1e-6, 1e-8, 50  # work: sensors x clusters x clusters
_NESTED_SENSOR_S, _COUNT_BYTES = 200e-6, 24


class _Speed(NamedTuple):
    """How fast an engine is: of training, of extraction and testing, and what a trained sample takes beside."""

    training_hz: float
    """Multiply-adds a second."""
    testing_hz: float
    sample_s: float


_SPEEDS = {
    "generic": _Speed(9e9, 20e9, 300e-6),
    "lowrank": _Speed(29e9, 30e9, 100e-6),
    "native": _Speed(45e9, 40e9, 60e-6),
}
"""An engine that is not here counts as slow as the plain one."""


class Share(NamedTuple):
    """What a part of a run takes."""

    what: str
    processor_s: float
    memory_bytes: float
    remedy: str
    """What to set for it to take less."""


class Estimate(NamedTuple):
    """What a run will take at most."""

    shares: tuple[Share, ...]
    transfers: int
    disk_bytes: float

    @property
    def processor_s(self) -> float:
        return sum(share.processor_s for share in self.shares)

    @property
    def memory_bytes(self) -> float:
        return sum(share.memory_bytes for share in self.shares)

    def __str__(self) -> str:
        costs = f"{format_seconds(self.processor_s)} of processor time, {format_bytes(self.memory_bytes)} of memory"
        return f"about {costs}, {self.transfers:,} transfers at most"

    def require_room(self, where: Path | None) -> None:
        """Refuse a run that needs more than the machine, or whoever set limits, has for it.

        `where`: the directory that it is written to; None: it is kept in memory.
        """
        memory = max(self.shares, key=lambda share: share.memory_bytes)
        memory_bytes = available_memory_bytes()
        if memory_bytes is not None and self.memory_bytes > memory_bytes:
            free = f"is allowed ({MEMORY_LIMIT})" if os.environ.get(MEMORY_LIMIT) else "is free"
            self._refuse(format_bytes(self.memory_bytes), "of memory", memory, f"{format_bytes(memory_bytes)} {free}")
        time_s = limit_of(TIME_LIMIT, parse_seconds)
        if time_s is not None and self.processor_s > time_s:
            longest = max(self.shares, key=lambda share: share.processor_s)
            allowed = f"{format_seconds(time_s)} is allowed ({TIME_LIMIT})"
            self._refuse(format_seconds(self.processor_s), "of processor time", longest, allowed)
        disk_bytes = None if where is None else free_disk_bytes(where)
        if disk_bytes is not None and self.disk_bytes > disk_bytes:
            trace = Share("the trace", 0.0, 0.0, "lower rounds, or raise trace_every")
            self._refuse(format_bytes(self.disk_bytes), "on the disk", trace, f"{format_bytes(disk_bytes)} is free")

    def _refuse(self, taken: str, of_what: str, most: Share, allowed: str) -> None:
        line = f"it takes about {taken} {of_what}, most for {most.what}, and {allowed}; {most.remedy}, or "
        raise InputError(line, ALLOW_LARGE)


def estimate_of(scenario: Scenario, parts: Parts, *, timing_only: bool) -> Estimate:
    """Return what a run of the scenario takes at most."""
    count = scenario.sensors.count
    work = strategy_of(scenario.strategy).workload(scenario.strategy, count, scenario.rounds)
    shares = [_start(parts.model, timing_only), *_clock(scenario, work, parts.model.classes)]
    if not timing_only:
        shares += _learning(scenario, parts, work)
    rows = work.transfers // scenario.trace_every
    return Estimate(tuple(shares), work.transfers, _STORED_ROW_BYTES * rows + _STORED_ROUND_BYTES * scenario.rounds)


def _start(model: ModelSpec, timing_only: bool) -> Share:
    needs_torch = not timing_only or model.stack is None
    start_s, start_bytes = _START_S + _TORCH_S * needs_torch, _START_BYTES + _TORCH_BYTES * needs_torch
    return Share("Python and its packages", start_s, start_bytes, "free some memory")


def _clock(scenario: Scenario, work: Workload, classes: int) -> Iterator[Share]:
    """Yield what playing takes, and what is kept of it."""
    count, rounds = scenario.sensors.count, scenario.rounds
    factor = _DETAILED_RADIO_FACTOR if any(_is_detailed(cell.profile) for cell in scenario.cells) else 1.0
    factor *= 1.0 if scenario.is_steady else _FAULTS_FACTOR
    under_way = max(work.side_by_side, count if work.reports else 0)
    yield Share(
        f"{count:,} sensors, {under_way:,} of them at once",
        0.0,
        _SENSOR_BYTES * count + _UNDER_WAY_BYTES * under_way,
        "lower sensors.count or strategy.sample_ratio",
    )
    rows = min(work.transfers, _ANALYSED_ROWS)
    yield Share(
        f"{rounds:,} rounds with {work.transfers:,} transfers",
        _TRANSFER_S * factor * work.transfers + _ROUND_S * rounds,
        _ROW_BYTES * rows + _ROUND_BYTES * rounds,
        "lower rounds",
    )
    times, first, typical = work.groupings
    if times:
        yield Share(
            f"{times:,} groupings of {count:,} sensors",
            times * _grouping_s(count, typical) + _grouping_s(count, first),
            _grouping_bytes(count, first, classes),
            "raise strategy.beta",
        )


def _grouping_s(sensors: int, groups: int) -> float:
    """Return what forming groups takes by the solver that `auto` chooses (docs/grouping.md)."""
    clusters = sensors // groups
    pairs = sensors * clusters
    if pairs <= _PULP_PAIRS:
        return _PULP_S + _PULP_PAIR_S * pairs
    if is_large(sensors, clusters):
        return _NESTED_SENSOR_S * sensors
    return _PAIR_S * pairs + _WORK_S * pairs * clusters


def _grouping_bytes(sensors: int, groups: int, classes: int) -> float:
    """Return the class counts, and the pairs of sensors and clusters that are compared at once."""
    clusters = sensors // groups
    pairs = 0 if is_large(sensors, clusters) else sensors * clusters
    return _PAIR_BYTES * pairs + _COUNT_BYTES * sensors * classes


def _is_detailed(profile: NetworkProfile) -> bool:
    """Return whether a radio has losses, set-ups or joules, so that a transfer is more than bytes over a rate."""
    return bool(profile.blocks or profile.frames or profile.idle or profile.setup_s)


def _learning(scenario: Scenario, parts: Parts, work: Workload) -> Iterator[Share]:
    """Yield what training and testing take beside the clock."""
    model, settings, dataset = parts.model, scenario.strategy, parts.dataset
    speed = _SPEEDS.get(engine_of(scenario, model), _SPEEDS["generic"])
    count, (train, test) = scenario.sensors.count, _samples_of_a_device(parts)
    captured = train if scenario.stream.arrival == "static" else min(scenario.stream.batch, train)
    tested, tests = test * count, -(-scenario.rounds // scenario.evaluate_every)
    sample_bytes = BYTES_PER_PARAMETER * prod(model.data.input_shape)
    yield Share(
        f"the samples of {count:,} sensors",
        count * (train + test) * dataset.generation_s,
        _TEST_COPIES * tested * sample_bytes,
        "lower sensors.count, or play the clock alone",
    )
    yield Share(
        f"{tests:,} tests of {tested:,.0f} samples",
        tests * tested * model.multiply_adds / speed.testing_hz,
        0.0,
        "raise evaluate_every",
    )
    costs = strategy_of(settings).costs(settings, model)
    trained_s = costs.training_multiply_adds / speed.training_hz + speed.sample_s
    calibrated_s = 2 * model.extractor_multiply_adds / speed.testing_hz + _CALIBRATED_S
    yield Share(
        f"{work.trainings + work.calibrations:,} trainings",
        captured * (work.trainings * (_CAPTURED_S + settings.epochs * trained_s))
        + captured * work.calibrations * (_CAPTURED_S + calibrated_s)
        + work.remembered_passes * _CALIBRATED_S,
        _MODEL_COPIES * model.model_bytes + _bundle_bytes(model, captured, work),
        "lower rounds or strategy.sample_ratio, or take a smaller model",
    )
    yield Share(
        "what sensors remember",
        0.0,
        _remembered_bytes(scenario, model, work),
        "lower strategy.memory, or take a smaller model",
    )


def _samples_of_a_device(parts: Parts) -> tuple[float, float]:
    """Return how many train and test samples a device has on average, of some of them."""
    devices = np.arange(0, parts.dataset.devices, max(1, parts.dataset.devices // _DEVICES_ASKED))
    return float(parts.dataset.train_sizes(devices).mean()), float(parts.dataset.test_sizes(devices).mean())


def _bundle_bytes(model: ModelSpec, captured: float, work: Workload) -> float:
    """Return what chains keep of their dense layers' inputs and outputs while they are trained together."""
    if model.stack is None:
        return 0.0
    layers = (*model.stack.extractor, model.stack.classifier)
    numbers = sum(layer.inputs * layer.height * layer.width + layer.outputs for layer in layers)
    return min(float(BUNDLE_BYTES), BYTES_PER_PARAMETER * numbers * captured * work.side_by_side)


def _remembered_bytes(scenario: Scenario, model: ModelSpec, work: Workload) -> float:
    """Return semantic vectors and the extractors behind them, and what sensors have not sent by top-k."""
    vectors_bytes = work.remembered * (BYTES_PER_PARAMETER * model.semantic_size + 8)
    extractors = min(_STATES_KEPT, work.groupings.times) if work.remembered else 0
    residuals = min(scenario.sensors.count, work.trainings) if scenario.strategy.compression.uplink == "topk" else 0
    return vectors_bytes + extractors * BYTES_PER_PARAMETER * model.extractor_parameters + residuals * model.model_bytes
