"""The timeline of a round: who has a lane, which spans there are, which are marked, and what is left out."""

import dataclasses

import pandas as pd
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Figure, Span, Timeline
from hfedms_sim.report.views.rounds_timeline import timeline_figure, typical_round
from hfedms_sim.result import RunResult
from tests.conftest import FAST
from tests.report.views.samples import placed_once, timed, timed_once


def panel_of(figure: Figure) -> Timeline:
    [panel] = figure.panels
    assert isinstance(panel, Timeline)
    return panel


def of_round(result: RunResult, number: int) -> pd.DataFrame:
    return result.transfers[result.transfers["round"] == number]


def test_every_transfer_of_the_round_is_a_span_from_its_start_to_its_end() -> None:
    result = timed_once()
    panel, sent = panel_of(timeline_figure(result, 4)), of_round(result, 4)
    spans = [span for span in panel.spans if span.kind in ("uplink", "downlink")]
    begun_s = result.rounds.set_index("round").loc[4, "start_s"]
    unit_s = {"seconds": 1.0, "minutes": 60.0}[panel.x_label.split()[0]]
    expected = sorted(
        (start_s - begun_s, end_s - begun_s) for start_s, end_s in zip(sent.start_s, sent.end_s, strict=True)
    )
    assert sorted((span.start * unit_s, span.end * unit_s) for span in spans) == [
        pytest.approx(each) for each in expected
    ]


def test_waiting_reaches_from_ready_to_start() -> None:
    result = timed(cells=[{"name": "hall", "profile": FAST | {"sharing": "fifo"}}])
    panel, sent = panel_of(timeline_figure(result, 1)), of_round(result, 1)
    waited = [span for span in panel.spans if span.kind == "waiting"]
    assert len(waited) == (sent["start_s"] > sent["ready_s"]).sum() > 0


def test_the_marked_spans_are_the_critical_path() -> None:
    result = placed_once()
    steps = [step for step in result.limits.path.steps(1) if step.kind == "transfer"]
    panel = panel_of(timeline_figure(result, 1))
    marked = [span for span in panel.spans if span.is_marked and span.kind in ("uplink", "downlink")]
    assert panel.marked_as == "critical path"
    assert len(marked) == len(steps) > 0
    unit_s = {"seconds": 1.0, "minutes": 60.0}[panel.x_label.split()[0]]
    assert sorted(span.end * unit_s for span in marked) == pytest.approx(sorted(step.end_s for step in steps))


def test_the_sensors_of_a_chain_stand_one_below_the_other_in_the_order_of_the_relay() -> None:
    result = timed_once()
    panel, sent = panel_of(timeline_figure(result, 1)), of_round(result, 1)
    chain = sent[(sent["group"] == 0) & (sent["direction"] == "down") & (sent["hop"] >= 0)].sort_values("hop")
    lanes = [panel.lanes.index(f"chain 0: sensor {sensor}") for sensor in chain["sensor"]]
    assert lanes == list(range(lanes[0], lanes[0] + len(lanes)))
    assert len(lanes) > 1


def test_sensors_outside_any_chain_share_a_lane_where_they_are_many() -> None:
    few, many = timed_once(), timed(sensors={"count": 30})
    assert not any("others" in lane for lane in panel_of(timeline_figure(few, 1)).lanes)
    assert panel_of(timeline_figure(many, 1)).lanes[-1].endswith(" others")


def test_a_broadcast_has_a_lane_of_its_cell() -> None:
    strategy = {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5, "scatter": "broadcast"}
    panel = panel_of(timeline_figure(timed(strategy=strategy), 1))
    assert panel.lanes[0] == "broadcast of hall"
    assert [span.kind for span in panel.spans if span.lane == 0] == ["downlink"]
    assert "server to everybody in hall" in next(span.text for span in panel.spans if span.lane == 0)


def test_by_cells_there_is_a_lane_for_each_direction_that_was_used() -> None:
    result = placed_once()
    panel, sent = panel_of(timeline_figure(result, 1, lanes="cells")), of_round(result, 1)
    assert set(panel.lanes) == {f"{cell}, {way}link" for cell, way in zip(sent["cell"], sent["direction"], strict=True)}
    assert "work" not in {span.kind for span in panel.spans}


def test_of_too_many_spans_the_critical_path_and_the_longest_stay_and_the_note_says_so() -> None:
    result = placed_once()
    whole = panel_of(timeline_figure(result, 1))
    marked = [span for span in whole.spans if span.is_marked]
    figure = timeline_figure(result, 1, most_spans=len(marked) + 2)
    kept = panel_of(figure).spans
    assert [span for span in kept if span.is_marked] == marked
    others = sorted((span for span in whole.spans if not span.is_marked), key=_length, reverse=True)
    assert sorted(map(_length, (span for span in kept if not span.is_marked))) == sorted(map(_length, others[:2]))
    assert figure.note.startswith(f"{len(kept)} of {len(whole.spans)} spans are drawn")
    assert not timeline_figure(result, 1).note


def _length(span: Span) -> float:
    return span.end - span.start


def test_a_span_says_what_went_from_whom_to_whom() -> None:
    texts = [span.text for span in panel_of(timeline_figure(timed_once(), 1)).spans if span.kind == "uplink"]
    assert any(text.startswith("model, ") and " to server, " in text for text in texts)


def test_what_was_lost_is_a_kind_of_its_own() -> None:
    result = timed_once()
    lost = result.transfers.copy()
    lost.loc[lost["round"] == 1, "outcome"] = "lost"
    changed = dataclasses.replace(result)
    changed.__dict__["transfers"] = lost
    spans = panel_of(timeline_figure(changed, 1)).spans
    assert {span.kind for span in spans} <= {"lost", "work", "waiting"}
    assert any(span.text.split(", ")[-2] == "lost" for span in spans)


def test_a_run_of_an_earlier_version_is_shown_too() -> None:
    result = timed_once()
    assert result.tables is not None
    tables = dict(result.tables)
    for name in ("transfers", "work"):
        frame = result.tables[name].to_pandas()
        frame[["outcome", "version"]] = None
        earlier = dataclasses.replace(result)
        earlier.__dict__[name] = frame
    assert panel_of(timeline_figure(earlier, 1)).spans
    assert tables.keys() == result.tables.keys()


def test_the_typical_round_has_the_median_length_of_the_full_ones() -> None:
    result = timed(rounds=9)
    full = result.rounds[result.rounds["phase"] == "full"].assign(length_s=lambda rows: rows["end_s"] - rows["start_s"])
    assert len(full) == 3
    assert typical_round(result) == int(full.sort_values(["length_s", "round"])["round"].iloc[1])


def test_a_round_that_was_not_played_is_refused() -> None:
    with pytest.raises(InputError, match="no round 77, it has rounds 1 to 6"):
        timeline_figure(timed_once(), 77)
