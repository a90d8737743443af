"""Class A and spreading factors behind one gateway, on timelines worked out by hand."""

from collections.abc import Callable
from math import exp
from typing import Any

import pytest
from simpy import Environment

from hfedms_sim.rounds import EVERYONE, SERVER, Hop, Payload
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation import run
from hfedms_sim.trace import Trace
from hfedms_sim.transfers import Transfer
from hfedms_sim.world.cell import Cell
from hfedms_sim.world.processes import AllDone
from hfedms_sim.world.radio.delivery import Delivery
from hfedms_sim.world.radio.frame_losses import lost_frames
from hfedms_sim.world.radio.frame_medium import FrameMedium
from hfedms_sim.world.radio.loss_draws import LossDraws
from tests.conftest import tiny_scenario
from tests.world.cells import make_cell, transfer
from tests.world.frames import FRAMES

# Polls of 0.5 s and 49.5 s of silence after each; downlink frames of 2 s and 18 s. So Q = 50 s.
CLASS_A = FRAMES | {
    "empty_frame_s": 0.5,
    "device_class": "A",
    "window_s": 0.1,
}
FAR = {
    key: 4 * CLASS_A[key]
    for key in ("uplink_frame_s", "downlink_frame_s", "uplink_silence_s", "downlink_silence_s", "empty_frame_s")
} | {"uplink_payload_bytes": 100, "downlink_payload_bytes": 50}
ENERGY = {"voltage_v": 2.0, "sleep_ma": 0.0, "idle_ma": 7.0, "receive_ma": 10.0, "transmit_ma": 50.0}


def radio(**changes: Any) -> dict[str, Any]:
    given = {"name": "test", "uplink_bps": 1e3, "downlink_bps": 1e3, "channels": 3, "inactivity_s": 0.0}
    return given | {"frames": CLASS_A} | changes


def medium(env: Environment, class_of: Callable[[int], int] = lambda sensor: 0, **changes: Any) -> FrameMedium:
    return FrameMedium(env, NetworkProfile.model_validate(radio(**changes)), class_of, LossDraws(Draws(1), 40))


def with_two_classes(env: Environment, **changes: Any) -> FrameMedium:
    """Sensors from 10 on are in the second class, with frames four times as long."""
    rates = {"uplink_bps": 1e3, "downlink_bps": 1e3}
    classes = [{"coupling_loss_db": 130.0} | rates, {"coupling_loss_db": 140.0, "frames": FAR} | rates]
    return medium(env, lambda sensor: int(sensor >= 10), repetitions=classes, **changes)


def start(one: FrameMedium, sent: Transfer) -> Delivery:
    return one.send(sent, one.demand(sent, 1.0))


def down(sensor: int, frames: int) -> Transfer:
    return transfer("down", sensor, Payload("model", 50 * frames))


def up(sensor: int, frames: int) -> Transfer:
    return transfer("up", sensor, Payload("model", 100 * frames))


def broadcast(*sensors: int, frames: int) -> Transfer:
    hop = Hop(0, SERVER, EVERYONE)
    return Transfer(1, 1, 0, hop, "down", Payload("scatter", 50 * frames), EVERYONE, sensors)


def test_a_downlink_of_class_a_takes_a_poll_for_each_frame(env: Environment) -> None:
    """Polls at 0, 50 and 100 s, frames from 1.5, 51.5 and 101.5 s on."""
    one = medium(env)
    assert env.run(start(one, down(1, 3))) == 0.0
    assert env.now == 103.5


def test_a_poll_waits_for_the_silence_after_the_sensors_uplink_and_holds_up_the_next(env: Environment) -> None:
    """Uplink frame at 0, silent until 100; the poll ends at 100.5, silent until 150."""
    one = medium(env)
    env.run(start(one, up(1, 1)))
    assert env.run(start(one, down(1, 1))) == 100.0
    assert env.now == 103.5
    assert env.run(start(one, up(1, 1))) == 150.0


def test_the_gateway_answers_one_sensor_after_the_other_and_keeps_its_silence(env: Environment) -> None:
    """The first has its frame until 3.5 s; the gateway may send again at 21.5, so the second polls at 20."""
    one = medium(env)
    sent = [start(one, down(sensor, 1)) for sensor in (1, 2)]
    env.run(sent[1])
    assert [each.value for each in sent] == [0.0, 20.0]
    assert env.now == 23.5


def test_nobody_polls_while_the_gateway_sends(env: Environment) -> None:
    """Without a silence of the gateway the second polls when the first has its frame, not 1.5 s before."""
    one = medium(env, frames=CLASS_A | {"downlink_silence_s": 0.0})
    sent = [start(one, down(sensor, 1)) for sensor in (1, 2)]
    env.run(sent[1])
    assert [each.value for each in sent] == [0.0, 3.5]


def test_polls_are_load_for_uplinks_and_downlink_frames_deafen_the_gateway(env: Environment) -> None:
    """A poll of 0.5 s and a frame of 2 s every 50 s, for longer than an uplink frame of 1 s needs."""
    for duplex, heard in (("full", 1.0), ("cell-half", 1 - 3 / 50)):
        one = medium(env, duplex=duplex)
        start(one, down(1, 10))
        start(one, down(2, 10))  # has to wait, and does not poll yet
        assert one.loss_probability(up(3, 1)) == pytest.approx(1 - heard * exp(-1.5 / 50 / 3))


def test_polls_that_collide_are_sent_again_after_the_sensors_silence(env: Environment) -> None:
    one = medium(env, channels=1, frames=CLASS_A | {"uplink_silence_s": 9.0})  # a poll every 5, or 20 if answered
    for sensor in range(2, 12):
        start(one, up(sensor, 1000))
    sent = down(1, 40)
    loss = 1 - exp(-10 * 1.5 / 10)
    assert one.loss_probability(sent) == pytest.approx(loss)
    lost = lost_frames(40, loss, LossDraws(Draws(1), 40).of(sent))
    assert lost > 40
    demand = one.demand(sent, 1.0)
    assert demand.extra_transmit_s == pytest.approx((40 + lost) * 0.5)
    assert demand.extra_receive_s == pytest.approx(lost * 2 * 0.1)
    assert (demand.airtime_s, demand.retransmitted_bytes) == (80.0, 0)
    delivery = one.send(sent, demand)
    env.run(delivery)
    assert env.now == pytest.approx(1.5 + 39 * 20 + lost * 5 + 2)


@pytest.mark.parametrize(("cancelled_s", "airtime_s"), [(1.0, 0.0), (2.5, 1.0), (30.0, 2.0), (52.0, 2.5)])
def test_a_cancelled_downlink_of_class_a_has_had_its_frames_so_far(
    env: Environment, cancelled_s: float, airtime_s: float
) -> None:
    one = medium(env)
    first, second = start(one, down(1, 3)), start(one, down(2, 1))
    env.run(until=cancelled_s)
    assert first.cancel() == pytest.approx(airtime_s)
    assert env.run(second) < 103.5
    assert one.loss_probability(up(3, 1)) == 0


def test_a_broadcast_needs_no_polls_because_its_listeners_listen_all_the_time(env: Environment) -> None:
    """Three frames of 2 s and the silences between them, 42 s in all."""
    one = medium(env)
    assert one.announce(broadcast(1, 2, frames=3)) is None
    assert one.demand(broadcast(1, 2, frames=3), 1.0) == (6.0, 0, 0.0, 36.0)
    env.run(start(one, broadcast(1, 2, frames=3)))
    assert env.now == 42.0


def test_the_joules_of_class_a_are_those_of_frames_polls_and_windows(env: Environment) -> None:
    """Up: two frames of 1 s at 0.1 W, four windows of 0.1 s at 0.02 W. Down: two polls of 0.5 s, two frames of 2 s."""
    trace = Trace()
    cell = make_cell(env, trace, **radio(energy=ENERGY))
    for sent, airtime_j, beside_j in ((up(1, 2), 2 * 0.1, 4 * 0.1 * 0.02), (down(2, 2), 4 * 0.02, 2 * 0.5 * 0.1)):
        env.run(AllDone(env, [cell.transmit(sent)]))
        spent = cell.end_round()
        assert spent is not None
        assert spent.transfers_j == pytest.approx(airtime_j)
        assert spent.baseline_j == pytest.approx(beside_j)
    rows = trace.transfers.gathered().to_pylist()
    assert [row["energy_j"] for row in rows] == pytest.approx([0.2, 0.08])
    assert [row["airtime_s"] for row in rows] == [2.0, 4.0]


def test_a_radio_of_class_c_spends_nothing_beside_its_airtime(env: Environment) -> None:
    cell: Cell = make_cell(env, **radio(energy=ENERGY, frames=CLASS_A | {"device_class": "C"}))
    env.run(AllDone(env, [cell.transmit(up(1, 2)), cell.transmit(down(2, 2))]))
    spent = cell.end_round()
    assert spent is not None
    assert spent.baseline_j == 0
    assert spent.transfers_j == pytest.approx(2 * 0.1 + 4 * 0.02)


def test_sensors_collide_with_those_of_their_class_alone(env: Environment) -> None:
    one = with_two_classes(env)
    for sensor in (1, 2, 3, 11):
        start(one, up(sensor, 1000))
    assert one.loss_probability(up(4, 1)) == pytest.approx(1 - exp(-3 * 0.02 / 3))
    assert one.loss_probability(up(14, 1)) == pytest.approx(1 - exp(-1 * 0.02 / 3))
    assert one.loss_probability(up(11, 1)) == 0


def test_a_class_has_the_frames_of_its_own(env: Environment) -> None:
    one = with_two_classes(env)
    assert one.demand(up(1, 2), 1.0).airtime_s == 2.0
    assert one.demand(up(11, 2), 1.0).airtime_s == 8.0
    assert one.demand(broadcast(1, 11, frames=1), 1.0).airtime_s == 8.0
    assert one.demand(broadcast(1, 2, frames=1), 1.0).airtime_s == 2.0


def test_one_downlink_serves_all_classes_with_one_duty_cycle(env: Environment) -> None:
    """Frames of 8 s and 72 s of silence, then of 2 s and 18 s, then of 8 s: each keeps the next one waiting."""
    one = with_two_classes(env, frames=CLASS_A | {"device_class": "C"})
    sent = [start(one, down(sensor, 1)) for sensor in (11, 1, 12)]
    env.run(sent[-1])
    assert [each.value for each in sent] == [0.0, 80.0, 100.0]
    assert env.now == 108.0


@pytest.mark.parametrize("device_class", ["A", "C"])
def test_sensors_of_a_hall_have_the_spreading_factor_that_reaches_the_gateway(device_class: str) -> None:
    """Those up to 100 dB away send frames of 1 s, the others of 4 s; nobody is in between."""
    rates = {"uplink_bps": 1e3, "downlink_bps": 1e3}
    profile = radio(
        frames=CLASS_A | {"device_class": device_class},
        repetitions=[{"coupling_loss_db": 100.0} | rates, {"coupling_loss_db": 150.0, "frames": FAR} | rates],
        budget={"carrier_ghz": 0.868, "bandwidth_hz": 125e3, "device_power_dbm": 14.0, "base_power_dbm": 14.0},
    )
    hall = {"kind": "uniform", "width_m": 500.0, "length_m": 500.0, "environment": "DL"}
    result = run(
        tiny_scenario(
            cells=[{"name": "gateway", "profile": profile, "x_m": 10.0, "y_m": 10.0}],
            sensors={"count": 30, "placement": hall},
            strategy={"name": "fedavg"},
            rounds=2,
        ),
        timing_only=True,
        allow_infeasible=True,
    )
    rows = result.transfers[result.transfers["direction"] == "down"]
    model_bytes = rows["bytes"].iloc[0]
    full, rest = divmod(model_bytes, 50)
    near_s = full * 2.0 + (0.5 + 1.5 * rest / 50 if rest else 0.0)
    found = set((rows["airtime_s"] / near_s).round(6))
    assert found == {1.0, 4.0}
