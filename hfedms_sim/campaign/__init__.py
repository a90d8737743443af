"""Many runs: compare network profiles and strategies, sweep settings; each round of learning is trained once.

A campaign is a directory of ordinary run directories, its trials. All trials are timed first, without training, which
tells under which lineages each would learn. Trials that share a beginning are related: one trains it, and the others
take it from that run's lineage store. Who trains what is settled before anything is trained, so that it does not
depend on how many processes there are.
"""

from hfedms_sim.campaign.campaign import Campaign, Options, Standing, TrialResult
from hfedms_sim.campaign.comparison import Row, comparison
from hfedms_sim.campaign.trials import Axes, Trial, trials_of
from hfedms_sim.campaign.workers import Workers

__all__ = [
    "Axes",
    "Campaign",
    "Options",
    "Row",
    "Standing",
    "Trial",
    "TrialResult",
    "Workers",
    "comparison",
    "trials_of",
]  # fmt: skip
