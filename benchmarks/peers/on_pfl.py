"""pfl-research: FederatedAveraging on its SimulatedBackend, as in its introduction and its PyTorch benchmarks.

The user sampler `minimize_reuse` goes through all users in a round of as many users. pfl evaluates users before and
after local training in iterations that are multiples of `evaluation_frequency`, so in the first one: it is not
counted. A callback at the end of an iteration is where the contest waits.
"""

import asyncio

import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.aggregate.weighting import WeightByUser
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.callback.base import TrainingProcessCallback
from pfl.data.federated_dataset import FederatedDataset
from pfl.data.pytorch import PyTorchTensorDataset
from pfl.data.sampling import get_user_sampler
from pfl.hyperparam import NNEvalHyperParams, NNTrainHyperParams
from pfl.metrics import Metrics, Weighted
from pfl.model.pytorch import PyTorchModel
from torch import Tensor
from torch.nn import functional

from benchmarks.peers.rounds import Rounds
from benchmarks.peers.workload import Network, Outcome, Workload, load_workload, stored_order

ENDLESS = 1_000_000  # iterations: the contest says when to stop


class TrainedNetwork(Network):
    """With the two methods that pfl asks for."""

    def loss(self, images: Tensor, labels: Tensor, is_evaluation: bool = False) -> Tensor:
        self.train(not is_evaluation)
        return functional.cross_entropy(self(images), labels)

    @torch.no_grad()
    def metrics(self, images: Tensor, labels: Tensor, is_evaluation: bool = True) -> dict[str, Weighted]:
        summed = self.loss(images, labels, is_evaluation).item() * len(labels)
        return {"loss": Weighted(summed, len(labels))}


class Waiting(TrainingProcessCallback):
    def __init__(self, rounds: Rounds, network: Network, order: Tensor) -> None:
        self._rounds, self._network, self._order = rounds, network, order

    def on_train_begin(self, *, model: PyTorchModel) -> Metrics:
        self._ends()
        return Metrics()

    def after_central_iteration(
        self, aggregate_metrics: Metrics, model: PyTorchModel, *, central_iteration: int
    ) -> tuple[bool, Metrics]:
        return self._ends(), Metrics()

    def _ends(self) -> bool:
        return not self._rounds.between(lambda: Outcome(dict(self._network.named_parameters()), self._order))


def main() -> None:
    workload = load_workload()
    network = TrainedNetwork()
    network.load_state_dict(workload.start)
    model = PyTorchModel(
        model=network,
        local_optimizer_create=torch.optim.SGD,
        central_optimizer=torch.optim.SGD(network.parameters(), lr=1.0),
    )
    users = _users(workload)
    asyncio.set_event_loop(asyncio.new_event_loop())
    FederatedAveraging().run(
        algorithm_params=NNAlgorithmParams(
            central_num_iterations=ENDLESS,
            evaluation_frequency=ENDLESS,
            train_cohort_size=workload.clients,
            val_cohort_size=0,
        ),
        backend=SimulatedBackend(training_data=users, val_data=users, postprocessors=[WeightByUser()]),
        model=model,
        model_train_params=NNTrainHyperParams(
            local_learning_rate=workload.learning_rate, local_num_epochs=1, local_batch_size=workload.batch_size
        ),
        model_eval_params=NNEvalHyperParams(local_batch_size=workload.samples),
        callbacks=[Waiting(Rounds(("pfl",)), network, stored_order(workload))],
        send_metrics_to_platform=False,
    )


def _users(workload: Workload) -> FederatedDataset:
    def user(number: int) -> PyTorchTensorDataset:
        tensors = (workload.images[number], workload.labels[number])
        return PyTorchTensorDataset(tensors, user_id=str(number), eval_kwargs={"is_evaluation": True})

    return FederatedDataset(user, get_user_sampler("minimize_reuse", list(range(workload.clients))))


if __name__ == "__main__":
    main()
