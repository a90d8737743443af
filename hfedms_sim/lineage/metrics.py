"""What a model measured on test data."""

from typing import NamedTuple


class Metrics(NamedTuple):
    """Accuracy and loss are means over all test samples; percentiles are of the devices' own accuracies."""

    accuracy: float | None
    loss: float | None
    accuracy_p10: float | None
    accuracy_p50: float | None
    accuracy_p90: float | None
    probe_accuracy: float | None = None
