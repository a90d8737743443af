"""Everything that can be looked at in a campaign's directory: its own files, its records, its trials."""

import json
import platform
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hfedms_sim.campaign.csv_tables import tables_of
from hfedms_sim.campaign.curves import MEASURED, Point, curve_of
from hfedms_sim.campaign.directory import files_of_campaign, manifest_of, require_files
from hfedms_sim.campaign.finished import finished_trials
from hfedms_sim.campaign.records import TrialRecord, digest_of, path_of, read_record
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.integrity.checks import At, Check, OnProgress, check_files, has_problem, note, ok, problem
from hfedms_sim.integrity.content import Content, read_content
from hfedms_sim.integrity.replay import Replay, replay, unlike_summaries, versions_in
from hfedms_sim.integrity.runs import check_run, disagreement
from hfedms_sim.loading import scenario_of
from hfedms_sim.result import differences, is_finished
from hfedms_sim.simulation import parts_of
from hfedms_sim.system.provenance import package_version

_TRIALS = "trials"


@dataclass(frozen=True)
class _Trial:
    """A trial of a campaign, by what campaign.json says of it."""

    campaign: Path
    name: str
    scenario: Mapping[str, Any]
    options: Mapping[str, Any]

    @property
    def directory(self) -> Path:
        return self.campaign / _TRIALS / self.name

    @property
    def record_path(self) -> Path:
        return path_of(self.campaign, self.name)


def check_campaign(directory: Path, *, replays: bool, on_progress: OnProgress) -> Iterator[Check]:
    """Look at the campaign's own files, then at each trial: its record, and its run directory where that is kept."""
    files = list(check_files(directory, files_of_campaign(directory), elsewhere=_TRIALS))
    yield from files
    try:
        manifest = manifest_of(directory)
    except InputError as error:
        if not has_problem(files):
            yield problem(str(error))
        return
    if not has_problem(files):
        yield from _check_tables(directory)
    trials: dict[str, Any] = manifest["trials"]
    for number, (name, scenario) in enumerate(trials.items()):
        on_progress(At(number, len(trials), "trials"))
        if Path(name).name != name:
            yield problem(f"{directory}: campaign.json has a trial {name!a:.60}, which is no file name")
            continue
        yield from _check_trial(_Trial(directory, name, scenario, manifest["options"]), files, replays)


def _check_tables(directory: Path) -> Iterator[Check]:
    """Make the CSV tables of a finished campaign again, and compare those that are there."""
    try:
        results, refusals = finished_trials(directory)
    except InputError as error:
        yield note(str(error))
        return
    there = {name: text for name, text in tables_of(results, refusals).items() if (directory / name).is_file()}
    unlike = [f"{name} is not what they give" for name, text in there.items() if _text_of(directory / name) != text]
    if unlike:
        made = results[0].provenance if results else {}
        yield disagreement(f"{directory}: tables and records do not agree", unlike, made)
    elif there:
        yield ok(f"{directory}: {', '.join(there)} are what the records give")


def _text_of(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return file.read()


def _check_trial(trial: _Trial, told: Collection[Check], replays: bool) -> Iterator[Check]:
    """Look at the record and the run of a trial; of what is damaged by SHA256SUMS there is no more to be told."""
    record: TrialRecord | None = None
    if trial.record_path.is_file():
        try:
            record = _sound_record(trial)
        except InputError as error:
            if not any(check.line.startswith(f"{trial.record_path}: ") for check in told):
                yield problem(str(error))
    if is_finished(trial.directory):
        checks = list(check_run(trial.directory, replays=replays))
        yield from checks
        if record is not None and not has_problem(checks):
            yield _check_record(trial, record, read_content(trial.directory))
    elif trial.directory.is_dir():
        yield note(f"{trial.directory}: is not finished")
    elif record is not None:
        what = f"{trial.record_path}: its checksum matches, and its run is not kept"
        yield _replayed_record(trial, record) if replays else ok(what)


def _sound_record(trial: _Trial) -> TrialRecord:
    """Return the record of a trial; one that is damaged, or of another trial, is refused."""
    record = read_record(trial.record_path)
    if not record.curve.rows:
        raise InputError(f"{trial.record_path}: damaged (its curve is empty)")
    if record.digest != digest_of(trial.scenario, trial.options):
        raise InputError(f"{trial.record_path}: is of another scenario or other options than campaign.json says")
    return record


def _check_record(trial: _Trial, record: TrialRecord, content: Content) -> Check:
    """Compare the record of a trial with its run."""
    of_run = {key: value for key, value in content.summary.items() if key != "wall_s"}
    found = differences(json.loads(json.dumps(record.summary)), json.loads(json.dumps(of_run)))
    unlike = [f"summary.{key} is {was!r:.60}, {now!r:.60} in its run" for key, was, now in found]
    if record.curve != curve_of(content.tables["rounds"]):
        unlike.append("its curve is not that of its run")
    if unlike:
        return disagreement(f"{trial.record_path}: does not agree with its run", unlike, record.provenance)
    return ok(f"{trial.record_path}: agrees with its run")


def _replayed_record(trial: _Trial, record: TrialRecord) -> Check:
    """Play a trial again whose run is not kept, and compare its record with that."""
    path, rounds = trial.record_path, record.summary["rounds"]
    threads = trial.options.get("threads")
    try:
        scenario = scenario_of(trial.scenario)
        require_files(scenario)
        again = replay(
            scenario, parts_of(scenario), rounds, lambda at: None, threads=threads if isinstance(threads, int) else 1
        )
    except ValidationError as error:
        return note(f"{path}: its checksum matches, but it cannot be replayed here: {error.errors()[0]['msg']}")
    except (InputError, RunError) as error:
        return note(f"{path}: its checksum matches, but it cannot be replayed here: {error}")
    unlike = list(_unlike_record(record, again))
    if unlike:
        return disagreement(f"{path}: a replay does not agree", unlike, record.provenance)
    if again.summary["lineage"] != record.summary["lineage"]:
        what = f"{path}: a replay agrees, but has another lineage"
        why = _made_elsewhere(record.provenance)
        return note(f"{what}; it was made on {why}, which may be why") if why else problem(what)
    return ok(f"{path}: {rounds} rounds replayed, costs, lineage and summary are the same")


def _unlike_record(record: TrialRecord, again: Replay) -> Iterator[str]:
    """Return where a record and a replay of its trial differ, but for what is learnt and the lineage."""
    yield from unlike_summaries(record.summary, again.summary)
    last, now = (_without_learning(curve.rows[-1]) for curve in (record.curve, curve_of(again.tables["rounds"])))
    for key, was in last.items():
        if was != now[key]:
            yield f"its curve ends with {key} {was!r}, {now[key]!r} again"


def _without_learning(point: Point) -> dict[str, Any]:
    return {key: value for key, value in point._asdict().items() if key not in MEASURED}


def _made_elsewhere(provenance: Mapping[str, Any]) -> str:
    """Return on what else a lineage starts from than there is here; empty if it seems to be the same machine."""
    torch, here = versions_in(provenance).get("torch"), package_version("torch")
    names = [f"torch {torch} (here {here})"] if torch != here else []
    was = provenance.get("platform")
    return ", ".join([*names, *([f"{was}"] if was != platform.platform() else [])])
