"""How right the estimate of a run is: its memory and processor time against those of a process that plays it.

Every shipped scenario, timing-only and trained (long ones with fewer rounds), and sizes up to what a machine of 24 GB
holds. A process each, through the command line; ratios are estimate / measured.
"""

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.bars import at_most
from benchmarks.clock import measured
from hfedms_sim.loading import load_scenario
from hfedms_sim.scenario import shipped
from hfedms_sim.simulation.estimate import Estimate, estimate_of
from hfedms_sim.simulation.parts import parts_of

MEMORY_BAR, TIME_BAR = 2.0, 3.0
FEWER_ROUNDS = {"paper-static": 3, "paper-stream": 20, "machine-park": 20}
"""How many rounds a trained run has."""


class Case(NamedTuple):
    scenario: str
    options: tuple[str, ...] = ()
    timing_only: bool = True

    @property
    def flags(self) -> tuple[str, ...]:
        return ("--timing-only",) if self.timing_only else ()

    def __str__(self) -> str:
        return " ".join((self.scenario, *self.options, *self.flags))


SIZES = (
    Case("quickstart", ("--set", "sensors.count=10000", "--strategy", "fedavg", "--rounds", "20")),
    Case("quickstart", ("--set", "sensors.count=100000", "--strategy", "fedavg", "--rounds", "3")),
    Case("quickstart", ("--set", "sensors.count=1000000", "--strategy", "fedavg", "--rounds", "1")),
    Case("quickstart", ("--set", "sensors.count=20000", "--rounds", "1")),
    Case("quickstart", ("--set", "sensors.count=100000", "--rounds", "1")),
    Case("paper-stream", ("--strategy", "fedavg", "--rounds", "6000")),
    Case("assembly-hall", ("--rounds", "2000")),
    Case("storm-day", ("--rounds", "1000")),
    Case("quickstart", ("--strategy", "fedasync", "--rounds", "20000")),
    Case("quickstart", ("--set", "sensors.count=2000", "--strategy", "fedavg", "--rounds", "1"), timing_only=False),
    Case("quickstart", ("--set", "sensors.count=10000", "--strategy", "fedavg", "--rounds", "1"), timing_only=False),
    Case("quickstart", ("--set", "model=cnn", "--rounds", "10"), timing_only=False),
    Case("quickstart", ("--set", "engine=generic", "--rounds", "10"), timing_only=False),
    Case("quickstart", ("--set", "model=resnet8", "--rounds", "5"), timing_only=False),
)


def benchmark_estimate() -> bool:
    print("estimate / measured: processor time and memory")
    compared = [_compared(case) for case in (*_shipped(), *SIZES)]
    worst_s, worst_bytes = (max(max(each, 1 / each) for each in ratios) for ratios in zip(*compared, strict=True))
    met = [at_most("worst factor of time", worst_s, TIME_BAR), at_most("worst of memory", worst_bytes, MEMORY_BAR)]
    return all(met)


def _shipped() -> list[Case]:
    trained = [
        Case(name, ("--rounds", str(FEWER_ROUNDS[name])) if name in FEWER_ROUNDS else (), timing_only=False)
        for name in shipped("scenario")
    ]
    return [*(Case(name) for name in shipped("scenario")), *trained]


def _compared(case: Case) -> tuple[float, float]:
    """Return estimate / measured of processor time and of memory."""
    taken = measured("benchmarks.one_run", case.scenario, *case.options, *case.flags)
    guessed, (spent_s, peak_bytes) = _estimated(case), (taken["processor_s"], taken["memory_bytes"])
    ratios = guessed.processor_s / spent_s, guessed.memory_bytes / peak_bytes
    figures = f"{spent_s:.1f} s x {ratios[0]:.2f}, {peak_bytes / 1e9:.2f} GB x {ratios[1]:.2f}"
    print(f"    {case}: {figures}", flush=True)
    return ratios


def _estimated(case: Case) -> Estimate:
    overrides = [value for option, value in zip(case.options, case.options[1:], strict=False) if option == "--set"]
    strategy, rounds = _option(case.options, "--strategy"), _option(case.options, "--rounds")
    scenario = load_scenario(
        case.scenario, strategy=strategy, rounds=None if rounds is None else int(rounds), overrides=overrides
    )
    return estimate_of(scenario, parts_of(scenario), timing_only=case.timing_only)


def _option(options: Sequence[str], name: str) -> str | None:
    return options[options.index(name) + 1] if name in options else None
