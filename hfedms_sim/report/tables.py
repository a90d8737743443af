"""Results as rich tables."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from hfedms_sim.paper.efficiency import EfficiencyRow
from hfedms_sim.result import RunResult
from hfedms_sim.units import SECONDS_PER_HOUR, TERABYTE, format_bps, format_bytes, format_joules, format_seconds


def closing_table(result: RunResult) -> Table:
    """What a run cost."""
    summary = result.summary
    utilisation = result.utilisation
    busiest = str(utilisation.idxmax())
    profile = next(cell.profile for cell in result.scenario.cells if cell.name == busiest)
    rates = f"{format_bps(profile.uplink_bps)} up, {format_bps(profile.downlink_bps)} down"
    table = Table(title=f"{summary['scenario']}: {summary['strategy']} over {summary['profile']}", show_header=False)
    table.title_justify = "left"
    table.add_column(style="bold")
    table.add_column()
    table.add_row("rounds", f"{summary['rounds']:,} (timing only: nothing was trained)")
    table.add_row("sensors", _sensors(result))
    table.add_row("simulated time", f"{format_seconds(summary['simulated_s'])} ({summary['simulated_s']:,.1f} s)")
    table.add_row("bytes up", f"{format_bytes(summary['bytes']['up'])} ({summary['bytes']['up']:,})")
    table.add_row("bytes down", f"{format_bytes(summary['bytes']['down'])} ({summary['bytes']['down']:,})")
    table.add_row("busiest cell", Text(f"{busiest} ({profile.name}: {rates})"))
    table.add_row("its utilisation", f"{min(1.0, utilisation.max()):.1%}")
    table.add_row("energy", _energy(result))
    if summary["energy_j"]:
        table.add_row("battery life", _battery_life(result))
    table.add_row("wall time", format_seconds(summary["wall_s"]))
    return table


def efficiency_bytes_table(rows: Sequence[EfficiencyRow]) -> Table:
    table = _efficiency_table(
        "Bytes until 70 % accuracy (the paper's TB are TiB, 2^40 bytes)",
        "TiB\npublished",
        "TiB, paper's\naccounting",
        "TiB, exact\nclosed form",
        "TiB\nsimulated",
        "TB\nsimulated",
        "bytes, simulated\nless closed form",
        "bytes of\nreports",
    )
    for row in rows:
        table.add_row(
            *_which(row),
            f"{row.published.tebibytes:.3f}",
            *(f"{cost.tebibytes:.5f}" for cost in (row.paper, row.exact, row.simulated)),
            f"{row.simulated.total_bytes / TERABYTE:.5f}",
            f"{row.simulated.total_bytes - row.exact.total_bytes:,.0f}",
            f"{row.simulated.report_bytes:,}",
        )
    return table


def efficiency_hours_table(rows: Sequence[EfficiencyRow]) -> Table:
    table = _efficiency_table(
        "Hours until 70 % accuracy",
        "hours\npublished",
        "hours, paper's\naccounting",
        "hours, exact\nclosed form",
        "hours\nsimulated",
        "relative difference,\nsimulated to closed form",
    )
    for row in rows:
        table.add_row(
            *_which(row),
            f"{row.published.hours:.0f}",
            *(f"{cost.hours:.3f}" for cost in (row.paper, row.exact, row.simulated)),
            f"{row.simulated.seconds / row.exact.seconds - 1:.1e}",
        )
    return table


def _efficiency_table(title: str, *figures: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("strategy")
    for heading in ("T", "rounds", *figures):
        table.add_column(heading, justify="right")
    return table


def _which(row: EfficiencyRow) -> tuple[str, str, str]:
    return row.published.strategy, str(row.published.interval), str(row.published.rounds)


def _sensors(result: RunResult) -> str:
    where = f"{result.scenario.sensors.count:,} in {_count(len(result.scenario.cells), 'cell')}"
    outside = int((result.faults["kind"] == "out of coverage").sum())
    return f"{where}, {outside:,} of them out of coverage" if outside else where


def _energy(result: RunResult) -> str:
    energy_j = result.summary["energy_j"]
    if energy_j is None:
        return "not modelled"
    return f"{format_joules(energy_j)}, {_mean_sensor_w(result) * 1000:.3g} mW a sensor"


def _battery_life(result: RunResult) -> str:
    """Of the mean sensor, if rounds go on like these."""
    battery_wh = result.scenario.sensors.battery_wh
    lasts = format_seconds(battery_wh * SECONDS_PER_HOUR / _mean_sensor_w(result))
    return f"{lasts} on {battery_wh:g} Wh, if rounds go on like these"


def _mean_sensor_w(result: RunResult) -> float:
    energy_j, simulated_s = float(result.summary["energy_j"]), float(result.summary["simulated_s"])
    return energy_j / (simulated_s * result.scenario.sensors.count)


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
