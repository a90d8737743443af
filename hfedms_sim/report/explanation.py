"""An explanation as one screen of 100 columns. All names are put in as text: none is read as markup."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hfedms_sim.explanation import Explanation, Figures, PathSection, SpentOn, TypicalRound, WhatIf, WorstSensor
from hfedms_sim.report.energy import lasting
from hfedms_sim.units import format_bytes, format_joules, format_seconds

_LEAST_SHARE = 0.005  # of a cause or a part that is worth a word
_MOST_PARTS = 3  # of a section
_MOST_NAMED = 6  # sensors of a chain
_MOST_OPTIONS = 240  # characters of a what-if's options that are shown
_NEARLY_EQUAL = 0.005
_LEAST_RATIO = 0.01
_MOST_RATIO = 99
_MOSTLY = 0.95
_MUCH = 1.1  # times the energy of the run
_INDENT = (0, 0, 0, 13)


def explanation_screen(found: Explanation) -> RenderableType:
    """Return the whole explanation."""
    parts: list[RenderableType] = [_headline(found), _facts(found)]
    if found.typical is not None and found.typical.legs:
        parts += _typical(found.typical, found.rounds)
    if found.worst_sensors:
        parts += _worst(found.worst_sensors, found.rounds)
    if found.compared is not None:
        parts += _what_ifs(found, found.compared)
    return Group(*parts, *(Text(f"note: {note}") for note in found.notes))


def _headline(found: Explanation) -> Text:
    rounds = f"{found.rounds:,} round{'' if found.rounds == 1 else 's'}"
    what = f"{found.scenario}: {found.strategy} over {found.profile}"
    return Text(f"{what}, {rounds} in {format_seconds(found.simulated_s)}", style="bold")


def _facts(found: Explanation) -> Table:
    table = _grid((14, "left"), (None, "left"))
    limit = "nothing: no time passed" if found.limited_by is None else found.limited_by.text
    table.add_row(Text("limited by", style="bold"), Text(limit))
    shares = [f"{each.cause} {each.share:.0%}" for each in found.shares if each.share >= _LEAST_SHARE]
    if shares:
        table.add_row(Text("critical paths", style="bold"), Text(", ".join(shares)))
    table.add_row(Text("energy", style="bold"), Text(_energy(found)))
    if outside := found.out_of_coverage:
        named = f"{_named(outside, ', ')}: no cell reaches them, they took no part"
        table.add_row(Text("out of reach", style="bold"), Text(f"{len(outside):,} sensors, {named}"))
    if found.compared is not None:
        table.add_row(Text("would help", style="bold"), Text(_help(found, found.compared)))
    return table


def _energy(found: Explanation) -> str:
    energy = found.energy
    if energy is None:
        missing = "; ".join(found.energy_missing)
        return f"not modelled{f' ({missing})' if missing else ''}"
    states = [f"{each.state} {each.share:.0%}" for each in energy.states if each.share >= _LEAST_SHARE]
    said = f"{format_joules(energy.energy_j)}{': ' * bool(states)}{', '.join(states)}"
    said += "; rests on extrapolated figures" if energy.is_extrapolated else ""
    if energy.worst_sensor is None:
        return said
    worst = f"sensor {energy.worst_sensor} after {lasting(energy.worst_life_d)}"
    return f"{said}; battery empty first: {worst}, the mean one after {lasting(energy.mean_life_d)}"


def _help(found: Explanation, own: Figures) -> str:
    """Return the what-ifs that save time, the one that saves most first."""
    saving = [each for each in found.what_ifs if (each.ratio_to_run or 1.0) < 1 - _NEARLY_EQUAL]
    ranked = sorted(saving, key=lambda each: each.ratio_to_run or 1.0)
    named = (f"{_name(each)} ({_saved(each.ratio_to_run or 1.0)}{_paid(each, own)})" for each in ranked)
    return ", then ".join(named) or "none of the what-ifs below"


def _paid(what_if: WhatIf, own: Figures) -> str:
    """Return how much more energy a what-if takes, where that is much."""
    spent_j = None if what_if.figures is None else what_if.figures.energy_j
    if not own.energy_j or spent_j is None or spent_j < _MUCH * own.energy_j:
        return ""
    return f", but {spent_j / own.energy_j:.1f} times the energy"


def _name(what_if: WhatIf) -> str:
    return what_if.name if what_if.profile is None else f"{what_if.name}, {what_if.profile}"


def _saved(ratio: float) -> str:
    if not 0 < ratio <= 0.5:
        return f"{1 - ratio:.0%} less time"
    return f"{1 / ratio:.1f} times as fast" if ratio > 0.1 else f"{1 / ratio:,.0f} times as fast"


# ------------------------------------------------------------------------------------------------ a typical round


def _typical(typical: TypicalRound, rounds: int) -> Iterator[RenderableType]:
    yield Text(f"\na typical round: number {typical.round} of {rounds:,}, {format_seconds(typical.seconds)}", "bold")
    table = _grid((11, "right"), (4, "right"), (41, "left"), (None, "left"))
    for section in typical.legs:
        share = section.seconds / typical.seconds
        table.add_row(
            format_seconds(section.seconds),
            f"{share:.0%}",
            Text(_section(section)),
            Text(_parts(section.parts, section.seconds)),
        )
    yield table


def _section(section: PathSection) -> str:
    where = f" in {', '.join(section.cells)}" if section.cells else ""
    who = _named(section.sensors, " → ")
    if section.slowest_sensor is not None and section.slowest_s is not None:
        slowest = f"; most on {section.slowest_sensor}: {format_seconds(section.slowest_s)}"
    else:
        slowest = ""
    if section.kind == "report":
        return f"last report: sensor {who}{where}"
    if section.kind == "scatter":
        return f"last scatter: {f'sensor {who}' if section.sensors else 'to everybody'}{where}"
    if section.kind == "end":
        return "end of the round"
    if section.kind == "team":
        return f"team {section.chain}, last of its edge rounds: {_named(section.sensors, ', ')}{where}{slowest}"
    if section.kind == "several":
        return f"{len(section.sensors)} sensors, {who}{where}{slowest}"
    return f"chain {section.chain}: sensor{'' if len(section.sensors) == 1 else 's'} {who}{where}{slowest}"


def _parts(parts: Iterable[SpentOn], whole_s: float) -> str:
    named = [f"{what} {format_seconds(own_s)}" for what, own_s in parts if own_s >= _LEAST_SHARE * whole_s]
    return ", ".join(named[:_MOST_PARTS])


# --------------------------------------------------------------------------------------------------- worst sensors


def _worst(sensors: Iterable[WorstSensor], rounds: int) -> Iterator[RenderableType]:
    yield Text("\nworst sensors: seconds on the critical paths of all rounds, and why", style="bold")
    table = _grid((11, "right"), (4, "right"), (20, "left"), (None, "left"))
    for each in sensors:
        where = "" if each.cell is None else f" in {each.cell}"
        table.add_row(
            format_seconds(each.critical_s),
            f"{each.share:.0%}",
            Text(f"sensor {each.sensor}{where}"),
            Text(each.reason),
        )
    yield table


# -------------------------------------------------------------------------------------------------------- what-ifs


def _what_ifs(found: Explanation, own: Figures) -> Iterator[RenderableType]:
    first = f"the first {own.rounds:,}" if own.rounds < found.rounds else f"the same {own.rounds:,}"
    between = "" if own.in_rounds_s > _MOSTLY * own.simulated_s else "; the time between rounds is left out"
    yield Text(f"\nwhat if: {first} rounds played again, without training{between}", style="bold")
    table = _grid((11, "right"), (5, "right"), (9, "right"), (9, "right"), (None, "left"))
    table.add_row(*_costs(own, None), Text("this run"))
    yield table
    for each in found.what_ifs:
        yield from _what_if(each)
    if found.directory is not None:
        source = shlex.quote(f"{found.directory}/scenario.yaml")
        fixed = f"hfedms-sim run {source} --timing-only --rounds {own.rounds}"
        yield Text(f"each what-if is: {fixed} and its options")


def _what_if(what_if: WhatIf) -> Iterator[RenderableType]:
    if what_if.figures is None:
        yield Padding(Text(f"{what_if.name}: not played, {what_if.why_not}"), _INDENT)
        return
    table = _grid((11, "right"), (5, "right"), (9, "right"), (9, "right"), (None, "left"))
    table.add_row(*_costs(what_if.figures, what_if.ratio_to_run), Text(what_if.name, style="bold"))
    yield table
    then = "" if what_if.limited_by is None else f"; then limited by {what_if.limited_by}"
    yield Padding(Text(f"{what_if.description}{then.replace(' of the critical path)', ')')}"), _INDENT)
    options = what_if.options or ""
    if len(options) > _MOST_OPTIONS:
        options = f"{options.partition('=')[0]}=... (in full: --json)"
    yield Padding(Text(options, style="dim"), _INDENT)


def _costs(figures: Figures, ratio: float | None) -> tuple[str, str, str, str]:
    energy = "" if figures.energy_j is None else format_joules(figures.energy_j)
    return format_seconds(figures.in_rounds_s), _ratio(ratio), format_bytes(figures.bytes), energy


def _ratio(ratio: float | None) -> str:
    if ratio is None:
        return ""
    if ratio > _MOST_RATIO:
        return f">{_MOST_RATIO:g}"
    return f"x{ratio:.2f}" if ratio >= _LEAST_RATIO else f"<{_LEAST_RATIO:g}"


# ---------------------------------------------------------------------------------------------------------- shared


def _named(sensors: Sequence[int], between: str) -> str:
    if len(sensors) <= _MOST_NAMED:
        return between.join(map(str, sensors))
    first = between.join(map(str, sensors[: _MOST_NAMED - 2]))
    return f"{first}{between}…{between}{sensors[-1]} ({len(sensors):,})"


def _grid(*columns: tuple[int | None, str]) -> Table:
    """Return a table without lines; a column without a width takes what is left."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for width, side in columns:
        table.add_column(width=width, justify="right" if side == "right" else "left", overflow="fold")
    return table
