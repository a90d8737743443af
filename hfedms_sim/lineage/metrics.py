"""What a model measured on test data."""

from typing import NamedTuple


class Metrics(NamedTuple):
    """Accuracy and loss are means over all test samples; percentiles are of the sensors' own accuracies.

    Each is a column of that name in the table of rounds; None is what was not measured.
    """

    accuracy: float | None = None
    loss: float | None = None
    accuracy_p10: float | None = None
    accuracy_p50: float | None = None
    accuracy_p90: float | None = None
    probe_accuracy: float | None = None
