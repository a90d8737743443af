"""recommend as a user meets it: what is refused in one line, and an answer from one end to the other."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hfedms_sim.cli import main
from tests.interrupted import error_of

SMALL = ("--set", "model=tiny-mlp", "--set", "sensors.count=8", "--set", "sensors.types=2", "--set", "evaluate_every=1")


def recommend(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["recommend", "quickstart", *map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--accuracy", "2"), "--accuracy 2: must be above 0 and at most 1"),
        (("--accuracy", "nan"), "--accuracy nan: must be above 0 and at most 1"),
        (("--accuracy", "0.5", "--within", "soon"), "--within 'soon': must be a time, such as 90min, 12h, 7d or 1y"),
        (("--accuracy", "0.5", "--battery", "0d"), "--battery 0 s: must be above 0"),
        (("--accuracy", "0.5", "--budget-hours", "0"), "--budget-hours 0: must be above 0"),
        (("--accuracy", "0.5", "--resume"), "--resume needs --out DIR, the search to go on with"),
        (("--accuracy", "0.5", "--strategies", "fedavg,,ida"), "--strategies 'fedavg,,ida': has an empty name"),
        (("--accuracy", "0.5", "--strategies", "fedavk"), "unknown strategy 'fedavk'. Did you mean 'fedavg'?"),
        (("--accuracy", "0.5", "--profiles", "lte-cat-m9"), "lte-cat-m9"),
        (("--accuracy", "0.5", "--price", "lte-cat-m2"), "--price 'lte-cat-m2': must be a radio and what a megabyte"),
        (("--accuracy", "0.5", "--price", "lte-cat-m2=-1"), "such as lte-cat-m2=0.4"),
        (("--accuracy", "0.5", "--price", "lte-cat-m2=nan"), "such as lte-cat-m2=0.4"),
        (("--accuracy", "0.5", "--price", "redcap=1"), "--price 'redcap': no such radio is tried; tried: lte-cat-m2"),
        (
            ("--accuracy", "0.5", "--profiles", "lte-cat-m2,redcap", "--price", "redcap=1"),
            "--price: lte-cat-m2 has none; either every radio has one, or none",
        ),
        (("--accuracy", "0.5", "--seeds", "x"), "--seeds 'x': must be whole numbers"),
        (("--accuracy", "0.5", "--seeds", "1,1"), "error: --seeds '1,1': has a value twice"),
        (("--accuracy", "0.5", "--seeds", "1:2,02"), "error: --seeds '1:2,02': has a value twice"),
        (("--accuracy", "0.5", "--seeds", "1,,2"), "error: --seeds '1,,2': has an empty value"),
        (("--accuracy", "0.5", "--seeds", "3:1"), "error: --seeds '3:1': the range 3:1 has no values"),
        (("--accuracy", "0.5", "--set", "rounds=0"), "rounds"),
        (("--accuracy", "0.5", "--set", "data={set: npz, path: nowhere.npz}"), "nowhere.npz: no such file"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line_and_nothing_is_written(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    out = ("--out", tmp_path / "one") if "--resume" not in arguments else ()
    result = recommend(*arguments, *out)
    assert result.exit_code == 2
    assert said in error_of(result)
    assert not (tmp_path / "one").exists()


def test_an_answer_from_one_end_to_the_other(tmp_path: Path) -> None:
    out = tmp_path / "one"
    asked = ("--accuracy", "0.03", "--strategies", "fedavg", "--rounds", "2", "--seeds", "1", *SMALL, "--out", out)
    result = recommend(*asked)
    assert result.exit_code == 0, result.output
    assert "For an accuracy of 3 %: fedavg" in result.stdout
    assert f"To run it: hfedms-sim run {out / 'recommended.yaml'}" in result.stdout
    assert {"recommendation.json", "front.csv", "others.md", "pareto.png"} <= {path.name for path in out.iterdir()}
    again = recommend(*asked)
    assert again.exit_code == 2
    assert "exists already; choose another --out, or --resume to go on with it" in error_of(again)
    resumed = recommend(*asked, "--resume", "--quiet")
    assert (resumed.exit_code, resumed.stderr) == (0, "")
    assert "For an accuracy of 3 %" in resumed.stdout
