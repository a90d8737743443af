"""Who takes part when, as arithmetic: cycles and phases (LASP), growth of the number of groups (STP), sample
ratios.

HFedMS section "Sequential-to-Parallel Training": in cycle c = ceil(r / T) there are M groups,

    linear  M = beta floor(alpha (c - 1) + 1)
    log     M = beta floor(alpha ln c + 1)
    exp     M = beta floor((1 + alpha)^(c - 1))

at most K, of L = floor(K / M) sensors each; m = floor(kappa M) of them, at least one, take part. The first round of
a cycle is the full synchronisation (the paper's own counts need that, although its text says r mod T = 0).
"""

from math import ceil, floor, log, log1p
from typing import Literal

from hfedms_sim.scenario import LocalTraining, Scenario

Growth = Literal["log", "linear", "exp"]

_SLACK = 1e-9  # so that 0.3 * 10 has a floor of 3


def redraw_rounds(scenario: Scenario) -> int | None:
    """Return how many rounds in a row a saturated stream shows a sensor the same batch; None: all of them."""
    return {"round": 1, "cycle": scenario.strategy.cycle_rounds, "once": None}[scenario.stream.redraw]


def cycle_of(round_number: int, interval: int) -> int:
    return (round_number - 1) // interval + 1


def position_in_cycle(round_number: int, interval: int) -> int:
    """0 is the full synchronisation, 1 .. T - 1 are calibration rounds."""
    return (round_number - 1) % interval


def selected(ratio: float, count: int) -> int:
    """floor(kappa count), at least one."""
    return max(1, floor(ratio * count + _SLACK))


def invited(settings: LocalTraining, count: int) -> int:
    """Return how many of `count` sensors or groups are invited to take part, over-selection included."""
    awaited = selected(settings.sample_ratio, count)
    return min(count, ceil((1.0 + settings.over_selection) * awaited - _SLACK))


def closes_after(settings: LocalTraining, count: int, taking_part: int) -> int | None:
    """Return after how many arrivals a round is closed in which this many of `count` take part; None: after all."""
    awaited = selected(settings.sample_ratio, count)
    return awaited if taking_part > awaited else None


def edge_turn(round_number: int, edge_rounds: int, number: int) -> int:
    """Return the number of a sensor's turn, counted over all rounds, in an edge round of a round, counted from 0."""
    return (round_number - 1) * edge_rounds + number + 1


def group_count(growth: Growth, alpha: float, beta: int, cycle: int, sensors: int) -> int:
    """Return M."""
    if growth == "linear":
        factor = alpha * (cycle - 1) + 1
    elif growth == "log":
        factor = alpha * log(cycle) + 1
    else:
        beyond_cap = (cycle - 1) * log1p(alpha) > log(sensors) + 1  # where the power could overflow
        factor = sensors if beyond_cap else (1 + alpha) ** (cycle - 1)
    return min(beta * floor(min(factor, sensors) + _SLACK), sensors)


def group_size(groups: int, sensors: int) -> int:
    """Return L."""
    return sensors // groups
