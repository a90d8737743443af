"""Flower: a ServerApp with its FedAvg on the simulation engine, as in its guide "Run simulations" and its quickstart.

One core is offered to Ray and a ClientApp takes one, so one worker runs the clients in turn. Federated evaluation is
off. A strategy's `configure_train` begins a round: there the contest waits.
"""

from collections.abc import Iterable
from contextlib import suppress

from flwr.app import ArrayRecord, ConfigRecord, Context, Message
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation
from torch import Tensor

from benchmarks.peers.flower_client import app as client_app
from benchmarks.peers.rounds import Rounds
from benchmarks.peers.workload import Outcome, load_workload, stored_order

ENDLESS = 1_000_000  # rounds: the contest says when to stop


class ContestIsOverError(Exception):
    pass


class WaitingFedAvg(FedAvg):
    def __init__(self, rounds: Rounds, order: Tensor) -> None:
        super().__init__(fraction_evaluate=0.0)
        self._rounds, self._order = rounds, order

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        if not self._rounds.between(lambda: Outcome(arrays.to_torch_state_dict(), self._order)):
            raise ContestIsOverError
        return super().configure_train(server_round, arrays, config, grid)


server_app = ServerApp()


@server_app.main()
def serve(grid: Grid, context: Context) -> None:
    workload = load_workload()
    strategy = WaitingFedAvg(Rounds(("flwr", "ray")), stored_order(workload))
    config = ConfigRecord({"lr": workload.learning_rate})
    with suppress(ContestIsOverError):
        strategy.start(grid, ArrayRecord(workload.start), num_rounds=ENDLESS, train_config=config)


def main() -> None:
    run_simulation(
        server_app=server_app,
        client_app=client_app,
        num_supernodes=load_workload().clients,
        backend_config={"init_args": {"num_cpus": 1}, "client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )


if __name__ == "__main__":
    main()
