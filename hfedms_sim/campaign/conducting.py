"""What playing a campaign comes to, whoever asks for it: its trials and tables, or one error."""

from hfedms_sim.campaign.campaign import Campaign, TrialResult
from hfedms_sim.campaign.csv_tables import write_tables
from hfedms_sim.campaign.workers import Workers
from hfedms_sim.errors import InputError, RunError


def conduct(campaign: Campaign, workers: Workers) -> list[TrialResult]:
    """Play what is not finished, write the tables, and return the trials that have not failed, in their order.

    If every single trial is refused for one and the same reason, that is an InputError, and nothing is left of a new
    directory.
    """
    results = campaign.run(workers)
    if campaign.common_fault is not None:
        campaign.directory.abandon()
        raise InputError(campaign.common_fault)
    try:
        write_tables(results, campaign.directory.path, campaign.refusals)
    except OSError as error:
        raise RunError(f"{campaign.directory.path}: cannot be written ({error.strerror or error})") from None
    return results
