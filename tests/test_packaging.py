"""What is shipped besides code."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git tracks and a wheel needs."""
    source = tmp_path_factory.mktemp("source")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    for directory in ("hfedms_sim", "scenarios", "network_profiles"):
        for path in (ROOT / directory).rglob("*"):
            if path.suffix in (".py", ".c", ".yaml", ".typed"):
                target = source / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
    return source


def build(source: Path, out: Path, **environment: str) -> tuple[Path, str]:
    """The wheel and what was said on the way, without network."""
    command = [sys.executable, "-m", "pip", "wheel", "--verbose", "--no-deps", "--no-build-isolation", "-w", str(out)]
    said = subprocess.run(
        [*command, str(source)], check=True, capture_output=True, text=True, env=os.environ | environment
    )
    return next(out.glob("*.whl")), said.stdout + said.stderr


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(source, tmp_path_factory.mktemp("wheel"))[0]


def test_the_wheel_holds_every_module_scenario_and_profile(wheel: Path) -> None:
    shipped = set(zipfile.ZipFile(wheel).namelist())
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "hfedms_sim").rglob("*.py")}
    scenarios = {f"hfedms_sim/scenarios/{path.name}" for path in (ROOT / "scenarios").glob("*.yaml")}
    profiles = {f"hfedms_sim/network_profiles/{path.name}" for path in (ROOT / "network_profiles").glob("*.yaml")}
    assert modules | scenarios | profiles | {"hfedms_sim/py.typed", "hfedms_sim/validation/rows.yaml"} <= shipped
    assert not [name for name in shipped if name.startswith("tests")]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
def test_the_wheel_holds_the_compiled_kernels(wheel: Path) -> None:
    shipped = zipfile.ZipFile(wheel).namelist()
    assert [name for name in shipped if name.startswith("hfedms_sim/learning/engine/_kernels_baseline.")]


def test_without_a_compiler_everything_but_the_kernels_is_built(source: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(source, tmp_path / "source", ignore=shutil.ignore_patterns("build"))
    wheel, said = build(copy, tmp_path, CC="/nonexistent")
    assert len([line for line in said.splitlines() if "installed without compiled kernels" in line]) == 1
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    question = "from hfedms_sim import compiled; print(compiled.__file__, compiled.available())"
    answer = subprocess.run(
        [sys.executable, "-c", question], cwd=tmp_path / "installed", capture_output=True, text=True
    )
    installed = tmp_path / "installed" / "hfedms_sim" / "compiled.py"
    assert answer.stdout.split() == [str(installed), "False"]


def test_an_editable_installation_is_a_path_that_type_checkers_follow(source: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(source, tmp_path / "source", ignore=shutil.ignore_patterns("build"))
    code = "import sys; from setuptools import build_meta; build_meta.build_editable(sys.argv[1])"
    command = [sys.executable, "-c", code, str(tmp_path)]
    subprocess.run(command, cwd=copy, check=True, capture_output=True, env=os.environ | {"CC": "/nonexistent"})
    wheel = zipfile.ZipFile(next(tmp_path.glob("*.whl")))
    (path,) = [name for name in wheel.namelist() if name.endswith(".pth")]
    assert Path(wheel.read(path).decode().strip()) == copy
    assert (copy / "hfedms_sim" / "py.typed").is_file()


def test_every_pin_is_exact() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert all("==" in pin for pin in pins)
