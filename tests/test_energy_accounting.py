"""Energy through a whole run: rows, rounds and summary agree, and nothing is negative."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.simulation import run
from tests.conftest import FAST, tiny_scenario

CURRENTS = {"voltage_v": 3.6, "sleep_ma": 0.003, "idle_ma": 6.0, "receive_ma": 46.0, "transmit_ma": 220.0}


@settings(max_examples=30, deadline=None)
@given(
    profile=st.fixed_dictionaries(
        {
            "setup_s": st.sampled_from([0.0, 0.8]),
            "inactivity_s": st.sampled_from([0.0, 10.0, 1e4]),
            "latency_s": st.sampled_from([0.0, 0.1]),
            "blocks": st.sampled_from([None, {"uplink_bits": 1000, "downlink_bits": 680, "error_rate": 0.1}]),
            "sharing": st.sampled_from(["fair", "fifo"]),
            "duplex": st.sampled_from(["full", "device-half", "cell-half"]),
        }
    ),
    device=st.sampled_from(["instant", "mcu"]),
    scatter=st.sampled_from(["unicast", "broadcast"]),
)
def test_rows_add_up_to_rounds_and_rounds_to_the_summary(profile: dict[str, Any], device: str, scatter: str) -> None:
    cells = [{"name": name, "profile": FAST | profile | {"energy": CURRENTS}} for name in "ab"]
    strategy = {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5, "scatter": scatter}
    result = run(tiny_scenario(cells=cells, compute={"device": device}, strategy=strategy), timing_only=True)
    rounds, transfers, work = result.rounds, result.transfers, result.work
    by_round = transfers.groupby("round")["energy_j"].sum() + work.groupby("round")["energy_j"].sum()
    assert (rounds["energy_j"] - rounds["baseline_energy_j"]).tolist() == pytest.approx(by_round.tolist(), rel=1e-9)
    assert result.summary["energy_j"] == pytest.approx(rounds["energy_j"].sum())
    assert rounds["retransmitted_bytes"].sum() == transfers["retransmitted_bytes"].sum()
    for column in (rounds["baseline_energy_j"], transfers["energy_j"], work["energy_j"]):
        assert (column >= 0).all()


def test_one_cell_without_figures_leaves_the_rounds_energy_open() -> None:
    cells = [{"name": "a", "profile": FAST | {"energy": CURRENTS}}, {"name": "b", "profile": FAST}]
    result = run(tiny_scenario(cells=cells), timing_only=True)
    assert result.summary["energy_j"] is None
    assert result.rounds["energy_j"].isna().all()
    assert result.transfers.groupby("cell")["energy_j"].count().to_dict()["a"] > 0
