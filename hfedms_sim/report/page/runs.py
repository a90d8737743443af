"""The runs of a page: where they come from, and what each is called."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hfedms_sim.campaign import CampaignResult, is_campaign, open_campaign
from hfedms_sim.errors import InputError
from hfedms_sim.report.run_labels import run_sets
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import open_run


@dataclass(frozen=True)
class PageRuns:
    """Runs, in the order in which they were given, and the campaign whose trials they are, if it is one's."""

    results: tuple[RunResult, ...]
    campaign: CampaignResult | None = None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Return what tells each run from the others, in words."""
        return tuple(own.label for own in run_sets(self.results, each=True))

    @property
    def is_trained(self) -> bool:
        """Return whether there is any accuracy to show."""
        return any(is_trained(result) for result in self.results)


def is_trained(result: RunResult) -> bool:
    """Return whether a run has an accuracy."""
    return result.summary["final_accuracy"] is not None


def open_runs(paths: Sequence[Path]) -> PageRuns:
    """Return the runs in these directories: one campaign's trials, or runs."""
    campaigns = [path for path in paths if is_campaign(path)]
    if not campaigns:
        return PageRuns(tuple(open_run(path) for path in paths))
    if len(paths) > 1:
        raise InputError(f"{campaigns[0]}: is a campaign, which has a page of its own; give it alone, or give runs")
    campaign = open_campaign(campaigns[0])
    gone = next((name for name in campaign.played if not (campaigns[0] / "trials" / name).is_dir()), None)
    if gone is not None:
        raise InputError(f"{campaigns[0]}: the run of trial {gone} is not there, only its record; a page needs runs")
    if not campaign.played:
        raise InputError(f"{campaigns[0]}: none of its trials was played, there is nothing to show")
    return PageRuns(tuple(campaign.runs().values()), campaign)
