"""Packaging. Tool settings are in pyproject.toml, exact versions in constraints.txt."""

import platform
import re
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.editable_wheel import editable_wheel

HERE = Path(__file__).parent
# The version is said in the file that archives and people who cite read.
CITATION = (HERE / "CITATION.cff").read_text(encoding="utf-8")
VERSION = re.findall(r"^version: (.+)$", CITATION, re.MULTILINE)[0]
SHIPPED = {"hfedms_sim.scenarios": "scenarios", "hfedms_sim.network_profiles": "network_profiles"}

# kernels.c is plain C without Python in it. Each instruction set is a library of its own; kernels.py loads one of them.
KERNELS = "hfedms_sim/learning/engine/kernels.c"
COMPILER_FLAGS = ["-O3", "-std=gnu11", "-ffp-contract=fast", "-fvisibility=hidden", "-Wno-psabi"]
INSTRUCTION_SETS: dict[str, list[str]] = {"baseline": []}
if platform.machine() in ("x86_64", "AMD64"):
    INSTRUCTION_SETS |= {"avx2": ["-mavx2", "-mfma"], "avx512": ["-mavx512f"]}


class BuildWhatCompiles(build_ext):
    """The kernels are optional: without a compiler that takes them the installation goes on with one line."""

    def build_extensions(self) -> None:
        root = Path(self.build_temp)
        try:
            for extension in self.extensions:
                self.build_temp = str(root / extension.name)  # one source, several objects
                self.build_extension(extension)
        except Exception as error:
            sys.stderr.write(f"hfedms_sim: installed without compiled kernels, training is slower ({error})\n")


class InstalledInPlace(editable_wheel):
    """An editable installation is a plain path to the clone, which type checkers and editors can follow.

    Shipped YAML files need no packages there: the catalogue finds them beside the package.
    """

    def finalize_options(self) -> None:
        self.distribution.packages = [name for name in self.distribution.packages if name not in SHIPPED]
        self.distribution.package_dir = {"": "."}
        super().finalize_options()


setup(
    name="hfedms_sim",
    version=VERSION,
    description="Discrete-event network co-simulator for federated learning over low-power radio",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.10",
    packages=[*find_packages(include=["hfedms_sim", "hfedms_sim.*"]), *SHIPPED],
    package_dir=SHIPPED,
    package_data={
        "hfedms_sim": ["py.typed"],
        "hfedms_sim.paper": ["tuned.json"],
        "hfedms_sim.report.page": ["*.html", "*.css", "*.js"],
        **{name: ["*.yaml"] for name in (*SHIPPED, "hfedms_sim.validation")},
    },
    ext_modules=[
        Extension(
            f"hfedms_sim.learning.engine._kernels_{name}",
            [KERNELS],
            extra_compile_args=[*COMPILER_FLAGS, *flags],
            libraries=["m"],
            optional=True,
            py_limited_api=True,  # there is no Python in it at all: one wheel is for every Python
        )
        for name, flags in INSTRUCTION_SETS.items()
    ],
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
    cmdclass={"build_ext": BuildWhatCompiles, "editable_wheel": InstalledInPlace},
    install_requires=[
        "click>=8.1",
        "Hershey-Fonts>=2.1",
        "highspy>=1.9",
        "jinja2>=3.1",
        "matplotlib>=3.8",
        "numpy>=1.26",
        "pandas>=2.1",
        "pulp>=3.3,<4",
        "pyarrow>=15",
        "pydantic>=2.11",
        "pyyaml>=6.0",
        "rich>=13.7",
        "safetensors>=0.4",
        "scipy>=1.11",
        "simpy>=4.1,<5",
        "torch>=2.2",
    ],
    extras_require={
        "dev": [
            "hypothesis>=6.100",
            "import-linter>=2.0",
            "jsonschema>=4.20",
            "mypy>=1.10",
            "pandas-stubs>=2.1",
            "pytest>=8",
            "pytest-xdist>=3.5",
            "ruff>=0.5",
            "setuptools>=77",
            "types-jsonschema",
            "types-pyyaml",
        ],
        "browser": ["selenium>=4.20"],
        "docs": ["duckdb>=1.1", "furo>=2025.7.19", "myst-parser>=4", "sphinx>=8.1,<9"],
        "ray": ["ray>=2.9"],
        "tensorboard": ["tensorboard>=2.18"],
        "mlflow": ["alembic>=1.13,<2", "mlflow-skinny>=3,<4", "sqlalchemy>=2,<3"],
        "notebook": ["ipykernel>=6.29", "jupytext>=1.16", "nbclient>=0.10"],
        "release": ["build>=1.2"],
        "bench": ["k-means-constrained>=0.7", "ortools>=9.8"],
    },
    entry_points={"console_scripts": ["hfedms-sim=hfedms_sim.cli:main"]},
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Science/Research",
        "Operating System :: OS Independent",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering",
        "Typing :: Typed",
    ],
)
