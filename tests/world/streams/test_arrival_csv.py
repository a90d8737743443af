"""Recorded arrivals: what a good file says, and one line for each way in which a file can be bad."""

import math
from pathlib import Path

import numpy as np
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.world.streams.arrival_csv import read_arrival_csv

BAD = {
    "empty": (b"", "line 1: header = ''"),
    "wrong header": (b"sensor,time\n0,1\n", "line 1: header = 'sensor,time': must be sensor,time_s"),
    "no header": (b"0,1\n", "line 1: header = '0,1'"),
    "blank first line": (b"\nsensor,time_s\n0,1\n", "line 1: header = ''"),
    "no rows": (b"sensor,time_s\n\n", "no rows"),
    "short row": (b"sensor,time_s\n0,1\n1\n", "line 3: row = '1': must have 2 values"),
    "long row": (b"sensor,time_s\n0,1,2\n", "line 2: row = '0,1,2': must have 2 values"),
    "time is a word": (b"sensor,time_s\n0,soon\n", "line 2: time_s = 'soon': must be a finite number"),
    "time is empty": (b"sensor,time_s\n0,\n", "line 2: time_s = ''"),
    "time with underscores": (b"sensor,time_s\n0,1_0\n", "line 2: time_s = '1_0'"),
    "NaN": (b"sensor,time_s\n0,1\n0,nan\n", "line 3: time_s = 'nan': must be a finite number"),
    "infinite": (b"sensor,time_s\n0,inf\n", "line 2: time_s = 'inf'"),
    "too large": (b"sensor,time_s\n0,1e999\n", "line 2: time_s = '1e999'"),
    "negative time": (b"sensor,time_s\n0,-0.5\n", "line 2: time_s = '-0.5': must be a finite number of seconds, at"),
    "unsorted": (b"sensor,time_s\n0,5\n1,1\n0,4.5\n", "line 4: time_s = 4.5: must be at least 5.0"),
    "unknown sensor": (b"sensor,time_s\n3,1\n", "line 2: sensor = '3': must be a whole number from 0 to 2"),
    "negative sensor": (b"sensor,time_s\n-1,1\n", "line 2: sensor = '-1'"),
    "sensor is a fraction": (b"sensor,time_s\n1.0,1\n", "line 2: sensor = '1.0'"),
    "sensor is a name": (b"sensor,time_s\npump,1\n", "line 2: sensor = 'pump'"),
    "sensor of 5,000 digits": (b"sensor,time_s\n" + b"9" * 5_000 + b",1\n", "line 2: sensor = '999"),
    "other separator": (b"sensor;time_s\n0;1\n", "line 1: header = 'sensor;time_s'"),
    "line break in a value": (b'sensor,time_s\n0,"1\n2"\n', r"time_s = '1\n2'"),
    "open quote": (b'sensor,time_s\n0,"1\n0,2\n', "line 3: "),
    "NUL": (b"sensor,time_s\n0,\x00\n", "line 2: "),
    "endless value": (b"sensor,time_s\n0," + b"1" * 200_000, "line 2: "),
    "Latin-1": (b"sensor,time_s\n0,1\n0,2\xe9\n", "line 3: byte 0xe9 is not UTF-8"),
    "UTF-16": ("sensor,time_s\n0,1\n".encode("utf-16"), "line 1: byte 0xff is not UTF-8"),
}


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "arrivals.csv"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(("content", "complaint"), BAD.values(), ids=BAD)
def test_a_bad_file_is_refused_in_one_line(content: bytes, complaint: str, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError) as refusal:
        read_arrival_csv(path, 3)
    message = str(refusal.value)
    assert message.startswith(str(path))
    assert complaint in message
    assert len(message.splitlines()) == 1
    assert len(message) < len(str(path)) + 200


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_arrival_csv(tmp_path / "nothing.csv", 3)
    with pytest.raises(InputError, match="is a directory or a device"):
        read_arrival_csv(tmp_path, 3)
    with pytest.raises(InputError, match="is a directory or a device"):
        read_arrival_csv(Path("/dev/zero"), 3)


def test_rows_of_different_sensors_may_be_mixed(tmp_path: Path) -> None:
    path = read_arrival_csv(written(tmp_path, b"sensor,time_s\n2,0\n0,1.5\n2,7\n\n0,1.5\n2,3e1\n"), 4)
    assert [path.count(sensor, 10.0) for sensor in range(4)] == [2, 0, 2, 0]
    assert [path.time_of(2, number) for number in (1, 2, 3, 4)] == [0.0, 7.0, 30.0, math.inf]
    assert [path.time_of(0, number) for number in (1, 2, 3)] == [1.5, 1.5, math.inf]
    assert path.count(0, 1.5) == 2
    assert path.count(2, 0.0) == 1


def test_a_sensor_without_rows_never_delivers(tmp_path: Path) -> None:
    path = read_arrival_csv(written(tmp_path, b"sensor,time_s\n0,1\n"), 2)
    assert path.count(1, math.inf) == 0
    assert path.time_of(1, 1) == math.inf


def test_a_spreadsheets_file_is_read(tmp_path: Path) -> None:
    path = read_arrival_csv(written(tmp_path, b'\xef\xbb\xbf"sensor", "time_s"\r\n"0", 1.5\r\n1,2\r\n'), 2)
    assert (path.time_of(0, 1), path.time_of(1, 1)) == (1.5, 2.0)


def test_a_long_recording_is_read_as_it_is(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    times_s = np.sort(rng.uniform(0, 1e6, 50_000))
    sensors = rng.integers(0, 100, times_s.size)
    rows = "".join(f"{sensor},{time_s!r}\n" for sensor, time_s in zip(sensors, times_s.tolist(), strict=True))
    path = read_arrival_csv(written(tmp_path, b"sensor,time_s\n" + rows.encode()), 100)
    for sensor in (0, 57, 99):
        own_s = times_s[sensors == sensor]
        assert [path.time_of(sensor, number + 1) for number in range(own_s.size)] == own_s.tolist()
