"""Packaging. Tool settings are in pyproject.toml, exact versions in constraints.txt."""

from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
SHIPPED = {"hfedms_sim.scenarios": "scenarios", "hfedms_sim.network_profiles": "network_profiles"}

setup(
    name="hfedms_sim",
    version="0.1.0",
    description="Discrete-event network co-simulator for federated learning over low-power radio",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.10",
    packages=[*find_packages(include=["hfedms_sim", "hfedms_sim.*"]), *SHIPPED],
    package_dir=SHIPPED,
    package_data={"hfedms_sim": ["py.typed"]} | {package: ["*.yaml"] for package in SHIPPED},
    install_requires=[
        "click>=8.1",
        "Hershey-Fonts>=2.1",
        "highspy>=1.9",
        "matplotlib>=3.8",
        "numpy>=1.26",
        "pandas>=2.1",
        "pulp>=3.3,<4",
        "pyarrow>=15",
        "pydantic>=2.8",
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
        "peers": ["flwr>=1.8"],
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
