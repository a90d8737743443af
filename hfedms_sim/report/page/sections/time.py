"""Where the time of a run went: shares by cause, the critical path of a typical round, the worst sensors, what-ifs."""

from hfedms_sim.exhibits import Table
from hfedms_sim.explanation import Explanation, PathSection, WhatIf
from hfedms_sim.report.page.blocks import Block, Prose, Section, SortableTable
from hfedms_sim.units import format_seconds

_MOST_SENSORS = 12  # that are named
_LEAST_S = 1e-6  # less is what is left of a subtraction


def time_section(explanation: Explanation) -> Section:
    """Return what limited the run and, if they were played, what would help."""
    limited = explanation.limited_by
    blocks: list[Block] = [] if limited is None else [Prose((f"What limited it: {limited.text}.",))]
    if explanation.shares:
        blocks.append(SortableTable(_share_table(explanation)))
    if explanation.typical is not None:
        blocks.append(SortableTable(_path_table(explanation)))
    if explanation.worst_sensors:
        blocks.append(SortableTable(_sensor_table(explanation)))
    if explanation.out_of_coverage:
        blocks.append(Prose((f"Out of coverage, and so in no round: {_listed(explanation.out_of_coverage)}.",)))
    if explanation.what_ifs:
        blocks.append(SortableTable(_what_if_table(explanation)))
    if explanation.notes:
        blocks.append(Prose(explanation.notes))
    return Section("time", "Where the time went", tuple(blocks))


def _listed(sensors: tuple[int, ...]) -> str:
    named = ", ".join(str(sensor) for sensor in sensors[:_MOST_SENSORS])
    more = f" and {len(sensors) - _MOST_SENSORS} more" if len(sensors) > _MOST_SENSORS else ""
    return f"{len(sensors)} sensors, {named}{more}"


def _share_table(explanation: Explanation) -> Table:
    rows = tuple((each.cause, round(100 * each.share, 2)) for each in explanation.shares if each.share)
    return Table("shares", "Share of the critical paths of all rounds", ("cause", "%"), rows)


def _path_table(explanation: Explanation) -> Table:
    typical = explanation.typical
    assert typical is not None
    rows = tuple(
        (_what(section), section.seconds, _sensors(section), ", ".join(section.cells), _parts(section))
        for section in typical.legs
    )
    return Table(
        "path",
        f"The critical path of round {typical.round}, of {format_seconds(typical.seconds)}: a typical full round",
        ("leg", "seconds", "sensors", "cells", "spent on"),
        rows,
    )


def _what(section: PathSection) -> str:
    return section.kind if section.chain is None else f"{section.kind} {section.chain}"


def _sensors(section: PathSection) -> str:
    named = ", ".join(str(sensor) for sensor in section.sensors[:_MOST_SENSORS])
    more = f" and {len(section.sensors) - _MOST_SENSORS} more" if len(section.sensors) > _MOST_SENSORS else ""
    slowest = (
        "" if section.slowest_s is None else f"; slowest {section.slowest_sensor}, {format_seconds(section.slowest_s)}"
    )
    return f"{named}{more}{slowest}"


def _parts(section: PathSection) -> str:
    return ", ".join(f"{what} {format_seconds(seconds)}" for what, seconds in section.parts if seconds >= _LEAST_S)


def _sensor_table(explanation: Explanation) -> Table:
    rows = tuple(
        (each.sensor, each.cell, each.critical_s, round(100 * each.share, 2), each.rounds, each.reason)
        for each in explanation.worst_sensors
    )
    header = ("sensor", "cell", "seconds on critical paths", "% of them", "on paths of rounds", "why")
    return Table("worst", "Sensors that held the run up most", header, rows)


def _what_if_table(explanation: Explanation) -> Table:
    compared = explanation.compared
    rounds = "" if compared is None else f" {compared.rounds:,} of {explanation.rounds:,} rounds of"
    return Table(
        "what-ifs",
        "What would help",
        ("what if", "of the run's time", "simulated time", "then limited by", "options of run"),
        tuple(_what_if_row(each) for each in explanation.what_ifs),
        f"Compared over{rounds} both, without training: what changes what is learnt may need more of them.",
    )


def _what_if_row(what_if: WhatIf) -> tuple[str | float | None, ...]:
    if what_if.figures is None:
        return (what_if.name, None, f"not played: {what_if.why_not}", None, None)
    seconds = format_seconds(what_if.figures.in_rounds_s)
    return (
        f"{what_if.name}: {what_if.description}",
        what_if.ratio_to_run,
        seconds,
        what_if.limited_by,
        what_if.options,
    )
