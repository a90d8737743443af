"""Data sets on NumPy: which samples a device owns, which of them a capture holds, labels without drawing an image."""

from hfedms_sim.data.base import Dataset
from hfedms_sim.data.batches import Batches
from hfedms_sim.data.catalogue import DATASETS, FEMNIST, holds_dataset, kind_of, open_copy, open_dataset, summary

__all__ = [
    "DATASETS",
    "FEMNIST",
    "Batches",
    "Dataset",
    "holds_dataset",
    "kind_of",
    "open_copy",
    "open_dataset",
    "summary",
]
