"""The command plot: every kind, runs and campaigns, and what it refuses."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hfedms_sim.cli import main
from hfedms_sim.commands.plot import MOST_RUNS
from tests.conftest import some_of

KINDS = ("utilisation", "gantt", "energy", "transfers", "coverage", "groups", "pareto")


def hfedms_sim(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A timing-only run and a timing-only campaign of six trials."""
    directory = tmp_path_factory.mktemp("runs")
    small = ("--timing-only", "--rounds", "3", "--quiet", "--set", "model=tiny-mlp", "--set", "sensors.count=12")
    done = [
        hfedms_sim("run", "quickstart", *small, "--out", str(directory / "one")),
        hfedms_sim(
            "compare", "quickstart", *small, "--profiles", "lte-cat-m1-hd,wifi-halow,ethernet", "--strategies",
            "hfedms-d,fedavg", "--out", str(directory / "campaign"),
        ),
    ]  # fmt: skip
    assert [each.exit_code for each in done] == [0, 0], done[-1].output
    return directory


@pytest.mark.parametrize("kind", KINDS)
def test_a_timing_only_run_has_a_picture_of_every_kind_but_accuracy(kind: str, runs: Path, tmp_path: Path) -> None:
    out = tmp_path / f"{kind}.png"
    result = hfedms_sim("plot", str(runs / "one"), "--kind", kind, "--out", str(out))
    assert result.exit_code == 0, result.output
    assert result.output.strip() == str(out)
    assert out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", some_of(["energy", "transfers", "groups", "pareto"], kept=["pareto"]))
def test_a_campaign_stands_for_its_runs(kind: str, runs: Path, tmp_path: Path) -> None:
    out = tmp_path / f"{kind}.svg"
    result = hfedms_sim("plot", str(runs / "campaign"), "--kind", kind, "--out", str(out))
    assert result.exit_code == 0, result.output
    text = out.read_text(encoding="utf-8")
    assert "<!-- hfedms-d, lte-cat-m1-hd" in text


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_same_run_is_the_same_bytes(ending: str, runs: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        out = str(tmp_path / f"{name}.{ending}")
        assert hfedms_sim("plot", str(runs / "one"), "--kind", "gantt", "--out", out).exit_code == 0
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


def test_runs_that_are_shown_one_by_one_have_their_own_panels(runs: Path, tmp_path: Path) -> None:
    trials = sorted(str(path) for path in (runs / "campaign" / "trials").iterdir())[:2]
    out = tmp_path / "two.svg"
    result = hfedms_sim("plot", *trials, "--kind", "gantt", "--lanes", "cells", "--round", "1", "--out", str(out))
    assert result.exit_code == 0, result.output
    text = out.read_text(encoding="utf-8")
    assert text.count(": Round 1 (full)") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("one", "--kind", "accuracy"), "nothing to plot, the run has no accuracies"),
        (("campaign", "--kind", "coverage"), f"shows runs one by one, {MOST_RUNS} at most, not 6"),
        (("one", "--kind", "energy", "--round", "2"), "--round is for --kind gantt, not for energy"),
        (("one", "--kind", "groups", "--against", "bytes"), "--against is for --kind accuracy and pareto"),
        (("one", "--kind", "pareto", "--against", "rounds"), "--kind pareto is drawn --against energy or bytes"),
        (("one", "--kind", "gantt", "--round", "9"), "no round 9, it has rounds 1 to 3"),
        (("one", "--kind", "gantt", "--each"), "--each is for --kind accuracy, not for gantt"),
        (("none",), "no such run directory"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(arguments: tuple[str, ...], message: str, runs: Path, tmp_path: Path) -> None:
    path, *options = arguments
    out = tmp_path / "out.png"
    result = hfedms_sim("plot", str(runs / path), *options, "--out", str(out))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not out.exists()


def test_an_unmodelled_energy_is_refused_with_the_reason(runs: Path, tmp_path: Path) -> None:
    halow = next(str(path) for path in (runs / "campaign" / "trials").iterdir() if "halow" in path.name)
    result = hfedms_sim("plot", halow, "--kind", "energy", "--out", str(tmp_path / "x.png"))
    assert result.exit_code == 2
    assert "energy is not modelled (wifi-halow: " in result.stderr
