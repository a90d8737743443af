"""Completion in a shell: the script, and what it offers."""

import subprocess
import sys

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from hfedms_sim.cli import main
from hfedms_sim.commands.completion import STRATEGY_NAMES
from hfedms_sim.strategies import SHIPPED


def offered(*words: str) -> list[tuple[str, str]]:
    """Return type and value of everything offered for the last word."""
    *before, last = words
    complete = BashComplete(main, {}, "hfedms-sim", "_HFEDMS_SIM_COMPLETE")
    return [(item.type, item.value) for item in complete.get_completions(before, last)]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell: str) -> None:
    environment = {"_HFEDMS_SIM_COMPLETE": f"{shell}_source"}
    result = CliRunner().invoke(main, [], prog_name="hfedms-sim", env=environment)
    assert result.exit_code == 0, result.output
    assert f"_HFEDMS_SIM_COMPLETE={shell}_complete" in result.stdout


def test_names_are_offered_where_names_are_asked_for() -> None:
    assert offered("run", "quick") == [("plain", "quickstart")]
    assert ("plain", "lte-cat-m2") in offered("run", "quickstart", "--profile", "lte")
    assert offered("sweep", "quickstart", "--strategies", "fedavg,fedp") == [("plain", "fedavg,fedprox")]
    assert offered("compare", "quickstart", "--profiles", "ethernet,wifi-h") == [("plain", "ethernet,wifi-halow")]
    assert {("plain", "hfedms-d"), ("plain", "hfedms-s")} <= set(offered("show", "hfedms"))


def test_what_is_no_name_is_a_file() -> None:
    assert offered("run", "./my") == [("file", "./my")]
    assert offered("show", "runs/") == [("file", "runs/")]


def test_the_names_of_strategies_are_those_that_ship() -> None:
    assert tuple(SHIPPED) == STRATEGY_NAMES


def test_completion_imports_nothing_that_takes_time() -> None:
    program = """
import sys
from click.shell_completion import BashComplete
from hfedms_sim.cli import main
words = [["run"], ["run", "x", "--profile"], ["run", "x", "--strategy"], ["show"]]
for before in words:
    assert BashComplete(main, {}, "hfedms-sim", "X").get_completions(before, "")
assert not {"pydantic", "numpy", "pandas", "torch", "matplotlib", "rich"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
