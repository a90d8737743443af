"""NB-IoT rates by repetition against the published ones and against the shipped profile."""

import pytest

from hfedms_sim.scenario import load_profile
from hfedms_sim.world.repetitions import nb_iot_downlink_bps, nb_iot_uplink_bps


@pytest.mark.parametrize(("repetitions", "kbps"), [(1, 26.2), (8, 9.1), (64, 1.5), (512, 0.19)])
def test_downlink_rates_are_those_of_the_timeline(repetitions: int, kbps: float) -> None:
    assert float(f"{nb_iot_downlink_bps(repetitions) / 1000:.{2 if kbps < 1 else 1}f}") == kbps


@pytest.mark.parametrize(("repetitions", "kbps"), [(1, 62.5), (8, 19.6), (32, 5.8), (128, 1.5)])
def test_uplink_rates_are_those_of_the_timeline(repetitions: int, kbps: float) -> None:
    assert round(nb_iot_uplink_bps(repetitions) / 1000, 1) == kbps


def test_the_shipped_classes_are_those_of_the_timeline() -> None:
    ordinary, robust, extreme = load_profile("nb-iot-nb1").repetitions
    assert [each.coupling_loss_db for each in (ordinary, robust, extreme)] == [144, 154, 164]
    assert (robust.uplink_bps, robust.downlink_bps) == pytest.approx(
        (nb_iot_uplink_bps(8), nb_iot_downlink_bps(8)), rel=1e-3
    )
    assert (extreme.uplink_bps, extreme.downlink_bps) == pytest.approx(
        (nb_iot_uplink_bps(32), nb_iot_downlink_bps(64)), rel=1e-3
    )
