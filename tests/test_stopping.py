"""Why a run stopped is data, also where an earlier version wrote a sentence."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.errors import InputError
from hfedms_sim.simulation import open_run, run
from hfedms_sim.stopping import Stopped, current_summary, has_diverged, stopped_of
from tests.conftest import tiny_scenario, without_checksums

SENTENCES = {
    "accuracy 0.6 reached in round 70": Stopped("target", 70, "accuracy 0.6"),
    "accuracy 1e-05 reached in round 1": Stopped("target", 1, "accuracy 1e-05"),
    "diverged in round 3: a weight is not finite": Stopped("diverged", 3, "a weight is not finite"),
    "diverged in round 1200: the loss is not finite": Stopped("diverged", 1200, "the loss is not finite"),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_of_an_earlier_version_is_read_and_told_again(sentence: str) -> None:
    stopped = SENTENCES[sentence]
    assert stopped_of({"stopped": sentence}) == stopped
    assert str(stopped) == sentence
    assert has_diverged({"stopped": sentence}) is (stopped.reason == "diverged")


@given(round_number=st.integers(1, 10**9), accuracy=st.floats(0, 1))
def test_what_is_written_is_read(round_number: int, accuracy: float) -> None:
    for stopped in (Stopped.at_target(accuracy, round_number), Stopped.diverged("a weight", round_number)):
        assert stopped_of(json.loads(json.dumps({"stopped": stopped._asdict()}))) == stopped
        assert stopped_of({"stopped": str(stopped)}) == stopped


@pytest.mark.parametrize("summary", [{}, {"stopped": None}])
def test_a_run_that_did_not_stop_has_no_reason(summary: dict[str, Any]) -> None:
    assert stopped_of(summary) is None
    assert not has_diverged(summary)
    assert current_summary(summary) == {"stopped": None}


def test_the_reason_of_a_later_version_is_kept() -> None:
    later = {"stopped": {"reason": "battery", "round": 4, "detail": "sensor 3 is empty", "sensor": 3}}
    assert str(stopped_of(later)) == "battery in round 4: sensor 3 is empty"


def test_a_directory_of_an_earlier_version_is_opened_with_its_reason_as_data(tmp_path: Path) -> None:
    run(tiny_scenario(), timing_only=True, out=tmp_path / "out")
    path = without_checksums(tmp_path / "out") / "summary.json"
    summary = json.loads(path.read_text())
    path.write_text(json.dumps(summary | {"stopped": "accuracy 0.6 reached in round 2"}))
    opened = open_run(tmp_path / "out")
    assert opened.summary["stopped"] == {"reason": "target", "round": 2, "detail": "accuracy 0.6"}
    assert {**opened.summary, "stopped": None} == summary


@pytest.mark.parametrize("wrong", ["bored", {"reason": "target"}, 3, {"reason": "target", "round": "x", "detail": ""}])
def test_what_no_version_has_written_is_one_line(tmp_path: Path, wrong: Any) -> None:
    run(tiny_scenario(), timing_only=True, out=tmp_path / "out")
    path = without_checksums(tmp_path / "out") / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"stopped": wrong}))
    with pytest.raises(InputError, match=r"summary\.json: damaged \(") as caught:
        open_run(tmp_path / "out")
    assert "\n" not in str(caught.value)
