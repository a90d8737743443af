"""How long transfers take: boxes of five numbers that look as boxes of all values do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.cbook import boxplot_stats

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Boxes
from hfedms_sim.report.five_numbers import five_numbers
from hfedms_sim.report.views.transfers import transfers_figure
from tests.report.views.samples import timed, timed_once

NAMES = ("whislo", "q1", "med", "q3", "whishi")


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=60))
def test_five_numbers_have_the_box_of_all_values(values: list[float]) -> None:
    numbers = five_numbers(np.array(values))
    [box] = boxplot_stats(np.array(values))
    [again] = boxplot_stats(np.array(numbers))
    assert numbers == pytest.approx(tuple(float(box[name]) for name in NAMES))
    assert [again[name] for name in NAMES] == pytest.approx(list(numbers))


def test_a_run_has_a_box_for_each_payload_and_direction() -> None:
    result = timed_once()
    taken, airtime = transfers_figure([result]).panels
    assert isinstance(taken, Boxes)
    assert isinstance(airtime, Boxes)
    kinds = result.transfers.groupby(["payload", "direction"])
    assert [label for label, _ in taken.groups] == [f"{payload} {direction}" for payload, direction in kinds.groups]
    median_s = kinds["airtime_s"].median()
    size_s = {"seconds": 1.0, "milliseconds": 1e-3}[airtime.y_label]
    assert [box[2] * size_s for _, box in airtime.groups] == pytest.approx(median_s.tolist())
    assert taken.log_y


def test_several_runs_have_panels_for_each_payload_with_a_box_each() -> None:
    both = [timed_once(), timed(strategy={"name": "fedavg", "sample_ratio": 0.5})]
    panels = transfers_figure(both).panels
    assert {len(panel.groups) for panel in panels if isinstance(panel, Boxes) and "model" in panel.title} == {2}
    assert panels[0].title.endswith("from ready to end")
    assert panels[1].title.endswith("airtime alone")


def test_a_run_of_which_nothing_arrived_is_refused() -> None:
    result = timed()
    result.transfers["outcome"] = "lost"
    with pytest.raises(InputError, match="no transfer has arrived"):
        transfers_figure([result])
