"""Conducting experiments: their campaigns, then their tables, figures and verdicts.

    DIR/NAME/experiment.json    which experiment of which study this is
    DIR/NAME/campaign.json, records/, trials/    the campaign behind it, where it has trials (campaign/)
    DIR/NAME/claims.json        the verdicts, and what decided them
    DIR/NAME/command.txt        the command that made all this
    DIR/NAME/SHA256SUMS         checksums of these, where there is a campaign

Experiments below one directory share what is the same trial: a record that a sibling has is taken over.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hfedms_sim.campaign import Campaign, Options, Standing, Trial, TrialResult, Workers, is_campaign
from hfedms_sim.campaign.directory import MANIFEST, content_of, digests_of, files_of_campaign
from hfedms_sim.campaign.records import TrialRecord, read_record
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results
from hfedms_sim.paper.experiments.tuning import TUNING, choice_json
from hfedms_sim.paper.study import Study, seconds_of
from hfedms_sim.result import read_json
from hfedms_sim.run_directory import RunDirectory, require_marked
from hfedms_sim.system.checksums import Checksums, remove_checksums, write_checksums
from hfedms_sim.system.files import write_atomically

_MARKER, _CLAIMS, _COMMAND, _CHOICE = "experiment.json", "claims.json", "command.txt", "tuned.json"


@dataclass
class Conductor:
    """How the experiments of one study are conducted, below one directory."""

    study: Study
    directory: Path
    make_workers: Callable[[], Workers]
    command: str
    options: Options = field(default_factory=Options)
    without_training: bool = False
    """Only read what is finished."""
    on_standing: Callable[[Standing], None] = lambda standing: None
    on_notice: Callable[[str], None] = lambda line: None
    failures: dict[str, str] = field(default_factory=dict)

    def path_of(self, experiment: Experiment) -> Path:
        return self.directory / experiment.name

    def require_place(self, experiment: Experiment, resume: bool) -> None:
        """Refuse a directory that is not this experiment's, before anything is written."""
        place, identity = self.path_of(experiment), self._identity(experiment)
        if (place / _MARKER).is_file() and "data" not in read_json(place / _MARKER):
            del identity["data"]  # a directory of an earlier version does not say on which data it was made
        require_marked(place, _MARKER, identity, resume=resume, no="is no experiment's", was="was made")
        if self.without_training:
            for damage in Checksums(place).damages():
                raise damage

    def conduct(self, experiment: Experiment) -> ExperimentOutcome:
        """Play what is missing, then write and return what the experiment shows."""
        try:
            return self._conducted(experiment, self.path_of(experiment))
        except OSError as error:
            where = error.filename or self.path_of(experiment)
            raise RunError(f"{where}: cannot be written ({error.strerror or error})") from None

    def _conducted(self, experiment: Experiment, place: Path) -> ExperimentOutcome:
        place.mkdir(parents=True, exist_ok=True)
        self._mark(experiment, place)
        results = Results(self._results(experiment, place))
        outcome = experiment.outcome(self.study, results)
        remove_checksums(place)
        facts = {"scale": self.study.scale.name, "reading": self.study.reading, "study": self.study.words}
        write_atomically(place / _CLAIMS, _json(facts | {"claims": [claim.as_json() for claim in outcome.claims]}))
        write_atomically(place / _COMMAND, self.command + "\n")
        if experiment is TUNING:
            write_atomically(place / _CHOICE, choice_json(self.study, results))
        if is_campaign(place):
            own = [name for name in (_MARKER, _CLAIMS, _COMMAND, _CHOICE) if (place / name).is_file()]
            write_checksums(place, [*files_of_campaign(place), *own])
        return outcome

    def _mark(self, experiment: Experiment, place: Path) -> None:
        """Write which experiment this is, unless that stands there: checksums hold until something is changed."""
        path, text = place / _MARKER, _json(self._identity(experiment))
        if not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != text:
            remove_checksums(place)
            write_atomically(path, text)

    def unfinished_seconds(self, experiments: Iterable[Experiment]) -> float:
        """Return the processor seconds that the trials without a record are expected to take, each trial once."""
        finished = {record.digest for place in self._places() for record in _records(place)}
        missing: dict[str, Trial] = {}
        for experiment in experiments:
            trials = experiment.trials(self.study)
            digests = digests_of(trials, self.options)
            missing |= {digests[each.name]: each for each in trials if digests[each.name] not in finished}
        return seconds_of([*missing.values()])

    def _results(self, experiment: Experiment, place: Path) -> list[TrialResult]:
        trials = experiment.trials(self.study)
        if not trials:
            return []
        if self.without_training:
            return self._finished(trials, place)
        directory = RunDirectory(place, is_new=False)
        known = {each.digest: each for sibling in self._siblings(place) for each in _records(sibling)}
        campaign = Campaign(directory, trials, self.options, self.on_standing, self.on_notice, known=known)
        results = campaign.run(self.make_workers())
        self.failures |= campaign.failures
        return results

    def _finished(self, trials: Sequence[Trial], place: Path) -> list[TrialResult]:
        """Return what is finished of the trials, without playing any.

        A record of the same name that is of another scenario (another version of this package has more keys, or other
        settings were tuned) is shown all the same, and said so.
        """
        digests = digests_of(trials, self.options)
        kept = {record.trial: record for record in _records(place, on_damage=self.on_notice)}
        found = [(trial, kept[trial.name]) for trial in trials if trial.name in kept]
        others = sum(record.digest != digests[trial.name] for trial, record in found)
        if others:
            self.on_notice(f"{place}: {others} of {len(found)} records are of another version or other settings")
        return [TrialResult(trial, record.summary, record.provenance, record.curve) for trial, record in found]

    def _places(self) -> Iterator[Path]:
        """Yield the directories of all experiments that have a campaign."""
        return (path.parent for path in sorted(self.directory.glob(f"*/{MANIFEST}")))

    def _siblings(self, place: Path) -> Iterator[Path]:
        return (each for each in self._places() if each != place)

    def _identity(self, experiment: Experiment) -> dict[str, Any]:
        study = self.study
        return {
            "experiment": experiment.name,
            "scale": study.scale.name,
            "reading": study.reading,
            "seeds": list(study.seeds),
            "data": self._data,
        }

    @cached_property
    def _data(self) -> str:
        """What the study's data hold, whatever their file is called."""
        return "glyphs" if self.study.data is None else content_of(self.study.data)


def _records(place: Path, on_damage: Callable[[str], None] = lambda line: None) -> list[TrialRecord]:
    """Return the sound records of a campaign, if it has any, and tell of each that is damaged."""
    found = []
    for path in sorted((place / "records").glob("*.json")):
        try:
            found.append(read_record(path))
        except InputError as error:
            on_damage(f"{error}; it is left out")
    return found


def _json(content: Any) -> str:
    return json.dumps(content, indent=2, allow_nan=False) + "\n"
