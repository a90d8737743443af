"""Many runs: compare network profiles and strategies, sweep settings; each round of learning is trained once.

A campaign is a directory of ordinary run directories, its trials. All trials are timed first, without training, which
tells under which lineages each would learn. Trials that share a beginning are related: one trains it, and the others
take it from that run's lineage store. Who trains what is settled before anything is trained, so that it does not
depend on how many processes there are. A record is kept of each finished trial; tables and curves are made from these.
"""

from hfedms_sim.campaign.calls import compare, conduct, sweep
from hfedms_sim.campaign.campaign import Campaign, Refusal, TrialResult
from hfedms_sim.campaign.comparison import Row, comparison
from hfedms_sim.campaign.csv_tables import write_tables
from hfedms_sim.campaign.curves import Curve, Point
from hfedms_sim.campaign.directory import campaign_directory
from hfedms_sim.campaign.finished import is_campaign
from hfedms_sim.campaign.records import TrialRecord, read_records
from hfedms_sim.campaign.result import CampaignResult, open_campaign
from hfedms_sim.campaign.standing import Ended, Standing
from hfedms_sim.campaign.tasks import Options
from hfedms_sim.campaign.trials import Axes, Trial, Variant, trials_of
from hfedms_sim.campaign.workers import Workers, workers_for

__all__ = [
    "Axes", "Campaign", "CampaignResult", "Curve", "Ended", "Options", "Point", "Refusal", "Row", "Standing",
    "Trial", "TrialRecord", "TrialResult", "Variant", "Workers", "campaign_directory", "compare", "comparison",
    "conduct", "is_campaign", "open_campaign", "read_records", "sweep", "trials_of", "workers_for", "write_tables",
]  # fmt: skip
