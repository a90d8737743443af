"""The paper's heat-maps: HFedMS-S on static data over alpha and beta of three growth functions, and how groups grow.

The paper's own grids are not given. Ours have the paper's recommended point in the middle of the logarithmic one; one
seed, because a point takes as long as any other run on static data.
"""

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Figure, HeatMap, Line, Lines, Panel, Table
from hfedms_sim.paper import published
from hfedms_sim.paper.claims import Claim, ClaimPart
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results, mean_of
from hfedms_sim.paper.scales import Scale
from hfedms_sim.paper.study import Study
from hfedms_sim.schedule import Growth, group_count, group_size

Grid = dict[Growth, dict[tuple[float, int], dict[int, float]]]
"""Final loss by growth function, (alpha, beta), and seed."""


def _changes(law: str, alpha: float, beta: int) -> dict[str, str]:
    return {"strategy.growth": law, "strategy.alpha": f"{alpha:g}", "strategy.beta": f"{beta}"}


def _trials(study: Study) -> list[Trial]:
    scale = study.scale
    return [
        trial
        for law, alphas in scale.growth.items()
        for alpha in alphas
        for beta in scale.betas
        for trial in study.trials("hfedms-s", "static", _changes(law, alpha, beta), seeds=study.seeds[:1])
    ]


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
    scale = study.scale
    grid: Grid = {
        law: {(alpha, beta): _loss(results, law, alpha, beta) for alpha in alphas for beta in scale.betas}
        for law, alphas in scale.growth.items()
    }
    figure = Figure(
        "growth", f"HFedMS-S, static data, {study.words}", (*_heat_maps(scale, grid), *_group_curves(study)), columns=3
    )
    return ExperimentOutcome((_table(study, grid),), (figure,), (_claim(scale, grid),))


def _loss(results: Results, law: str, alpha: float, beta: int) -> dict[int, float]:
    return results.of("hfedms-s", "static", _changes(law, alpha, beta)).final("loss")


def _table(study: Study, grid: Grid) -> Table:
    law, alpha, beta, loss = published.BEST_GROWTH
    rows = tuple((name, *point, mean_of(losses)) for name, points in grid.items() for point, losses in points.items())
    paper = f"The paper's lowest loss is {loss} with {law}, alpha = {alpha:g}, beta = {beta}"
    note = f"{paper}. Here {study.words}, the first."
    return Table(
        "growth", "Final test loss by growth of the number of groups", ("growth", "alpha", "beta", "loss"), rows, note
    )


def _heat_maps(scale: Scale, grid: Grid) -> list[Panel]:
    """Draw a map for each law, all in the same colours; the lowest loss of each is marked."""
    means = {law: {point: mean_of(losses) for point, losses in points.items()} for law, points in grid.items()}
    every = [loss for points in means.values() for loss in points.values() if loss is not None]
    limits = (min(every), max(every)) if every else None
    panels: list[Panel] = []
    for law, points in means.items():
        alphas, betas = scale.growth[law], scale.betas
        values = tuple(tuple(points[alpha, beta] for alpha in alphas) for beta in betas)
        lowest = min((loss for loss in points.values() if loss is not None), default=None)
        cells = [(row, column) for row in range(len(betas)) for column in range(len(alphas))]
        marked = tuple(cell for cell in cells if lowest is not None and values[cell[0]][cell[1]] == lowest)
        labels = (tuple(f"{alpha:g}" for alpha in alphas), tuple(map(str, betas)))
        panels.append(HeatMap(f"final loss, {law}", "alpha", "beta", *labels, values, marked, limits))
    return panels


def _group_curves(study: Study) -> list[Panel]:
    """Draw M and L over rounds, which follow from the formulas alone."""
    scale = study.scale
    rounds = tuple(range(1, scale.rounds + 1))
    counts, sizes = [], []
    for law, alphas in scale.growth.items():
        alpha = scale.alpha if law == "log" else alphas[len(alphas) // 2]
        groups = [group_count(law, alpha, scale.beta, number, scale.sensors) for number in rounds]
        label = f"{law}, alpha {alpha:g}, beta {scale.beta}"
        counts.append(Line(label, tuple(map(float, rounds)), tuple(map(float, groups))))
        sizes.append(
            Line(label, tuple(map(float, rounds)), tuple(float(group_size(each, scale.sensors)) for each in groups))
        )
    return [
        Lines("groups, M", "round", "groups", tuple(counts)),
        Lines("sensors in a group, L", "round", "sensors", tuple(sizes)),
    ]


def _claim(scale: Scale, grid: Grid) -> Claim:
    """Judge the heat-maps. With one seed nothing can be decided; the differences are shown."""
    losses = {(law, *point): mean_of(found) for law, points in grid.items() for point, found in points.items()}
    known = {point: loss for point, loss in losses.items() if loss is not None}
    if len(known) < len(losses):
        return Claim("Q9", "defaults", (), "needs all points of the grid")
    best = {law: min(loss for (owner, *_), loss in known.items() if owner == law) for law in grid}
    alphas, betas = scale.growth["log"], scale.betas
    ours = known["log", scale.alpha, scale.beta]
    others = [loss for point, loss in known.items() if point[0] == "log" and point[1:] != (scale.alpha, scale.beta)]
    parts = [
        *(ClaimPart(f"log's best is below {law}'s best", (best[law] - best["log"],)) for law in ("linear", "exp")),
        ClaimPart(f"alpha = {scale.alpha:g}, beta = {scale.beta} is log's best point", (min(others) - ours,)),
        ClaimPart("the slowest growth is worse", (known["log", alphas[0], betas[0]] - ours,)),
        ClaimPart("the fastest growth is worse", (known["log", alphas[-1], betas[-1]] - ours,)),
    ]
    return Claim("Q9", "defaults", tuple(parts))


GROWTH = Experiment("growth", "figure: heat-maps over alpha and beta, and how groups grow", _trials, _outcome, ("Q9",))
