"""How alike groups are, on the embedded data set."""

from pathlib import Path

from click.testing import CliRunner

from hfedms_sim.cli import main
from hfedms_sim.data.glyphs import Glyphs
from hfedms_sim.grouping import CpdKind
from hfedms_sim.paper.grouping import WAYS, grouping


def test_on_glyphs_matched_beats_icg_beats_random_beats_single_clients() -> None:
    spreads = grouping(Glyphs(seed=1, devices=368, types=10), groups=(10,))
    assert [spread.way for spread in spreads] == list(WAYS)
    kinds: tuple[CpdKind, ...] = ("onehot", "entries")
    for kind in kinds:
        single, random, icg, matched = (spread.median(kind) for spread in spreads)
        assert matched < icg < random < single
    assert spreads[3].objective < spreads[2].objective < spreads[1].objective


def test_the_command_prints_a_table_and_draws_box_plots(tmp_path: Path) -> None:
    picture = tmp_path / "cpd.png"
    result = CliRunner().invoke(main, ["paper", "grouping", "--out", str(picture)])
    assert result.exit_code == 0, result.output
    assert "ICG, matched" in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_options_of_one_experiment_are_refused_by_the_other(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["paper", "efficiency", "--out", str(tmp_path / "x.png")])
    assert result.exit_code == 2
    assert "paper grouping" in result.output
