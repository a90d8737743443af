"""What limited one run, and what would help: the data behind `hfedms-sim explain`, for a screen, a page or a program.

Everything is computed from the run's tables and its summary; only the what-ifs are played. Nothing is printed here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.explanation.energy import Energy, energy_of
from hfedms_sim.explanation.path_sections import TypicalRound, typical_path
from hfedms_sim.explanation.replay import Figures, replay_of
from hfedms_sim.explanation.what_ifs import WhatIf, what_ifs_of
from hfedms_sim.explanation.worst_sensors import WorstSensor, out_of_coverage, worst_sensors
from hfedms_sim.limits import CauseShare, Detail, LimitedBy, Limits
from hfedms_sim.result import RunResult
from hfedms_sim.rounds import STATION
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import open_run


@dataclass(frozen=True)
class Explanation:
    """What limited a run and what would help. docs/explain.md says what each part means and how it is computed."""

    directory: str | None
    """None of a run that was kept in memory."""
    scenario: str
    strategy: str
    profile: str
    rounds: int
    """That were played."""
    simulated_s: float
    limited_by: LimitedBy | None
    """As in summary.json, or worked out where an earlier version did not; None if no time passed."""
    shares: tuple[CauseShare, ...]
    """What share each cause has of the critical paths, the largest first."""
    typical: TypicalRound | None
    """None if no round was played."""
    worst_sensors: tuple[WorstSensor, ...]
    out_of_coverage: tuple[int, ...]
    """Sensors that took no part because no cell reaches them."""
    energy: Energy | None
    """None: not modelled."""
    energy_missing: tuple[str, ...]
    """Profiles without figures of energy, and why they have none."""
    compared: Figures | None
    """What of the run the what-ifs are compared with; None without any."""
    what_ifs: tuple[WhatIf, ...]
    notes: tuple[str, ...]
    """What could not be told, and why."""

    def as_dict(self) -> dict[str, Any]:
        """Return the same for JSON: mappings, lists, numbers and text. Scenarios of what-ifs are left out."""
        plain = _plain(self)
        assert isinstance(plain, dict)
        return plain


def explain(
    run: RunResult | Path | str, *, what_ifs: bool = True, on_notice: Callable[[str], None] = lambda line: None
) -> Explanation:
    """Explain what limited a finished run and what would help.

    Arguments:
        run: a run, or its directory.
        what_ifs: also play three what-ifs, which takes some seconds: more room, a faster radio, shorter chains or int8.
        on_notice: called with a line about what is played next.

    Returns:
        The `Explanation`: cause and shares, a typical round, the worst sensors, joules, the what-ifs.

    Raises:
        InputError: there is no finished run, or a file of it is damaged.

    Example:

        explain("runs/quickstart-001").limited_by.text
    """
    result = run if isinstance(run, RunResult) else open_run(run)
    limits = result.limits
    found, shares = _limited_by(result.summary, limits)
    notes = [] if len(result.sensors) else ["no table of sensors (an earlier version): their rates are not known"]
    compared: Figures | None = None
    played: tuple[WhatIf, ...] = ()
    if what_ifs:
        try:
            replay = replay_of(result)
            compared, played = replay.own, what_ifs_of(replay, found, limits.path, on_notice)
        except (InputError, RunError) as error:
            notes.append(f"what-ifs could not be played: {error}")
    return Explanation(
        directory=None if result.directory is None else str(result.directory),
        scenario=result.scenario.name,
        strategy=result.scenario.strategy.name,
        profile=result.scenario.profile_names,
        rounds=len(result.rounds),
        simulated_s=float(result.summary["simulated_s"]),
        limited_by=found,
        shares=shares,
        typical=typical_path(limits.path, result.rounds, has_teams=_has_teams(result)),
        worst_sensors=worst_sensors(limits.path, result),
        out_of_coverage=out_of_coverage(result.sensors),
        energy=energy_of(result.summary),
        energy_missing=tuple(result.summary.get("energy_missing") or ()),
        compared=compared,
        what_ifs=played,
        notes=tuple(notes),
    )


def _has_teams(result: RunResult) -> bool:
    return bool((result.arrow("transfers")["target"].to_numpy() == STATION).any())


def _limited_by(summary: Mapping[str, Any], limits: Limits) -> tuple[LimitedBy | None, tuple[CauseShare, ...]]:
    """Return what the summary says, or what its tables do where the summary of an earlier version says nothing."""
    said = summary.get("limited_by")
    if said is None:
        return limits.limited_by, tuple(limits.shares)
    detail = Detail(**{name: said["detail"].get(name) for name in Detail._fields})
    shares = tuple(CauseShare(each["cause"], each["share"]) for each in said["shares"])
    return LimitedBy(said["cause"], said["share"], detail, said["text"]), shares


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        named = {each.name: getattr(value, each.name) for each in fields(value)}
        return {name: _plain(own) for name, own in named.items() if not isinstance(own, Scenario)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(own) for name, own in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: _plain(own) for name, own in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
