"""The rule of paper/scales.py that keeps a smaller factory true to HFedMS, as figures of a scenario."""

from hfedms_sim.loading import load_scenario
from hfedms_sim.scenario import Scenario
from hfedms_sim.schedule import cycle_of, group_count, group_size, selected
from hfedms_sim.strategies.hfedms import ChainSettings

FACTOR = 1.5
LEAST_PARTICIPANTS = 0.8
PAPER_ROUNDS = 500


def sequential_work(scenario: Scenario, rounds: int) -> float:
    """Return W(rounds): the chain lengths of the full rounds, summed, relative to FedAvg's."""
    sensors = scenario.sensors.count
    return sum(group_size(groups, sensors) for groups in _groups_of_cycles(scenario, rounds)) / rounds


def least_participation(scenario: Scenario) -> float:
    """Return the smallest number of participants of any cycle, relative to kappa K."""
    ratio, sensors = scenario.strategy.sample_ratio, scenario.sensors.count
    cycles = _groups_of_cycles(scenario, scenario.rounds)
    return min(selected(ratio, groups) * group_size(groups, sensors) for groups in cycles) / (ratio * sensors)


def _groups_of_cycles(scenario: Scenario, rounds: int) -> list[int]:
    """Return M of every cycle that begins within so many rounds."""
    settings = scenario.strategy
    assert isinstance(settings, ChainSettings)
    growth, alpha, beta = settings.growth, settings.alpha, settings.beta
    cycles = range(1, cycle_of(rounds, settings.cycle_rounds) + 1)
    return [group_count(growth, alpha, beta, cycle, scenario.sensors.count) for cycle in cycles]


def problems_of_size(scenario: Scenario) -> list[str]:
    """Return in which ways a scenario of HFedMS is too small to show the algorithm; none if it keeps the rule."""
    paper = load_scenario("paper-stream", strategy=scenario.strategy.name, rounds=PAPER_ROUNDS)
    problems = []
    for share in (0.1, 0.5, 1.0):
        ours, theirs = (sequential_work(each, round(share * each.rounds)) for each in (scenario, paper))
        if not 1 / FACTOR <= ours / theirs <= FACTOR:
            problems.append(f"sequential work after {share:.0%} of the rounds is {ours:.2f}, the paper's {theirs:.2f}")
    least = least_participation(scenario)
    if scenario.strategy.name == "hfedms-d" and least < LEAST_PARTICIPANTS:
        problems.append(f"a cycle has only {least:.0%} of kappa K participants")
    return problems
