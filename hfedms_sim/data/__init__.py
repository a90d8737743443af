"""Data sets on NumPy: which samples a device owns, which of them a capture holds, labels without drawing a sample."""

from hfedms_sim.data.base import Dataset, DataSource, DeviceLabels
from hfedms_sim.data.batches import Batches, batches_of
from hfedms_sim.data.catalogue import FEMNIST, Summary, holds_dataset, kind_of, open_copy, summary
from hfedms_sim.data.loaders.arrays import ArrayDataset
from hfedms_sim.data.loaders.in_memory import from_arrays
from hfedms_sim.data.partition import Partition
from hfedms_sim.data.shipped import ObjectData
from hfedms_sim.data.sources import (
    DATA_SETTINGS,
    DATA_SOURCES,
    code_digest,
    open_dataset,
    require_dataset,
    source_of,
)

__all__ = [
    "DATA_SETTINGS",
    "DATA_SOURCES",
    "FEMNIST",
    "ArrayDataset",
    "Batches",
    "DataSource",
    "Dataset",
    "DeviceLabels",
    "ObjectData",
    "Partition",
    "Summary",
    "batches_of",
    "code_digest",
    "from_arrays",
    "holds_dataset",
    "kind_of",
    "open_copy",
    "open_dataset",
    "require_dataset",
    "source_of",
    "summary",
]
