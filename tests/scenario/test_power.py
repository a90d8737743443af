"""Keys of a radio's idle mode and currents: which go together, and what older files call otherwise."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from hfedms_sim.errors import InputError
from hfedms_sim.scenario import NetworkProfile, load_profile
from hfedms_sim.scenario.power import Idle

CURRENTS = {"voltage_v": 3.7, "sleep_ma": 0.0027, "connected_ma": 8.0, "receive_ma": 46.0, "transmit_ma": 300.0}
FRAMES = {
    "uplink_payload_bytes": 51, "downlink_payload_bytes": 51, "uplink_frame_s": 1.0, "downlink_frame_s": 1.0,
    "uplink_silence_s": 99.0, "downlink_silence_s": 9.0,
}  # fmt: skip


def profile_of(tmp_path: Path, **changes: Any) -> NetworkProfile:
    path = tmp_path / "p.yaml"
    path.write_text(yaml.safe_dump({"name": "p", "uplink_bps": 1000.0, "downlink_bps": 1000.0} | changes))
    return load_profile(str(path))


def test_a_released_radio_sleeps_and_is_reachable_unless_its_profile_says_otherwise(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, energy=CURRENTS)
    assert (profile.idle, profile.release_assistance, profile.extrapolated) == (None, False, ())
    assert profile.energy is not None
    assert (profile.energy.transmit_duty, profile.energy.page_j) == (1.0, 0.0)
    assert (profile.energy.setup_j, profile.energy.wake_j) == (None, 0.0)


@pytest.mark.parametrize(
    ("idle", "complaint"),
    [
        ({"mode": "edrx"}, "mode: edrx needs cycle_s"),
        ({"mode": "drx"}, "mode: drx needs cycle_s"),
        ({"mode": "psm", "active_s": 16.0}, "mode: psm needs cycle_s with active_s"),
        ({"mode": "sleeping"}, "idle.mode = 'sleeping': must be listening, drx, edrx or psm"),
    ],
)
def test_a_mode_with_the_wrong_figures_is_refused_in_one_line(
    tmp_path: Path, idle: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(InputError) as error:
        profile_of(tmp_path, idle=idle)
    assert complaint in str(error.value)
    assert "p.yaml" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"release_assistance": True}, "release_assistance is for connections; frames have none"),
        ({"idle": {"mode": "psm"}}, "idle.mode: psm is for connections; frames have listening, or no idle"),
    ],
)
def test_frames_have_no_connection_to_release(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        profile_of(tmp_path, frames=FRAMES, **changes)
    assert profile_of(tmp_path, frames=FRAMES, idle={"mode": "listening"}).idle is not None


def test_the_old_spelling_of_the_connected_current_is_read_with_its_source(tmp_path: Path) -> None:
    old = {key: value for key, value in CURRENTS.items() if key != "connected_ma"} | {"idle_ma": 8.0}
    profile = profile_of(tmp_path, energy=old, sources={"energy.idle_ma": "data sheet"})
    assert profile.energy == profile_of(tmp_path, energy=CURRENTS).energy
    assert profile.sources == {"energy.connected_ma": "data sheet"}


def test_exactly_one_spelling_of_the_connected_current_is_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="idle_ma is the old spelling of connected_ma; leave it out"):
        profile_of(tmp_path, energy=CURRENTS | {"idle_ma": 8.0})
    with pytest.raises(InputError, match=r"energy\.connected_ma"):
        profile_of(tmp_path, energy={key: value for key, value in CURRENTS.items() if key != "connected_ma"})


def test_figures_whose_source_begins_with_extrapolated_are_listed(tmp_path: Path) -> None:
    sources = {
        "energy.transmit_ma": "extrapolated from Cat-1",
        "latency_s": "extrapolated",
        "setup_s": "not extrapolated",
    }
    assert profile_of(tmp_path, energy=CURRENTS, sources=sources).extrapolated == ("latency_s", "energy.transmit_ma")


@pytest.mark.parametrize("mode", ["listening", "drx", "edrx", "psm"])
def test_figures_of_other_modes_have_no_effect_so_that_a_mode_is_one_key(mode: str) -> None:
    """PSM has its own figures, DRX and eDRX the cycle, and a radio that listens needs none."""
    idle = Idle.model_validate({"mode": mode, "cycle_s": 1.28, "wake_s": 1.2, "wake_every_s": 3600.0})
    assert idle.pages_every_s == (1.28 if mode in ("drx", "edrx") else None)
    assert (idle.wakes_every_s, idle.extra_setup_s) == ((3600.0, 1.2) if mode == "psm" else (None, 0.0))
    assert idle.mean_wait_s == {"listening": 0.0, "psm": 1800.0}.get(mode, 0.64)
