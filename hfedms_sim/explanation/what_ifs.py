"""What-ifs of a run, each played as a timing-only run of its own.

They have the figures that `hfedms-sim run` gives for the command that they name, to the digit. Left out: learning. A
what-if that changes what is learnt may need more rounds than the run, or fewer.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.explanation.changes import Change, NoChange, limiting_cell, more_room, shorter_or_smaller
from hfedms_sim.explanation.radios import fastest_radio
from hfedms_sim.explanation.replay import Figures, Replay, figures_of
from hfedms_sim.limits import CriticalPath, LimitedBy
from hfedms_sim.scenario import Scenario
from hfedms_sim.stopping import stopped_of

Notice = Callable[[str], None]


@dataclass(frozen=True)
class WhatIf:
    """A change that might help, and what it comes to; or why it could not be played."""

    name: str
    description: str
    changes: dict[str, Any]
    """Dotted keys of the scenario, and their values; beside them the number of rounds."""
    profile: str | None
    """A shipped profile that every cell is put on; None: as it was."""
    scenario: Scenario | None
    """What was played."""
    figures: Figures | None
    limited_by: str | None
    """The text of `limited_by`, as in summary.json."""
    ratio_to_run: float | None
    """How long its rounds are to the run's (`in_rounds_s`): half means twice as fast."""
    options: str | None
    """What the command has beside the scenario, `--timing-only` and `--rounds`."""
    command: str | None
    """The same run from the command line; None of a run that has no directory."""
    why_not: str | None
    """Why there are no figures; None where there are."""


def played(replay: Replay, change: Change) -> WhatIf:
    """Return a what-if with its figures, or with the reason why it has none."""
    try:
        scenario = replay.changed(change)
        found = replay.play(scenario)
    except (InputError, RunError) as error:
        return not_played(NoChange(change.name, str(error)), change)
    if len(found.rounds) < replay.own.rounds:
        why_not = f"it ends after {len(found.rounds)} of {replay.own.rounds} rounds: {stopped_of(found.summary)}"
        return not_played(NoChange(change.name, why_not), change)
    figures = figures_of(found, replay.own.rounds)
    limited_by = found.summary["limited_by"]
    return WhatIf(
        name=change.name,
        description=change.description,
        changes={**change.changes, "rounds": replay.own.rounds},
        profile=change.profile,
        scenario=scenario,
        figures=figures,
        limited_by=None if limited_by is None else limited_by["text"],
        ratio_to_run=figures.in_rounds_s / replay.own.in_rounds_s if replay.own.in_rounds_s else None,
        options=shlex.join(replay.options(change)),
        command=replay.command(change),
        why_not=None,
    )


def not_played(refused: NoChange, change: Change | None = None) -> WhatIf:
    """Return a what-if that has no figures."""
    return WhatIf(
        name=refused.name,
        description="" if change is None else change.description,
        changes={} if change is None else dict(change.changes),
        profile=None if change is None else change.profile,
        scenario=None,
        figures=None,
        limited_by=None,
        ratio_to_run=None,
        options=None,
        command=None,
        why_not=refused.why_not,
    )


def what_ifs_of(
    replay: Replay, limited_by: LimitedBy | None, path: CriticalPath, on_notice: Notice
) -> tuple[WhatIf, ...]:
    """Return the three what-ifs of a run: more room where it is tight, a faster radio, shorter chains or int8."""
    cause = None if limited_by is None else limited_by.cause
    scenario, sensors = replay.result.scenario, replay.result.sensors
    cell = limiting_cell(scenario, limited_by, path)
    on_notice("playing the first round on shipped radios")
    changes = (
        more_room(scenario, cell, cause, sensors),
        fastest_radio(replay),
        shorter_or_smaller(scenario, cause),
    )
    found = []
    for change in changes:
        on_notice(f"playing a what-if: {change.name}")
        found.append(played(replay, change) if isinstance(change, Change) else not_played(change))
    return tuple(found)
