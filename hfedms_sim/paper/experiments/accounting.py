"""The arithmetic of the paper's efficiency table: published figures beside what this package computes and simulates.

Bytes and hours until 70 % accuracy. The numbers of rounds are the paper's measurements; everything
else follows:

    bytes  FedAvg, HFedMS-S   8 kappa K M R
           HFedMS-D           4 kappa K (3 M ceil(R / T) + 2 Mc (R - ceil(R / T)))
    hours  all transfers one after the other on one half-duplex cell, 4 Mbit/s up and 7 Mbit/s down

in the paper's accounting with M = 6.68e6 and Mc = 6.3e3 parameters and kappa K = 110.4 participants; in the exact
one with the model's own 6,687,834 and 6,262 parameters, whole sensors in whole groups, and the reports that
grouping needs. Runs are exact.
"""

from dataclasses import dataclass
from functools import cache

from hfedms_sim.closed_form import Participants, Traffic, exact_seconds, exact_traffic, full_rounds, traffic
from hfedms_sim.loading import load_scenario
from hfedms_sim.models import spec_of
from hfedms_sim.paper.published import EFFICIENCY, Efficiency
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import run
from hfedms_sim.units import BYTES_PER_PARAMETER, SECONDS_PER_HOUR, TEBIBYTE

PAPER_PARTICIPANTS = 0.3 * 368
PAPER_MODEL_BYTES = BYTES_PER_PARAMETER * 6.68e6
PAPER_CLASSIFIER_BYTES = BYTES_PER_PARAMETER * 6.3e3
PAPER_UPLINK_BPS = 4e6
PAPER_DOWNLINK_BPS = 7e6


@dataclass(frozen=True, slots=True)
class Cost:
    """Bytes with reports, and beside them the reports alone."""

    total_bytes: float
    report_bytes: int
    seconds: float

    @property
    def tebibytes(self) -> float:
        return self.total_bytes / TEBIBYTE

    @property
    def hours(self) -> float:
        return self.seconds / SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True)
class EfficiencyRow:
    published: Efficiency
    paper: Cost
    exact: Cost
    simulated: Cost

    @property
    def agreeing_figures(self) -> int:
        """How many of the two published ones the paper's accounting gives at the precision they are printed with."""
        return (round(self.paper.tebibytes, 3) == self.published.tebibytes) + (
            round(self.paper.hours) == self.published.hours
        )


@cache
def efficiency() -> tuple[EfficiencyRow, ...]:
    """Return the table's rows. They follow from formulas and the clock alone, so they are computed once."""
    scenarios = [(row, _scenario(row)) for row in EFFICIENCY]
    return tuple(
        EfficiencyRow(row, _paper_cost(row), _exact_cost(each), _simulated_cost(each)) for row, each in scenarios
    )


def _scenario(published: Efficiency) -> Scenario:
    overrides = [f"strategy.interval={published.interval}"] if published.interval > 1 else []
    if published.strategy != "fedavg":
        overrides.append("strategy.solver=exact")  # the quickest: who sits together changes neither bytes nor hours
    return load_scenario("paper-stream", strategy=published.strategy, rounds=published.rounds, overrides=overrides)


def _paper_cost(published: Efficiency) -> Cost:
    full = full_rounds(published.rounds, published.interval)
    sent = traffic(
        Participants(full * PAPER_PARTICIPANTS, (published.rounds - full) * PAPER_PARTICIPANTS),
        PAPER_MODEL_BYTES,
        PAPER_CLASSIFIER_BYTES,
        scatter=published.interval > 1,
        report_bytes=0,
    )
    return _cost(sent, sent.serial_seconds(PAPER_UPLINK_BPS, PAPER_DOWNLINK_BPS))


def _exact_cost(scenario: Scenario) -> Cost:
    model = spec_of(scenario.model)
    sent, seconds = exact_traffic(scenario, model), exact_seconds(scenario, model)
    assert sent is not None
    assert seconds is not None
    return _cost(sent, seconds)


def _cost(sent: Traffic, seconds: float) -> Cost:
    return Cost(sent.total_bytes, sent.report_bytes, seconds)


def _simulated_cost(scenario: Scenario) -> Cost:
    result = run(scenario, timing_only=True)
    transfers = result.arrow("transfers").select(["payload", "bytes"]).group_by("payload").aggregate([("bytes", "sum")])
    by_payload = dict(zip(transfers["payload"].to_pylist(), transfers["bytes_sum"].to_pylist(), strict=True))
    return Cost(sum(by_payload.values()), by_payload.get("report", 0), result.summary["simulated_s"])
