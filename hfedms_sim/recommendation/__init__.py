"""A search among strategies, their settings and radios: with which algorithm, over which radio?"""

from hfedms_sim.recommendation.answer import Answer
from hfedms_sim.recommendation.candidates import STRATEGIES_TRIED, Question
from hfedms_sim.recommendation.goal import Goal
from hfedms_sim.recommendation.playing import CampaignPlayer
from hfedms_sim.recommendation.recommend import Choice, recommend, require_place

__all__ = [
    "STRATEGIES_TRIED",
    "Answer",
    "CampaignPlayer",
    "Choice",
    "Goal",
    "Question",
    "recommend",
    "require_place",
]
