"""The file of tuned settings says on what the choice was made."""

import json
from pathlib import Path

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.paper.experiments.benchmarks import BENCHMARKS
from hfedms_sim.paper.tuned import Tuned, read_tuned
from tests.paper.made_up import results, study

MADE_ON = {"study": "smoke: mine", "seed": 0, "rounds": 40, "points": 6}
CONTENT = {"choices": {"stream": {"fedavg": {"strategy.learning_rate": "0.2"}}}, "accuracies": {}}


def tuned(path: Path, **more: object) -> Tuned:
    path.write_text(json.dumps(CONTENT | more))
    return read_tuned(path)


def note_of(chosen: Tuned) -> str:
    here = study(tuned=chosen)
    (table,) = (each for each in BENCHMARKS.outcome(here, results(BENCHMARKS, here)).tables if "Tuned" in each.title)
    return table.note


def test_the_table_of_tuned_settings_names_what_they_were_chosen_on(tmp_path: Path) -> None:
    assert "seed 0, 40 rounds, of the study smoke: mine." in note_of(tuned(tmp_path / "tuned.json", made_on=MADE_ON))
    assert "seed 0, 100 rounds, of the study factory: unipen62" in note_of(read_tuned())


def test_a_choice_that_does_not_say_where_it_comes_from_is_taken_all_the_same(tmp_path: Path) -> None:
    assert note_of(tuned(tmp_path / "tuned.json")) == "Chosen by paper tune. All else is as with defaults."


@pytest.mark.parametrize("made_on", [3, {}, {"seed": 0}])
def test_an_origin_that_is_none_is_refused(tmp_path: Path, made_on: object) -> None:
    with pytest.raises(InputError, match=r"tuned\.json: must have"):
        tuned(tmp_path / "tuned.json", made_on=made_on)
