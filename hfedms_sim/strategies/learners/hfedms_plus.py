"""HFedMS-Plus's learning rule: HFedMS-D's without its memory. When a cycle ends is the plan's matter alone."""

from hfedms_sim.learning.learner import LearnerContext
from hfedms_sim.strategies.hfedms_plus import HFedMSPlusSettings, Rule, dynamic_settings
from hfedms_sim.strategies.learners.hfedms import CalibratingLearner


class PlusLearner(CalibratingLearner):
    def __init__(self, settings: HFedMSPlusSettings, context: LearnerContext) -> None:
        super().__init__(dynamic_settings(settings, Rule(groups=1, interval=2, scatter="unicast")), context)
