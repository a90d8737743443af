"""The published claims of docs/results are those that the published records come to, and `paper verdicts` has them."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from hfedms_sim.campaign import workers_for
from hfedms_sim.campaign.tasks import Options
from hfedms_sim.cli import main
from hfedms_sim.paper.catalogue import EXPERIMENTS
from hfedms_sim.paper.conduct import Conductor
from hfedms_sim.paper.scales import SCALES
from hfedms_sim.paper.study import Study
from hfedms_sim.paper.verdicts import judged

RESULTS = Path(__file__).parents[2] / "docs" / "results"
PUBLISHED = RESULTS / "factory"
NAMES = ("intervals", "scc", "forgetting")


@pytest.fixture(scope="module")
def judged_again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of published experiments, judged by what the claims are now."""
    directory = tmp_path_factory.mktemp("published")
    study = Study(SCALES["factory"])  # without the data, which are not part of this package
    for name in NAMES:
        shutil.copytree(PUBLISHED / name, directory / name)
        conductor = Conductor(study, directory, lambda: workers_for(1, None, Options()), "", without_training=True)
        conductor.conduct(EXPERIMENTS[name])
    return directory


@pytest.mark.parametrize("name", NAMES)
def test_what_is_published_was_judged_by_what_the_claims_are_now(judged_again: Path, name: str) -> None:
    published, again = (json.loads((place / name / "claims.json").read_text()) for place in (PUBLISHED, judged_again))
    assert published["claims"] == again["claims"]


def test_the_published_directory_has_verdicts() -> None:
    found = {each.claim: each for each in judged([RESULTS])}
    assert {*found} >= {"Q4", "Q5", "Q10", "Q11", "Q12", "Q13"}
    assert {each.study for each in found.values()} == {"factory: unipen62, small-cnn, 250 rounds, 3 seeds"}


def test_the_command_shows_them() -> None:
    result = CliRunner().invoke(main, ["paper", "verdicts", "--out", str(RESULTS)])
    assert result.exit_code == 0, result.output
    assert "does not hold" in result.output
    assert result.output.count("not run") <= 7  # of thirteen claims
