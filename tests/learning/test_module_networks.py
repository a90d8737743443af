"""Networks that are modules: weights by their own names, buffers that are averaged and never stepped, keyed draws."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from hfedms_sim.learning.engine import GenericEngine, LocalSet, Sgd
from hfedms_sim.learning.module_specs import spec_of_module
from hfedms_sim.learning.networks import Weights, initial_weights, network_of
from hfedms_sim.models import spec_of
from hfedms_sim.scenario import DataShape, ModelSpec
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.learners.fedopt import ServerOptimiser

IMAGES = DataShape((3, 8, 8), 4)
FEATURES = DataShape((6,), 3)
SGD = Sgd(0.05, 5)


def local_set(data: DataShape, size: int, number: int) -> LocalSet:
    random = torch.Generator().manual_seed(number)
    inputs = torch.randn((size, *data.input_shape), generator=random)
    labels = torch.randint(0, data.classes, (size,), generator=random)
    return LocalSet(inputs, labels, (torch.randperm(size, generator=random),), seed=number)


def spec_from(*layers: nn.Module) -> ModelSpec:
    return spec_of_module("made", lambda shape, classes: nn.Sequential(*layers), FEATURES)


def by_hand(spec: ModelSpec, start: Weights, chain: list[LocalSet]) -> Weights:
    """The plain loop: one module, torch's SGD, its own state."""
    assert spec.make is not None
    module = spec.make()
    module.load_state_dict(start, strict=False)
    module.train()
    for local in chain:
        optimiser = torch.optim.SGD(module.parameters(), lr=SGD.learning_rate)
        for chosen in local.epochs[0].split(SGD.batch_size):
            optimiser.zero_grad()
            functional.cross_entropy(module(local.inputs[chosen]), local.labels[chosen]).backward()
            optimiser.step()
    return {name: value.detach().clone() for name, value in module.state_dict().items() if value.is_floating_point()}


def test_resnet8_ends_where_a_plain_loop_does_and_its_buffers_are_averaged_like_weights() -> None:
    spec = spec_of("resnet8", IMAGES)
    start = initial_weights(spec, Draws(1))
    chains = [[local_set(IMAGES, 13, 1)], [local_set(IMAGES, 10, 2), local_set(IMAGES, 6, 3)]]
    found = GenericEngine(network_of(spec)).train_models(start, chains, [1.0, 3.0], SGD)
    ends = [by_hand(spec, start, chain) for chain in chains]
    assert found.keys() == ends[0].keys()
    assert any(name.endswith("running_var") for name in found)
    for name, value in found.items():
        assert torch.allclose(value, 0.25 * ends[0][name] + 0.75 * ends[1][name], atol=1e-6), name
        if name.endswith("running_mean"):
            assert not torch.equal(value, start[name])


def test_all_numbers_of_the_model_are_sent_and_stored() -> None:
    spec = spec_of("resnet8", IMAGES)
    network = network_of(spec)
    assert spec.model_bytes == 4 * sum(value.numel() for value in initial_weights(spec, Draws(1)).values())
    assert spec.buffers == sum(network.numbers()[name].numel() for name in network.buffer_names())
    assert all("running" in name for name in network.buffer_names())


def test_first_weights_are_keyed_by_the_seed_and_leave_torchs_generator_alone() -> None:
    spec = spec_of("lstm", DataShape((1, 40), 3))
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, again, other = (initial_weights(spec, Draws(seed)) for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


def test_semantic_vectors_are_what_the_classifier_takes_and_come_from_running_figures() -> None:
    spec = spec_of("resnet8", IMAGES)
    engine, weights = GenericEngine(network_of(spec)), initial_weights(spec, Draws(1))
    batch = local_set(IMAGES, 70, 4).inputs
    vectors = engine.extract(weights, batch)
    assert vectors.shape == (70, spec.semantic_size)
    head = spec.classifier_name
    logits = functional.linear(vectors, weights[f"{head}.weight"], weights[f"{head}.bias"])
    assert torch.allclose(logits, engine.logits(weights, batch), atol=1e-6)
    alone = torch.cat([engine.logits(weights, each[None]) for each in batch[:5]])
    assert torch.allclose(alone, engine.logits(weights, batch)[:5], atol=1e-5)


def test_training_the_classifier_alone_leaves_the_rest_out() -> None:
    spec = spec_of("resnet8", IMAGES)
    start = initial_weights(spec, Draws(1))
    own = {name: value for name, value in start.items() if name.startswith(f"{spec.classifier_name}.")}
    vectors = local_set(DataShape((spec.semantic_size,), 4), 20, 5)
    ended = GenericEngine(network_of(spec)).train_classifiers(own, [[vectors]], [1.0], SGD)
    assert ended.keys() == own.keys()
    assert not torch.equal(ended[f"{spec.classifier_name}.weight"], own[f"{spec.classifier_name}.weight"])


def test_parameters_without_a_gradient_travel_and_stay() -> None:
    frozen = nn.Linear(6, 5)
    frozen.weight.requires_grad_(False)
    spec = spec_from(frozen, nn.Tanh(), nn.Linear(5, 3))
    start = initial_weights(spec, Draws(1))
    found = GenericEngine(network_of(spec)).train_models(start, [[local_set(FEATURES, 20, 1)]], [1.0], SGD)
    assert spec.buffers == 30
    assert torch.equal(found["0.weight"], start["0.weight"])
    assert not torch.equal(found["0.bias"], start["0.bias"])


@pytest.mark.parametrize("other_seed", [False, True])
def test_dropout_is_drawn_by_the_local_sets_seed(other_seed: bool) -> None:
    spec = spec_from(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3))
    start, engine = initial_weights(spec, Draws(1)), GenericEngine(network_of(spec))
    local = local_set(FEATURES, 20, 1)
    torch.manual_seed(1)
    one = engine.train_models(start, [[local]], [1.0], SGD)
    torch.manual_seed(2)
    again = engine.train_models(start, [[local._replace(seed=99) if other_seed else local]], [1.0], SGD)
    assert torch.equal(one["0.weight"], again["0.weight"]) is not other_seed
    assert torch.equal(engine.logits(one, local.inputs), engine.logits(one, local.inputs))


def test_an_adaptive_server_steps_no_buffer() -> None:
    """The learner hands it trained parameters; a variance after Adam's step could be negative."""
    trained = {"w": torch.zeros(2)}
    stepped = ServerOptimiser("adam", 0.1, 1e-3, 0.9, 0.99).step(trained | {"var": torch.ones(2)}, {"w": torch.ones(2)})
    assert stepped.keys() == trained.keys()


def test_a_network_of_modules_is_trained_by_adaptive_servers_with_the_mean_of_its_buffers() -> None:
    from hfedms_sim.learning.learner import LearnerContext
    from hfedms_sim.learning.samples import Shuffles
    from hfedms_sim.strategies.fedopt import FedAdamSettings
    from hfedms_sim.strategies.learners.fedopt import AdaptiveServerLearner
    from tests.learning.tiny_factory import record

    class Source:
        def inputs(self, sensor: int, samples: object) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
            array: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = self.local(sensor).inputs.numpy()
            return array

        def labels(self, sensor: int, samples: object) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
            array: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = self.local(sensor).labels.numpy()
            return array

        def local(self, sensor: int) -> LocalSet:
            return local_set(IMAGES, 12, sensor)

        def local_size(self, sensor: int) -> int:
            return 12

        def local_set(self, sensor: int) -> object:
            raise NotImplementedError

    spec = spec_of("resnet8", IMAGES)
    network, start = network_of(spec), initial_weights(spec, Draws(1))
    engine = GenericEngine(network)
    context = LearnerContext(spec, start, engine, Source(), Shuffles(Draws(1)), network.buffer_names())  # type: ignore[arg-type]
    learner = AdaptiveServerLearner(FedAdamSettings(server_learning_rate=0.5), context)
    learner.learn(record(1, [[0], [1]], 12))
    variances: list[Tensor] = [value for name, value in learner.weights.items() if name.endswith("running_var")]
    assert all(bool((value > 0).all()) for value in variances)
    assert not torch.equal(variances[0], next(v for n, v in start.items() if n.endswith("running_var")))


def test_counters_of_batches_start_anew_in_every_chain() -> None:
    """With momentum None the running mean is over all batches so far, which the counter counts."""
    spec = spec_from(nn.BatchNorm1d(6, momentum=None), nn.Linear(6, 3))
    start, engine = initial_weights(spec, Draws(1)), GenericEngine(network_of(spec))
    chain = [local_set(FEATURES, 20, 1)]
    alone = engine.train_models(start, [chain], [1.0], SGD)
    second = engine.train_models(start, [[local_set(FEATURES, 20, 2)], chain], [0.0, 1.0], SGD)
    assert all(torch.equal(alone[name], second[name]) for name in alone)


def test_a_network_that_works_in_place_leaves_the_samples_alone() -> None:
    spec = spec_from(nn.ReLU(inplace=True), nn.Linear(6, 3))
    engine, weights = GenericEngine(network_of(spec)), initial_weights(spec, Draws(1))
    inputs = local_set(FEATURES, 20, 1).inputs
    kept = inputs.clone()
    engine.logits(weights, inputs)
    engine.extract(weights, inputs)
    assert torch.equal(inputs, kept)


def test_a_parameter_that_the_loss_does_not_depend_on_is_still_pulled() -> None:
    class Unused(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.extra, self.head = nn.Linear(6, 2), nn.Linear(6, 3)

        def forward(self, inputs: Tensor) -> Tensor:
            logits: Tensor = self.head(inputs)
            return logits

    spec = spec_of_module("unused", lambda shape, classes: Unused(), FEATURES)
    start, engine = initial_weights(spec, Draws(1)), GenericEngine(network_of(spec))
    found = engine.train_models(start, [[local_set(FEATURES, 20, 1)]], [1.0], SGD._replace(proximal=0.1))
    assert torch.equal(found["extra.weight"], start["extra.weight"])
    assert not torch.equal(found["head.weight"], start["head.weight"])
