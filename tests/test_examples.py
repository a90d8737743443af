"""The examples: scripts that answer a question each, and a package with a strategy of its own.

The package is installed beside hfedms_sim: its strategy is known by name everywhere, and missed when it is gone.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from signal import SIGKILL
from time import monotonic, sleep

import pytest

from tests.interrupted import outcome

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
EXAMPLE = EXAMPLES / "fedavgm"
SMALL = ["--rounds", "6", "--set", "sensors.count=12", "--set", "model=tiny-mlp", "--set", "evaluate_every=3"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package is installed, apart from everything else."""
    source, target = tmp_path_factory.mktemp("source") / "fedavgm", tmp_path_factory.mktemp("site")
    shutil.copytree(EXAMPLE, source)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True, capture_output=True)
    return target


def command(directory: Path, site: Path | None, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": "" if site is None else str(site)}
    program = [sys.executable, "-m", "hfedms_sim.cli", *arguments]
    return subprocess.run(program, cwd=directory, env=environment, capture_output=True, text=True, check=False)


def ok(directory: Path, site: Path, *arguments: str) -> str:
    ended = command(directory, site, *arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.thorough
def test_the_example_is_listed_shown_run_compared_swept_plotted_and_learnt_from(
    installed: Path, tmp_path: Path
) -> None:
    assert "fedavgm" in ok(tmp_path, installed, "list", "strategies")
    assert "strategy.momentum" in ok(tmp_path, installed, "show", "fedavgm")
    ok(tmp_path, installed, "run", "quickstart", "--strategy", "fedavgm", *SMALL, "--out", "one", "--quiet")
    (tmp_path / "mine.yaml").write_text((tmp_path / "one" / "scenario.yaml").read_text())
    assert "ok" in ok(tmp_path, installed, "check", "mine.yaml")
    ok(tmp_path, installed, "run", "mine.yaml", "--learn-from", "one", "--out", "two", "--quiet")
    assert json.loads((tmp_path / "two" / "provenance.json").read_text())["rounds_trained"] == 0
    ok(tmp_path, installed, "plot", "one", "two", "--out", "both.png")
    few = ["--rounds", "2", *SMALL[2:], "--jobs", "2", "--quiet"]
    ok(tmp_path, installed, "compare", "quickstart", "--strategies", "fedavg,fedavgm", *few, "--out", "compared")
    assert "fedavgm" in (tmp_path / "compared" / "comparison.csv").read_text()
    ok(tmp_path, installed, "sweep", "mine.yaml", "--grid", "strategy.momentum=0.5,0.9", *few, "--out", "swept")


@pytest.mark.thorough
def test_a_run_of_the_example_that_is_killed_goes_on_to_the_same_end(installed: Path, tmp_path: Path) -> None:
    arguments = ["run", "quickstart", "--strategy", "fedavgm", "--rounds", "60", *SMALL[2:], "--quiet", "--out"]
    ok(tmp_path, installed, *arguments, "whole")
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(installed)}
    program = [sys.executable, "-m", "hfedms_sim.cli", *arguments, "killed"]
    with subprocess.Popen(program, cwd=tmp_path, env=environment) as process:
        deadline = monotonic() + 60
        while not list((tmp_path / "killed").glob("learning/*/*")) and monotonic() < deadline:
            sleep(0.01)
        process.kill()
    assert process.returncode == -SIGKILL
    ok(tmp_path, installed, *arguments, "killed", "--resume")
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "whole")


def test_the_example_is_compared_on_ray(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    few = ["--strategies", "fedavg,fedavgm", "--rounds", "2", *SMALL[2:], "--quiet"]
    ok(tmp_path, installed, "compare", "quickstart", *few, "--ray", "local", "--out", "ray")
    ok(tmp_path, installed, "compare", "quickstart", *few, "--jobs", "1", "--out", "local")
    assert (tmp_path / "ray" / "trials.csv").read_bytes() == (tmp_path / "local" / "trials.csv").read_bytes()


@pytest.mark.thorough
def test_without_the_package_one_line_says_what_is_missing(installed: Path, tmp_path: Path) -> None:
    ok(tmp_path, installed, "run", "quickstart", "--strategy", "fedavgm", *SMALL, "--out", "one", "--quiet")
    for arguments in (["plot", "one", "--out", "one.png"], ["run", "quickstart", "--strategy", "fedavgm"]):
        missing = command(tmp_path, None, *arguments)
        assert missing.returncode == 2
        assert missing.stderr.count("\n") == 1
        assert "fedavgm" in missing.stderr


@pytest.mark.thorough
def test_the_example_keeps_to_the_contract_of_strategies(installed: Path, tmp_path: Path) -> None:
    code = (
        "from fedavgm import FedAvgMSettings; from hfedms_sim.checks import check_strategy;"
        "check_strategy(FedAvgMSettings(learning_rate=0.05))"
    )
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(installed)}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


ANSWERS = {
    "how_a_setting_matters": [r"^strategy.interval", r"^9 +\d+\.\d +\d+\.\d$"],
    "how_long_a_battery_lasts": [r"^ *lte-cat-m2 +1\.0 +\d+", r"^ *nb-iot-nb2 +24\.0 +\d+"],
    "how_long_over_which_radio": [r"^lte-cat-m2: 25% after \d+ min \d+ s", r"^wifi-halow: 25% after .*energy unknown$"],
    "what_it_confuses": [r"^\d\d% of all", r"^\w +0\.\d\d? +\d+$", r"^\w taken for \w: \d+ of \d+$"],
    "where_the_time_goes": [
        r"^transfers that wait .* most in downlink of hall",
        r"^ +\d+\.\d% +cell direction$",
        r"^round 2: ",
    ],
    "which_strategy": [r"^ *hfedms-d +\d+ +\d+", r"^ *fedavg +\d+ +\d+"],
}
LEFT = {"what_it_confuses": ["runs/confusion.csv"]}
RECIPES = ["log_to_mlflow", "log_to_tensorboard"]  # test_trackers.py reads what these leave
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.py"))


def text_of(script: str) -> str:
    return (EXAMPLES / f"{script}.py").read_text(encoding="utf-8")


def test_every_script_has_an_answer() -> None:
    assert sorted([*ANSWERS, *RECIPES]) == SCRIPTS


@pytest.mark.thorough
@pytest.mark.parametrize("script", sorted(ANSWERS))
def test_a_script_answers_its_question_and_leaves_nothing_else_behind(script: str, tmp_path: Path) -> None:
    program = [sys.executable, "-W", "error", str(EXAMPLES / f"{script}.py")]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(EXAMPLES.parent), "TMPDIR": str(tmp_path)}
    said = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (0, "")
    for line in ANSWERS[script]:
        assert re.search(line, said.stdout, re.MULTILINE), line
    left = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()]
    assert left == LEFT.get(script, [])


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_cells_that_can_be_run_one_by_one(script: str) -> None:
    """It begins with its question, as Markdown; test_notebooks.py runs it as a notebook where Jupyter is installed."""
    before, *cells = re.split(r"^# %%(.*)\n", text_of(script), flags=re.MULTILINE)
    kinds, contents = cells[::2], cells[1::2]
    assert (before, kinds[0], kinds[1]) == ("", " [markdown]", "")
    assert {*kinds} == {"", " [markdown]"}
    assert kinds[-1] == ""
    for kind, content in zip(kinds[1:], contents[1:], strict=True):
        ast.parse(content)
        assert kind == "" or all(line.startswith("#") for line in content.split("\n") if line)


def test_the_list_of_examples_has_every_script_under_its_question() -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| \[(\w+)\.py\]\(\1\.py\) \| ([^|]+) \|", page, re.MULTILINE))
    questions = {script: ast.get_docstring(ast.parse(text_of(script))) or "" for script in SCRIPTS}
    assert listed == {script: text.splitlines()[0] for script, text in questions.items()}
