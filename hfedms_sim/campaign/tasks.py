"""What a worker is asked to do, in whatever process or on whatever machine: time a trial, or play it."""

from dataclasses import dataclass, field
from pathlib import Path

from hfedms_sim.result import RunDirectory
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import run


@dataclass(frozen=True)
class TimingTask:
    """Which lineages the trial would learn under, round by round."""

    scenario: Scenario
    threads: int
    allow_infeasible: bool

    def perform(self) -> list[str]:
        timed = run(self.scenario, timing_only=True, threads=self.threads, allow_infeasible=self.allow_infeasible)
        lineages: list[str] = timed.arrow("rounds")["lineage"].to_pylist()
        return lineages


@dataclass(frozen=True)
class TrialTask:
    """The trial's run, into its directory; what is there already is gone on with."""

    scenario: Scenario
    directory: Path
    threads: int
    timing_only: bool = False
    allow_infeasible: bool = False
    parent: Path | None = None
    """The run that it learns from, up to the lineage `fork`."""
    fork: str | None = None
    pins: frozenset[str] = field(default=frozenset())

    def perform(self) -> list[str]:
        """What was found damaged, a line each."""
        notices: list[str] = []
        exists = self.directory.exists()
        directory = RunDirectory.resumed(self.directory, self.scenario) if exists else RunDirectory.at(self.directory)
        directory.pins, directory.on_notice = self.pins, notices.append
        run(
            self.scenario,
            timing_only=self.timing_only,
            threads=self.threads,
            allow_infeasible=self.allow_infeasible,
            out=directory,
            learn_from=[] if self.parent is None or not (self.parent / "learning").is_dir() else [self.parent],
        )
        return notices


Task = TimingTask | TrialTask
