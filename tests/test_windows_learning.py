"""What is learnt without a barrier: limits in which it is something known, and the rules against plain loops.

The clock is the package's. The loops (tests/second_windows.py) are event by event and train inside their events, by
docs/windows.md alone; both compute in double precision, and agree to 1e-12.
"""

import random
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hfedms_sim.data import batches_of
from hfedms_sim.learning import Learner
from hfedms_sim.lineage import State
from hfedms_sim.lineage.checkpoints import read_checkpoint, write_checkpoint
from hfedms_sim.lineage.pace import Pace
from hfedms_sim.loading import CHOICES
from hfedms_sim.result import RunResult
from hfedms_sim.rounds import Participation, RoundRecord, Samples, lineage_after
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation import Progress, parts_of, play, run
from hfedms_sim.strategies.known_strategies import strategy_of
from hfedms_sim.strategies.learners import make_learner
from hfedms_sim.system import native_library
from tests import second_windows as loops
from tests.contracts.toy import DEVICES, write_toy
from tests.interrupted import outcome
from tests.learning.tiny_factory import ENGINE, SHUFFLES, START, RandomImages, parts
from tests.second_windows import FedAsyncServer, FedBuffServer, Lesson, Model
from tests.window_factory import RADIO, exact_scenario, turns_s

BATCH, TOLERANCE = 6, 1e-12
SOURCE = RandomImages(precise=True)
LOCAL: dict[str, Any] = {"learning_rate": 0.1, "batch_size": 4, "epochs": 2}
UNEQUAL = (1, 2, 3, 4, 36)  # turns of 13 to 48 s: the slowest is overtaken again and again
LAWS: list[dict[str, Any]] = [
    {"staleness": "constant"},
    {"staleness": "polynomial", "staleness_exponent": 0.5},
    {"staleness": "polynomial", "staleness_exponent": 1.5},
    {"staleness": "hinge", "staleness_slope": 3.0, "staleness_limit": 1.0},
    {"staleness": "hinge", "staleness_slope": 10.0, "staleness_limit": 0.0},
]
METRICS = ["accuracy", "loss", "accuracy_p10", "accuracy_p50", "accuracy_p90", "probe_accuracy"]


def initial() -> Model:
    return {name: value.double().numpy() for name, value in START.items()}


def fedbuff(buffer: int, **keys: Any) -> dict[str, Any]:
    return {"name": "fedbuff", "buffer": buffer, "sample_ratio": 1.0, **LOCAL} | keys


def fedasync(**keys: Any) -> dict[str, Any]:
    return {"name": "fedasync", "sample_ratio": 1.0, **LOCAL} | keys


def records_of(scenario: Scenario) -> list[RoundRecord]:
    return [played.record for played in play(scenario)]


def double_learner(scenario: Scenario) -> Learner:
    """Return the strategy's learner, in double precision, on samples that are functions of sensor and arrival."""
    module, _, attribute = strategy_of(scenario.strategy).learner.partition(":")
    start = {name: value.double() for name, value in START.items()}
    learner: Learner = getattr(import_module(module), attribute)(scenario.strategy, parts(start, SOURCE))
    return learner


def learnt(scenario: Scenario, records: Sequence[RoundRecord] | None = None) -> list[Model]:
    """Return the model after each round."""
    learner, models = double_learner(scenario), []
    for record in records_of(scenario) if records is None else records:
        learner.learn(record)
        models.append({name: value.numpy().copy() for name, value in learner.weights.items()})
    return models


def of_turn(turn: int) -> Samples:
    """Return what a sensor captures from a saturated stream in its turn of this number."""
    return (((turn - 1) * BATCH, BATCH),)


def lesson(sensor: int, turn: int, samples: Samples | None = None) -> Lesson:
    samples = of_turn(turn) if samples is None else samples
    inputs = SOURCE.inputs(sensor, samples).reshape(-1, 784)
    orders = SHUFFLES.of(sensor, turn, len(inputs), LOCAL["epochs"])
    return Lesson(inputs, SOURCE.labels(sensor, samples), [order.numpy() for order in orders])


def trained(model: Model, sensor: int, turn: int, samples: Samples | None = None) -> Model:
    return loops.descended(model, lesson(sensor, turn, samples), LOCAL)


def assert_near(ours: Sequence[Model], theirs: Sequence[Model], tolerance: float = TOLERANCE) -> None:
    assert len(ours) == len(theirs) > 0
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        assert mine.keys() == other.keys()
        for name, value in mine.items():
            assert float(np.abs(value - other[name]).max()) < tolerance, (number, name)


def assert_moved(models: Sequence[Model]) -> None:
    """Check that there was something to learn: models differ from round to round by far more than the tolerance."""
    for before, after in zip([initial(), *models], models, strict=False):
        assert float(np.abs(before["classifier.weight"] - after["classifier.weight"]).max()) > 1e-5


@pytest.fixture(params=["generic", "lowrank"])
def double_engine(request: pytest.FixtureRequest) -> Any:
    token = ENGINE.set(request.param)
    yield request.param
    ENGINE.reset(token)


# ---------------------------------------------------------------------------------------------------------- limits


def test_fedbuff_with_as_many_under_way_as_buffered_learns_what_fedavg_learns(tmp_path: Path) -> None:
    work_s = (2,) * 6
    ours = exact_scenario(tmp_path, fedbuff(3, sample_ratio=0.5), work_s, batch=BATCH)
    theirs = exact_scenario(tmp_path, {"name": "fedavg", "sample_ratio": 0.5} | LOCAL, work_s, batch=BATCH)
    one, other = learnt(ours), learnt(theirs)
    assert_near(one, other)
    assert_moved(one)
    tables = [run(each, timing_only=True).transfers for each in (ours, theirs)]
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize("weights", ["uniform", "samples", "local-set"])
def test_fedbuff_learns_what_fedavg_learns_where_somebody_has_captured_nothing(tmp_path: Path, weights: str) -> None:
    shared = {"sample_ratio": 1.0, "weights": weights} | LOCAL
    chains = tuple((Participation(sensor, ((0, 6),) if sensor else (), True, False),) for sensor in range(3))
    record = RoundRecord(1, 1, "full", chains, (True,) * 3, 0.0, 1.0, 3, 0, 3)
    ours = exact_scenario(tmp_path, {"name": "fedbuff", "buffer": 3} | shared, (2,) * 3)
    theirs = exact_scenario(tmp_path, {"name": "fedavg"} | shared, (2,) * 3)
    assert_near(learnt(ours, [record]), learnt(theirs, [record]))


def test_fedasync_of_one_sensor_that_mixes_all_in_is_plain_sgd(tmp_path: Path, double_engine: str) -> None:
    scenario = exact_scenario(tmp_path, fedasync(mixing=1.0), (2,), batch=BATCH)
    model, models = initial(), []
    for number in range(1, scenario.rounds + 1):
        model = trained(model, 0, number)
        models.append(model)
    assert_near(learnt(scenario), models)
    assert_moved(models)


def test_hierfavg_of_one_cell_and_one_edge_round_learns_what_fedavg_learns(tmp_path: Path) -> None:
    shared = {"sample_ratio": 0.7} | LOCAL
    one = learnt(exact_scenario(tmp_path, {"name": "hierfavg", "edge_rounds": 1} | shared, (1, 2, 3, 4), batch=BATCH))
    other = learnt(exact_scenario(tmp_path, {"name": "fedavg"} | shared, (1, 2, 3, 4), batch=BATCH))
    assert_near(one, other)
    assert_moved(one)


# ------------------------------------------------------------------------------------------------ event by event


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("ratio", [1.0, 0.6])
def test_fedasync_learns_what_a_loop_learns_that_trains_inside_its_events(
    tmp_path: Path, law: dict[str, Any], ratio: float, double_engine: str
) -> None:
    scenario = exact_scenario(
        tmp_path, fedasync(mixing=0.7, sample_ratio=ratio, **law), UNEQUAL, batch=BATCH, rounds=14
    )
    server = FedAsyncServer(initial(), lesson, law | LOCAL | {"mixing": 0.7})
    places = int(ratio * len(UNEQUAL))
    windows = loops.played(turns_s(UNEQUAL), 1, places, scenario.rounds, server=server)
    assert max(old for window in windows for old in window.staleness) > 1
    assert_near(learnt(scenario), server.models)
    assert_moved(server.models)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize(("buffer", "ratio"), [(1, 1.0), (2, 1.0), (3, 1.0), (2, 0.6)])
def test_fedbuff_learns_what_a_loop_learns_that_trains_inside_its_events(
    tmp_path: Path, law: dict[str, Any], buffer: int, ratio: float, double_engine: str
) -> None:
    strategy = fedbuff(buffer, sample_ratio=ratio, server_learning_rate=0.8, **law)
    scenario = exact_scenario(tmp_path, strategy, UNEQUAL, batch=BATCH, rounds=9, seed=3)
    server = FedBuffServer(initial(), lesson, law | LOCAL | {"server_learning_rate": 0.8})
    places = int(ratio * len(UNEQUAL))
    windows = loops.played(turns_s(UNEQUAL), buffer, places, scenario.rounds, seed=3, server=server)
    assert max(old for window in windows for old in window.staleness) > 1
    assert_near(learnt(scenario), server.models)
    assert_moved(server.models)


@pytest.mark.parametrize("buffer", [1, 2])
def test_where_all_arrive_at_once_the_loop_learns_the_same_too(tmp_path: Path, buffer: int) -> None:
    """Windows without length: of one instant, in the order in which they started."""
    scenario = exact_scenario(tmp_path, fedbuff(buffer), (2, 2, 2, 16), batch=BATCH, rounds=9)
    law = {"staleness": "polynomial", "staleness_exponent": 0.5}
    server = FedBuffServer(initial(), lesson, law | LOCAL | {"server_learning_rate": 1.0})
    windows = loops.played(turns_s((2, 2, 2, 16)), buffer, 4, scenario.rounds, server=server)
    assert any(window.start_s == window.end_s for window in windows)
    assert_near(learnt(scenario), server.models)


def test_the_defaults_are_those_of_the_papers(tmp_path: Path) -> None:
    def made(name: str) -> Any:
        return exact_scenario(tmp_path, {"name": name}, (2,)).strategy

    assert (made("fedbuff").staleness, made("fedbuff").staleness_exponent) == ("polynomial", 0.5)
    assert (made("fedasync").staleness_slope, made("fedasync").staleness_limit) == (10.0, 4.0)
    assert made("fedasync").mixing == made("hfedms-async").mixing == 0.6


def window(number: int, *arrived: tuple[int, int, int], under_way: tuple[int, ...] = ()) -> RoundRecord:
    """Return a window in which sensors arrived: (sensor, round in which it started, samples)."""
    chains = tuple(
        (Participation(sensor, (((begun - 1) * BATCH, count),), True, False),) for sensor, begun, count in arrived
    )
    return RoundRecord(
        number, number, "full", chains, (True,) * len(chains), 0.0, 1.0, len(chains), 0, len(chains),
        tuple(begun for _, begun, _ in arrived), under_way,
    )  # fmt: skip


def test_fedbuff_by_samples_weighs_a_change_by_what_is_behind_it(tmp_path: Path) -> None:
    """Sensor 0 has six samples, sensor 1 has two; in the second window sensor 2 comes, from the initial model."""
    scenario = exact_scenario(tmp_path, fedbuff(2, weights="samples", staleness="hinge", staleness_limit=0.0), (2,) * 3)
    records = [window(1, (0, 1, 6), (1, 1, 2), under_way=(1,)), window(2, (2, 1, 3), (0, 2, 5))]
    zero = initial()

    def change(model: Model, sensor: int, begun: int, count: int) -> Model:
        after = trained(model, sensor, begun, (((begun - 1) * BATCH, count),))
        return {name: after[name] - model[name] for name in model}

    first = loops.mean([change(zero, 0, 1, 6), change(zero, 1, 1, 2)], [6, 2])
    one = {name: zero[name] + first[name] for name in zero}
    stale, fresh = change(zero, 2, 1, 3), change(one, 0, 2, 5)
    two = {name: one[name] + (3 * stale[name] / 11 + 5 * fresh[name]) / 8 for name in one}  # 1 / (10 x 1 + 1)
    assert_near(learnt(scenario, records), [one, two])


# -------------------------------------------------------------------------------------------- chains, base stations


def test_chains_are_mixed_in_one_by_one_as_fedasync_mixes_sensors(tmp_path: Path, double_engine: str) -> None:
    """By the records: who is in which chain and what it captured is the clock's. Each chain goes on from sensor to
    sensor, from the model of the window before the one it started in."""
    law = {"staleness": "polynomial", "staleness_exponent": 0.7}
    strategy = {"name": "hfedms-async", "beta": 4, "alpha": 0.0, "sample_ratio": 1.0, "mixing": 0.8} | law | LOCAL
    scenario = exact_scenario(tmp_path, strategy, (1, 2, 3, 4, 6, 8, 9, 36), batch=BATCH, rounds=10)
    records, versions = records_of(scenario), [initial()]
    for record in records:
        ((chain,), (begun,)) = record.chains, record.started
        assert len(chain) == 2
        model = versions[begun - 1]
        for participation in chain:
            model = trained(model, participation.sensor, begun, participation.samples)
        share = 0.8 * loops.discount(law, record.round - begun)
        versions.append(loops.mixed(versions[-1], model, share))
    assert max(record.staleness[0] for record in records) > 1
    assert_near(learnt(scenario, records), versions[1:])
    assert_moved(versions[1:])


def test_a_chain_captures_what_the_round_brings_in_which_it_started(tmp_path: Path) -> None:
    """Also where its cycle, and the report of it, began earlier."""
    strategy = {"name": "hfedms-async", "beta": 4, "alpha": 0.0, "sample_ratio": 0.5} | LOCAL
    scenario = exact_scenario(tmp_path, strategy, (1, 2, 3, 4, 6, 8, 9, 36), batch=BATCH, rounds=10)
    rounds = list(play(scenario))
    assert len({played.plan.cycle for played in rounds}) < 10
    for record in (played.record for played in rounds):
        ((chain,), (begun,)) = record.chains, record.started
        assert {each.samples for each in chain} == {of_turn(begun)}


def naive_hierfavg(scenario: Scenario, missing: set[tuple[int, int, int]], edge_rounds: int) -> list[Model]:
    """Return the models of plain loops over two cells: even and odd sensors. `missing`: (round, edge round, sensor)."""
    count = scenario.sensors.count
    model, models = initial(), []
    for number in range(1, scenario.rounds + 1):
        drawn = Draws(scenario.seed).subset("selection", np.arange(count), int(0.8 * count), number).tolist()
        averaged, samples = [], []
        for cell in (0, 1):
            team = [sensor for sensor in drawn if sensor % 2 == cell]
            own, seen = model, 0
            for turn in range(edge_rounds):
                there = [sensor for sensor in team if (number, turn, sensor) not in missing]
                done = [trained(own, sensor, (number - 1) * edge_rounds + turn + 1) for sensor in there]
                own = loops.mean(done, [1.0] * len(done)) if done else own
                seen += BATCH * len(done)
            if seen:
                averaged.append(own)
                samples.append(float(seen))
        model = loops.mean(averaged, samples)
        models.append(model)
    return models


def test_hierfavg_learns_what_loops_over_cells_and_edge_rounds_learn(tmp_path: Path, double_engine: str) -> None:
    """Four of five, so cells of unlike size: two and two, or three and one."""
    strategy = {"name": "hierfavg", "edge_rounds": 2, "sample_ratio": 0.8} | LOCAL
    scenario = exact_scenario(tmp_path, strategy, (1, 2, 3, 4, 6), batch=BATCH, cells=("a", "b"))
    models = naive_hierfavg(scenario, set(), 2)
    assert_near(learnt(scenario), models)
    assert_moved(models)


def test_hierfavg_counts_a_base_station_by_what_its_sensors_have_trained_on(tmp_path: Path) -> None:
    """A sensor of round 1 is out of reach for a second less than the timeout, from the beginning of its first edge
    round on: it is left out of that one, and takes part in the second."""
    strategy = {"name": "hierfavg", "edge_rounds": 2, "sample_ratio": 0.8} | LOCAL
    drawn = Draws(1).subset("selection", np.arange(5), 4, 1).tolist()
    lost = next(sensor for sensor in drawn if sensor % 2 == 0)
    fault = {"kind": "sensor-outage", "at_s": 0.0, "for_s": 8.0, "sensors": [lost]}
    scenario = exact_scenario(
        tmp_path, strategy, (1, 2, 3, 4, 6), batch=BATCH, cells=("a", "b"), rounds=2, faults=[fault],
        recovery={"timeout_s": 5.0},
    )  # fmt: skip
    assert_near(learnt(scenario), naive_hierfavg(scenario, {(1, 0, lost)}, 2))


@pytest.mark.parametrize("weights", ["uniform", "samples", "local-set"])
def test_hierfavg_averages_base_stations_by_what_their_sensors_count(tmp_path: Path, weights: str) -> None:
    """Sensor 0 of one cell has trained on six samples, sensor 1 of the other on two."""
    strategy = {"name": "hierfavg", "edge_rounds": 1, "sample_ratio": 1.0, "weights": weights} | LOCAL
    scenario = exact_scenario(tmp_path, strategy, (2, 2), batch=BATCH, cells=("a", "b"))
    chains = tuple((Participation(sensor, ((0, count),), True, False),) for sensor, count in ((0, 6), (1, 2)))
    record = RoundRecord(1, 1, "full", chains, (True, True), 0.0, 1.0, 2, 0, 2)
    ends = [trained(initial(), sensor, 1, ((0, count),)) for sensor, count in ((0, 6), (1, 2))]
    owned = [float(SOURCE.local_size(sensor)) for sensor in (0, 1)]
    counts = {"uniform": [1.0, 1.0], "samples": [6.0, 2.0], "local-set": owned}
    assert_near(learnt(scenario, [record]), [loops.mean(ends, counts[weights])])


def test_what_arrives_in_a_void_window_is_lost_and_the_model_stays(tmp_path: Path) -> None:
    """As by hand in test_window_timelines: one arrival at 14, closed at 15. The next window has 1 and 2 from the
    initial model, and 0 from what window 1 has left as it was."""
    strategy = fedbuff(3, staleness="constant")
    scenario = exact_scenario(tmp_path, strategy, (2, 4, 8), batch=BATCH, rounds=2, deadline_s=15.0, quorum=0.5)
    zero = initial()
    ends = [trained(zero, 1, 1), trained(zero, 2, 1), trained(zero, 0, 2)]
    assert_near(learnt(scenario), [zero, loops.mean(ends, [1.0] * 3)])


# ------------------------------------------------------------------------------------------------------- engines


@pytest.mark.parametrize("strategy", [fedbuff(2), fedasync()], ids=["fedbuff", "fedasync"])
def test_engines_agree_to_rounding(tmp_path: Path, strategy: dict[str, Any]) -> None:
    scenario = toy_scenario(tmp_path, strategy, rounds=10)
    parts_ = parts_of(scenario)
    records, models = records_of(scenario), {}
    for engine in ("generic", "lowrank", *(["native"] if native_library.available() else [])):
        learner = make_learner(scenario, parts_.model, batches_of(scenario, parts_.dataset), engine)
        for record in records:
            learner.learn(record)
        models[engine] = {name: value.numpy() for name, value in learner.weights.items()}
    for engine in models:
        assert_near([models[engine]], [models["generic"]], tolerance=1e-5)
    assert max(max(record.staleness) for record in records) > 1


# ------------------------------------------------------------------------------------------- lineage and resuming

TOY_WORK_S = (1, 2, 4, 8, 13, 21, 31, 45, 66, 81, 97)  # no two of them sum to what two others do: no near ties


def toy_scenario(directory: Path, strategy: dict[str, Any], rate: float = 1.0, **keys: Any) -> Scenario:
    """Return a factory that has something to learn; its radios are `rate` times as fast."""
    radio = {key: rate * RADIO[key] for key in ("uplink_bps", "downlink_bps")}  # type: ignore[operator]
    path = directory / "toy.npz"
    data = {"set": "npz", "path": str(path if path.exists() else write_toy(path))}
    changes: dict[str, Any] = {"batch": BATCH, "stream": {"batch": BATCH, "augment": False}, "data": data} | keys
    assert len(TOY_WORK_S) == DEVICES
    return exact_scenario(directory, strategy, TOY_WORK_S, radio=radio, **changes)


WITHOUT_BARRIER = {
    "fedasync": fedasync(sample_ratio=0.5),
    "fedbuff": fedbuff(3, sample_ratio=0.7),
    "hfedms-async": {"name": "hfedms-async", "beta": 4, "sample_ratio": 1.0} | LOCAL,
    "hierfavg": {"name": "hierfavg", "sample_ratio": 0.7} | LOCAL,
}


def same_weights(one: RunResult, other: RunResult) -> bool:
    return all(np.array_equal(value, other.weights()[name]) for name, value in one.weights().items())


def order_of_arrival(scenario: Scenario) -> list[list[tuple[int, int]]]:
    """Return who arrived in each window, and the window in which it had started."""
    return [
        [(chain[0].sensor, begun) for chain, begun in zip(record.chains, record.started, strict=True)]
        for record in records_of(scenario)
    ]


@pytest.mark.parametrize("name", WITHOUT_BARRIER)
def test_radios_with_the_same_order_of_arrival_learn_once(tmp_path: Path, name: str) -> None:
    """A thousandth faster: nobody overtakes anybody."""
    one = run(toy_scenario(tmp_path, WITHOUT_BARRIER[name], rounds=8), out=tmp_path / "one")
    other = toy_scenario(tmp_path, WITHOUT_BARRIER[name], 1.001, rounds=8)
    assert name == "hierfavg" or order_of_arrival(other) == order_of_arrival(one.scenario)
    taught = run(other, out=tmp_path / "other", learn_from=[tmp_path / "one"])
    assert taught.rounds["lineage"].equals(one.rounds["lineage"])
    assert (taught.rounds["end_s"] < one.rounds["end_s"]).all()
    assert taught.provenance["rounds_trained"] == 0
    assert same_weights(taught, one)


@pytest.mark.parametrize("name", ["fedasync", "fedbuff"])
def test_radios_with_another_order_of_arrival_part_where_it_is_another(tmp_path: Path, name: str) -> None:
    """Eight times as fast: processors matter more."""
    first = toy_scenario(tmp_path, WITHOUT_BARRIER[name], rounds=24, evaluate_every=24)
    other = toy_scenario(tmp_path, WITHOUT_BARRIER[name], 8.0, rounds=24, evaluate_every=24)
    one, alone = run(first, out=tmp_path / "one"), run(other)
    taught = run(other, out=tmp_path / "other", learn_from=[tmp_path / "one"])
    ours, theirs = order_of_arrival(first), order_of_arrival(other)
    same = [ours[:number] == theirs[:number] for number in range(1, 25)]
    assert same[0]
    assert not same[-1]
    assert (alone.rounds["lineage"] == one.rounds["lineage"]).tolist() == same
    assert same_weights(taught, alone)
    assert not same_weights(taught, one)
    assert taught.rounds.equals(alone.rounds)


def test_the_order_of_arrival_alone_makes_two_lineages(tmp_path: Path) -> None:
    """The same sensors, from the same versions, the other way round: two windows of one arrival each."""
    scenario = exact_scenario(tmp_path, fedasync(), (2, 2))
    one = [window(1, (0, 1, 6), under_way=(1,)), window(2, (1, 1, 6))]
    other = [window(1, (1, 1, 6), under_way=(1,)), window(2, (0, 1, 6))]
    first, second = learnt(scenario, one)[-1], learnt(scenario, other)[-1]
    assert float(np.abs(first["classifier.weight"] - second["classifier.weight"]).max()) > 1e-5
    lineages = []
    for records in (one, other):
        lineage = "root"
        for record in records:
            lineage = lineage_after(lineage, record)
        lineages.append(lineage)
    assert lineages[0] != lineages[1]


def test_a_learner_of_many_versions_goes_on_bit_for_bit_after_any_window_and_keeps_none_too_many(
    tmp_path: Path,
) -> None:
    """Eleven under way, each from a model of its own."""
    scenario = toy_scenario(tmp_path, fedasync(), rounds=24)
    parts_, records = parts_of(scenario), records_of(scenario)

    def new_learner() -> Learner:
        return make_learner(scenario, parts_.model, batches_of(scenario, parts_.dataset))

    whole = new_learner()
    model_size = sum(value.numel() for value in whole.weights.values())
    for record in records:
        whole.learn(record)
        state = whole.state()
        write_checkpoint(tmp_path / f"{record.round}.safetensors", record.round, "lineage", state)
        kept = sum(value.size for value in state.values() if np.issubdtype(value.dtype, np.floating))
        assert kept == model_size * (1 + len(record.under_way)), record.round
    assert max(len(record.under_way) for record in records) >= 8
    for number in range(1, len(records), 4):
        resumed = new_learner()
        resumed.restore(read_checkpoint(tmp_path / f"{number}.safetensors", "lineage"))
        for record in records[number:]:
            resumed.learn(record)
        assert_same(resumed.state(), whole.state())


def assert_same(one: State, other: State) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert value.dtype == other[name].dtype, name
        assert np.array_equal(value, other[name]), name


def stopping_after(number: int) -> Callable[[Progress], None]:
    def on_round(progress: Progress) -> None:
        if progress.round == number:
            raise KeyboardInterrupt

    return on_round


@pytest.mark.thorough
def test_a_run_that_is_interrupted_twenty_times_ends_bit_for_bit_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At rounds at random, further and further on, with a checkpoint now and then."""
    moments = random.Random(7)
    monkeypatch.setattr(Pace, "is_due", lambda _: moments.random() < 0.3)
    scenario = toy_scenario(tmp_path, fedbuff(3, sample_ratio=0.7), rounds=30, evaluate_every=4)
    run(scenario, out=tmp_path / "whole")
    out, interruptions = tmp_path / "run", 0
    for number in sorted(moments.randint(1, scenario.rounds - 1) for _ in range(20)):
        directory = RunDirectory.resumed(out, scenario, CHOICES) if out.exists() else out
        with pytest.raises(KeyboardInterrupt):
            run(scenario, out=directory, on_round=stopping_after(number))
        interruptions += 1
    last = run(scenario, out=RunDirectory.resumed(out, scenario, CHOICES))
    assert interruptions == 20
    assert last.provenance["rounds_trained"] < scenario.rounds
    assert outcome(out) == outcome(tmp_path / "whole")


@pytest.mark.parametrize("name", WITHOUT_BARRIER)
def test_a_timing_only_run_is_the_trained_one_in_all_but_metrics(tmp_path: Path, name: str) -> None:
    scenario = toy_scenario(tmp_path, WITHOUT_BARRIER[name], rounds=5)
    learning, timed = run(scenario), run(scenario, timing_only=True)
    for table in ("transfers", "work", "captures", "faults", "sensors"):
        assert timed.arrow(table).equals(learning.arrow(table)), table
    assert timed.rounds.drop(columns=METRICS).equals(learning.rounds.drop(columns=METRICS))
    assert learning.rounds["accuracy"].notna().all()
    assert timed.rounds["accuracy"].isna().all()
