"""Sensors stand inside the hall, where their number and the seed put them, and nobody moves for a newcomer."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from hfedms_sim.errors import InputError
from hfedms_sim.seeds import Draws
from hfedms_sim.world.site.placement import Hall, clusters, from_csv, grid, uniform

ALPHA = 0.001  # 99.9 %
HALL = Hall(width_m=60.0, length_m=120.0)

PLACEMENTS: dict[str, Callable[[int, Draws], NDArray[np.float64]]] = {
    "grid": lambda count, draws: grid(count, HALL, 1.5),
    "uniform": lambda count, draws: uniform(count, HALL, draws),
    "clusters": lambda count, draws: clusters(count, HALL, 7, 10.0, draws),
    "wide clusters": lambda count, draws: clusters(count, HALL, 7, 120.0, draws),
}


@pytest.mark.parametrize("place", PLACEMENTS.values(), ids=PLACEMENTS)
@given(seed=st.integers(0, 2**63 - 1), count=st.integers(0, 300))
def test_everyone_is_inside_and_one_more_sensor_moves_nobody(
    place: Callable[[int, Draws], NDArray[np.float64]], seed: int, count: int
) -> None:
    positions_m = place(count, Draws(seed))
    assert positions_m.shape == (count, 2)
    assert positions_m.dtype == np.float64
    assert (positions_m >= 0).all()
    assert (positions_m <= HALL.size_m).all()
    assert (place(count + 1, Draws(seed))[:count] == positions_m).all()


def test_a_grid_fills_rows_along_the_width_at_its_pitch() -> None:
    assert grid(5, Hall(30.0, 30.0), 10.0).tolist() == [[5, 5], [15, 5], [25, 5], [5, 15], [15, 15]]


def test_a_longer_hall_moves_no_sensor_of_a_grid() -> None:
    assert (grid(12, Hall(40.0, 30.0), 10.0) == grid(12, Hall(40.0, 300.0), 10.0)).all()


def test_a_grid_counts_a_side_of_three_pitches_as_three() -> None:
    assert grid(9, Hall(0.3, 0.3), 0.1)[-1] == pytest.approx([0.25, 0.25])


@pytest.mark.parametrize(
    ("hall", "pitch_m", "fit"), [(Hall(60, 120), 10.0, 72), (Hall(60, 119), 10.0, 66), (Hall(5, 5), 10.0, 0)]
)
def test_a_grid_that_is_too_small_says_how_many_fit(hall: Hall, pitch_m: float, fit: int) -> None:
    assert len(grid(fit, hall, pitch_m)) == fit
    with pytest.raises(InputError, match=rf"^{fit + 1} sensors do not fit: .* room for {fit} at pitch_m = 10$"):
        grid(fit + 1, hall, pitch_m)


def test_uniform_sensors_are_uniform_and_their_coordinates_independent() -> None:
    x, y = (uniform(20_000, HALL, Draws(5)) / HALL.size_m).T
    assert stats.kstest(x, "uniform").pvalue > ALPHA
    assert stats.kstest(y, "uniform").pvalue > ALPHA
    assert abs(np.corrcoef(x, y)[0, 1]) < stats.norm.isf(ALPHA / 2) / np.sqrt(20_000)


def test_sensor_k_belongs_to_cluster_k_mod_n_and_a_centre_depends_on_its_number_only() -> None:
    centres_m = clusters(7, HALL, 7, 0.0, Draws(1))
    assert (clusters(70, HALL, 7, 0.0, Draws(1)) == np.tile(centres_m, (10, 1))).all()
    assert (clusters(9, HALL, 9, 0.0, Draws(1))[:7] == centres_m).all()
    assert len(np.unique(centres_m, axis=0)) == 7


def test_offsets_from_the_centre_are_normal_with_the_spread() -> None:
    huge = Hall(1e6, 1e6)
    centre_m = clusters(1, huge, 1, 0.0, Draws(3))
    offsets_m = clusters(20_000, huge, 1, 2.0, Draws(3)) - centre_m
    assert stats.kstest(offsets_m[:, 0], "norm", (0, 2.0)).pvalue > ALPHA
    assert stats.kstest(offsets_m[:, 1], "norm", (0, 2.0)).pvalue > ALPHA


def test_another_seed_is_another_factory() -> None:
    for place in (PLACEMENTS["uniform"], PLACEMENTS["clusters"]):
        assert (place(50, Draws(1)) != place(50, Draws(2))).all()


@pytest.mark.parametrize(
    "content",
    [
        "sensor,x_m,y_m\n0,1.5,2\n1,0,0\n2,60,120\n",
        "\ufeffsensor, x_m, y_m\r\n2,60,1.2e2\r\n\r\n0, 1.5, 2\r\n1,0,-0",
        'sensor,x_m,y_m\n"0","1.5","2"\n01,0,0\n2,60,120',
    ],
    ids=["plain", "spreadsheet's, in any order", "quoted"],
)
def test_a_csv_file_puts_each_sensor_where_it_says(content: str, tmp_path: Path) -> None:
    file = tmp_path / "hall.csv"
    file.write_bytes(content.encode())
    listed = from_csv(3, HALL, file)
    assert listed.positions_m.tolist() == [[1.5, 2.0], [0.0, 0.0], [60.0, 120.0]]
    assert listed.cells is None


@pytest.mark.parametrize(
    "content",
    [
        "sensor,x_m,y_m,cell\n0,1,2,yard\n1,3,4,hall\n2,5,6,yard\n",
        '\ufeffsensor, x_m, y_m, cell\r\n2,5,6,yard\r\n"0",1,2,"yard"\r\n1,3,4, hall \r\n',
    ],
    ids=["plain", "spreadsheet's, in any order"],
)
def test_a_csv_file_may_name_the_cell_of_each_sensor(content: str, tmp_path: Path) -> None:
    file = tmp_path / "hall.csv"
    file.write_bytes(content.encode())
    positions_m, cells = from_csv(3, HALL, file, ["hall", "yard"])
    assert positions_m.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert cells is not None
    assert cells.tolist() == [1, 0, 1]


SENSORS = "the sensors 0 to 2"
WHOLE = "must be a whole number from 0 to 2"
INSIDE_X, INSIDE_Y = (f"must be a number from 0 to {side}, inside the hall" for side in (60, 120))
GOOD = b"sensor,x_m,y_m\n0,1,1\n1,2,2\n"
NAMED = b"sensor,x_m,y_m,cell\n0,1,1,hall\n"
BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", ", line 1: header = '': must be sensor,x_m,y_m"),
    "no header": (b"0,1,1\n", ", line 1: header = '0,1,1': must be sensor,x_m,y_m"),
    "other header": (b"id,x,y\n0,1,1\n", ", line 1: header = 'id,x,y': must be sensor,x_m,y_m"),
    "blank first line": (b"\n" + GOOD, ", line 1: header = '': must be sensor,x_m,y_m"),
    "header only": (b"sensor,x_m,y_m\n", f": sensor 0 is missing; there must be {SENSORS}, each once"),
    "missing sensor": (GOOD, f": sensor 2 is missing; there must be {SENSORS}, each once"),
    "duplicate sensor": (GOOD + b"1,3,3\n", ", line 4: sensor = 1: stands in the file twice; allowed is once"),
    "unknown sensor": (GOOD + b"3,3,3\n", f", line 4: sensor = '3': {WHOLE}"),
    "negative sensor": (GOOD + b"-1,3,3\n", f", line 4: sensor = '-1': {WHOLE}"),
    "fractional sensor": (GOOD + b"1.0,3,3\n", f", line 4: sensor = '1.0': {WHOLE}"),
    "foreign digits": (GOOD + "٢,3,3\n".encode(), f", line 4: sensor = '٢': {WHOLE}"),
    "sensor of 5,000 digits": (
        GOOD + b"1" * 5_000 + b",3,3\n",
        f", line 4: sensor = '{'1' * 56}...: {WHOLE}",
    ),
    "not a number": (GOOD + b"2,left,3\n", f", line 4: x_m = 'left': {INSIDE_X}"),
    "nothing": (GOOD + b"2,3,\n", f", line 4: y_m = '': {INSIDE_Y}"),
    "NaN": (GOOD + b"2,nan,3\n", f", line 4: x_m = 'nan': {INSIDE_X}"),
    "infinite": (GOOD + b"2,3,inf\n", f", line 4: y_m = 'inf': {INSIDE_Y}"),
    "negative": (GOOD + b"2,3,-0.1\n", f", line 4: y_m = '-0.1': {INSIDE_Y}"),
    "outside": (GOOD + b"2,60.01,3\n", f", line 4: x_m = '60.01': {INSIDE_X}"),
    "line break in a value": (GOOD + b'2,"3\n4",3\n', f", line 5: x_m = '3\\n4': {INSIDE_X}"),
    "too few values": (GOOD + b"2,3\n", ", line 4: row = '2,3': must have 3 values, sensor,x_m,y_m"),
    "too many values": (GOOD + b"2,3,4,5\n", ", line 4: row = '2,3,4,5': must have 3 values, sensor,x_m,y_m"),
    "misspelt fourth column": (
        b"sensor,x_m,y_m,cel\n",
        ", line 1: header = 'sensor,x_m,y_m,cel': must be sensor,x_m,y_m,cell",
    ),
    "unknown cell": (NAMED + b"1,2,2,hal\n", ", line 3: unknown cell 'hal'. Did you mean 'hall'? Known: hall, yard"),
    "no cell": (NAMED + b"1,2,2,\n", ", line 3: unknown cell ''. Known: hall, yard"),
    "cell left out": (NAMED + b"1,2,2\n", ", line 3: row = '1,2,2': must have 4 values, sensor,x_m,y_m,cell"),
    "not UTF-8": (GOOD + b"2,\xff,3\n", ", line 4: byte 0xff is not UTF-8 text"),
    "UTF-16": (GOOD.decode().encode("utf-16"), ", line 1: byte 0xff is not UTF-8 text"),
}


@pytest.mark.parametrize(("content", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_csv_file_is_refused_in_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "hall.csv"
    file.write_bytes(content)
    with pytest.raises(InputError) as refused:
        from_csv(3, HALL, file, ["hall", "yard"])
    assert str(refused.value) == f"{file}{message}"
    assert len(str(refused.value).splitlines()) == 1


def test_a_value_too_long_for_csv_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "hall.csv"
    file.write_bytes(GOOD + b"2," + b"1" * 200_000 + b",3\n")
    with pytest.raises(InputError, match=r"hall\.csv, line 4: field larger than field limit"):
        from_csv(3, HALL, file)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.csv", "nothing.csv: no such file"),
        ("", ": is a directory or a device, not a CSV file"),
        ("a\nb.csv", r"a\nb.csv': no such file"),
        ("a\0b.csv", "': cannot be read (embedded null byte)"),
        ("x" * 300, ": cannot be read (File name too long)"),
    ],
)
def test_a_path_that_is_no_file_is_refused_in_one_line(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        from_csv(3, HALL, tmp_path / name)
    assert str(refused.value).endswith(message)
    assert len(str(refused.value).splitlines()) == 1


def test_a_device_is_refused_instead_of_read_for_ever() -> None:
    with pytest.raises(InputError, match="is a directory or a device"):
        from_csv(3, HALL, Path("/dev/zero"))
