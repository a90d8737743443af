"""The balanced assignment as a linear program, stated with PuLP.

With x_kl = 1 where sensor k goes to cluster l and costs c_kl = -V_k.S_l (`affinity.py`):

    minimise  sum_kl c_kl x_kl   subject to   sum_l x_kl = 1 for every sensor,   sum_k x_kl = s for every cluster.

- `IntegerProgram` is the paper's formulation: binary x, built anew each time, solved by CBC. Slow: the reference.
- `FlowProgram` lets x be any number from 0 up. The constraint matrix is that of a flow network, hence totally
  unimodular: every vertex is integer, and the simplex method returns a vertex. The model is built once; from one
  k-means iteration to the next only the costs change, so that HiGHS goes on from its last basis (by the primal simplex
  method, as that basis stays feasible). Its presolve is off: done again each time, it doubles the time of a grouping.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.grouping.affinity import Counts, Labels, SensorCounts, Sums
from hfedms_sim.grouping.optional_packages import optional_package

_PRIMAL_SIMPLEX = 4  # HiGHS's number for it


class IntegerProgram:
    """`pulp-ilp`: binary variables, CBC."""

    def __init__(self, counts: Counts, cluster_size: int) -> None:
        self._pulp = optional_package("pulp", "solver = pulp-ilp")
        self._solver = self._pulp.COIN_CMD(path=self._pulp.PULP_CBC_CMD.pulp_cbc_path, msg=False)
        if not self._solver.available():
            raise InputError("solver = pulp-ilp: PuLP was installed without the program cbc; use pulp, exact or lsa")
        self._sensors, self._cluster_size = SensorCounts(counts), cluster_size

    def assign(self, centroid_sums: Sums) -> Labels:
        costs = _costs(self._sensors, centroid_sums)
        problem, goes_to = _program(self._pulp, costs.shape, self._cluster_size, binary=True)
        variables = [x for row in goes_to for x in row]
        problem.setObjective(self._pulp.LpAffineExpression(list(zip(variables, costs.ravel().tolist(), strict=True))))
        status = problem.solve(self._solver)
        if status != self._pulp.LpStatusOptimal:
            raise RunError(f"solver pulp-ilp: CBC ended with status {self._pulp.LpStatus[status]!r}")
        return _labels(np.array([[x.value() for x in row] for row in goes_to]), self._cluster_size)


class FlowProgram:
    """`pulp`: continuous variables, HiGHS in this process, one model for all iterations."""

    def __init__(self, counts: Counts, cluster_size: int) -> None:
        optional_package("highspy", "solver = pulp")  # first: PuLP looks for it once, when it is imported
        self._pulp = optional_package("pulp", "solver = pulp")
        self._sensors, self._cluster_size = SensorCounts(counts), cluster_size
        self._columns: NDArray[np.int32] | None = None
        self._model: Any = None

    def assign(self, centroid_sums: Sums) -> Labels:
        costs = _costs(self._sensors, centroid_sums)
        if self._columns is None:
            self._columns = self._build(costs.shape)
        # PuLP 3.3 cannot solve a HiGHS problem again (`HiGHS.resolve` raises): change the costs where HiGHS keeps them.
        self._model.changeColsCost(costs.size, self._columns, costs.ravel())
        self._model.run()
        status = self._model.modelStatusToString(self._model.getModelStatus())
        if status != "Optimal":
            raise RunError(f"solver pulp: HiGHS ended with status {status!r}")
        chosen = np.array(self._model.getSolution().col_value)[self._columns]
        return _labels(chosen.reshape(costs.shape), self._cluster_size)

    def _build(self, shape: tuple[int, ...]) -> NDArray[np.int32]:
        """Hand the model to HiGHS; return the column of each (sensor, cluster)."""
        problem, goes_to = _program(self._pulp, shape, self._cluster_size, binary=False)
        highs = self._pulp.HiGHS(
            msg=False, threads=1, presolve="off", solver="simplex", simplex_strategy=_PRIMAL_SIMPLEX
        )
        highs.createAndConfigureSolver(problem)
        highs.buildSolverModel(problem)
        self._model = problem.solverModel
        return np.array([x.index for row in goes_to for x in row], np.int32)


def _costs(sensors: SensorCounts, centroid_sums: Sums) -> NDArray[np.float64]:
    """Return what each sensor loses in each cluster against its favourite, the smallest integers that will do."""
    affinities = sensors.affinities(centroid_sums)
    return np.ascontiguousarray((affinities.max(axis=0) - affinities).T, np.float64)


def _program(pulp: Any, shape: tuple[int, ...], cluster_size: int, *, binary: bool) -> tuple[Any, list[list[Any]]]:
    """Return the constraints, and x as a list of rows."""
    sensors, clusters = shape
    category = pulp.LpBinary if binary else pulp.LpContinuous
    problem = pulp.LpProblem("balanced_assignment", pulp.LpMinimize)
    goes_to = [[problem.add_variable(f"x_{k}_{c}", 0, None, category) for c in range(clusters)] for k in range(sensors)]
    problem.setObjective(pulp.LpAffineExpression())
    for k, row in enumerate(goes_to):
        problem.addConstraint(pulp.lpSum(row) == 1, f"sensor_{k}")
    for c, column in enumerate(zip(*goes_to, strict=True)):
        problem.addConstraint(pulp.lpSum(column) == cluster_size, f"cluster_{c}")
    return problem, goes_to


def _labels(chosen: NDArray[np.float64], cluster_size: int) -> Labels:
    """Return the cluster of each sensor, from x; refuse what is not an assignment."""
    rounded = np.rint(chosen)
    if np.abs(chosen - rounded).max() > 1e-6 or (rounded.sum(1) != 1).any() or (rounded.sum(0) != cluster_size).any():
        raise RunError("the linear program's solution is not an assignment")
    return np.asarray(rounded.argmax(axis=1), np.int64)
