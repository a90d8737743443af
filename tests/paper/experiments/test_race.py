"""Races: who never got there or was not played to an end, and what diverged."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.paper.experiment import log_ratio
from hfedms_sim.paper.experiments.efficiency import EFFICIENCY_EXPERIMENT
from hfedms_sim.paper.experiments.race import Race, Racer
from hfedms_sim.paper.experiments.scc import SCC
from tests.paper.made_up import claims_of, diverging, results, study


def test_what_has_diverged_is_out_of_the_race_whatever_it_had_reached() -> None:
    for strategy in ("fedavg", "hfedms-d"):
        parts = {part.text: part for part in claims_of(EFFICIENCY_EXPERIMENT, diverged=[(strategy, 2)])["Q4"].parts}
        assert len(parts["hfedms-d T=5: fewer rounds than FedAvg (ln of the ratio)"].values) == 2
    racer = Racer("fedavg", diverging(results(SCC, study()), [("hfedms-s", 2)]).of("hfedms-s", "stream"))
    assert racer.end("rounds") == {1: 40.0, 3: 40.0}
    assert Race(racer, (), 5).target == {1: 0.7, 3: 0.7}


@pytest.mark.parametrize(
    ("ours", "theirs", "value"),
    [
        ({1: 10.0}, {1: 20.0}, (log(2),)),
        ({1: 10.0}, {}, (log(4),)),  # theirs took 40 and more
        ({}, {1: 10.0}, (-log(4),)),
        ({1: 50.0}, {}, ()),  # theirs took 40 or more: perhaps less than ours
        ({}, {}, ()),
    ],
)
def test_who_never_got_there_counts_where_the_bound_decides(
    ours: dict[int, float], theirs: dict[int, float], value: tuple[float, ...]
) -> None:
    assert log_ratio(ours, theirs, {1: 40.0}, {1: 40.0}) == pytest.approx(value)


_REACHED = st.dictionaries(st.integers(1, 5), st.integers(1, 39).map(float))
_ENDS = st.sets(st.integers(1, 5)).map(lambda seeds: dict.fromkeys(seeds, 40.0))


@given(_REACHED, _REACHED, _ENDS, _ENDS)
def test_seeds_that_only_one_side_has_played_do_not_count(
    ours: dict[int, float], theirs: dict[int, float], our_end: dict[int, float], their_end: dict[int, float]
) -> None:
    common = our_end.keys() & their_end.keys()
    found = log_ratio(ours, theirs, our_end, their_end)
    assert len(found) == len(common & (ours.keys() | theirs.keys()))
    mine, other = ({seed: each[seed] for seed in each if seed in common} for each in (ours, theirs))
    assert found == log_ratio(mine, other, our_end, their_end)
    assert found == pytest.approx([-value for value in log_ratio(theirs, ours, their_end, our_end)])
