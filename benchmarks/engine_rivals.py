"""What looks at a frozen model (FedMMD, distillation, FedFusion), by the engine `auto` takes against the generic one.

A FedAvg round of the paper's size, 110 clients with 50 samples each, on one core; medians of interleaved CPU time. The
generic engine's time is proportional to the samples, so that it trains a ninth of them.
"""

from collections.abc import Callable
from functools import partial
from statistics import median
from typing import NamedTuple

import torch

from benchmarks.bars import at_least
from benchmarks.engine_rounds import BATCH, LEARNING_RATE, MODEL, client
from benchmarks.spent import timed
from hfedms_sim.learning.distillation import distilling
from hfedms_sim.learning.engine import CROSS_ENTROPY, ENGINES, Chain, Loss, Sgd
from hfedms_sim.learning.fusion import FusionNetwork, fusion_weights
from hfedms_sim.learning.networks import StackNetwork, Weights, initial_weights
from hfedms_sim.learning.process import keep_freed_memory
from hfedms_sim.loading import load_scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation.engines import engine_of
from hfedms_sim.strategies.learners.fedmmd import two_streams

REPEATS = 7
CLIENTS, PLAIN_CLIENTS = 110, 12
BARS = {"fedmmd": 2.5, "distillation": 2.0, "fedfusion": 1.5}


class Rule(NamedTuple):
    network: StackNetwork
    start: Weights
    loss: Loss

    def train(self, engine: str, chains: list[Chain]) -> None:
        shares = [1.0] * len(chains)
        ENGINES[engine](self.network, 1).train_models(self.start, chains, shares, Sgd(LEARNING_RATE, BATCH), self.loss)


def benchmark_rivals() -> bool:
    torch.set_num_threads(1)
    keep_freed_memory()  # as runs do, and for everybody
    random = torch.Generator().manual_seed(1)
    chains: list[Chain] = [[client(random)] for _ in range(CLIENTS)]
    fastest = engine_of(load_scenario("paper-stream", strategy="fedmmd"), MODEL)
    print(f"(f) {fastest}, which auto takes, against generic; FedAvg 110 x 1, {REPEATS} repeats")
    met = [_is_met(name, rule, fastest, chains) for name, rule in _rules().items()]
    return all(met)


def _rules() -> dict[str, Rule]:
    plain, start = StackNetwork(MODEL), initial_weights(MODEL, Draws(1))
    fused = FusionNetwork(MODEL, "conv")
    return {
        "fedmmd": Rule(plain, start, two_streams(0.1)),
        "distillation": Rule(plain, start, distilling(0.1)),
        "fedfusion": Rule(fused, start | fusion_weights(MODEL, "conv", Draws(1)), CROSS_ENTROPY),
    }


def _is_met(name: str, rule: Rule, fastest: str, chains: list[Chain]) -> bool:
    contestants: dict[str, tuple[Callable[[], None], int]] = {
        "generic": (partial(rule.train, "generic", chains[:PLAIN_CLIENTS]), PLAIN_CLIENTS),
        fastest: (partial(rule.train, fastest, chains), CLIENTS),
    }
    cpu_s: dict[str, list[float]] = {engine: [] for engine in contestants}
    for repeat in range(REPEATS + 1):
        for engine, (work, clients) in contestants.items():
            spent = timed(work)
            if repeat:  # the first time warms up
                cpu_s[engine].append(spent.cpu_s / clients)
    return at_least(f"{name}: {fastest} against generic", median(cpu_s["generic"]) / median(cpu_s[fastest]), BARS[name])
