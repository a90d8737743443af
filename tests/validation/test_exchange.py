"""A row's scenario is one sensor that sends what the source states over the shipped profile, and nothing else."""

from pathlib import Path
from typing import Any

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import load_profile
from hfedms_sim.simulation import run
from hfedms_sim.validation.exchange import Exchange, exchange_of
from hfedms_sim.validation.rows import Play, Row, shipped_rows

BASE = shipped_rows().base


def row(profile: str = "lte-cat-m1-hd", **play: Any) -> Row:
    return Row(
        id="X1", what="x", value=1.0, unit="s", source="a book", cites="a book", kind="independent", profile=profile,
        play=Play(**play), reads="uplink_s",
    )  # fmt: skip


def play(exchange: Exchange) -> RunResult:
    return run(exchange.scenario, model=exchange.message, timing_only=True)


def test_messages_and_answers_have_the_stated_size_even_where_no_network_has_it() -> None:
    transfers = play(exchange_of(row(message_bytes=201, messages=4), BASE)).transfers
    assert transfers["direction"].tolist() == ["down", "up"] * 4
    assert set(transfers["bytes"]) == {201}


def test_a_message_is_ready_once_a_period_and_its_answer_follows_at_once() -> None:
    transfers = play(exchange_of(row(message_bytes=200, messages=5, period_s=60.0), BASE)).transfers
    ups, downs = (transfers[transfers["direction"] == direction] for direction in ("up", "down"))
    assert ups["ready_s"].diff().iloc[1:].tolist() == pytest.approx([60.0] * 4)
    assert downs["ready_s"].tolist()[1:] == ups["end_s"].tolist()[:-1]


def test_the_set_up_is_the_messages_and_not_its_answers() -> None:
    """Airtime and latency are left; 0.1 s of set-up would show in the answer."""
    setup_s = load_profile("lte-cat-m1-hd").setup_s
    transfers = play(exchange_of(row(message_bytes=1, messages=5, period_s=60.0), BASE)).transfers
    waited_s = (transfers["start_s"] - transfers["ready_s"])[transfers["round"] > 1]
    by_direction = waited_s.groupby(transfers["direction"]).max()
    assert by_direction["up"] == pytest.approx(setup_s)
    assert by_direction["down"] == 0


@pytest.mark.parametrize("profile", ["nb-iot-nb1", "lte-cat-m1-hd", "sigfox-rc1"])
def test_the_radio_is_the_shipped_profile_figure_by_figure(profile: str) -> None:
    assert exchange_of(row(profile), BASE).scenario.cells[0].profile == load_profile(profile)


def test_a_coverage_class_brings_its_own_rates_and_leaves_the_rest() -> None:
    shipped = load_profile("nb-iot-nb1")
    played = exchange_of(row("nb-iot-nb1", coverage_class=2), BASE).scenario.cells[0].profile
    worst = shipped.repetitions[2]
    assert (played.uplink_bps, played.downlink_bps) == (worst.uplink_bps, worst.downlink_bps)
    assert played.repetitions == (worst,)
    own = {"uplink_bps", "downlink_bps", "uplink_capacity_bps", "downlink_capacity_bps", "latency_s", "repetitions"}
    others = set(type(played).model_fields) - own
    assert all(played.channels_in(each) == pytest.approx(shipped.channels_in(each)) for each in ("up", "down"))
    assert all(getattr(played, key) == getattr(shipped, key) for key in others)
    assert played.class_latencies_s == (shipped.class_latencies_s[2],)


def test_a_coverage_class_brings_its_own_latency_and_fills_a_cell_with_as_many_devices(tmp_path: Path) -> None:
    (tmp_path / "radio.yaml").write_text(
        "{name: radio, uplink_bps: 8000, downlink_bps: 16000, uplink_capacity_bps: 20000, latency_s: 0.1,"
        " repetitions: ["
        "{coupling_loss_db: 144, uplink_bps: 8000, downlink_bps: 16000, latency_s: 0.2},"
        "{coupling_loss_db: 154, uplink_bps: 800, downlink_bps: 1600, latency_s: 0.4}]}"
    )
    played = exchange_of(row(str(tmp_path / "radio.yaml"), coverage_class=1), BASE)
    profile = played.scenario.cells[0].profile
    assert (profile.latency_s, profile.class_latencies_s, profile.channels_in("up")) == (0.4, (0.4,), 2.5)
    transfers = play(played).transfers
    assert (transfers["end_s"] - transfers["start_s"] - transfers["airtime_s"]).tolist() == pytest.approx(
        [0.4] * len(transfers)
    )


def test_a_class_that_the_profile_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="profile ethernet: has 0 coverage classes, no class 1"):
        exchange_of(row("ethernet", coverage_class=1), BASE)


def test_work_takes_three_passes_of_the_stated_multiply_adds() -> None:
    played = play(exchange_of(row(multiply_adds=2_000_000, set={"compute.device": "mcu"}), BASE))
    assert (played.work["end_s"] - played.work["start_s"]).tolist() == pytest.approx([3 * 2e6 / 0.2e9] * 20)


def test_a_key_that_no_scenario_has_is_refused_with_the_row() -> None:
    with pytest.raises(InputError, match=r"row X1: .*colour"):
        exchange_of(row(set={"sensors.colour": "red"}), BASE)


def test_a_row_may_say_how_the_network_runs_the_radio() -> None:
    """After the message: the answer, ready at once, finds the sensor released. After the answer: it does not."""
    plain = exchange_of(row(message_bytes=100), BASE).scenario.cells[0].profile
    message = exchange_of(row(message_bytes=100, release_assistance="message"), BASE).scenario.cells[0].profile
    answer = exchange_of(row(message_bytes=100, release_assistance="answer"), BASE).scenario.cells[0].profile
    assert (message.release_assistance, message.inactivity_s) == (True, plain.inactivity_s)
    assert (answer.release_assistance, answer.inactivity_s) == (False, 0.0)
    paged = exchange_of(row(message_bytes=100, idle={"mode": "edrx", "cycle_s": 81.92}), BASE).scenario.cells[0].profile
    assert paged.idle is not None
    assert (paged.idle.mode, paged.idle.pages_every_s) == ("edrx", 81.92)


@pytest.mark.parametrize(("released_after", "set_ups"), [("message", 2), ("answer", 1)])
def test_an_answer_comes_in_the_connection_of_its_message_unless_that_is_released(
    released_after: str, set_ups: int
) -> None:
    exchange = exchange_of(row(message_bytes=100, messages=5, period_s=60.0, release_assistance=released_after), BASE)
    rows = play(exchange).transfers
    waited = rows[(rows["round"] > 1) & (rows["start_s"] > rows["ready_s"])]
    assert len(waited) == 4 * set_ups


def test_a_row_with_a_faulty_idle_is_named_in_one_line() -> None:
    with pytest.raises(InputError, match=r"row X1: .*mode: edrx needs cycle_s"):
        exchange_of(row(idle={"mode": "edrx", "cycle_s": None}), BASE)
