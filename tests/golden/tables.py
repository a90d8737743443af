"""Digests of the timing tables of runs, and the runs they are taken of.

As a program (`python -m tests.golden.tables`) it writes the digests of today, digests.json. It is for a change that is
meant to change timing: say in the commit which tables change, and why.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pandas as pd

from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.simulation import run

HERE = Path(__file__).parent
DIGESTS = HERE / "digests.json"
STRATEGIES = ("hfedms-d", "fedavg", "static-icg")
PROFILES = ("own", "lte-cat-m2", "nb-iot-nb2", "lorawan-eu868-sf7", "wifi-halow", "lte-cat-m2-paper")
ROUNDS = {"lorawan-yard": 10, "open-pit-mine": 10, "storm-day": 20}  # over the end of a cycle; through the storm
TABLES = ("rounds", "transfers", "work", "captures", "faults")
ROOT = "golden"  # a real root names the machine's engine and the version of torch


class Case(NamedTuple):
    scenario: str
    strategy: str
    profile: str

    def __str__(self) -> str:
        return "/".join(self)


def cases() -> Iterator[Case]:
    for path in sorted((HERE / "scenarios").glob("*.yaml")):
        for strategy in STRATEGIES:
            for profile in PROFILES:
                yield Case(path.stem, strategy, profile)


def digests(case: Case) -> dict[str, str] | str:
    """Return a digest for each table, with the columns it had when it was recorded; or why the case is refused."""
    source, rounds = str(HERE / "scenarios" / f"{case.scenario}.yaml"), ROUNDS.get(case.scenario, 6)
    profile = None if case.profile == "own" else str(HERE / "profiles" / f"{case.profile}.yaml")
    try:
        scenario = load_scenario(source, strategy=case.strategy, profile=profile, rounds=rounds)
        with mock.patch("hfedms_sim.simulation.session.lineage_root", return_value=ROOT):
            result = run(scenario, timing_only=True, allow_infeasible=True)
    except InputError:
        return "refused"
    return {name: digest(getattr(result, name)[list(COLUMNS[name])]) for name in TABLES}


def digest(table: pd.DataFrame) -> str:
    """Nine significant digits: another processor's logarithm may have another last bit."""
    text = table.to_csv(index=False, float_format="%.9g")
    return sha256(text.encode()).hexdigest()[:16]


COLUMNS: dict[str, tuple[str, ...]] = {
    "rounds": (
        "round", "cycle", "phase", "start_s", "end_s", "groups", "total_groups", "participants", "skipped",
        "group_distance", "uplink_bytes", "downlink_bytes", "retransmitted_bytes", "energy_j", "baseline_energy_j",
        "updated_parameters", "lineage",
    ),
    "transfers": (
        "transfer", "round", "group", "hop", "direction", "payload", "source", "target", "sensor", "cell", "bytes",
        "ready_s", "start_s", "end_s", "airtime_s", "retransmitted_bytes", "energy_j", "outcome",
    ),
    "work": ("round", "group", "hop", "sensor", "kind", "samples", "start_s", "end_s", "energy_j"),
    "captures": ("round", "sensor", "time_s", "first_arrival", "arrived", "overflowed", "captured"),
    "faults": ("time_s", "kind", "entity", "round", "detail"),
}  # fmt: skip

if __name__ == "__main__":
    DIGESTS.write_text(json.dumps({str(case): digests(case) for case in cases()}, indent=1) + "\n")
