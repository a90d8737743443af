"""Learning on PyTorch: samples in, weights and metrics out. It knows nothing of seconds, bytes or radios."""

from hfedms_sim.learning.allocator import keep_freed_memory
from hfedms_sim.learning.device import use_device
from hfedms_sim.learning.evaluation import Evaluator, Probe
from hfedms_sim.learning.learner import Learner, is_finite
from hfedms_sim.learning.threads import use_threads

__all__ = ["Evaluator", "Learner", "Probe", "is_finite", "keep_freed_memory", "use_device", "use_threads"]
