"""A campaign: times all trials, settles who trains what, and plays every trial that is not finished yet.

    campaign.json        the trials and what they are run with (directory.py)
    records/NAME.json    what is kept of each finished trial (records.py)
    training_tree.json   who learns from whom, once all trials are timed; kinship.json in earlier versions
    SHA256SUMS           checksums of all these, once tables are written; there is none while a campaign is played
    trials/NAME/         a run directory each

A trial is finished if its record is sound and belongs to this very scenario and these options; its run directory may
then be gone. While it plays, a campaign knows finished trials by name only and reads their records at the end: a long
one needs no more memory than a short one. A trial that fails is tried once more, then left out while the others go on.
One whose scenario is refused is not tried again; it gets no record, so a campaign that goes on asks anew. A trial
starts when the state it branches off from is there, which is before its parent has ended.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from hfedms_sim.campaign import records
from hfedms_sim.campaign.curves import Curve
from hfedms_sim.campaign.directory import OLDER_TREE, TREE, claim
from hfedms_sim.campaign.dispatch import DispatchStep, dispatched
from hfedms_sim.campaign.records import TrialRecord
from hfedms_sim.campaign.standing import Ended, Meter, Standing
from hfedms_sim.campaign.tasks import Options, TimingTask, TrialOutcome, TrialTask
from hfedms_sim.campaign.training_tree import Branch, training_tree
from hfedms_sim.campaign.trials import Trial
from hfedms_sim.campaign.workers import Finished, Workers
from hfedms_sim.errors import InputError, OneLineError, RunError
from hfedms_sim.result import read_json
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.simulation import outside_modules
from hfedms_sim.system.checksums import Checksums, remove_checksums
from hfedms_sim.system.files import own_directory


class TrialResult(NamedTuple):
    """A finished trial, as its record has it."""

    trial: Trial
    summary: Mapping[str, Any]
    provenance: Mapping[str, Any]
    curve: Curve


class Refusal(NamedTuple):
    """A trial that the simulator refuses to play, and why, in one line."""

    trial: Trial
    reason: str


@dataclass
class Campaign:
    """Trials to be played in a directory of `campaign_directory`. Their names must be distinct file names."""

    directory: RunDirectory
    trials: Sequence[Trial]
    options: Options = field(default_factory=Options)
    on_standing: Callable[[Standing], None] = lambda standing: None
    on_notice: Callable[[str], None] = lambda line: None
    said: Callable[[OneLineError], str] = str
    """How errors of trials are said: as Python does, or as the command line does."""
    failures: dict[str, str] = field(default_factory=dict)
    """Why a trial failed, by its name; those that were refused are among them."""
    known: Mapping[str, TrialRecord] = field(default_factory=dict)
    """Records of other campaigns by their digests: a trial that is the same takes over what it came to."""
    lineages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What trials are known to learn, round by round, by their names: these are not timed."""
    refused: dict[str, str] = field(default_factory=dict)
    """Why the simulator refuses a trial's scenario (its radio cannot be placed, its first round takes months, ...)."""
    _at_fault: set[str] = field(default_factory=set)
    _digests: dict[str, str] = field(default_factory=dict)
    _finished: set[str] = field(default_factory=set)

    def run(self, workers: Workers) -> list[TrialResult]:
        """Play what is not finished, and return the trials that have not failed, in their order.

        The workers are closed and the directory is unlocked at the end, however it ends.
        """
        try:
            self._digests = claim(self.directory, self.trials, self.options)
            before = self._tree_before()
            remove_checksums(self.directory.path)
            for name in ("trials", records.DIRECTORY):
                own_directory(self.directory.path / name)
            self._finished = {each.name for each in self.trials if self._is_kept(each)}
            tree = {} if self.options.timing_only else self._tree(workers, before)
            self._play(workers, tree)
        except OSError as error:
            where = error.filename or self.directory.path
            raise RunError(f"{where}: cannot be written ({error.strerror or error})") from None
        finally:
            workers.close()
            self.directory.unlock()
        return [self._result(trial) for trial in self.trials if trial.name in self._finished]

    @property
    def refusals(self) -> list[Refusal]:
        """Return the trials that were refused, in their order."""
        return [Refusal(trial, self.refused[trial.name]) for trial in self.trials if trial.name in self.refused]

    @property
    def failed(self) -> dict[str, str]:
        """Return why trials failed that were not refused, by their names."""
        return {trial: why for trial, why in self.failures.items() if trial not in self.refused}

    def require_played(self) -> None:
        """Refuse to go on without a trial that failed and was not refused."""
        if self.failed:
            (trial, why), *others = self.failed.items()
            raise RunError(f"{trial}: failed, {why}", f" (and {len(others)} more)" if others else "")

    @property
    def common_fault(self) -> str | None:
        """Return the one line for which every single trial's input is at fault; None if one is not, or lines differ."""
        lines = set(self.failures.values())
        everybody = len(self._at_fault) == len(self.failures) == len(self.trials)
        return lines.pop() if everybody and len(lines) == 1 else None

    def path_of(self, name: str) -> Path:
        """Return the run directory of a trial; that of a finished one need not be there."""
        return self.directory.path / "trials" / name

    @property
    def _unfinished(self) -> list[Trial]:
        return [each for each in self.trials if each.name not in self._finished and each.name not in self.failures]

    def _is_kept(self, trial: Trial) -> bool:
        """Return whether there is a record of a trial; one that is not to be trusted is none, and a line says why."""
        path = records.path_of(self.directory.path, trial.name)
        if not path.exists():
            return self._is_taken_over(trial)
        try:
            record = records.read_record(path)
        except InputError as error:
            self.on_notice(f"{error}; the trial is played again")
            return False
        if record.digest != self._digests[trial.name]:
            self.on_notice(f"{path}: is of another scenario or other options; the trial is played again")
            return False
        return True

    def _is_taken_over(self, trial: Trial) -> bool:
        """Return whether another campaign has a record of the very same trial, which is written as this one's."""
        found = self.known.get(self._digests[trial.name])
        if found is None:
            return False
        records.write_record(self.directory.path, replace(found, trial=trial.name, variant=trial.variant))
        return True

    def _tree(self, workers: Workers, before: dict[str, Branch]) -> dict[str, Branch]:
        """Return who learns from whom: `before`, as an earlier session found it, or by timing all that can take part.

        A finished trial whose run directory is gone can teach nobody. If it was to, the tree is found anew without it.
        """
        if not self._unfinished:
            return {}
        if all(each.name in before and self._can_teach(before[each.name].parent) for each in self._unfinished):
            return before
        able = {each.name: each for each in self.trials if self._can_teach(each.name)}
        paths = {name: list(self.lineages[name]) for name in able if name in self.lineages}
        paths |= self._timed([trial for name, trial in able.items() if name not in paths], workers)
        latest_stop_first = sorted(paths, key=lambda name: -(able[name].scenario.stop_at or 2.0))
        tree = training_tree({name: paths[name] for name in latest_stop_first})
        if not self.failures:
            self.directory.write_json(TREE, {name: tree[name].as_json() for name in tree})
        for name in self._finished:
            for noted in (self.failures, self.refused):
                noted.pop(name, None)  # it could not be timed, but is finished
            self._at_fault.discard(name)
        return tree

    def _tree_before(self) -> dict[str, Branch]:
        """Return who learns from whom as an earlier session found it; a damaged tree is removed.

        It is read while its checksum is still there.
        """
        path = next((each for name in (TREE, OLDER_TREE) if (each := self.directory.path / name).is_file()), None)
        if path is None:
            return {}
        try:
            Checksums(path.parent).require(path.name)
            return {name: Branch.from_json(branch) for name, branch in read_json(path).items()}
        except (InputError, KeyError, TypeError, AttributeError):
            self.on_notice(f"{path}: damaged, and made anew")
        remove_checksums(path.parent)
        path.unlink(missing_ok=True)
        return {}

    def _can_teach(self, name: str | None) -> bool:
        return name is None or name not in self._finished or (self.path_of(name) / "learning").is_dir()

    def _timed(self, trials: Sequence[Trial], workers: Workers) -> dict[str, list[str]]:
        """Return the lineages of each trial, round by round, but for those that fail."""
        tasks = {
            trial.name: TimingTask(trial.scenario, self.options, outside_modules(trial.scenario)) for trial in trials
        }
        meter = Meter("timing", trials, [trial.name for trial in trials], counts_played=True)
        paths: dict[str, list[str]] = {}
        for step in dispatched(tasks, workers):
            for ended in step.ended:
                if ended.error is None:
                    paths[ended.key] = ended.value
                    meter.end(ended.key, len(ended.value))
                else:
                    self._fail(ended, meter, is_refused=ended.is_final)
            self._tell(meter, step)
        return paths

    def _play(self, workers: Workers, tree: Mapping[str, Branch]) -> None:
        trials = {trial.name: trial for trial in self._unfinished}
        tasks = {name: self._task(trial, tree.get(name, Branch())) for name, trial in trials.items()}
        shared = {name: each.shared_rounds for name, each in tree.items()}
        meter = Meter("running", self.trials, trials, shared, counts_played=self.options.timing_only)

        def is_ready(name: str, pending: Collection[str]) -> bool:
            mine = tree.get(name, Branch())
            return mine.parent not in pending or (mine.branches_off and self._has_state(mine.parent, mine.fork))

        self._tell(meter, DispatchStep([], (), {}))
        for step in dispatched(tasks, workers, is_ready):
            for ended in step.ended:
                if ended.error is None:
                    meter.end(ended.key, self._keep(trials[ended.key], ended.value))
                else:
                    self._fail(ended, meter, is_refused=ended.is_final and self.options.timing_only)
            self._tell(meter, step)

    def _keep(self, trial: Trial, outcome: TrialOutcome) -> int:
        """Write the record of a trial that has ended: with it the trial is finished. Return how many rounds it took."""
        summary, provenance, curve, notices = outcome
        record = TrialRecord.of_run(trial.name, trial.variant, self._digests[trial.name], summary, provenance, curve)
        records.write_record(self.directory.path, record)
        self._finished.add(trial.name)
        for line in notices:
            self.on_notice(line)
        rounds: int = summary["rounds"] if self.options.timing_only else provenance["rounds_trained"]
        return rounds

    def _fail(self, ended: Finished, meter: Meter, *, is_refused: bool) -> None:
        """Note why a trial failed. Timing tells what is refused: input that is at fault later may be a run's own."""
        assert ended.error is not None
        self.failures[ended.key] = line = self.said(ended.error)
        if ended.is_final:
            self._at_fault.add(ended.key)
        if is_refused:
            self.refused[ended.key] = line
        meter.drop(ended.key)

    def _tell(self, meter: Meter, step: DispatchStep) -> None:
        kept = [each for each in step.ended if isinstance(each.value, TrialOutcome)]
        ended = tuple(Ended(each.key, each.value.summary["final_accuracy"]) for each in kept)
        failed = len(self.failures) - len(self.refused)
        self.on_standing(meter.standing(step.running, failed, step.at, ended))

    def _task(self, trial: Trial, branch: Branch) -> TrialTask:
        return TrialTask(
            scenario=trial.scenario,
            options=self.options,
            directory=self.path_of(trial.name),
            parent=None if branch.parent is None else self.path_of(branch.parent),
            teacher=trial.teacher,
            fork=branch.fork,
            pins=frozenset(branch.pins),
            imports=outside_modules(trial.scenario),
        )

    def _has_state(self, parent: str | None, fork: str | None) -> bool:
        return parent is not None and any(self.path_of(parent).glob(f"learning/*/*-{fork}.safetensors"))

    def _result(self, trial: Trial) -> TrialResult:
        record = records.read_record(records.path_of(self.directory.path, trial.name))
        return TrialResult(trial, record.summary, record.provenance, record.curve)
