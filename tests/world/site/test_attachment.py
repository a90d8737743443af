"""Sensors counted by their cells, against the obvious list."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.world.site.attachment import Counted


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8))
def test_counted_sensors_go_to_the_cells_in_the_order_of_their_numbers(counts: list[int]) -> None:
    attachment = Counted(counts)
    expected = [cell for cell, count in enumerate(counts) for _ in range(count)]
    sensors = np.arange(len(expected))
    assert [attachment.cell(sensor) for sensor in sensors.tolist()] == expected
    assert attachment.cells(sensors).tolist() == expected
    assert attachment.cells(sensors[::-1]).tolist() == expected[::-1]
    assert [attachment.attached(cell) for cell in range(len(counts))] == counts
    assert attachment.covered.tolist() == sensors.tolist()
