"""What is shipped besides code."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what git tracks, without network."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    for directory in ("hfedms_sim", "scenarios", "network_profiles"):
        for path in (ROOT / directory).rglob("*"):
            if path.suffix in (".py", ".yaml", ".typed"):
                target = source / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(out),
        str(source),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def test_the_wheel_holds_every_module_scenario_and_profile(wheel: Path) -> None:
    shipped = set(zipfile.ZipFile(wheel).namelist())
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "hfedms_sim").rglob("*.py")}
    scenarios = {f"hfedms_sim/scenarios/{path.name}" for path in (ROOT / "scenarios").glob("*.yaml")}
    profiles = {f"hfedms_sim/network_profiles/{path.name}" for path in (ROOT / "network_profiles").glob("*.yaml")}
    assert modules | scenarios | profiles | {"hfedms_sim/py.typed"} <= shipped
    assert not [name for name in shipped if name.startswith("tests")]


def test_every_pin_is_exact() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert all("==" in pin for pin in pins)
