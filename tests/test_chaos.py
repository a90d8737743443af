"""Factories in which anything may go wrong: drawn at random, they all end, play alike twice, and obey the laws.

A scenario is a function of its number. One that fails is made smaller as long as it fails in the same way, and the
smallest is printed. `DRAWN` holds mappings as they would stand in a file, but for the rows of a presence file, which
stand where its path would.
"""

import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from math import isfinite
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from hfedms_sim.data import Dataset, from_arrays
from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import load_profile, shipped
from hfedms_sim.simulation import run
from hfedms_sim.strategies import SHIPPED
from tests.conftest import some_of

Raw = dict[str, Any]
MOST_SENSORS, CLASSES = 30, 4
LONGEST_WALL_S, SHRINKING_WALL_S = 120.0, 60.0  # not how long it takes: a hang, on a busy machine too
PROFILES = sorted(shipped("profile"))
STATES = ("transmit_j", "receive_j", "connected_j", "setup_j", "idle_j", "sleep_j", "compute_j")
TABLES = ("rounds", "transfers", "work", "captures", "faults", "sensors")
EPSILON = 1e-9


@cache
def data(shape: tuple[int, ...]) -> Dataset:
    """Return samples around a centre of each class, for as many devices as a drawn factory has at most."""
    random = np.random.default_rng(1)
    device = np.repeat(np.arange(MOST_SENSORS), 20)
    labels = (device + np.tile(np.arange(20) % 2, MOST_SENSORS)) % CLASSES
    centres = random.normal(0, 1, (CLASSES, *shape))
    inputs = centres[labels] + random.normal(0, 0.7, (len(labels), *shape))
    return from_arrays(inputs.astype(np.float32), labels, device=device, classes=CLASSES)


def data_of(raw: Raw) -> Dataset:
    return data((1, 8, 8) if raw["model"] == "small-cnn" else (16,))


# --------------------------------------------------------------------------------------------------------- drawing


@cache
def drawn(number: int, *, most_sensors: int = MOST_SENSORS, most_rounds: int = 8) -> Raw:
    random = Random(f"chaos {number}")
    raw = quiet(random, most_sensors, most_rounds)
    length_s, charge_j = measured(raw)
    raw["faults"] = [fault(random, raw, length_s) for _ in range(random.randint(0, 4))]
    if any(each["kind"] == "battery" for each in raw["faults"]):
        raw["sensors"]["battery_wh"] = max(1e-9, charge_j * random.uniform(0.5, raw["rounds"]) / 3600)
    raw["recovery"] = {
        "timeout_s": bounded(length_s * 10 ** random.uniform(-2, 1)),
        "retries": random.randint(0, 3),
        "on_gap": random.choice(["skip", "reorder"]),
        "void_rounds": random.choice([2, 5, 100]),
    }
    for key, value in {
        "deadline_s": bounded(length_s * random.uniform(0.3, 3)),
        "round_period_s": bounded(length_s * random.uniform(0.5, 2)),
        "quorum": random.choice([0.2, 0.5, 1.0]),
        "availability": availability(random, raw, length_s),
    }.items():
        if random.random() < 0.3:
            raw[key] = value
    if "availability" in raw and "deadline_s" not in raw:
        raw["cells"][0]["profile"]["on_outage"] = "pause"  # what starts again may never fit into a shift
    return raw


def quiet(random: Random, most_sensors: int, most_rounds: int) -> Raw:
    """Return a factory in which nothing goes wrong."""
    name = random.choice([*SHIPPED, "hfedms-s", *["hfedms-d"] * 4])
    radios = random.sample(PROFILES, random.choice([1, 1, 2]))
    figures = load_profile(radios[0]).model_dump(mode="json", exclude_defaults=True, exclude={"sources", "description"})
    keys = figures | {"on_outage": random.choice(["pause", "restart"])}
    cells = [{"name": f"cell{n}", "profile": keys if n == 0 else radios[-1]} for n in range(random.randint(1, 3))]
    raw: Raw = {
        "name": "chaos",
        "seed": random.randrange(1000),
        "rounds": random.randint(2, most_rounds),
        "model": "small-cnn" if name == "fedfusion" else "tiny-mlp",
        "sensors": {"count": random.randint(4, most_sensors)},
        "stream": {"batch": 6, "augment": False},
        "compute": {"device": random.choice(["instant", "slow"]), "devices": SLOW},
        "cells": cells,
        "backbone": {"latency_s": random.choice([0.0, 0.05])},
        "strategy": strategy(random, name),
    }
    return raw


PLAIN = {"name": "plain", "uplink_bps": 1e4, "downlink_bps": 1e4}
SLOW = {"slow": {"multiply_adds_per_s": 2e3, "power_w": 0.1}}


def strategy(random: Random, name: str) -> Raw:
    known = SHIPPED[name].Settings.model_fields
    choices: Raw = {
        "sample_ratio": random.choice([0.3, 0.7, 1.0]),
        "over_selection": random.choice([0.0, 0.0, 0.3, 1.0]) * SHIPPED[name].Settings.can_over_select,
        "buffer": random.randint(1, 5),
        "edge_rounds": random.randint(1, 3),
        "staleness": random.choice(["constant", "polynomial", "hinge"]),
        "beta": random.randint(1, 4),
        "interval": random.randint(1, 4),
        "leftover": random.choice(["drop", "spread"]),
        "order": random.choice(["cycle", "round"]),
        "class_counts": random.choice(["cycle", "once"]),
        "new_batch": random.choice(["round", "cycle"]),
        "scatter": random.choice(["unicast", "broadcast"]),
        "scc": random.choice(["on", "off", "oracle"]),
        "budget_s": 1e9,
    }
    return {"name": name} | {key: value for key, value in choices.items() if key in known}


def measured(raw: Raw) -> tuple[float, float]:
    """Return how long a round takes when nothing goes wrong, and how many joules the sensor spends that spends most."""
    result = run(load_scenario(raw | {"rounds": 1}), data=data_of(raw), timing_only=True, allow_infeasible=True)
    joules = result.sensors[list(STATES)].sum(axis=1).max()
    return result.summary["simulated_s"], float(joules) if joules > 0 else 1e-3


def bounded(seconds: float) -> float:
    return min(max(seconds, 1e-3), 1e9)


def fault(random: Random, raw: Raw, length_s: float) -> Raw:
    """Radios that start again need spells in which a transfer fits, or they would not come to an end."""
    kind = random.choice([
        "cell-outage", "backbone-outage", "server-outage", "sensor-outage", "sensor-crash", "battery", "transfer-loss",
        "shadowing", "straggler",
    ])  # fmt: skip
    keys: Raw = {"kind": kind}
    if kind == "battery":
        return keys
    if kind == "transfer-loss":
        return keys | {"probability": random.choice([0.05, 0.3, 1.0])}
    if kind == "shadowing":
        keys["rate_share"] = random.choice([0.1, 0.5])
    if kind == "straggler":
        keys["factor"] = random.choice([1.5, 10.0])
    if kind == "cell-outage" and random.random() < 0.5:
        keys["cell"] = random.choice(raw["cells"])["name"]
    if kind in ("sensor-outage", "sensor-crash", "shadowing", "straggler") and random.random() < 0.7:
        sensors = raw["sensors"]["count"]
        keys["sensors"] = sorted(random.sample(range(sensors), random.randint(1, sensors)))
    if random.random() < 0.5:
        keys["at_s"] = random.choice([0.0, min(1e9, length_s * random.uniform(0, raw["rounds"]))])
        if keys["at_s"] == 0.0 or random.random() < 0.85:
            keys["for_s"] = bounded(length_s * 10 ** random.uniform(-2, 1))
        return keys
    return keys | {
        "mean_up_s": bounded(length_s * random.uniform(2, 20)),
        "mean_down_s": bounded(length_s * 10 ** random.uniform(-2, 0.5)),
    }


def availability(random: Random, raw: Raw, length_s: float) -> Raw:
    sensors = raw["sensors"]["count"]
    announced = random.choice([True, False])
    if random.random() < 0.5:
        first = random.randint(1, sensors - 1)
        groups = [
            {"sensors": count, "from_h": random.randrange(24), "hours": random.choice([1, 8, 24])}
            for count in (first, sensors - first)
        ]
        return {"kind": "roster", "groups": groups, "announced": announced, "holidays": [random.randint(0, 3)]}
    rows = []
    for sensor in random.sample(range(sensors), random.randint(1, sensors)):
        times = sorted(random.uniform(0, min(1e9, 10 * length_s)) for _ in range(2 * random.randint(1, 4)))
        rows += [[sensor, *pair] for pair in zip(times[::2], times[1::2], strict=True)]
    keys: Raw = {"kind": "csv", "path": rows, "announced": announced}
    return keys | ({"repeat_s": bounded(max(1.0, 12 * length_s))} if random.random() < 0.7 else {})


# --------------------------------------------------------------------------------------------------------- playing


class TookTooLong(BaseException):
    """Nothing that the package catches."""


@contextmanager
def at_most(wall_s: float) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, wall_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def as_file(raw: Raw, directory: Path) -> Raw:
    """Return the mapping with a presence file instead of its rows."""
    away = raw.get("availability", {})
    if away.get("kind") != "csv":
        return raw
    path = directory / "presence.csv"
    lines = ["sensor,from_s,until_s", *(",".join(map(repr, row)) for row in away["path"])]
    path.write_text("\n".join(lines) + "\n")
    return raw | {"availability": away | {"path": str(path)}}


def may_be_refused(raw: Raw) -> bool:
    """Return whether spells of one kind may overlap, a battery be asked for where joules are not modelled, or everybody
    be away until they are gone for ever."""
    kinds = [each["kind"] for each in raw["faults"]]
    for_ever = any(
        each["kind"] == "sensor-outage" and not {"for_s", "mean_up_s"} & each.keys() for each in raw["faults"]
    )
    return len(kinds) > len(set(kinds)) or "battery" in kinds or (for_ever and "availability" in raw)


def problem_of(raw: Raw, directory: Path, *, trained: bool, wall_s: float = LONGEST_WALL_S) -> tuple[str, str] | None:
    """Return what is wrong with the runs of a scenario, in a word and in detail; None if nothing is."""
    try:
        with at_most(wall_s):
            scenario = load_scenario(as_file(raw, directory))
            first, second = (
                run(scenario, data=data_of(raw), timing_only=not trained, allow_infeasible=True) for _ in range(2)
            )
    except TookTooLong:
        return "hang", f"has not ended after {wall_s:g} s"
    except InputError as error:
        return None if may_be_refused(raw) else ("refused", str(error))
    except Exception as error:
        return type(error).__name__, repr(error)
    differing = [name for name in TABLES if not first.arrow(name).equals(second.arrow(name))]
    if differing:
        return "differs", f"{differing} of two equal runs are not equal"
    for name, law in LAWS.items():
        try:
            law(first)
        except AssertionError as error:
            return name, str(error)
    return _learning_problem(first, second) if trained else None


def _learning_problem(first: RunResult, second: RunResult) -> tuple[str, str] | None:
    taught = first.rounds if first.summary["stopped"] is None else first.rounds[:-1]
    if not all(isfinite(loss) for loss in taught["loss"]):
        return "loss", str(first.rounds["loss"].tolist())
    one, other = first.weights(), second.weights()
    if not all(np.array_equal(one[name], other[name]) for name in one):
        return "weights", "differ between two equal runs"
    return None


# ------------------------------------------------------------------------------------------------------------ laws


def rounds_follow_each_other(result: RunResult) -> None:
    rounds, scenario = result.rounds, result.scenario
    assert rounds["round"].tolist() == list(range(1, len(rounds) + 1))
    assert len(rounds) == result.summary["rounds"]
    stopped = result.summary["stopped"]
    assert len(rounds) == scenario.rounds if stopped is None else stopped["reason"] == "stalled"
    start_s, end_s = rounds["start_s"].to_numpy(), rounds["end_s"].to_numpy()
    assert (end_s >= start_s).all()
    assert (start_s[1:] >= end_s[:-1]).all()
    waits = scenario.availability.kind != "always" or any(each.kind == "server-outage" for each in scenario.faults)
    if scenario.round_period_s is None and not waits:
        assert (start_s[1:] == end_s[:-1]).all()
    if scenario.round_period_s is not None and not waits:
        periods = start_s / scenario.round_period_s
        assert np.allclose(periods, np.round(periods), atol=1e-6)
    calls_again = "no report" in result.summary["faults"]  # the deadline counts from the last roll call
    if scenario.deadline_s is not None and scenario.strategy.name != "hfedms-d" and not calls_again:
        assert (end_s <= start_s + scenario.deadline_s + EPSILON * end_s).all()
    if len(rounds):
        assert result.summary["simulated_s"] >= end_s[-1]


def has_windows(result: RunResult) -> bool:
    """Return whether chains go on from round to round."""
    return bool(result.rounds["under_way"].any())


def time_never_runs_back(result: RunResult) -> None:
    transfers, work, bounds = result.transfers, result.work, result.rounds.set_index("round")
    assert set(transfers["outcome"]) <= {"ok", "lost", "aborted"}
    assert transfers["end_s"].is_monotonic_increasing
    assert transfers["transfer"].tolist() == list(range(len(transfers)))
    assert (transfers["ready_s"] <= transfers["start_s"]).all()
    assert (transfers["airtime_s"] >= 0).all()
    slack_s = EPSILON * (1 + transfers["end_s"])
    assert (transfers["start_s"] + transfers["airtime_s"] <= transfers["end_s"] + slack_s).all()
    assert (work["start_s"] <= work["end_s"]).all()
    for table in (transfers, work):
        begun = table["version"] + 1 if has_windows(result) else table["round"]
        assert (table["end_s"] <= table["round"].map(bounds["end_s"]) * (1 + EPSILON)).all()
        assert (table["start_s"] >= begun.map(bounds["start_s"]) * (1 - EPSILON)).all()


def bytes_are_conserved(result: RunResult) -> None:
    transfers, rounds = result.transfers, result.rounds.set_index("round")
    arrived = transfers[transfers["outcome"] == "ok"]
    for direction, column in (("up", "uplink_bytes"), ("down", "downlink_bytes")):
        own = arrived[arrived["direction"] == direction]
        by_round = own.groupby("round")["bytes"].sum().reindex(rounds.index, fill_value=0)
        assert by_round.tolist() == rounds[column].tolist()
        assert result.summary["bytes"][direction] == rounds[column].sum()
        to_one = own[own["sensor"] >= 0].groupby("sensor")["bytes"].sum()
        if (own["sensor"] >= 0).all():
            assert to_one.reindex(result.sensors["sensor"], fill_value=0).tolist() == result.sensors[column].tolist()
    again = transfers.groupby("round")["retransmitted_bytes"].sum().reindex(rounds.index, fill_value=0)
    assert again.tolist() == rounds["retransmitted_bytes"].tolist()
    assert (transfers["retransmitted_bytes"] >= 0).all()


def no_cell_gives_more_airtime_than_it_has(result: RunResult) -> None:
    for cell in result.scenario.cells:
        if cell.profile.frames is not None or cell.profile.channels == "dedicated":
            continue
        rows = result.transfers[result.transfers["cell"] == cell.name]
        pools = [rows] if cell.profile.duplex == "cell-half" else [part for _, part in rows.groupby("direction")]
        for pool in pools:
            if len(pool):
                channels = max(cell.profile.channels_in(direction) for direction in pool["direction"].unique())
                served_s = pool["airtime_s"].cumsum()  # rows are in the order of their ends
                elapsed_s = pool["end_s"] - pool["start_s"].min()
                assert (served_s <= channels * elapsed_s * (1 + 1e-6) + EPSILON * (1 + pool["end_s"])).all()


def nothing_is_on_the_air_of_what_is_down(result: RunResult) -> None:
    """Looks at spells whose times the scenario says. A transfer that meets one has no airtime in it."""
    names = [cell.name for cell in result.scenario.cells]
    cells, sensors = spells(result, "cell-outage"), spells(result, "sensor-outage", "sensor-crash")
    for row in result.transfers.itertuples():
        down = cells.get(names.index(row.cell), []) + sensors.get(row.sensor, [])
        free_s = row.end_s - row.start_s - overlap_s(row.start_s, row.end_s, down)
        assert row.airtime_s <= free_s + EPSILON * (1 + row.end_s), row
    crashes = spells(result, "sensor-crash")
    for row in result.work[result.work["outcome"] == "ok"].itertuples():
        spent_s = overlap_s(row.start_s, row.end_s, crashes.get(row.sensor, []))
        assert spent_s <= EPSILON * (1 + row.end_s), row


def spells(result: RunResult, *kinds: str) -> dict[int, list[tuple[float, float]]]:
    """Return the spells that were announced in the scenario, by the number of the cell or sensor they hit."""
    scenario, found = result.scenario, dict[int, list[tuple[float, float]]]()
    for each in scenario.faults:
        if each.kind not in kinds or each.at_s is None:
            continue
        if each.kind == "cell-outage":
            hit = [n for n, cell in enumerate(scenario.cells) if each.cell in (None, cell.name)]
        else:
            hit = list(range(scenario.sensors.count) if each.sensors is None else each.sensors)
        until_s = float("inf") if each.for_s is None else each.at_s + each.for_s
        for number in hit:
            found.setdefault(number, []).append((each.at_s, until_s))
    return found


def overlap_s(start_s: float, end_s: float, down: list[tuple[float, float]]) -> float:
    """Return for how much of a stretch at least one of the spells lasts."""
    total_s, reached_s = 0.0, start_s
    for begin_s, until_s in sorted(down):
        begin_s, until_s = max(begin_s, reached_s), min(until_s, end_s)
        if until_s > begin_s:
            total_s, reached_s = total_s + until_s - begin_s, until_s
    return total_s


def energy_is_never_negative_and_adds_up(result: RunResult) -> None:
    for table in (result.rounds, result.transfers, result.work, result.sensors):
        joules = table[[column for column in table.columns if column.endswith("_j")]].to_numpy(dtype=float)
        if table is result.rounds and has_windows(result):
            joules = joules.cumsum(axis=0)  # what counts in one may be taken off in the next
        assert not (joules < -EPSILON).any()
    rounds = result.rounds
    if result.summary["energy_j"] is None or not len(rounds):
        return
    assert rounds["energy_j"].sum() == pytest.approx(result.summary["energy_j"], rel=1e-6)
    assert rounds[list(STATES)].sum(axis=1).tolist() == pytest.approx(rounds["energy_j"].tolist(), rel=1e-6, abs=1e-9)
    parts = [table.groupby("round")["energy_j"].sum() for table in (result.transfers, result.work)]
    spent = sum(part.reindex(rounds["round"], fill_value=0).to_numpy() for part in parts)
    told_j, counted_j = spent + rounds["baseline_energy_j"].to_numpy(), rounds["energy_j"].to_numpy()
    if has_windows(result):  # a transfer that was off the air has its row when it ends, and counts as it goes
        assert (told_j.cumsum() <= counted_j.cumsum() * (1 + 1e-6) + 1e-9).all()
    else:
        assert told_j.tolist() == pytest.approx(counted_j.tolist(), rel=1e-6, abs=1e-9)
    by_sensor = result.sensors[list(STATES)].sum().sum()
    assert by_sensor == pytest.approx(result.summary["energy_j"], rel=1e-6, abs=1e-9)


ENTITIES = {
    "outage": r"cell cell\d|backbone|server",
    "skip": r"sensor \d+",
    "retry": r"sensor \d+",
    "detour": r"sensor \d+",
    "lost work": r"sensor \d+",
    "no report": r"sensor \d+",
    "missed scatter": r"sensor \d+",
    "late": r"group \d+",
    "not delivered": r"group \d+",
    "void": r"round \d+",
    "empty battery": r"sensor \d+",
}


def faults_are_told_and_counted(result: RunResult) -> None:
    faults, rounds = result.faults, result.rounds.set_index("round")
    assert set(faults["kind"]) <= set(ENTITIES)
    for row in faults.itertuples():
        assert re.fullmatch(ENTITIES[row.kind], row.entity), row
        assert row.detail or row.kind not in ("outage", "skip"), row  # for how long, and why
    assert ((faults["time_s"] >= 0) & (faults["time_s"] <= result.summary["simulated_s"])).all()
    counted = faults["entity"].value_counts()
    sensors = result.sensors
    assert sensors["faults"].tolist() == [int(counted.get(f"sensor {number}", 0)) for number in sensors["sensor"]]
    assert sensors["availability"].between(0, 1).all()
    late, void = (per_round(faults, kind).reindex(rounds.index, fill_value=0) for kind in ("late", "void"))
    assert late.tolist() == rounds["deadline_missed"].tolist()
    assert void.tolist() == rounds["void"].astype(int).tolist()
    assert not faults[faults["kind"] == "empty battery"]["entity"].duplicated().any()


def per_round(faults: pd.DataFrame, kind: str) -> "pd.Series[int]":
    return faults[faults["kind"] == kind].groupby("round").size()


def a_round_is_what_arrived(result: RunResult) -> None:
    rounds, transfers = result.rounds, result.transfers
    assert ((rounds["arrived"] >= 0) & (rounds["arrived"] + rounds["deadline_missed"] <= rounds["groups"])).all()
    assert rounds["void"][rounds["arrived"] == 0].all()
    if result.scenario.quorum == 0:
        assert (rounds["void"] == (rounds["arrived"] == 0)).all()
    sent = transfers[(transfers["group"] >= 0) & (transfers["direction"] == "up") & (transfers["outcome"] == "ok")]
    edge_rounds = getattr(result.scenario.strategy, "edge_rounds", None)
    turn = ["version", "sensor"] if edge_rounds is None else ["version", "sensor", "hop"]
    assert not sent.duplicated(turn).any()  # nobody hands over twice
    chains = sent.drop_duplicates(["round", "version", "group"])
    senders = chains.groupby("round").size().reindex(rounds["round"], fill_value=0)
    assert (senders.cumsum().to_numpy() >= rounds["arrived"].cumsum().to_numpy()).all()
    tries = transfers[(transfers["group"] >= 0) & (transfers["direction"] == "down") & (transfers["airtime_s"] > 0)]
    assert (tries.groupby(turn).size() <= 2 * (1 + result.scenario.recovery.retries)).all()
    missed = transfers[(transfers["payload"] == "scatter")].groupby("round").size()
    assert not rounds.set_index("round")["void"].reindex(missed.index).any()  # nothing is scattered of a void round


LAWS: Mapping[str, Callable[[RunResult], None]] = {
    law.__name__: law
    for law in (
        rounds_follow_each_other,
        time_never_runs_back,
        bytes_are_conserved,
        no_cell_gives_more_airtime_than_it_has,
        nothing_is_on_the_air_of_what_is_down,
        energy_is_never_negative_and_adds_up,
        faults_are_told_and_counted,
        a_round_is_what_arrived,
    )
}


# ------------------------------------------------------------------------------------------------------- shrinking


def smaller(raw: Raw) -> Iterator[Raw]:
    """Yield the scenario with one thing less each, the greatest steps first."""
    for key in ("availability", "deadline_s", "round_period_s", "quorum", "recovery", "backbone"):
        if key in raw:
            yield {name: value for name, value in raw.items() if name != key}
    for place in range(len(raw["faults"])):
        yield raw | {"faults": raw["faults"][:place] + raw["faults"][place + 1 :]}
    if raw["strategy"].get("over_selection"):
        yield raw | {"strategy": raw["strategy"] | {"over_selection": 0.0}}
    if len(raw["cells"]) > 1:
        yield raw | {"cells": raw["cells"][:1]}
    for cell in raw["cells"]:
        if cell["profile"] != PLAIN:
            yield raw | {"cells": [each | ({"profile": PLAIN} if each is cell else {}) for each in raw["cells"]]}
    if raw["compute"]["device"] != "instant":
        yield raw | {"compute": {"device": "instant"}}
    if raw["rounds"] > 1:
        yield raw | {"rounds": raw["rounds"] // 2}
        yield raw | {"rounds": raw["rounds"] - 1}
    for count in (raw["sensors"]["count"] // 2, raw["sensors"]["count"] - 1):
        if count and raw.get("availability", {}).get("kind", "none") == "none":
            yield with_sensors(raw, count)
    for key, value in raw.get("recovery", {}).items():
        yield raw | {"recovery": {name: kept for name, kept in raw["recovery"].items() if (name, kept) != (key, value)}}
    for key in set(raw["strategy"]) - {"name", "budget_s"}:
        yield raw | {"strategy": {name: value for name, value in raw["strategy"].items() if name != key}}


def with_sensors(raw: Raw, count: int) -> Raw:
    faults = deepcopy(raw["faults"])
    for each in faults:
        if "sensors" in each:
            each["sensors"] = [sensor for sensor in each["sensors"] if sensor < count] or [0]
    return raw | {"sensors": raw["sensors"] | {"count": count}, "faults": faults}


def smallest(raw: Raw, directory: Path, what: str, *, trained: bool) -> Raw:
    """Return a scenario that fails in the same way and of which nothing can be left out, as far as time allows."""
    until_s = monotonic() + SHRINKING_WALL_S
    progress = True
    while progress and monotonic() < until_s:
        progress = False
        for candidate in smaller(raw):
            if monotonic() > until_s:
                break
            found = problem_of(candidate, directory, trained=trained, wall_s=3.0)
            if found is not None and found[0] == what:
                raw, progress = candidate, True
                break
    return raw


def assert_sound(raw: Raw, directory: Path, *, trained: bool = False) -> None:
    found = problem_of(raw, directory, trained=trained)
    if found is not None:
        least = smallest(raw, directory, found[0], trained=trained)
        said = problem_of(least, directory, trained=trained) or found
        pytest.fail(f"{said[0]}: {said[1]}\n{yaml.safe_dump(least, sort_keys=False)}", pytrace=False)


# ------------------------------------------------------------------------------------------------------- the tests


@pytest.mark.parametrize("number", some_of(range(40), kept=range(20)))
def test_a_factory_in_trouble_obeys_the_laws(number: int, tmp_path: Path) -> None:
    assert_sound(drawn(number), tmp_path)


@pytest.mark.parametrize("number", range(1000, 1004))
def test_a_factory_in_trouble_that_learns_obeys_the_laws(number: int, tmp_path: Path) -> None:
    assert_sound(drawn(number, most_sensors=12, most_rounds=5), tmp_path, trained=True)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(100, 400))
def test_any_factory_in_trouble_obeys_the_laws(number: int, tmp_path: Path) -> None:
    assert_sound(drawn(number), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1100, 1130))
def test_any_factory_in_trouble_that_learns_obeys_the_laws(number: int, tmp_path: Path) -> None:
    assert_sound(drawn(number, most_sensors=12, most_rounds=5), tmp_path, trained=True)


def test_what_is_drawn_differs_and_has_everything_in_it() -> None:
    """Among forty there is every kind of fault, and most of the strategies."""
    every = [drawn(number) for number in range(40)]
    assert len({each["kind"] for raw in every for each in raw["faults"]}) == 9
    assert len({raw["strategy"]["name"] for raw in every}) >= 10
    assert {raw["availability"]["kind"] for raw in every if "availability" in raw} == {"roster", "csv"}
    assert drawn.__wrapped__(7) == every[7]


@pytest.mark.thorough
def test_what_fails_is_made_as_small_as_it_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A law that two sensors break already, if there is a straggler."""

    def too_many(result: RunResult) -> None:
        assert result.scenario.sensors.count < 2 or all(each.kind != "straggler" for each in result.scenario.faults)

    monkeypatch.setitem(LAWS, "too_many", too_many)  # type: ignore[arg-type]
    raw = drawn(0) | {"quorum": 0.5, "deadline_s": 1e6}
    raw["faults"] = [{"kind": "straggler", "at_s": 0.0, "factor": 2.0}, {"kind": "transfer-loss", "probability": 0.0}]
    least = smallest(raw, tmp_path, "too_many", trained=False)
    assert least["sensors"]["count"] == 2
    assert least["rounds"] == 1
    assert [each["kind"] for each in least["faults"]] == ["straggler"]
    assert not {"quorum", "deadline_s"} & set(least)
