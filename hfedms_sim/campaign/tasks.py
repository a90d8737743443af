"""What a worker is asked to do, in whatever process or on whatever machine: time a trial, or play it."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from hfedms_sim.campaign.curves import Curve, curve_of
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.foreign_code import import_outside
from hfedms_sim.loading import READABLE
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import Progress, estimate_of, parts_of, run

OnRound = Callable[[Progress], None]


@dataclass(frozen=True)
class Options:
    """How all trials of a campaign are played."""

    timing_only: bool = False
    threads: int = 1
    allow_infeasible: bool = False
    allow_large: bool = False

    def identity(self) -> dict[str, Any]:
        """Return those that decide what a trial comes to, by name, as campaign.json holds them."""
        return {name: value for name, value in asdict(self).items() if name != "allow_large"}


class TrialOutcome(NamedTuple):
    """What a trial came to, and what was found damaged on the way, a line each."""

    summary: Mapping[str, Any]
    provenance: Mapping[str, Any]
    curve: Curve
    notices: tuple[str, ...]


@dataclass(frozen=True)
class TimingTask:
    """Finds the lineages that the trial would learn under, round by round."""

    scenario: Scenario
    options: Options
    imports: tuple[str, ...] = ()
    """Modules that a process must have imported to know the scenario's parts."""

    def perform(self, on_round: OnRound) -> list[str]:
        """Return the lineages."""
        _import_all(self.imports)
        parts = parts_of(self.scenario)
        if not self.options.allow_large:  # of the training that is to follow
            estimate_of(self.scenario, parts, timing_only=False).require_room(None)
        timed = run(
            self.scenario,
            parts=parts,
            timing_only=True,
            threads=self.options.threads,
            allow_infeasible=self.options.allow_infeasible,
            allow_large=self.options.allow_large,
            on_round=on_round,
        )
        lineages: list[str] = timed.arrow("rounds")["lineage"].to_pylist()
        return lineages


@dataclass(frozen=True)
class TrialTask:
    """Plays the trial's run into its directory; an unfinished run that is there is resumed."""

    scenario: Scenario
    options: Options
    directory: Path
    parent: Path | None = None
    """The run whose rounds of the same lineages need not be trained again; if it is gone, the trial trains them."""
    fork: str | None = None
    """The last lineage that it shares with `parent`. Only Ray's workers read it, to choose the checkpoint that is sent
    along; where the parent's directory can be read, all of its checkpoints are at hand."""
    pins: frozenset[str] = field(default=frozenset())
    teacher: Path | None = None
    """A run outside the campaign, which is learnt from in the same way."""
    imports: tuple[str, ...] = ()
    """Modules that a process must have imported to know the scenario's parts."""

    def perform(self, on_round: OnRound) -> TrialOutcome:
        """Return what the record of the trial is made of."""
        _import_all(self.imports)
        notices: list[str] = []
        played = run(
            self.scenario,
            timing_only=self.options.timing_only,
            threads=self.options.threads,
            allow_infeasible=self.options.allow_infeasible,
            allow_large=self.options.allow_large,
            out=self._opened(),
            learn_from=[each for each in (self.parent, self.teacher) if each is not None and _has_learnt(each)],
            pins=self.pins,
            on_round=on_round,
            on_notice=notices.append,
        )
        return TrialOutcome(played.summary, played.provenance, curve_of(played.arrow("rounds")), tuple(notices))

    def _opened(self) -> RunDirectory:
        """Return the trial's directory; a damaged or busy one is no fault of the scenario, so it is no InputError."""
        try:
            if self.directory.exists():
                return RunDirectory.resumed(self.directory, self.scenario, READABLE)
            return RunDirectory.at(self.directory)
        except InputError as error:
            raise RunError(*error.args) from None


Task = TimingTask | TrialTask


def _has_learnt(run_directory: Path) -> bool:
    return (run_directory / "learning").is_dir()


def _import_all(modules: tuple[str, ...]) -> None:
    for module in modules:
        import_outside(module)
