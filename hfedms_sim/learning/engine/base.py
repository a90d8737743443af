"""What an engine takes and gives: chains of local sets, each with its order, and the mean of where they end."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from torch import Tensor

from hfedms_sim.learning.engine.losses import CROSS_ENTROPY, Loss
from hfedms_sim.learning.networks import Weights

Norm = Literal["l2", "l1"]
Optimiser = Literal["sgd", "adam"]


class Sgd(NamedTuple):
    """Stochastic gradient descent; each mini-batch, also a short last one, is normalised by its own size.

    `proximal`, mu, adds mu (w - w_start) to the gradient: FedProx's term. The optimiser is plain, or Adam with torch's
    defaults, whose moments start anew at every sensor; only the generic engine knows it.
    """

    learning_rate: float
    batch_size: int
    proximal: float = 0.0
    optimiser: Optimiser = "sgd"


class LocalSet(NamedTuple):
    """What one sensor trains on: samples, or semantic vectors where only the classifier learns.

    `epochs` holds the order of each pass over it; `seed` is what a network draws by that draws in training, and what
    the sensor's roundings are drawn by where it sends less than the whole numbers. `sensor` is its number.
    """

    inputs: Tensor
    labels: Tensor
    epochs: tuple[Tensor, ...]
    seed: int = 0
    sensor: int = -1


Chain = Sequence[LocalSet]


class TrainedChains(Protocol):
    """Where the chains of a round end."""

    def models(self) -> Iterator[tuple[int, Weights]]:
        """Yield each model with its chain's number, in any order; a model holds only until the next is asked for."""

    def mean_by_distance(self, share_of: Callable[[int, float], float], norm: Norm = "l2") -> Weights | None:
        """The mean in which chain i, at the distance d from the plain mean, counts share_of(i, d); None of nothing."""


class Engine(Protocol):
    def train_models(
        self, start: Weights, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd, loss: Loss = CROSS_ENTROPY
    ) -> Weights:
        """Each chain starts from `start` and trains on its sets in turn. The mean of their ends, by `shares`."""

    def train_chains(
        self, start: Weights, chains: Sequence[Chain], sgd: Sgd, loss: Loss = CROSS_ENTROPY
    ) -> TrainedChains:
        """The ends themselves."""

    def train_classifiers(self, start: Weights, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd) -> Weights:
        """The mean for the classifier alone; `start` and the result hold its parameters only."""

    def received(self, sent: Weights) -> Weights:
        """What sensors hold of weights that the server has sent them."""

    def extract(self, weights: Weights, images: Tensor) -> Tensor:
        """Semantic vectors of images; of `weights` only the extractor matters."""

    def logits(self, weights: Weights, images: Tensor) -> Tensor:
        """What the model answers, one row an image."""
