"""How busy a direction was: against a slow count at every moment, and in runs that can be worked out."""

from typing import Any

import numpy as np
import pytest

from hfedms_sim.limits.columns import TraceColumns
from hfedms_sim.limits.links import Link, links_of
from hfedms_sim.limits.occupation import occupation
from hfedms_sim.simulation import run
from tests.conftest import FAST, tiny_scenario
from tests.limits.test_limited_by import EVERYBODY, LORA_LIKE, scenario

CELLS: list[dict[str, Any]] = [
    {"name": "one", "profile": FAST},
    {"name": "three", "profile": FAST | {"name": "three", "channels": 3}},
    {"name": "half", "profile": FAST | {"name": "half", "duplex": "cell-half", "channels": 2}},
    {"name": "queue", "profile": FAST | {"name": "queue", "sharing": "fifo"}},
    {"name": "wires", "profile": FAST | {"name": "wires", "channels": "dedicated"}},
]
ELAPSED_S = 60.0


def random_columns(seed: int, links: list[Link]) -> TraceColumns:
    """Return transfers at whole seconds, so that many begin and end together."""
    draws = np.random.default_rng(seed)
    count = 80
    link = draws.integers(0, len(links), count)
    ready_s = draws.integers(0, 40, count).astype(float)
    start_s = ready_s + draws.integers(0, 4, count)
    air_end_s = start_s + draws.integers(0, 10, count)
    latency_s = draws.integers(0, 3, count).astype(float)  # of coverage classes
    transfers = {
        "link": link,
        "latency_s": latency_s,
        "ready_s": ready_s,
        "start_s": start_s,
        "end_s": air_end_s + latency_s,
        "airtime_s": (air_end_s - start_s) / 2,
        "sensor": draws.integers(0, 5, count),
    }
    rounds = {"round": np.array([1]), "start_s": np.array([0.0]), "end_s": np.array([ELAPSED_S])}
    return TraceColumns(rounds, transfers, {})


def count_at(moment_s: float, columns: TraceColumns, links: list[Link], among: list[int]) -> int:
    """Return how many transfers are on these links, one by one."""
    sent, count = columns.transfers, 0
    for row, number in enumerate(sent["link"].tolist()):
        begin_s = sent["ready_s"][row] if links[number].is_queue else sent["start_s"][row]
        count += number in among and begin_s <= moment_s < sent["end_s"][row] - sent["latency_s"][row]
    return count


@pytest.mark.parametrize("seed", range(5))
def test_shares_agree_with_a_count_at_every_moment(seed: int) -> None:
    links = links_of(tiny_scenario(cells=CELLS).cells)
    columns = random_columns(seed, links)
    found = occupation(columns, links)
    moments_s = np.arange(0.5, ELAPSED_S)  # the middle of every second: all times are whole
    for number, link in enumerate(links):
        common = [each for each, other in enumerate(links) if other.pool == link.pool]
        counts = np.array([count_at(moment, columns, links, common) for moment in moments_s])
        own = np.array([count_at(moment, columns, links, [number]) for moment in moments_s])
        use = found.uses[number]
        assert use.active_share == pytest.approx((own > 0).mean())
        assert use.saturated_share == pytest.approx(((counts > 0) & (counts >= link.full_at)).mean())
        assert use.airtime_s == pytest.approx(columns.transfers["airtime_s"][columns.transfers["link"] == number].sum())
        for row in np.flatnonzero(columns.transfers["link"] == number)[:4]:
            begin_s = columns.transfers["ready_s" if link.is_queue else "start_s"][row]
            end_s = columns.transfers["end_s"][row] - columns.transfers["latency_s"][row]
            there = (moments_s >= begin_s) & (moments_s < end_s)
            assert found.contended_s[row] == pytest.approx((there & (counts > link.full_at)).sum())


def directions(profile: dict[str, Any], **changes: Any) -> dict[str, dict[str, Any]]:
    result = run(scenario(profile, **changes), timing_only=True, allow_infeasible=True)
    found: dict[str, dict[str, Any]] = result.summary["cells"][0]["directions"]
    return found


def test_a_cell_whose_directions_take_turns_is_saturated_half_of_the_time_in_each() -> None:
    """FedAvg with everybody: 8 models down, then 8 up, as fast either way."""
    found = directions(FAST)
    assert [found[way]["saturated_share"] for way in ("up", "down")] == pytest.approx([0.5, 0.5])
    assert [found[way]["allowed_airtime_share"] for way in ("up", "down")] == [None, None]


def test_one_airtime_for_both_is_saturated_all_the_time_and_active_half_of_it_in_each_direction() -> None:
    found = directions(FAST | {"duplex": "cell-half"})
    assert [found[way]["saturated_share"] for way in ("up", "down")] == pytest.approx([1, 1])
    assert [found[way]["active_share"] for way in ("up", "down")] == pytest.approx([0.5, 0.5])


def test_dedicated_channels_and_more_channels_than_sensors_are_never_saturated() -> None:
    for channels in ("dedicated", 9):
        found = directions(FAST | {"channels": channels})
        assert [found[way]["saturated_share"] for way in ("up", "down")] == [0, 0]
        assert found["up"]["active_share"] == pytest.approx(0.5)


def test_eight_channels_for_eight_sensors_are_saturated() -> None:
    assert directions(FAST | {"channels": 8})["down"]["saturated_share"] == pytest.approx(0.5)


def test_a_gateway_that_always_has_something_to_send_uses_all_its_allowed_airtime() -> None:
    """Uplinks take no time to speak of, so the gateway's queue is the round."""
    quick_up = LORA_LIKE["frames"] | {"uplink_frame_s": 1e-4, "uplink_silence_s": 0.0}
    found = directions(LORA_LIKE | {"frames": quick_up}, sensors={"count": 20})
    assert found["down"]["saturated_share"] == pytest.approx(1, abs=1e-2)
    assert found["down"]["allowed_airtime_share"] == pytest.approx(1, abs=1e-2)


def test_sensors_that_send_all_the_time_use_all_their_allowed_airtime() -> None:
    """One sensor, whose downlinks take no time to speak of: it sends a frame of 0.3 s every 30 s."""
    quick_down = LORA_LIKE["frames"] | {"downlink_frame_s": 1e-4, "downlink_silence_s": 0.0}
    found = directions(LORA_LIKE | {"frames": quick_down}, sensors={"count": 1})
    assert found["up"]["allowed_airtime_share"] == pytest.approx(1, abs=2e-2)
    assert found["up"]["saturated_share"] == 0  # eight channels have room for 800 such sensors


def test_a_duty_cycle_on_shared_airtime_is_used_while_a_transfer_is_under_way() -> None:
    """Alone, a sensor sends at its duty cycle: the direction is active for as long as it is used to the full."""
    found = directions(
        FAST | {"duty_cycle": {"uplink": 0.1, "downlink": 0.2}}, strategy=EVERYBODY, sensors={"count": 1}
    )
    for way, share in (("up", 2 / 3), ("down", 1 / 3)):
        assert found[way]["active_share"] == pytest.approx(share)
        assert found[way]["allowed_airtime_share"] == pytest.approx(share)
    assert found["down"]["saturated_share"] == pytest.approx(1 / 3)
    assert found["up"]["saturated_share"] == 0  # ten sensors would fill the channel
