"""The package as Python users meet it: names, help, laziness, and types inside and outside the clone."""

import ast
import os
import pydoc
import re
import subprocess
import sys
import venv
from pathlib import Path
from sysconfig import get_path
from textwrap import dedent

import numpy as np
import pytest

import hfedms_sim

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("torch", "pandas", "simpy", "pydantic", "numpy")


def python(code: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    return said.stdout


def test_every_public_name_is_listed_and_there() -> None:
    assert set(hfedms_sim.__all__) <= set(dir(hfedms_sim))
    for name in hfedms_sim.__all__:
        assert getattr(hfedms_sim, name).__name__ == name
    assert [name for name in dir(hfedms_sim) if not name.startswith("__")] == sorted(hfedms_sim.__all__)


def test_type_checkers_are_told_of_the_very_names_that_are_there() -> None:
    tree = ast.parse((ROOT / "hfedms_sim" / "__init__.py").read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    imported = [name.name for node in guarded.body if isinstance(node, ast.ImportFrom) for name in node.names]
    assert sorted(imported) == sorted(hfedms_sim.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'hfedms_sim' has no attribute 'runn'"):
        hfedms_sim.runn  # noqa: B018


def test_importing_the_package_and_listing_it_loads_nothing_heavy() -> None:
    code = f"import sys, hfedms_sim; dir(hfedms_sim); print([name for name in {HEAVY!r} if name in sys.modules])"
    assert python(code) == "[]\n"


def test_loading_a_scenario_loads_nothing_that_only_a_run_needs() -> None:
    code = (
        "import sys; from hfedms_sim import load_scenario; load_scenario('quickstart');"
        "print([name for name in ('torch', 'pandas', 'simpy') if name in sys.modules])"
    )
    assert python(code) == "[]\n"


def test_loading_a_scenario_and_playing_it_loads_no_torch() -> None:
    code = (
        "import sys; from hfedms_sim import load_scenario, play, run;"
        "scenario = load_scenario('quickstart', rounds=1); next(play(scenario)); run(scenario, timing_only=True);"
        "print('torch' in sys.modules)"
    )
    assert python(code) == "False\n"


def test_help_shows_every_public_name() -> None:
    shown = pydoc.render_doc(hfedms_sim, renderer=pydoc.plaintext)
    for name in hfedms_sim.__all__:
        assert re.search(rf"\b{name}\b", shown), name


FUNCTIONS = [name for name in hfedms_sim.__all__ if name[0].islower()]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_has_a_reference(name: str) -> None:
    """Its arguments, what it returns or yields, what it raises, and an example."""
    function = getattr(hfedms_sim, name)
    text = pydoc.getdoc(function)
    arguments = function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
    described = text.partition("Arguments:")[2].partition("\n\n")[0]
    for argument in arguments:
        assert re.search(rf"\b{argument}\b[^\n]*:", described), argument
    for heading in ("Returns:" if "Returns:" in text else "Yields:", "Raises:", "Example"):
        assert heading in text, heading


def example_of(name: str) -> str:
    """The lines of a public function's example."""
    text = pydoc.getdoc(getattr(hfedms_sim, name))
    return dedent(text[text.index("\nExample") :].partition("\n\n")[2])


@pytest.mark.thorough
def test_every_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hfedms_sim.run(hfedms_sim.load_scenario("quickstart", rounds=5), timing_only=True, out="runs/quickstart-001")
    hfedms_sim.compare("quickstart", seeds=[1, 2], timing_only=True, out="runs/radios")
    drawn = np.random.default_rng(1)
    samples = {"images": drawn.random((400, 1, 8, 8)), "labels": drawn.integers(0, 10, 400)}
    names = {name: getattr(hfedms_sim, name) for name in hfedms_sim.__all__}
    for name in ["run", *(name for name in FUNCTIONS if name != "run")]:  # first what others go on with
        exec(example_of(name), names | samples)


@pytest.mark.parametrize("kind", [name for name in hfedms_sim.__all__ if name[0].isupper()])
def test_every_public_method_has_a_docstring(kind: str) -> None:
    owner = getattr(hfedms_sim, kind)
    assert owner.__doc__
    own = {name: value for name, value in vars(owner).items() if not name.startswith(("_", "model_"))}
    methods = [name for name, value in own.items() if callable(value) or isinstance(value, property)]
    assert all(pydoc.getdoc(own[name]) for name in methods), kind


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with an editable installation of the clone, as `pip install -e` makes it, and our dependencies."""
    place = tmp_path_factory.mktemp("elsewhere")
    venv.create(place / "env")
    (site,) = (place / "env").glob("lib/python3*/site-packages")
    (site / "clone.pth").write_text(f"{ROOT}\n")
    (site / "dependencies.pth").write_text(f"{Path(get_path('purelib')).resolve()}\n")
    return place


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_mypy_understands_the_python_lines_of_the_docs_outside_the_clone(elsewhere: Path, page: str) -> None:
    found = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found
    program = elsewhere / "use.py"
    program.write_text("\n".join(found) + "\nreveal_type(load_scenario('quickstart').replacing(rounds=3))\n")
    options = ["--strict", "--python-executable", str(elsewhere / "env" / "bin" / "python"), "--cache-dir", ".cache"]
    said = subprocess.run(
        [sys.executable, "-m", "mypy", *options, program.name],
        cwd=elsewhere,
        env={name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert 'Revealed type is "hfedms_sim.scenario.scenario.Scenario"' in said.stdout
