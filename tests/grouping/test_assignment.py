"""Choosing a solver, and what happens when one is missing."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.grouping.assignment import SOLVERS, SolverName, make_solver
from hfedms_sim.grouping.exact import ExactSolver
from hfedms_sim.grouping.matched import matched_members
from hfedms_sim.grouping.pulp_solvers import FlowProgram
from tests.grouping.instances import factory_counts

SMALL = np.array([[9, 0], [8, 1], [1, 8], [0, 9]])


def assigned(counts: NDArray[np.int64], sums: NDArray[np.int64], size: int, solver: SolverName) -> list[int]:
    return [int(cluster) for cluster in make_solver(solver, counts, size).assign(sums)]


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_every_solver_puts_sensors_with_the_nearest_centroid_that_has_room(solver: SolverName) -> None:
    assert assigned(SMALL, SMALL[[0, 3]], 2, solver) == [0, 0, 1, 1]


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_crowded_centroid_keeps_those_who_would_lose_most(solver: SolverName) -> None:
    counts = np.array([[9, 0], [8, 1], [6, 2], [5, 4]])
    sums = np.array([[9, 0], [0, 9]])
    assert assigned(counts, sums, 2, solver) == [0, 0, 1, 1]


def test_auto_is_pulp_up_to_25000_pairs_and_exact_above() -> None:
    assert isinstance(make_solver("auto", np.zeros((250, 2), np.int64), 3), FlowProgram)
    assert isinstance(make_solver("auto", np.ones((25_000, 2), np.int64), 25_000), FlowProgram)
    assert isinstance(make_solver("auto", np.ones((25_002, 2), np.int64), 12_501), ExactSolver)


@pytest.mark.parametrize(
    ("solver", "package"),
    [("pulp", "pulp"), ("pulp", "highspy"), ("pulp-ilp", "pulp"), ("lsa", "scipy.optimize")],
)
def test_a_missing_package_is_an_error_that_names_it(
    solver: SolverName, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    name = package.split(".")[0]
    with pytest.raises(InputError, match=f"solver = {solver}: needs the package {name}, which is not installed"):
        make_solver(solver, SMALL, 2)


def test_auto_does_not_fall_back_to_another_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pulp", None)
    with pytest.raises(InputError, match="pulp"):
        make_solver("auto", SMALL, 2)


def test_matched_groups_without_scipy_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(InputError, match="draw = matched: needs the package scipy"):
        matched_members(np.array([[0, 1], [2, 3]]), SMALL, 2)


def test_an_unknown_solver_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="solver = gurobi: unknown; known: auto, pulp, pulp-ilp, exact, lsa"):
        make_solver("gurobi", SMALL, 2)  # type: ignore[arg-type]


def test_what_cannot_be_assigned_is_refused() -> None:
    with pytest.raises(InputError, match="ask for more groups"):
        make_solver("exact", np.zeros((100_000, 1), np.int64), 10)
    with pytest.raises(InputError, match="at most 10000: set solver to auto"):
        make_solver("lsa", np.zeros((20_000, 1), np.int64), 10_000)
    with pytest.raises(InputError, match="too large to be grouped in exact integers"):
        make_solver("exact", SMALL * 2**20, 2)


def test_importing_the_package_imports_no_solver_package() -> None:
    code = "import sys, hfedms_sim.grouping; print([p for p in ('pulp', 'highspy', 'scipy') if p in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_warm_solver_gives_what_a_fresh_one_gives() -> None:
    counts = factory_counts(210)
    warm = make_solver("exact", counts, 30)
    for seed in range(5):
        sums = counts[np.random.default_rng(seed).choice(210, 7, replace=False)] * (1 + 29 * (seed % 2))
        labels, fresh = warm.assign(sums), assigned(counts, sums, 30, "lsa")
        assert (counts * sums[labels]).sum() == (counts * sums[fresh]).sum()
