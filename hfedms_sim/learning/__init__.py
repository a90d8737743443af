"""Learning on PyTorch: samples in, weights and metrics out. It knows nothing of seconds, bytes or radios.

What a learner of one's own is made of: `ChainLearner` to build on, and the names in its signatures. Whoever changes
what is learnt here raises `LEARNING_VERSION`. Importing this package does not load torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hfedms_sim.learning.engine import LocalSet, Loss
    from hfedms_sim.learning.evaluation import Evaluator, Probe
    from hfedms_sim.learning.learner import ChainLearner, Learner, LearnerContext, is_finite
    from hfedms_sim.learning.networks import Weights
    from hfedms_sim.learning.process import computing_with
    from hfedms_sim.learning.state import arrays_of, weights_under
    from hfedms_sim.lineage import State

LEARNING_VERSION = 1
"""Raise it with any change here, or to a learner of `strategies/learners`, after which the same rounds give another
model, be it in the last bit: it is part of every lineage, so finished learning is not taken for what it is no more."""

BUNDLE_BYTES = 256 * 10**6
"""What the chains that an engine trains together may take in memory. The estimate of a run reads it too, without torch,
which is why it is here."""

_HOMES = {
    "ChainLearner": "hfedms_sim.learning.learner",
    "Evaluator": "hfedms_sim.learning.evaluation",
    "Learner": "hfedms_sim.learning.learner",
    "LocalSet": "hfedms_sim.learning.engine",
    "Loss": "hfedms_sim.learning.engine",
    "LearnerContext": "hfedms_sim.learning.learner",
    "Probe": "hfedms_sim.learning.evaluation",
    "State": "hfedms_sim.lineage",
    "Weights": "hfedms_sim.learning.networks",
    "arrays_of": "hfedms_sim.learning.state",
    "computing_with": "hfedms_sim.learning.process",
    "is_finite": "hfedms_sim.learning.learner",
    "weights_under": "hfedms_sim.learning.state",
}

__all__ = [
    "LEARNING_VERSION",
    "ChainLearner",
    "Evaluator",
    "Learner",
    "LearnerContext",
    "LocalSet",
    "Loss",
    "Probe",
    "State",
    "Weights",
    "arrays_of",
    "computing_with",
    "is_finite",
    "weights_under",
]


def __getattr__(name: str) -> Any:
    """Return a public name, loaded when first asked for: the version is asked for by runs that never load torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'hfedms_sim.learning' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
