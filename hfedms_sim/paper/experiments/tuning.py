"""Tuning: every strategy's decisive settings, chosen with the same budget on a seed that nothing is judged on.

Six points a strategy and kind of data, 100 rounds, the same criterion for all: accuracy after the last round, which for
HFedMS-D is the end of its last whole cycle, so that no T is looked at in a better phase than another. The sensors'
learning rate is one of the decisive settings of everybody; the others are the server's rate (FedOpt), mu (FedProx),
lambda (FedMMD) and T (HFedMS-D). alpha and beta stay as the scale has them, for 100 rounds would break the rule they
are chosen by (scales.py). The two fixed groupings are no rivals of the table and are not tuned.
"""

import json
from itertools import product
from typing import Any

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Table
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results
from hfedms_sim.paper.published import BASELINES, DataKind
from hfedms_sim.paper.study import Study
from hfedms_sim.paper.tuned import TUNING_SEED

SEED, ROUNDS, POINTS = TUNING_SEED, 100, 6
_RATE, _SERVER = "strategy.learning_rate", "strategy.server_learning_rate"
_RATES = ("0.01", "0.02", "0.03", "0.05", "0.1", "0.2")
_HIGH_RATES = ("0.05", "0.1", "0.2")
_MOMENTS = {_RATE: ("0.03", "0.1"), _SERVER: ("0.0031622776601683794", "0.01", "0.03")}
GRIDS: dict[str, dict[str, tuple[str, ...]]] = {
    "fedavg": {_RATE: _RATES},
    "fedprox": {_RATE: _HIGH_RATES, "strategy.mu": ("0.01", "0.1")},
    "fedmmd": {_RATE: _HIGH_RATES, "strategy.lambda": ("0.01", "0.1")},
    "fedfusion": {_RATE: _RATES},
    "ida": {_RATE: _RATES},
    "fedadagrad": {_RATE: ("0.03", "0.1"), _SERVER: ("0.03", "0.1", "0.3")},
    "fedadam": _MOMENTS,
    "fedyogi": _MOMENTS,
    "hfedms-s": {_RATE: _RATES},
    "hfedms-d": {_RATE: ("0.03", "0.05", "0.1"), "strategy.interval": ("3", "5")},
}


def strategies_on(kind: DataKind) -> tuple[str, ...]:
    return (*BASELINES, "hfedms-s", "hfedms-d") if kind == "stream" else (*BASELINES, "hfedms-s")


def points_of(strategy: str) -> list[dict[str, str]]:
    grid = GRIDS[strategy]
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def _trials(study: Study) -> list[Trial]:
    rounds = min(ROUNDS, study.scale.rounds)
    return [
        trial
        for kind in study.kinds
        for strategy in strategies_on(kind)
        for point in points_of(strategy)
        for trial in study.trials(strategy, kind, point, seeds=(SEED,), rounds=rounds)
    ]


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
    rows = []
    for kind in study.kinds:
        for strategy in strategies_on(kind):
            scores = scores_of(results, strategy, kind)
            best = max(scores, default=-1, key=scores.__getitem__)
            for number, point in enumerate(points_of(strategy)):
                words = ", ".join(f"{_word(key)} {value}" for key, value in point.items())
                chosen = f"chosen{_edges(strategy, point)}" if number == best else ""
                rows.append((kind, strategy, words, scores.get(number), chosen))
    note = f"Seed {SEED}, {min(ROUNDS, study.scale.rounds)} rounds; {study.words}. The first of equals is chosen."
    header = ("data", "strategy", "settings", "accuracy", "")
    return ExperimentOutcome((Table("tuning", "What tuning tried and chose", header, tuple(rows), note),))


def _edges(strategy: str, point: dict[str, str]) -> str:
    """Return a warning that names the keys whose first or last value it is: a better one may lie beyond."""
    keys = [key for key, values in GRIDS[strategy].items() if point[key] in (values[0], values[-1])]
    return f", at the edge of {' and '.join(map(_word, keys))}" if keys else ""


def _word(key: str) -> str:
    return key.removeprefix("strategy.")


def scores_of(results: Results, strategy: str, kind: DataKind) -> dict[int, float]:
    """Return the accuracy of each point that has one, by its number in the grid. What diverged has none."""
    scores = {}
    for number, point in enumerate(points_of(strategy)):
        seeds = results.of(strategy, kind, point)
        final = seeds.final("accuracy").get(SEED)
        if final is not None:
            scores[number] = final
    return scores


def choice(study: Study, results: Results) -> dict[str, Any]:
    """Return what tuned.json holds: choices, how accurate they were, and on what."""
    choices: dict[str, dict[str, dict[str, str]]] = {}
    accuracies: dict[str, dict[str, float]] = {}
    for kind in study.kinds:
        for strategy in strategies_on(kind):
            scores = scores_of(results, strategy, kind)
            if scores:
                best = max(scores, key=scores.__getitem__)
                choices.setdefault(kind, {})[strategy] = points_of(strategy)[best]
                accuracies.setdefault(kind, {})[strategy] = scores[best]
    made_on = {"study": study.words, "seed": SEED, "rounds": min(ROUNDS, study.scale.rounds), "points": POINTS}
    return {"made_on": made_on, "choices": choices, "accuracies": accuracies}


def choice_json(study: Study, results: Results) -> str:
    return json.dumps(choice(study, results), indent=2) + "\n"


TUNING = Experiment(
    "tune", "beyond the paper: every strategy's settings, chosen with the same budget", _trials, _outcome
)
