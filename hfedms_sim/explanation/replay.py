"""A run's rounds again, with something changed: what what-ifs are compared with, and how they are played.

A what-if plays the rounds that the run has played, as many and no more: whatever would end it early is off. Of a run
with more than `MOST_TRANSFERS` only the first rounds are compared, of both. The run's own seconds, bytes and joules are
those of its tables.
"""

import shlex
from dataclasses import dataclass

from hfedms_sim.errors import InputError
from hfedms_sim.explanation.changes import Change
from hfedms_sim.feasibility import LONGEST_FIRST_ROUND_S
from hfedms_sim.loading import load_scenario
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import Parts, parts_of, run

MOST_TRANSFERS = 15_000
"""How many the rounds may have that are played again: some seconds for each what-if."""
MOST_OF_A_ROUND = 30_000
"""Transfers of a first round that is still played again; a larger one would take minutes."""


@dataclass(frozen=True)
class Figures:
    """What rounds cost."""

    rounds: int
    simulated_s: float
    """Until the last of them ended."""
    in_rounds_s: float
    """Their lengths, without the time between them."""
    bytes: int
    energy_j: float | None
    """None: not modelled."""


@dataclass(frozen=True)
class Replay:
    """The rounds of a run that what-ifs play again: what of the run they are compared with, and how to play them."""

    result: RunResult
    scenario: Scenario
    parts: Parts
    own: Figures

    def changed(self, change: Change, rounds: int | None = None) -> Scenario:
        """Return the scenario of a what-if."""
        rounds = self.own.rounds if rounds is None else rounds
        return load_scenario(self.scenario, profile=change.profile, rounds=rounds, overrides=change.changes)

    def play(self, scenario: Scenario) -> RunResult:
        """Play a what-if, however long its first round is if the run's own was too long already."""
        return run(scenario, parts=self.parts, timing_only=True, allow_infeasible=self.is_infeasible)

    def play_first_round(self, change: Change) -> RunResult:
        """Play one round, unless it takes too long for anybody."""
        return run(self.changed(change, rounds=1), parts=self.parts, timing_only=True)

    @property
    def is_infeasible(self) -> bool:
        """Whether the run itself was only played because somebody insisted."""
        first = self.result.rounds.iloc[0]
        return bool(first["end_s"] - first["start_s"] > LONGEST_FIRST_ROUND_S)

    def options(self, change: Change) -> list[str]:
        """Return the options that tell this what-if from others, and those that all of this run need."""
        endless = [] if self.result.scenario.stop_after_s is None else ["--set", "stop_after_s=null"]
        return [*change.options, *endless, *(["--allow-infeasible"] if self.is_infeasible else [])]

    def command(self, change: Change) -> str | None:
        if self.result.directory is None:
            return None
        source = str(self.result.directory / "scenario.yaml")
        fixed = ["hfedms-sim", "run", source, "--timing-only", "--rounds", str(self.own.rounds)]
        return shlex.join([*fixed, *self.options(change)])


def replay_of(result: RunResult) -> Replay:
    """Return how to play a run's rounds again; an `InputError` if its parts are not here."""
    scenario = result.scenario
    if not len(result.rounds):
        raise InputError("the run has no round that ended")
    if (first := transfers_of_first_round(result)) > MOST_OF_A_ROUND:
        raise InputError(
            f"its first round has {first:,} transfers, more than {MOST_OF_A_ROUND:,}, and would take minutes"
        )
    if scenario.stop_after_s is not None:
        scenario = load_scenario(scenario, overrides={"stop_after_s": None})
    return Replay(result, scenario, parts_of(scenario), figures_of(result, _compared_rounds(result)))


def figures_of(result: RunResult, rounds: int) -> Figures:
    """Return what the first rounds of a run cost."""
    first = result.rounds.iloc[:rounds]
    energy_j = None if first["energy_j"].isna().any() else float(first["energy_j"].sum())
    return Figures(
        rounds=rounds,
        simulated_s=float(first["end_s"].iloc[-1]),
        in_rounds_s=float((first["end_s"] - first["start_s"]).sum()),
        bytes=int(first["uplink_bytes"].sum() + first["downlink_bytes"].sum()),
        energy_j=result.summary["energy_j"] if rounds == len(result.rounds) else energy_j,
    )


def transfers_of_first_round(result: RunResult) -> int:
    """Return how many transfers ended in the first round of a run."""
    numbers = result.arrow("transfers")["round"].to_numpy()
    return int(numbers.searchsorted(int(result.rounds["round"].iloc[0]), side="right"))


def _compared_rounds(result: RunResult) -> int:
    """Return how many of the first rounds are played again: all that fit `MOST_TRANSFERS` together, at least one."""
    rounds = result.arrow("rounds")["round"].to_numpy()
    ends = result.arrow("transfers")["round"].to_numpy().searchsorted(rounds, side="right")
    return max(1, int((ends * result.scenario.trace_every <= MOST_TRANSFERS).sum()))
