"""The fast engine: all chains of a round step by step together, reading the shared weights once a step (dense.py).

Exact in real arithmetic for plain SGD, also with FedProx's pull, on convolutions, ReLU, max-pool and dense layers, also
with FedFusion's operator between them, and any loss of losses.py. Memory is bounded: chains are trained in bundles that
fit into a budget, one bundle after the other. With several threads each trains its share of the chains; their results
are added in a fixed order.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from hfedms_sim.learning import BUNDLE_BYTES
from hfedms_sim.learning.engine.base import Chain, Sgd, TrainedChains
from hfedms_sim.learning.engine.chain_bundle import ChainBundle, LayerFactories, bundle_bytes
from hfedms_sim.learning.engine.chain_bundles import ChainBundles, Numbered
from hfedms_sim.learning.engine.chain_models import KEPT_BYTES
from hfedms_sim.learning.engine.convolutions import GroupedConvolutions
from hfedms_sim.learning.engine.dense import make_dense
from hfedms_sim.learning.engine.extraction import Extraction
from hfedms_sim.learning.engine.layer_names import LayerNames
from hfedms_sim.learning.engine.losses import CROSS_ENTROPY, Loss
from hfedms_sim.learning.engine.steps import steps_of
from hfedms_sim.learning.engine.threads import ChainThreads
from hfedms_sim.learning.networks import Network, Weights


class LowRankEngine:
    def __init__(self, network: Network, threads: int = 1) -> None:
        self._threads = ChainThreads(threads)
        self._stack = LayerNames.of(network)
        self._forms = LayerFactories(GroupedConvolutions, make_dense)

    def train_models(
        self, start: Weights, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd, loss: Loss = CROSS_ENTROPY
    ) -> Weights:
        return self._mean(self._stack, start, chains, shares, sgd, loss)

    def train_chains(
        self, start: Weights, chains: Sequence[Chain], sgd: Sgd, loss: Loss = CROSS_ENTROPY
    ) -> TrainedChains:
        _require_plain(sgd)
        stack, order = self._stack, _longest_first(chains, sgd)
        idle = sorted({*range(len(chains))} - {*order})
        whole_bytes = sum(bundle_bytes(stack, start, chains[number], sgd) for number in order)
        if whole_bytes > KEPT_BYTES:
            return ChainBundles(lambda: self._trained(stack, start, chains, order, sgd, loss), start, idle)
        kept = [
            each
            for part in self._threads.map(
                lambda numbers: list(self._trained(stack, start, chains, numbers, sgd, loss)), self._parts(order)
            )
            for each in part
        ]
        return ChainBundles(lambda: iter(kept), start, idle)

    def train_classifiers(self, start: Weights, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd) -> Weights:
        return self._mean(self._stack.of_classifier(), start, chains, shares, sgd, CROSS_ENTROPY)

    def received(self, sent: Weights) -> Weights:
        return sent

    def extract(self, weights: Weights, images: Tensor) -> Tensor:
        extraction = self._extraction(weights, len(images))
        return torch.cat(self._threads.map(extraction, images.tensor_split(self._threads.count)))

    def _extraction(self, weights: Weights, images: int) -> Extraction:
        """Return what extracts the semantics of this many images."""
        return Extraction(self._stack, weights)

    def logits(self, weights: Weights, images: Tensor) -> Tensor:
        vectors = self.extract(weights, images)
        classifier = self._stack.dense[-1]
        return functional.linear(vectors, weights[f"{classifier}.weight"], weights[f"{classifier}.bias"])

    def _mean(
        self, stack: LayerNames, start: Weights, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd, loss: Loss
    ) -> Weights:
        """Chains without a sample stay where they start: they count in the shares and change nothing else."""
        _require_plain(sgd)
        whole = sum(shares)
        order = [number for number in _longest_first(chains, sgd) if shares[number] > 0]
        if not order:
            return start

        def update(numbers: Sequence[int]) -> Weights:
            total = {name: torch.zeros_like(value) for name, value in start.items()}
            for members, bundle in self._trained(stack, start, chains, numbers, sgd, loss):
                bundle.add_mean_update(total, [shares[number] / whole for number in members])
            return total

        first, *others = self._threads.map(update, self._parts(order))
        for name, total in first.items():
            for other in others:
                total += other[name]
            total += start[name]
        return first

    def _parts(self, order: Sequence[int]) -> list[Sequence[int]]:
        """One a thread, with chains of all lengths in each."""
        count = min(self._threads.count, len(order))
        return [order[number::count] for number in range(count)]

    def _trained(
        self, stack: LayerNames, start: Weights, chains: Sequence[Chain], order: Sequence[int], sgd: Sgd, loss: Loss
    ) -> Iterator[Numbered]:
        budget_bytes = BUNDLE_BYTES // self._threads.count
        for members in bundles_of(stack, start, chains, order, sgd, budget_bytes):
            yield members, ChainBundle(stack, start, [chains[number] for number in members], sgd, loss, self._forms)


def bundles_of(
    stack: LayerNames, start: Weights, chains: Sequence[Chain], order: Sequence[int], sgd: Sgd, budget_bytes: int
) -> Iterator[Sequence[int]]:
    """Yield as many chains as fit, about as many each time, none shorter than half the longest: mostly padding."""
    while order:
        longest = steps_of(chains[order[0]], sgd.batch_size)
        alike = sum(2 * steps_of(chains[number], sgd.batch_size) >= longest for number in order)
        fitting = max(1, budget_bytes // bundle_bytes(stack, start, chains[order[0]], sgd))
        bundles = -(-alike // fitting)
        size = -(-alike // bundles)
        yield order[:size]
        order = order[size:]


def _longest_first(chains: Sequence[Chain], sgd: Sgd) -> list[int]:
    """Return the numbers of the chains that have any step to go, the longest first."""
    steps = [steps_of(chain, sgd.batch_size) for chain in chains]
    return sorted((number for number, count in enumerate(steps) if count), key=lambda number: -steps[number])


def _require_plain(sgd: Sgd) -> None:
    if sgd.optimiser != "sgd":
        raise ValueError(f"this engine knows plain SGD only, not {sgd.optimiser}; the generic one knows both")
