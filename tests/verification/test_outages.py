"""Outages that come again and again, against renewal theory.

Up for an exponential time of mean u, down for one of mean d, begun in the stationary state: the availability is
a = u / (u + d) at any time. A transfer of S seconds of airtime whose sensor or cell fails like this, and which nobody
gives up, takes in the mean

    started up, pausing:     S (1 + d / u)
    started up, restarting:  (u + d) (e^(S / u) - 1)
    started any time:        the same and d (1 - a) = d^2 / (u + d) more.

Pausing, the outages in its S seconds of airtime are Poisson with mean S / u, and each lasts d. Restarting, an attempt
succeeds with probability p = e^(-S / u). There are 1 / p - 1 failures in the mean, each of which costs an outage d, and
all attempts together have an airtime of u (1 - p) / p: an attempt's is min(S, up), of mean u (1 - p). So the airtime is
u (e^(S / u) - 1), and the outages are d (e^(S / u) - 1). A transfer that begins at any time finds its sensor down with
probability 1 - a; then it waits for the rest of the outage, of mean d because exponential times have no memory, and is
one that started up.

In a run, the first round's downlinks begin at time 0, in the stationary state. Uplinks begin when the downlink ends,
so they start up: sensors compute at once. Every sensor has channels and outages of its own, so a round of n sensors
gives n independent transfers each way.
"""

from functools import cache
from math import exp
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hfedms_sim.loading import scenario_of
from hfedms_sim.models import spec_of
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import run
from tests.verification.queueing import CONFIDENCE, log

MODEL = spec_of("tiny-mlp")
DOWN_S, UP_S = 50.0, 100.0
PATIENT = {"timeout_s": 1e8}
WIDEST = 0.1  # of the theory value: a wider interval would agree with anything
SENSORS, CELLS = 1500, 1500
MEANS = [
    (100.0, 25.0),
    pytest.param(100.0, 100.0, marks=pytest.mark.slow),
    pytest.param(400.0, 40.0, marks=pytest.mark.slow),
]
over_means = pytest.mark.parametrize(("up_s", "down_s"), MEANS)
over_kinds = pytest.mark.parametrize("kind", ["sensor-outage", pytest.param("cell-outage", marks=pytest.mark.slow)])


def played(sensors: int, cells: int, fault: dict[str, Any], radio: dict[str, Any], **keys: Any) -> RunResult:
    profile = {
        "name": "renewal",
        "uplink_bps": 8 * MODEL.model_bytes / UP_S,
        "downlink_bps": 8 * MODEL.model_bytes / DOWN_S,
    }
    raw: dict[str, Any] = {
        "name": "renewal",
        "rounds": 1,
        "model": "tiny-mlp",
        "sensors": {"count": sensors},
        "cells": [{"name": f"cell{number}", "profile": profile | radio} for number in range(cells)],
        "strategy": {"name": "fedavg", "sample_ratio": 1.0},
        "faults": [fault],
        "recovery": PATIENT,
    }
    return run(scenario_of(raw | keys), timing_only=True, allow_infeasible=True)


def agrees(case: str, measured: list[float], theory: float) -> None:
    """Check that the interval of the mean of independent values has the theory's in it, and is narrow."""
    sample = np.array(measured)
    quantile = stats.t.ppf(0.5 + CONFIDENCE / 2.0, len(sample) - 1)
    half_width = float(quantile * sample.std(ddof=1) / np.sqrt(len(sample)))
    verdict = f"{case}: theory {theory:.4f}, measured {sample.mean():.4f} +- {half_width:.4f}"
    log.info(verdict)
    assert half_width < WIDEST * theory, f"too wide to mean anything: {verdict}"
    assert abs(sample.mean() - theory) < half_width, verdict


@cache
def one_round(kind: str, on_outage: str, up_s: float, down_s: float) -> RunResult:
    """A round in which everybody has a radio of its own, or a whole cell."""
    fault = {"kind": kind, "mean_up_s": up_s, "mean_down_s": down_s}
    sensors, cells = (SENSORS, 1) if kind == "sensor-outage" else (CELLS, CELLS)
    return played(sensors, cells, fault, {"channels": "dedicated", "on_outage": on_outage})


def taken_s(result: RunResult, direction: str) -> list[float]:
    rows = result.transfers[result.transfers["direction"] == direction]
    assert (rows["outcome"] == "ok").all()
    return (rows["end_s"] - rows["ready_s"]).tolist()


@over_kinds
@over_means
def test_a_transfer_that_pauses_takes_its_airtime_and_an_outage_for_every_mean_up_time(
    kind: str, up_s: float, down_s: float
) -> None:
    result = one_round(kind, "pause", up_s, down_s)
    unlucky_s = down_s**2 / (up_s + down_s)
    agrees(f"{kind} up", taken_s(result, "up"), UP_S * (1 + down_s / up_s))
    agrees(f"{kind} down", taken_s(result, "down"), DOWN_S * (1 + down_s / up_s) + unlucky_s)


@over_kinds
@over_means
def test_a_transfer_that_restarts_takes_exponentially_longer_the_longer_it_is(
    kind: str, up_s: float, down_s: float
) -> None:
    result = one_round(kind, "restart", up_s, down_s)
    unlucky_s = down_s**2 / (up_s + down_s)
    for direction, airtime_s, extra_s in (("up", UP_S, 0.0), ("down", DOWN_S, unlucky_s)):
        theory_s = (up_s + down_s) * (exp(airtime_s / up_s) - 1) + extra_s
        agrees(f"{kind} {direction}", taken_s(result, direction), theory_s)
        rows = result.transfers[result.transfers["direction"] == direction]
        sent_s = up_s * (exp(airtime_s / up_s) - 1)
        agrees(f"{kind} {direction} airtime", rows["airtime_s"].tolist(), sent_s)
        again_s = rows["retransmitted_bytes"] / MODEL.model_bytes * airtime_s
        assert again_s.tolist() == pytest.approx((rows["airtime_s"] - airtime_s).tolist(), abs=0.1)  # whole bytes


@over_means
def test_a_sensor_can_be_reached_for_the_share_of_the_time_that_it_is_up(up_s: float, down_s: float) -> None:
    """Two rounds that are five thousand seconds apart, with one sensor of all in each."""
    fault = {"kind": "sensor-outage", "mean_up_s": up_s, "mean_down_s": down_s}
    chosen = {"strategy": {"name": "fedavg", "sample_ratio": 1e-6}, "rounds": 2, "round_period_s": 5000.0}
    shares = played(SENSORS, 1, fault, {}, **chosen).sensors["availability"]
    assert shares.between(0, 1).all()
    agrees("availability", shares.tolist(), up_s / (up_s + down_s))


@over_means
def test_a_saturated_cell_carries_the_share_of_its_rate_for_which_it_is_up(up_s: float, down_s: float) -> None:
    """Four sensors share one channel, down and then up, without a pause: A seconds of airtime take A / a in the mean,
    and d (1 - a) more at the start. The goodput is the share a of the rate, in the long run."""
    fault = {"kind": "cell-outage", "mean_up_s": up_s, "mean_down_s": down_s}
    airtime_s, elapsed_s = 8 * 4 * (DOWN_S + UP_S), []
    for seed in range(20):
        result = played(4, 1, fault, {}, rounds=8, seed=seed)
        assert result.transfers["airtime_s"].sum() == pytest.approx(airtime_s)
        elapsed_s.append(result.summary["simulated_s"])
    available = up_s / (up_s + down_s)
    agrees("elapsed", elapsed_s, airtime_s / available + down_s * (1 - available))


def test_shadowing_slows_transfers_down_for_its_share_of_the_time() -> None:
    """At a share r of the rate in spells of mean d, at the full one in spells of mean u, a transfer of S seconds at the
    full rate that lasts for many spells progresses by u + r d in every u + d seconds: S (u + d) / (u + r d)."""
    up_s, down_s, share = 4.0, 8.0, 0.25
    fault = {"kind": "shadowing", "mean_up_s": up_s, "mean_down_s": down_s, "rate_share": share}
    result = played(100, 1, fault, {"channels": "dedicated"})
    agrees("shadowing", taken_s(result, "up"), UP_S * (up_s + down_s) / (up_s + share * down_s))
