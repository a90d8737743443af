"""A campaign: times all trials, settles who trains what, and plays every trial that is not finished yet.

    campaign.json    the trials and what they were run with: a campaign that goes on must be the same
    kinship.json     who learns from whom, once all trials are timed
    trials/NAME/     a run directory each

A trial that fails is tried once more, then left out while the others go on. A trial starts when the state it branches
off from is there, which is before its parent has ended.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from hfedms_sim.campaign.kinship import Kin, kinship
from hfedms_sim.campaign.tasks import Task, TimingTask, TrialTask
from hfedms_sim.campaign.trials import Trial
from hfedms_sim.campaign.workers import Workers
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.result import RunDirectory, differences, is_finished, read_json

ATTEMPTS = 2
_LOOK_AGAIN_S = 0.5


@dataclass(frozen=True)
class Options:
    timing_only: bool = False
    threads: int = 1
    allow_infeasible: bool = False


class Standing(NamedTuple):
    """How far a campaign is."""

    phase: str
    """timing or running."""
    trials: int
    done: int
    running: int
    failed: int


class TrialResult(NamedTuple):
    """`summary` and `provenance` as its run directory has them."""

    trial: Trial
    summary: dict[str, Any]
    provenance: dict[str, Any]


@dataclass
class Campaign:
    directory: RunDirectory
    trials: Sequence[Trial]
    options: Options
    on_standing: Callable[[Standing], None] = lambda standing: None
    on_notice: Callable[[str], None] = lambda line: None
    failures: dict[str, str] = field(default_factory=dict)
    """Why, by the trial's name."""

    def run(self, workers: Workers) -> list[TrialResult]:
        """Of the trials that have not failed, in their order."""
        try:
            self._claim()
            kin = {} if self.options.timing_only else self._kinship(workers)
            self._play(workers, kin)
        except OSError as error:
            where = error.filename or self.directory.path
            raise RunError(f"{where}: cannot be written ({error.strerror or error})") from None
        finally:
            workers.close()
            self.directory.unlock()
        return [self._result(trial) for trial in self.trials if trial.name not in self.failures]

    def path_of(self, name: str) -> Path:
        return self.directory.path / "trials" / name

    def _claim(self) -> None:
        """Refuses a directory of another campaign, and shows the difference."""
        scenarios = {trial.name: trial.scenario.model_dump(mode="json") for trial in self.trials}
        now = {"options": asdict(self.options), "trials": scenarios}
        path = self.directory.path / "campaign.json"
        if path.is_file():
            for key, was, is_now in differences(read_json(path), now):
                raise InputError(f"{path.parent}: was run with another {key}: {was!r:.80}, now {is_now!r:.80}")
        self.directory.write_json(path.name, now)
        (self.directory.path / "trials").mkdir(exist_ok=True)

    def _kinship(self, workers: Workers) -> dict[str, Kin]:
        path = self.directory.path / "kinship.json"
        if path.is_file():
            try:
                return {name: Kin.from_json(kin) for name, kin in read_json(path).items()}
            except (InputError, KeyError, TypeError, AttributeError):
                self.on_notice(f"{path}: damaged, and made anew")
        timing = [
            TimingTask(trial.scenario, self.options.threads, self.options.allow_infeasible) for trial in self.trials
        ]
        tasks = {trial.name: task for trial, task in zip(self.trials, timing, strict=True)}
        paths = self._carried_out("timing", tasks, workers)
        latest_stop_first = sorted(paths, key=lambda name: -(tasks[name].scenario.stop_at or 2.0))
        kin = kinship({name: paths[name] for name in latest_stop_first})
        if not self.failures:
            self.directory.write_json(path.name, {name: kin[name].as_json() for name in kin})
        return kin

    def _play(self, workers: Workers, kin: dict[str, Kin]) -> None:
        unfinished = [
            trial
            for trial in self.trials
            if trial.name not in self.failures and not _is_sound(self.path_of(trial.name))
        ]
        tasks: dict[str, Task] = {trial.name: self._task(trial, kin.get(trial.name, Kin())) for trial in unfinished}

        def is_ready(name: str, pending: set[str]) -> bool:
            mine = kin.get(name, Kin())
            return mine.parent not in pending or (mine.branches_off and self._has_state(mine.parent, mine.fork))

        done_before = len(self.trials) - len(unfinished) - len(self.failures)
        for notices in self._carried_out("running", tasks, workers, is_ready, done_before).values():
            for line in notices:
                self.on_notice(line)

    def _carried_out(
        self,
        phase: str,
        tasks: dict[str, Any],
        workers: Workers,
        is_ready: Callable[[str, set[str]], bool] = lambda name, pending: True,
        done_before: int = 0,
    ) -> dict[str, Any]:
        """What each task came to; those that fail are noted and left out."""
        values: dict[str, Any] = {}
        attempts = dict.fromkeys(tasks, 0)
        waiting, running = list(tasks), set[str]()
        while waiting or running:
            pending = {*waiting, *running}
            for name in list(waiting):
                if len(running) == workers.capacity:
                    break
                if is_ready(name, pending):
                    waiting.remove(name)
                    running.add(name)
                    attempts[name] += 1
                    workers.start(name, tasks[name])
            self._tell(phase, len(values) + done_before, len(running))
            for ended in workers.finished(_LOOK_AGAIN_S):
                running.remove(ended.key)
                if ended.error is None:
                    values[ended.key] = ended.value
                elif ended.is_final or attempts[ended.key] == ATTEMPTS:
                    self.failures[ended.key] = ended.error
                else:
                    waiting.append(ended.key)
        self._tell(phase, len(values) + done_before, 0)
        return values

    def _tell(self, phase: str, done: int, running: int) -> None:
        self.on_standing(Standing(phase, len(self.trials), done, running, len(self.failures)))

    def _task(self, trial: Trial, kin: Kin) -> TrialTask:
        return TrialTask(
            scenario=trial.scenario,
            directory=self.path_of(trial.name),
            threads=self.options.threads,
            timing_only=self.options.timing_only,
            allow_infeasible=self.options.allow_infeasible,
            parent=None if kin.parent is None else self.path_of(kin.parent),
            fork=kin.fork,
            pins=frozenset(kin.pins),
        )

    def _has_state(self, parent: str | None, fork: str | None) -> bool:
        return parent is not None and any(self.path_of(parent).glob(f"learning/*/*-{fork}.safetensors"))

    def _result(self, trial: Trial) -> TrialResult:
        path = self.path_of(trial.name)
        return TrialResult(trial, read_json(path / "summary.json"), read_json(path / "provenance.json"))


def _is_sound(run: Path) -> bool:
    """Whether a trial is finished, and what the table needs of it can be read."""
    try:
        return is_finished(run) and bool(read_json(run / "summary.json") and read_json(run / "provenance.json"))
    except InputError:
        return False
