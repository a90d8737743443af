"""Compiled kernels beside torch, at the paper's sizes, on one core: microseconds of CPU time a sample, best of 15.

    python -m benchmarks.kernels

Both sides run in turn in one process. Torch trains chain by chain for convolutions, whose weights are private, and all
chains in one batched product for histories and classifiers. Half of the pooled values get a delta, the rest are dead
or zero.
"""

from collections.abc import Callable
from functools import partial
from time import process_time

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from hfedms_sim.learning.engine import kernels
from hfedms_sim.system import native_library

BATCH = 5
REPEATS = 15
Work = Callable[[], object]


def best_us(samples: int, *works: Work) -> list[float]:
    """Return the best time of each, taken in turn."""
    times = [[_seconds(work) for work in works] for _ in range(REPEATS)]
    return [min(column) / samples * 1e6 for column in zip(*times, strict=True)]


def _seconds(work: Work) -> float:
    start = process_time()
    work()
    return process_time() - start


def row(name: str, samples: int, ours: Work, torchs: Work) -> None:
    ours_us, torch_us = best_us(samples, ours, torchs)
    print(f"| {name} | {ours_us:.1f} | {torch_us:.1f} | {torch_us / ours_us:.1f} |")


def convolution(side: int, inputs: int, outputs: int, chains: int = 22) -> None:
    samples = chains * BATCH
    last = inputs > 1  # the first layer needs no dx, the last one is flattened channel by channel
    x = torch.randn(samples, side, side, inputs).relu()
    weights = (torch.rand(chains, outputs, 5, 5, inputs) - 0.5) * 2 * (6 / 25 / (inputs + outputs)) ** 0.5
    bias, own = torch.zeros(chains, outputs), torch.full((chains,), BATCH)
    pooled = kernels.conv_pool_forward(x, own, weights, bias, channel_first=last)
    alive = (pooled.argmax < 4).float().mean()
    deltas = torch.randn(pooled.values.shape) * (torch.rand(pooled.values.shape) < 0.5 / alive)
    dx = torch.empty_like(x) if last else None

    images = x.permute(0, 3, 1, 2).contiguous().split(BATCH)
    filters = [own.permute(0, 3, 1, 2).contiguous().requires_grad_() for own in weights]
    biases = [own.clone().requires_grad_() for own in bias]
    by_pool = (deltas if last else deltas.permute(0, 3, 1, 2).contiguous()).split(BATCH)

    def forward(differentiable: bool = False) -> list[Tensor]:
        with torch.set_grad_enabled(differentiable):
            per_chain = zip(images, filters, biases, strict=True)
            own = [(x.requires_grad_(last and differentiable), w, b) for x, w, b in per_chain]
            return [functional.max_pool2d(functional.conv2d(x, w, b, padding=2).relu(), 2) for x, w, b in own]

    def both() -> None:
        for result, delta in zip(forward(differentiable=True), by_pool, strict=True):
            result.backward(delta)

    shape = f"{side}x{side}x{inputs} to {outputs}"
    row(
        f"forward {shape}",
        samples,
        lambda: kernels.conv_pool_forward(x, own, weights, bias, channel_first=last),
        forward,
    )
    update = (x, own, (weights, bias), pooled, deltas)
    step_us, both_us, forward_us = best_us(
        samples,
        lambda: kernels.conv_pool_backward(*update, rate=1e-9, dx=dx),
        both,
        lambda: forward(differentiable=True),
    )
    print(f"| backward {shape} | {step_us:.1f} | {both_us - forward_us:.1f} | {(both_us - forward_us) / step_us:.1f} |")


def history(chains: int, rank: int, inputs: int = 3136, outputs: int = 2048) -> None:
    samples = chains * BATCH
    x, y = torch.randn(samples, inputs), torch.randn(samples, outputs)
    past, deltas = torch.randn(chains, rank, inputs), torch.randn(chains, rank, outputs)
    own, ranks = torch.full((chains,), BATCH), torch.full((chains,), rank)
    batched, results = x.view(chains, BATCH, inputs), y.view(chains, BATCH, outputs)
    row(
        f"correction, {chains} chains with {rank} samples behind them",
        samples,
        lambda: kernels.history_correct(x, own, past, deltas, ranks, -1e-9, y),
        lambda: results.baddbmm_(batched.bmm(past.mT), deltas, alpha=-1e-9),
    )


def classifier(chains: int, steps: int, features: int = 2048, classes: int = 62) -> None:
    samples = chains * steps * BATCH
    x, labels = torch.randn(samples, features).relu(), torch.randint(classes, (samples,))
    weights, bias = torch.randn(chains, classes, features) / 50, torch.zeros(chains, classes)
    own, rate = torch.full((chains,), steps * BATCH), 1e-9
    batches, targets = x.view(chains, steps, BATCH, features), labels.view(chains, steps, BATCH)

    def batched() -> None:
        for step in range(steps):
            deltas = torch.baddbmm(bias[:, None], batches[:, step], weights.mT).softmax(2)
            deltas -= functional.one_hot(targets[:, step], classes)
            weights.baddbmm_(deltas.mT, batches[:, step], alpha=-rate / BATCH)
            bias.sub_(deltas.sum(1), alpha=rate / BATCH)

    def compiled() -> None:
        kernels.classifier_steps(x, own, labels, (weights, bias), rate, batch_size=BATCH)

    row(f"classifier, {chains} chains, {steps} steps each", samples, native_library, batched)


def extraction(images: int = 64, rows: int = 512) -> None:
    """The layers of the paper's extractor forwards, where no gradient is wanted."""
    own = torch.tensor([images])
    for side, inputs, outputs in ((28, 1, 32), (14, 32, 64)):
        x = torch.randn(images, side, side, inputs).relu()
        weights = torch.randn(1, outputs, 5, 5, inputs) / (25 * inputs) ** 0.5
        torchs = nn.Sequential(nn.Conv2d(inputs, outputs, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2))
        channels_first = x.permute(0, 3, 1, 2).contiguous()
        row(
            f"values alone, {side}x{side}x{inputs} to {outputs}",
            images,
            partial(kernels.conv_pool_values, x, own, weights, torch.zeros(1, outputs)),
            partial(torchs, channels_first),
        )
    dense = nn.Linear(3136, 2048)
    x = torch.randn(rows, 3136).relu()
    packed = kernels.PackedDense(dense.weight.detach(), dense.bias.detach())
    row("dense, 3136 to 2048, with ReLU", rows, partial(packed, x), lambda: dense(x).relu_())


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(
        f"| {native_library.variant()} | microseconds a sample | torch {torch.__version__} | ratio |\n|---|---|---|---|"
    )
    convolution(28, 1, 32)
    convolution(14, 32, 64)
    history(110, 45)
    history(10, 500)
    history(3, 1800)
    classifier(108, 10)
    with torch.no_grad():
        extraction()
