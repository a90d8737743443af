"""NB-IoT rates by repetition against the published ones and against the shipped profile."""

import pytest

from hfedms_sim.scenario import load_profile
from tests.world.radio.nb_iot import nb_iot_downlink_bps, nb_iot_uplink_bps


@pytest.mark.parametrize(("repetitions", "kbps"), [(1, 26.2), (8, 9.1), (64, 1.5), (512, 0.19)])
def test_downlink_rates_are_those_of_the_timeline(repetitions: int, kbps: float) -> None:
    assert float(f"{nb_iot_downlink_bps(repetitions) / 1000:.{2 if kbps < 1 else 1}f}") == kbps


@pytest.mark.parametrize(("repetitions", "kbps"), [(1, 62.5), (8, 19.6), (32, 5.8), (128, 1.5)])
def test_uplink_rates_are_those_of_the_timeline(repetitions: int, kbps: float) -> None:
    assert round(nb_iot_uplink_bps(repetitions) / 1000, 1) == kbps


def test_the_shipped_classes_are_at_most_those_of_the_timeline() -> None:
    """In deep coverage the signal allows less than the timeline of so few repetitions would."""
    ordinary, robust, extreme = load_profile("nb-iot-nb1").repetitions
    assert [each.coupling_loss_db for each in (ordinary, robust, extreme)] == [144, 154, 164]
    for shipped, up, down in ((ordinary, 1, 1), (robust, 8, 8), (extreme, 32, 64)):
        assert shipped.uplink_bps <= nb_iot_uplink_bps(up)
        assert shipped.downlink_bps <= nb_iot_downlink_bps(down)
