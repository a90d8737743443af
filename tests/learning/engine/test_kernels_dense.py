"""The compiled products with histories and the compiled classifiers against float64, and what they must refuse."""

from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as functional
from torch import Tensor

from hfedms_sim.learning.engine import kernels
from tests.learning.engine.convolutions import accurate


@dataclass(frozen=True)
class History:
    """Samples x of some chains, and each chain's past inputs and outputs, of which the first `ranks` count."""

    counts: tuple[int, ...]
    ranks: tuple[int, ...]
    x: Tensor
    y: Tensor
    inputs: Tensor
    outputs: Tensor

    @property
    def call(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        return self.x, torch.tensor(self.counts), self.inputs, self.outputs, torch.tensor(self.ranks)

    def by_torch(self, dtype: torch.dtype, scale: float) -> Tensor:
        samples = zip(*(t.to(dtype).split(self.counts) for t in (self.x, self.y)), strict=True)
        past = zip(self.inputs.to(dtype), self.outputs.to(dtype), self.ranks, strict=True)
        return torch.cat([y + scale * (x @ a[:r].T) @ b[:r] for (x, y), (a, b, r) in zip(samples, past, strict=True)])


def history(counts: tuple[int, ...], ranks: tuple[int, ...], inputs: int, outputs: int, rows: int) -> History:
    """Rows that do not count are NaN, and so is what lies between two chains."""
    draw = torch.Generator().manual_seed(0)
    x, y = (torch.randn(sum(counts), n, generator=draw) for n in (inputs, outputs))
    past = [torch.randn(len(counts), rows + 1, n, generator=draw)[:, :rows] for n in (inputs, outputs)]
    for rank, *own in zip(ranks, *past, strict=True):
        for rows_of_chain in own:
            rows_of_chain[rank:] = torch.nan
    return History(counts, ranks, x, y, *past)


HISTORIES = {
    "the paper's dense layer": history((5, 5, 3), (45, 10, 0), 3136, 2048, 50),
    "a long chain": history((5,), (700,), 130, 1100, 700),
    "nothing divides": history((3, 0, 1), (7, 2, 1), 13, 21, 9),
    "no history": history((2, 2), (0, 0), 8, 8, 4),
    "one number": history((1,), (1,), 1, 1, 1),
    **{f"mini-batches of {b}": history((b, b), (5, 9), 40, 37, 9) for b in range(1, 20)},
}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_correction_is_as_near_to_float64_as_torch(variant: str, name: str) -> None:
    past = HISTORIES[name]
    oracle, plain = past.by_torch(torch.float64, -0.06), past.by_torch(torch.float32, -0.06)
    y = past.y.clone()
    kernels.history_correct(*past.call, -0.06, y)
    assert accurate(y, plain, oracle)


@pytest.mark.parametrize("name", HISTORIES)
def test_a_correction_is_its_two_halves(variant: str, name: str) -> None:
    past = HISTORIES[name]
    x, counts, inputs, outputs, ranks = past.call
    whole, halves = past.y.clone(), past.y.clone()
    kernels.history_correct(*past.call, 0.5, whole)
    products = torch.full((len(x), inputs.shape[1]), torch.nan)
    kernels.history_dots(x, counts, inputs, ranks, products)
    kernels.history_add(products, counts, outputs, ranks, 0.5, halves)
    assert torch.equal(whole, halves)
    beyond = torch.arange(inputs.shape[1]) >= ranks.repeat_interleave(counts)[:, None]
    assert torch.equal(products.isnan(), beyond), "products beyond a rank are left as they were"


def test_a_chain_is_corrected_to_the_same_bits_alone_and_beside_others(variant: str) -> None:
    past = HISTORIES["the paper's dense layer"]
    together, alone = past.y.clone(), past.y.clone()
    kernels.history_correct(*past.call, 0.5, together)
    x, counts, *rest = past.call
    own = zip(x.split(past.counts), counts.split(1), *(each.split(1) for each in rest), strict=True)
    for call, y in zip(own, alone.split(past.counts), strict=True):
        kernels.history_correct(*call, 0.5, y)
    assert torch.equal(together, alone)


def test_a_wrong_history_is_refused(variant: str) -> None:
    past = HISTORIES["nothing divides"]
    x, counts, inputs, outputs, ranks = past.call
    wrong: list[tuple[str, tuple[Tensor, Tensor, Tensor, Tensor, Tensor]]] = [
        ("ranks must be from 0", (x, counts, inputs, outputs, ranks + 5)),
        ("ranks must be from 0", (x, counts, inputs, outputs, ranks - 2)),
        ("counts must be", (x, counts + 1, inputs, outputs, ranks)),
        ("ranks must be a dense", (x, counts, inputs, outputs, ranks.int())),
        ("ranks must have the shape", (x, counts, inputs, outputs, ranks[:2])),
        ("x must be contiguous", (x.T.contiguous().T, counts, inputs, outputs, ranks)),
        ("inputs of a chain must have the shape", (x, counts, outputs, outputs, ranks)),
        ("inputs of a chain must be contiguous", (x, counts, inputs.mT.contiguous().mT, outputs, ranks)),
        ("outputs of a chain must be a dense", (x, counts, inputs, outputs.double(), ranks)),
        ("9 rows of inputs and 8 of outputs", (x, counts, inputs, outputs[:, :8], ranks)),
    ]
    for message, arguments in wrong:
        with pytest.raises(ValueError, match=message):
            kernels.history_correct(*arguments, 1.0, past.y.clone())
    with pytest.raises(ValueError, match="products must have the shape"):
        kernels.history_dots(x, counts, inputs, ranks, torch.empty(4, 3))
    with pytest.raises(ValueError, match="products must have the shape"):
        kernels.history_add(torch.empty(4, 3), counts, outputs, ranks, 1.0, past.y.clone())


# ------------------------------------------------------------------------------------------------------- classifiers


@dataclass(frozen=True)
class Classifiers:
    """Every chain's own classifier, with samples for it."""

    counts: tuple[int, ...]
    x: Tensor
    labels: Tensor
    weights: Tensor
    bias: Tensor

    def by_torch(self, dtype: torch.dtype, rate: float, batch_size: int) -> tuple[Tensor, Tensor]:
        """Weights and bias, by autograd, mini-batch by mini-batch."""
        weights, bias = (t.to(dtype, copy=True) for t in (self.weights, self.bias))
        for g, samples in enumerate(torch.arange(len(self.x)).split(self.counts)):
            for batch in samples.split(batch_size):
                own = [t.clone().requires_grad_() for t in (weights[g], bias[g])]
                loss = functional.cross_entropy(self.x[batch].to(dtype) @ own[0].T + own[1], self.labels[batch])
                if len(batch):
                    by_weights, by_bias = torch.autograd.grad(loss, own)
                    weights[g] -= rate * by_weights
                    bias[g] -= rate * by_bias
        return weights, bias


def classifiers(counts: tuple[int, ...], features: int, classes: int) -> Classifiers:
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(sum(counts), features, generator=draw).relu()
    labels = torch.randint(classes, (sum(counts),), generator=draw)
    weights = torch.randn(len(counts), classes, features, generator=draw) / features**0.5
    return Classifiers(counts, x, labels, weights, torch.randn(len(counts), classes, generator=draw) / 10)


CLASSIFIERS = {
    "the paper's": (classifiers((12, 10), 2048, 62), 5),
    "ragged": (classifiers((3, 0, 7, 1), 37, 11), 3),
    "one class": (classifiers((2,), 5, 1), 2),
    "large mini-batches": (classifiers((40, 21), 600, 10), 20),
    "no samples": (classifiers((0, 0), 9, 4), 5),
}


def steps(case: Classifiers, batch_size: int | None) -> tuple[Tensor, Tensor]:
    """Weights and bias."""
    parameters = case.weights.clone(), case.bias.clone()
    counts = torch.tensor(case.counts)
    kernels.classifier_steps(case.x, counts, case.labels, parameters, 0.06, batch_size=batch_size)
    return parameters


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_trained_classifier_is_as_near_to_float64_as_torch(variant: str, name: str) -> None:
    case, batch_size = CLASSIFIERS[name]
    oracles, plains = (case.by_torch(dtype, 0.06, batch_size) for dtype in (torch.float64, torch.float32))
    for ours, plain, oracle in zip(steps(case, batch_size), plains, oracles, strict=True):
        assert accurate(ours, plain, oracle)


def test_without_a_batch_size_a_chain_takes_one_step(variant: str) -> None:
    case, _ = CLASSIFIERS["ragged"]
    assert all(torch.equal(*pair) for pair in zip(steps(case, None), steps(case, 7), strict=True))


def test_nan_reaches_the_classifier(variant: str) -> None:
    case, batch_size = CLASSIFIERS["ragged"]
    case.x[0, 0] = torch.nan
    weights, bias = steps(case, batch_size)
    case.x[0, 0] = 1.0
    assert weights[0].isnan().all()
    assert bias[0].isnan().all()
    assert not weights[1:].isnan().any()


@pytest.mark.parametrize("label", [-1, 11])
def test_a_label_that_is_no_class_is_refused(variant: str, label: int) -> None:
    case, _ = CLASSIFIERS["ragged"]
    counts, labels, parameters = torch.tensor(case.counts), case.labels.clone(), (case.weights, case.bias)
    labels[-1] = label
    with pytest.raises(ValueError, match="a label is not a class"):
        kernels.classifier_steps(case.x, counts, labels, parameters, 0.1)
    with pytest.raises(ValueError, match="batch size must be at least 1"):
        kernels.classifier_steps(case.x, counts, case.labels, parameters, 0.1, batch_size=0)
