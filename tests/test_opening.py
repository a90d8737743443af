"""resume(directory) in Python: an interrupted run comes to the end that it would have had."""

from pathlib import Path

import numpy as np
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import Progress, open_run, resume, run
from tests.conftest import tiny_scenario


def interrupted(scenario: Scenario, out: Path, after: int, *, timing_only: bool = False) -> Path:
    def on_round(progress: Progress) -> None:
        if progress.round == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(scenario, out=out, on_round=on_round, timing_only=timing_only)
    return out


def test_a_run_is_gone_on_with_to_the_same_end(tmp_path: Path) -> None:
    scenario, told = tiny_scenario(), list[Progress]()
    whole = run(scenario)
    result = resume(interrupted(scenario, tmp_path / "out", 4), on_round=told.append)
    assert [each.round for each in told] == [1, 2, 3, 4, 5, 6]
    assert result.rounds.equals(whole.rounds)
    for name, array in whole.weights().items():
        np.testing.assert_array_equal(result.weights()[name], array)
    assert open_run(tmp_path / "out").summary == result.summary


def test_a_run_that_was_timing_only_stays_so(tmp_path: Path) -> None:
    result = resume(interrupted(tiny_scenario(), tmp_path / "out", 2, timing_only=True))
    assert result.provenance["timing_only"]
    assert result.rounds.equals(run(tiny_scenario(), timing_only=True).rounds)


def test_a_finished_run_is_only_opened(tmp_path: Path) -> None:
    finished = run(tiny_scenario(), out=tmp_path / "out")
    before = (tmp_path / "out" / "provenance.json").read_bytes()
    told: list[Progress] = []
    assert resume(tmp_path / "out", on_round=told.append).summary == finished.summary
    assert not told
    assert (tmp_path / "out" / "provenance.json").read_bytes() == before


def test_what_is_no_run_is_one_line(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(InputError, match="no run to resume"):
            resume(place)


def test_a_resumed_run_must_be_trained_as_it_was(tmp_path: Path) -> None:
    out = interrupted(tiny_scenario(), tmp_path / "out", 2)
    with pytest.raises(InputError, match="was trained with another threads: 1, now 2"):
        resume(out, threads=2)
