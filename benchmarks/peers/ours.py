"""hfedms_sim, through the interface of its engines, set up as a run sets it up: `ours ENGINE`."""

import sys
from functools import partial

from benchmarks.peers.rounds import Rounds
from benchmarks.peers.workload import Outcome, Workload, load_workload, stored_order
from hfedms_sim.learning.engine import ENGINES, Chain, LocalSet, Sgd
from hfedms_sim.learning.networks import StackNetwork
from hfedms_sim.learning.process import keep_freed_memory
from hfedms_sim.models import spec_of


def main(engine_name: str) -> None:
    workload = load_workload()
    keep_freed_memory()
    engine = ENGINES[engine_name](StackNetwork(spec_of("cnn")), 1)
    sgd = Sgd(workload.learning_rate, workload.batch_size)
    weights, order = workload.start, stored_order(workload)
    rounds = Rounds()
    while rounds.between(partial(Outcome, weights, order)):
        chains = _chains(workload)
        weights = engine.train_models(weights, chains, [1.0] * len(chains), sgd)


def _chains(workload: Workload) -> list[Chain]:
    """Return chains of one sensor each: FedAvg."""
    sets = zip(workload.images, workload.labels, stored_order(workload), strict=True)
    return [[LocalSet(images, labels, (order,))] for images, labels, order in sets]


if __name__ == "__main__":
    main(sys.argv[1])
