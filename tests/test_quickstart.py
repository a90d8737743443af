"""The quickstart keeps its promise on three seeds; minutes, so `make slow`."""

import pytest

from hfedms_sim.loading import load_scenario
from hfedms_sim.simulation import run


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_both_algorithms_get_there_and_hfedms_is_cheaper(seed: int) -> None:
    hfedms, fedavg = (
        run(load_scenario("quickstart", strategy=strategy, seed=seed)).summary["targets"][-1]
        for strategy in ("hfedms-d", "fedavg")
    )
    assert hfedms["accuracy"] == fedavg["accuracy"] == 0.6
    assert hfedms["round"] is not None
    assert fedavg["round"] is not None
    assert hfedms["round"] < fedavg["round"]
    assert hfedms["simulated_s"] < fedavg["simulated_s"]
    assert hfedms["bytes"] < fedavg["bytes"]
