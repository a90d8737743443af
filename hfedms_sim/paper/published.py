"""What the HFedMS paper printed: every figure of its tables, and the ratios its text names.

S. Zeng, Z. Li, H. Yu, Z. Zhang, L. Luo, B. Li, D. Niyato, "HFedMS: Heterogeneous Federated Learning With Memorable Data
Semantics in Industrial Metaverse", IEEE Transactions on Cloud Computing, 2023. FEMNIST, 368 devices, 500 rounds, one
seed. Nothing here was measured by this package.
"""

from typing import Literal, NamedTuple

DataKind = Literal["stream", "static"]
KINDS: tuple[DataKind, ...] = ("stream", "static")
BASELINES = ("fedavg", "fedprox", "fedmmd", "fedfusion", "ida", "fedadagrad", "fedadam", "fedyogi")
STATIC_GROUPINGS = ("static-groups", "static-icg")
HFEDMS: dict[DataKind, str] = {"stream": "hfedms-d", "static": "hfedms-s"}
"""Which of the two variants the paper judges on which data."""

TARGET_ACCURACY = 0.70
"""Up to which its efficiency table counts rounds, bytes and hours."""


class Score(NamedTuple):
    accuracy: float
    loss: float


BENCHMARKS: dict[str, dict[DataKind, Score]] = {
    "fedavg": {"stream": Score(0.701, 1.037), "static": Score(0.801, 0.602)},
    "fedprox": {"stream": Score(0.703, 1.031), "static": Score(0.787, 0.633)},
    "fedmmd": {"stream": Score(0.756, 0.821), "static": Score(0.817, 0.587)},
    "fedfusion": {"stream": Score(0.726, 0.951), "static": Score(0.824, 0.554)},
    "ida": {"stream": Score(0.721, 1.003), "static": Score(0.820, 0.567)},
    "fedadagrad": {"stream": Score(0.774, 0.769), "static": Score(0.819, 0.582)},
    "fedadam": {"stream": Score(0.778, 0.730), "static": Score(0.821, 0.566)},
    "fedyogi": {"stream": Score(0.758, 0.803), "static": Score(0.832, 0.543)},
    "hfedms-d": {"stream": Score(0.842, 0.494)},
    "hfedms-s": {"static": Score(0.854, 0.453)},
}
"""Accuracy and loss after 500 rounds."""
CONVERGED = (2141, Score(0.859, 0.401))
"""HFedMS-D on streams, trained on until it converged: rounds, accuracy and loss."""


class Efficiency(NamedTuple):
    """A row of the efficiency table: rounds until 70 % accuracy, and what they cost. Its TB are 2^40 bytes."""

    strategy: str
    interval: int
    rounds: int
    tebibytes: float
    hours: float


EFFICIENCY = (
    Efficiency("fedavg", 1, 490, 2.629, 1262),
    Efficiency("hfedms-s", 1, 32, 0.172, 82),
    Efficiency("hfedms-d", 3, 36, 0.097, 42),
    Efficiency("hfedms-d", 5, 34, 0.056, 25),
    Efficiency("hfedms-d", 7, 67, 0.081, 35),
    Efficiency("hfedms-d", 9, 81, 0.073, 32),
)
INTERVALS = (1, 3, 5, 7, 9)
"""T of its last figure; 1 is HFedMS-S."""

LAYERS = (("1", "Conv", "0.8K"), ("2", "Conv", "51K"), ("3", "FullyConnected", "6.4M"), ("4", "FullyConnected", "205K"),
          ("5", "FullyConnected", "6.3K"))  # fmt: skip
"""Number, type and parameters of each layer of its network; the last one is the classifier."""
EXTRACTOR_PER_MILLE, CLASSIFIER_PER_MILLE = 999, 1

SETTINGS = (
    ("Number of devices", "K", "368"),
    ("Local learning rate", "eta", "0.01"),
    ("Batch size", "b", "5"),
    ("Local epoch", "e", "1"),
    ("Maximum training rounds", "R", "500"),
    ("Interval of rounds", "T", "5"),
    ("Storage capacity of semantic database", "Q", "200"),
    ("Group sampling rate", "kappa", "0.3"),
    ("Group growth function", "f", "LOG"),
    ("Coefficients for f", "alpha; beta", "2; 10"),
    ("Size of streaming data batches", "n", "50"),
    ("Num of parameters for the full model", "M", "6.68e6"),
    ("Num of parameters for the classifier", "Mc", "6.3e3"),
)

ICG_TO_SENSORS, ICG_TO_RANDOM = 1 / 4, 2 / 5
"""Median class probability distance of inter-cluster groups, relative to single sensors and to random groups."""
BEST_GROWTH = ("log", 2.0, 10, 0.453)
"""Growth function, alpha, beta and loss of the best point of its heat-maps."""
