"""The lineage store: what has been learnt under which lineage, so that nothing has to be learnt twice.

A lineage (rounds.py) names a model by everything that led to it. The store keeps, by lineage, whether the model is
finite, what it measured, and for some rounds the learner's whole state. It knows arrays, not tensors: a run that finds
everything in it never loads torch.
"""

from hfedms_sim.lineage.checkpoints import WEIGHTS, State, prefixed, save_weights, under
from hfedms_sim.lineage.metrics_log import Metrics
from hfedms_sim.lineage.store import LineageStore, stored_files

__all__ = ["WEIGHTS", "LineageStore", "Metrics", "State", "prefixed", "save_weights", "stored_files", "under"]
