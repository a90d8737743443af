"""What a finished campaign has come to, read from its directory: the records of its trials, and who was refused.

    campaign.json    the trials, with their scenarios
    records/         what was kept of each that was played
    trials.csv       a line with the reason for each that was refused; an experiment of the paper has none

Run directories of trials are not needed.
"""

import csv
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from hfedms_sim.campaign.campaign import Refusal, TrialResult
from hfedms_sim.campaign.directory import MANIFEST, manifest_of
from hfedms_sim.campaign.records import TrialRecord, read_records
from hfedms_sim.campaign.trials import Trial, Variant
from hfedms_sim.errors import InputError
from hfedms_sim.loading import scenario_of
from hfedms_sim.system.checksums import Checksums


class FinishedTrials(NamedTuple):
    """What the trials came to, in the order of the campaign."""

    results: list[TrialResult]
    refusals: list[Refusal]


def is_campaign(directory: Path) -> bool:
    """Return whether a directory is a campaign's, finished or not."""
    return (directory / MANIFEST).is_file()


def finished_trials(directory: Path) -> FinishedTrials:
    """Return the trials of a finished campaign. One that is not finished, or not a campaign, is an InputError."""
    if not is_campaign(directory):
        raise InputError(f"{directory}: not a campaign, {MANIFEST} is missing")
    scenarios: dict[str, Any] = manifest_of(directory)["trials"]
    records, refused = read_records(directory), _refused(directory)
    left = [name for name in scenarios if name not in records and name not in refused]
    if left:
        raise InputError(
            f"{directory}: not finished, {len(left)} of {len(scenarios)} trials are left; --resume goes on"
        )
    try:
        played = [_result(records[name], raw) for name, raw in scenarios.items() if name in records]
        refusals = [_refusal(name, raw, refused[name]) for name, raw in scenarios.items() if name not in records]
    except ValidationError as error:
        raise InputError(f"{directory / MANIFEST}: damaged ({error.errors()[0]['msg']})") from None
    return FinishedTrials(played, refusals)


def scenario_name(directory: Path) -> str:
    """Return the name of the scenario that a campaign plays, as its first trial has it."""
    scenarios: dict[str, Any] = manifest_of(directory)["trials"]
    return next((str(raw.get("name", "")) for raw in scenarios.values()), "")


def _result(record: TrialRecord, raw: dict[str, Any]) -> TrialResult:
    trial = Trial(record.trial, record.variant, scenario_of(raw))
    return TrialResult(trial, record.summary, record.provenance, record.curve)


class _Refused(NamedTuple):
    variant: Variant
    reason: str


def _refusal(name: str, raw: dict[str, Any], refused: _Refused) -> Refusal:
    return Refusal(Trial(name, refused.variant, scenario_of(raw)), refused.reason)


def _refused(directory: Path) -> dict[str, _Refused]:
    """Return by name the trials that trials.csv has as refused; what tells them apart stands left of the seed."""
    Checksums(directory).require("trials.csv")
    path = directory / "trials.csv"
    if not path.is_file():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["refused"]]
    except (KeyError, ValueError, OSError) as error:
        raise InputError(f"{path}: damaged ({error})") from None
    return {row["trial"]: _Refused(_variant(row), row["refused"]) for row in rows}


def _variant(row: dict[str, str]) -> Variant:
    keys = list(row)
    return tuple((key, row[key]) for key in keys[1 : keys.index("seed")] if row[key])
