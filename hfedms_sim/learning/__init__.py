"""Learning on PyTorch: samples in, weights and metrics out. It knows nothing of seconds, bytes or radios.

What a learner of one's own is made of: `ChainLearner` to build on, and the names in its signatures.
"""

from hfedms_sim.learning.allocator import keep_freed_memory
from hfedms_sim.learning.device import use_device
from hfedms_sim.learning.engine import LocalSet, Loss
from hfedms_sim.learning.evaluation import Evaluator, Probe
from hfedms_sim.learning.learner import ChainLearner, Learner, Parts, is_finite
from hfedms_sim.learning.networks import Weights
from hfedms_sim.learning.state import arrays_of, weights_under
from hfedms_sim.learning.threads import use_threads
from hfedms_sim.lineage import State

__all__ = [
    "ChainLearner",
    "Evaluator",
    "Learner",
    "LocalSet",
    "Loss",
    "Parts",
    "Probe",
    "State",
    "Weights",
    "arrays_of",
    "is_finite",
    "keep_freed_memory",
    "use_device",
    "use_threads",
    "weights_under",
]
