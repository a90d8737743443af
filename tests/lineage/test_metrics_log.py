"""The log of finished rounds: exact numbers, and a damaged line is as good as none."""

from math import inf, isnan, nan
from pathlib import Path

import pytest

from hfedms_sim.lineage import Metrics
from hfedms_sim.lineage.metrics_log import MetricsLog

MEASURED = Metrics(0.1 + 0.2, 1 / 3, 5e-324, 0.5, 1.7976931348623157e308, None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    log = MetricsLog(tmp_path / "metrics.log")
    for number in (1, 2, 3):
        log.note_learnt(number, f"after{number}", True)
        log.note_metrics(number, f"after{number}", None, MEASURED._replace(accuracy=number / 7))
    log.close()
    return tmp_path / "metrics.log"


def test_numbers_come_back_as_the_same_bits(path: Path) -> None:
    log = MetricsLog(path)
    assert log.finite == {"after1": True, "after2": True, "after3": True}
    assert log.metrics["after2", None] == MEASURED._replace(accuracy=2 / 7)
    assert not log.has_torn_end
    assert not log.damaged_lines


def test_a_loss_that_is_not_a_number_comes_back(path: Path) -> None:
    log = MetricsLog(path)
    log.note_metrics(4, "after4", 2, MEASURED._replace(loss=nan, accuracy=inf))
    found = MetricsLog(path).metrics["after4", 2]
    assert found.accuracy == inf
    assert found.loss is not None
    assert isnan(found.loss)


@pytest.mark.parametrize("cut", [1, 2, 30])
def test_a_torn_last_line_is_skipped_and_cut_off_before_the_next(path: Path, cut: int) -> None:
    path.write_bytes(path.read_bytes()[:-cut])
    log = MetricsLog(path)
    assert log.has_torn_end
    assert ("after3", None) not in log.metrics
    assert ("after2", None) in log.metrics
    log.note_metrics(3, "after3", None, MEASURED)
    log.close()
    again = MetricsLog(path)
    assert (again.has_torn_end, again.damaged_lines) == (False, 0)
    assert again.metrics["after3", None] == MEASURED


def test_whatever_byte_is_changed_the_line_it_is_in_counts_as_absent_and_no_other_number_is_read(path: Path) -> None:
    sound, log = path.read_bytes(), MetricsLog(path)
    for place in range(0, len(sound), 3):
        damaged = bytearray(sound)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        read = MetricsLog(path)
        assert read.damaged_lines + read.has_torn_end >= 1
        assert read.metrics.items() <= log.metrics.items()
        assert read.finite.items() <= log.finite.items()
        assert len(read.metrics) + len(read.finite) >= 4  # of 6: a changed newline costs two
    path.unlink()
    assert not MetricsLog(path).metrics
