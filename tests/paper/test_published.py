"""The published records of docs/results can be judged, and `paper verdicts` shows what came out."""

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

PUBLISHED = Path(__file__).parents[2] / "docs" / "results" / "factory"
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


def test_the_claims_of_what_is_published_have_verdicts(judged_again: Path) -> None:
    found = {each.claim: each for each in judged([judged_again])}
    assert {*found} == {"Q10", "Q11", "Q12", "Q13"}
    assert {each.scale for each in found.values()} == {"factory"}
    assert (found["Q12"].verdict, found["Q13"].verdict) == ("does not hold", "holds")


def test_the_command_shows_them(judged_again: Path) -> None:
    result = CliRunner().invoke(main, ["paper", "verdicts", "--out", str(judged_again)])
    assert result.exit_code == 0, result.output
    assert "does not hold" in result.output
    assert result.output.count("not run") == 9  # of thirteen claims
