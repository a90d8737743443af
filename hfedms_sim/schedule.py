"""Who takes part when, as arithmetic: cycles and phases (LASP), growth of the number of groups (STP), sample
ratios.

HFedMS section "Sequential-to-Parallel Training": in cycle c = ceil(r / T) there are M groups,

    linear  M = beta floor(alpha (c - 1) + 1)
    log     M = beta floor(alpha ln c + 1)
    exp     M = beta floor((1 + alpha)^(c - 1))

at most K, of L = floor(K / M) sensors each; m = floor(kappa M) of them, at least one, take part. The first round of
a cycle is the full synchronisation (the paper's own counts need that, although its text says r mod T = 0).
"""

from math import floor, log, log1p

from hfedms_sim.scenario import ChainSettings, FixedGroupsSettings, HFedMSDynamicSettings, LocalTraining, Scenario

_SLACK = 1e-9  # so that 0.3 * 10 has a floor of 3


def interval(settings: LocalTraining) -> int:
    """T; strategies without calibration rounds synchronise in every round."""
    return settings.interval if isinstance(settings, HFedMSDynamicSettings) else 1


def redraw_rounds(scenario: Scenario) -> int | None:
    """Return how many rounds in a row a saturated stream shows a sensor the same batch; None: all of them."""
    return {"round": 1, "cycle": interval(scenario.strategy), "once": None}[scenario.stream.redraw]


def cycle_of(round_number: int, interval: int) -> int:
    return (round_number - 1) // interval + 1


def position_in_cycle(round_number: int, interval: int) -> int:
    """0 is the full synchronisation, 1 .. T - 1 are calibration rounds."""
    return (round_number - 1) % interval


def selected(ratio: float, count: int) -> int:
    """floor(kappa count), at least one."""
    return max(1, floor(ratio * count + _SLACK))


def group_count(settings: ChainSettings, cycle: int, sensors: int) -> int:
    """M."""
    alpha = settings.alpha
    if settings.growth == "linear":
        factor = alpha * (cycle - 1) + 1
    elif settings.growth == "log":
        factor = alpha * log(cycle) + 1
    else:
        beyond_cap = (cycle - 1) * log1p(alpha) > log(sensors) + 1  # where the power could overflow
        factor = sensors if beyond_cap else (1 + alpha) ** (cycle - 1)
    return min(settings.beta * floor(min(factor, sensors) + _SLACK), sensors)


def group_size(groups: int, sensors: int) -> int:
    """L."""
    return sensors // groups


def participants(settings: LocalTraining, cycle: int, sensors: int) -> int:
    """m L for chains without spread left-overs, floor(kappa K) where every participant trains alone."""
    if isinstance(settings, ChainSettings):
        groups = group_count(settings, cycle, sensors)
    elif isinstance(settings, FixedGroupsSettings):
        groups = min(settings.beta, sensors)
    else:
        return selected(settings.sample_ratio, sensors)
    return selected(settings.sample_ratio, groups) * group_size(groups, sensors)
