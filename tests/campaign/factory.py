"""A factory whose radios differ in speed only, as files for the command line; and workers that need no process."""

from pathlib import Path
from typing import Any

from hfedms_sim.campaign import Axes, Campaign, Options, TrialResult, Workers, trials_of
from hfedms_sim.campaign.tasks import Task, TrialTask
from hfedms_sim.campaign.workers import At, Finished, attempt
from hfedms_sim.errors import RunError
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.scenario import scenario_yaml
from tests.conftest import tiny_scenario

RATES_BPS = (4e3, 2e5, 5e5, 4e6, 4e7)
FEDAVG = {"name": "fedavg", "sample_ratio": 0.5, "learning_rate": 0.1}
POISSON = {"arrival": "poisson", "rate_hz": 0.5, "batch": 10, "buffer": 20}  # what slow radios make overflow
SATURATED = {"arrival": "saturated", "batch": 10}


def write_factory(directory: Path, **changes: Any) -> str:
    scenario = tiny_scenario(**({"rounds": 5, "strategy": FEDAVG, "stream": SATURATED} | changes))
    (directory / "factory.yaml").write_text(scenario_yaml(scenario))
    return str(directory / "factory.yaml")


def write_radios(directory: Path, rates_bps: tuple[float, ...] = RATES_BPS) -> list[str]:
    paths = [directory / f"radio{number}.yaml" for number in range(len(rates_bps))]
    for path, rate in zip(paths, rates_bps, strict=True):
        path.write_text(f"{{name: {path.stem}, uplink_bps: {rate}, downlink_bps: {rate}}}")
    return [str(path) for path in paths]


class HereWorkers:
    """One at a time, in this process. `failing` says how often a trial's task fails before it is performed."""

    def __init__(self, failing: dict[str, int] | None = None, capacity: int = 1) -> None:
        self.capacity = capacity
        self.performed: list[str] = []
        self._failing = failing or {}
        self._done: list[Finished] = []

    def start(self, key: str, task: Task) -> None:
        if isinstance(task, TrialTask) and self._failing.get(key, 0):
            self._failing[key] -= 1
            self._done.append(Finished(key, error=RunError("lightning struck")))
        else:
            if isinstance(task, TrialTask):
                self.performed.append(key)
            self._done.append(Finished(key, *attempt(task)))

    def finished(self, wait_s: float) -> list[Finished]:
        done, self._done = self._done, []
        return done

    def at(self) -> dict[str, At]:
        return {}

    def close(self) -> None:
        pass


def played(
    out: Path, source: str, axes: Axes, workers: Workers | None = None, options: Options | None = None
) -> tuple[Campaign, list[TrialResult]]:
    directory = RunDirectory(out, is_new=False) if out.exists() else RunDirectory.at(out)
    campaign = Campaign(directory, trials_of(source, axes), options or Options())
    return campaign, campaign.run(workers or HereWorkers())
