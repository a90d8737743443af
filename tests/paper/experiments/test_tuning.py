"""Tuning: the most accurate point is chosen, and the keys at whose edge it lies are named."""

import pytest

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Value
from hfedms_sim.paper.experiments.tuning import TUNING, choice
from tests.paper.made_up import End, diverging, results, study


def best_at(strategy: str, **best: str) -> dict[Value, tuple[Value, Value]]:
    """Return accuracy and remark of a strategy's points on streams, one of which was the most accurate."""

    def end(trial: Trial) -> End:
        return 0.8 if best.items() <= dict(trial.variant).items() else 0.7, 0.5

    here = study()
    (table,) = TUNING.outcome(here, results(TUNING, here, end)).tables
    return {row[2]: (row[3], row[4]) for row in table.rows if row[:2] == ("stream", strategy)}


@pytest.mark.parametrize(
    ("strategy", "best", "remark"),
    [
        ("fedavg", {"learning_rate": "0.05"}, "chosen"),
        ("fedavg", {"learning_rate": "0.2"}, "chosen, at the edge of learning_rate"),
        ("fedprox", {"learning_rate": "0.1", "mu": "0.1"}, "chosen, at the edge of mu"),
        (
            "fedadam",
            {"learning_rate": "0.1", "server_learning_rate": "0.03"},
            "chosen, at the edge of learning_rate and server_learning_rate",
        ),
        (
            "fedadam",
            {"learning_rate": "0.1", "server_learning_rate": "0.01"},
            "chosen, at the edge of learning_rate",
        ),
    ],
)
def test_the_chosen_point_says_of_which_keys_it_has_the_least_or_the_largest(
    strategy: str, best: dict[str, str], remark: str
) -> None:
    words = ", ".join(f"{key} {value}" for key, value in best.items())
    rows = best_at(strategy, **best)
    assert rows.pop(words) == (0.8, remark)
    assert len(rows) == 5
    assert {told for _, told in rows.values()} == {""}


def test_what_diverged_is_not_chosen() -> None:
    here = study()
    found = diverging(results(TUNING, here), [("fedavg", 0)])
    chosen = choice(here, found)["choices"]["stream"]
    assert "fedavg" not in chosen
    assert "fedprox" in chosen
