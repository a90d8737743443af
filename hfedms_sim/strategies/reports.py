"""What a sensor reports of its data, where groups are formed by it."""

from hfedms_sim.rounds import Payload
from hfedms_sim.units import BYTES_PER_PARAMETER


def class_counts_report(classes: int) -> Payload:
    """Return the report of how many samples of each class a batch has: one number a class."""
    return Payload("report", BYTES_PER_PARAMETER * classes)
