"""What is shipped: the wheel, the source distribution, and what an installation of them can do elsewhere."""

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from sysconfig import get_path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.thorough


FILES = ["setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CITATION.cff"]
BESIDES = ["CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "constraints.txt"]
DIRECTORIES = ["hfedms_sim", "scenarios", "network_profiles"]
PAGE = ("*.html", "*.css", "*.js")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git tracks and a wheel needs."""
    return copied(FILES, DIRECTORIES, tmp_path_factory.mktemp("source"))


def copied(files: list[str], directories: list[str], target: Path) -> Path:
    """Copy them without what was built or cached there."""
    for name in files:
        shutil.copy(ROOT / name, target / name)
    built = shutil.ignore_patterns("__pycache__", "*.so", ".*", "runs")
    for name in directories:
        shutil.copytree(ROOT / name, target / name, ignore=built)
    return target


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
    page = {str(path.relative_to(ROOT)) for kind in PAGE for path in (ROOT / "hfedms_sim").rglob(kind)}
    others = {"hfedms_sim/py.typed", "hfedms_sim/validation/rows.yaml"}
    assert modules | scenarios | profiles | page | others <= shipped
    assert not [name for name in shipped if name.startswith("tests")]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
def test_the_wheel_holds_the_compiled_kernels(wheel: Path) -> None:
    shipped = zipfile.ZipFile(wheel).namelist()
    assert "-cp310-abi3-" in wheel.name  # for every Python from 3.10 on
    assert [name for name in shipped if name.startswith("hfedms_sim/learning/engine/_kernels_baseline.")]


def test_without_a_compiler_everything_but_the_kernels_is_built(source: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(source, tmp_path / "source", ignore=shutil.ignore_patterns("build"))
    wheel, said = build(copy, tmp_path, CC="/nonexistent")
    assert len([line for line in said.splitlines() if "installed without compiled kernels" in line]) == 1
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    question = "from hfedms_sim.system import native_library as n; print(n.__file__, n.available())"
    answer = subprocess.run(
        [sys.executable, "-c", question], cwd=tmp_path / "installed", capture_output=True, text=True
    )
    installed = tmp_path / "installed" / "hfedms_sim" / "system" / "native_library.py"
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


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked."""
    place, out = tmp_path_factory.mktemp("clone"), tmp_path_factory.mktemp("sdist")
    clone = copied([*FILES, *BESIDES], [*DIRECTORIES, "benchmarks", "docs", "examples", "soak", "tests"], place)
    code = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(out)], cwd=clone, check=True, capture_output=True)
    (archive,) = out.glob("hfedms_sim-*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(out, filter="data")
    return out / archive.name.removesuffix(".tar.gz")


def files_below(directory: Path) -> set[str]:
    """Return what git would track there."""
    built = {"__pycache__", "hfedms_sim.egg-info", "build", "runs"}
    paths = [path.relative_to(directory) for path in directory.rglob("[!.]*") if path.is_file()]
    return {str(path) for path in paths if not built & {*path.parts} and path.suffix not in (".so", ".pyc")}


def test_the_source_distribution_holds_what_building_testing_and_reading_need(unpacked: Path) -> None:
    held = files_below(unpacked)
    assert {*FILES, *BESIDES, "hfedms_sim/learning/engine/kernels.c"} <= held
    for directory in (*DIRECTORIES, "benchmarks", "docs", "examples", "soak", "tests"):
        expected = {f"{directory}/{name}" for name in files_below(ROOT / directory)}
        assert expected - held == set(), directory
    assert not list(unpacked.rglob("*.so"))


def test_a_wheel_of_the_source_distribution_is_the_wheel_of_the_clone(
    unpacked: Path, wheel: Path, tmp_path: Path
) -> None:
    of_source, _ = build(unpacked, tmp_path, CC="/nonexistent")
    compiled = {name for name in zipfile.ZipFile(wheel).namelist() if "/_kernels_" in name}
    assert {*zipfile.ZipFile(of_source).namelist()} == {*zipfile.ZipFile(wheel).namelist()} - compiled
    assert of_source.name == wheel.name


class Elsewhere:
    """An environment of its own in which the wheel is installed: no clone, no compiler, another directory."""

    def __init__(self, place: Path) -> None:
        venv.create(place / "env", with_pip=True)
        self.place = place
        self.bin = place / "env" / "bin"
        hidden = {"PYTHONPATH", "VIRTUAL_ENV", "CC"}
        self.environment = {name: value for name, value in os.environ.items() if name not in hidden}
        self.environment |= {"PATH": str(self.bin), "CC": "/nonexistent", "OMP_NUM_THREADS": "1"}

    def call(self, program: str, *arguments: str) -> str:
        command = [str(self.bin / program), *arguments]
        said = subprocess.run(
            command, cwd=self.place, env=self.environment, capture_output=True, text=True, check=False
        )
        assert said.returncode == 0, said.stderr
        return said.stdout

    def install(self, *arguments: str) -> None:
        self.call("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)


def assert_works(elsewhere: Elsewhere, version: str) -> None:
    """The installed package is the one that answers; it knows what ships, and plays it."""
    where = elsewhere.call("python", "-c", "import hfedms_sim; print(hfedms_sim.__file__)")
    assert Path(where.strip()).is_relative_to(elsewhere.place)
    assert elsewhere.call("hfedms-sim", "--version") == f"hfedms-sim {version}\n"
    listed = elsewhere.call("hfedms-sim", "list", "profiles")
    assert all(path.stem in listed for path in (ROOT / "network_profiles").glob("*.yaml"))
    elsewhere.call("hfedms-sim", "run", "quickstart", "--timing-only", "--quiet", "--out", "run")
    assert (elsewhere.place / "run" / "summary.json").is_file()


def test_the_wheel_works_in_another_environment_without_clone_and_compiler(wheel: Path, tmp_path: Path) -> None:
    elsewhere = Elsewhere(tmp_path)
    (site,) = (tmp_path / "env").glob("lib/python3*/site-packages")
    (site / "dependencies.pth").write_text(f"{Path(get_path('purelib')).resolve()}\n")
    elsewhere.install("--no-deps", "--no-index", str(wheel))
    assert_works(elsewhere, wheel.name.split("-")[1])


@pytest.mark.slow
def test_the_wheel_and_its_dependencies_are_all_that_an_empty_environment_needs(wheel: Path, tmp_path: Path) -> None:
    elsewhere = Elsewhere(tmp_path)
    elsewhere.install("--constraint", str(ROOT / "constraints.txt"), str(wheel))
    assert_works(elsewhere, wheel.name.split("-")[1])
    assert elsewhere.call("python", "-m", "pip", "check") == "No broken requirements found.\n"
    trained = ["run", "quickstart", "--rounds", "2", "--quiet", "--out", "trained"]
    elsewhere.call("hfedms-sim", *trained)
    assert (tmp_path / "trained" / "learning" / "model.safetensors").is_file()


def test_every_pin_is_exact() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert all("==" in pin for pin in pins)
