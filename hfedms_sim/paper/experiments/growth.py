"""The paper's heat-maps: HFedMS-S on static data over alpha and beta of three growth functions, and how groups grow.

The paper's own grids are not given. Ours have the paper's recommended point in the middle of the logarithmic one; one
seed, because a point takes as long as any other run on static data. A point that diverged counts as the worst loss of
them all.
"""

from collections.abc import Mapping

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Figure, HeatMap, Line, Lines, Panel, Table
from hfedms_sim.paper import published
from hfedms_sim.paper.claims import Claim, ClaimPart
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results, Seeds, divergences, mean_of
from hfedms_sim.paper.scales import Scale
from hfedms_sim.paper.study import Study
from hfedms_sim.schedule import Growth, group_count, group_size

Point = tuple[Growth, float, int]
"""Growth function, alpha, beta."""
Grid = dict[Point, dict[int, float]]
"""Final loss by point and seed."""


def _points(scale: Scale) -> list[Point]:
    return [(law, alpha, beta) for law, alphas in scale.growth.items() for alpha in alphas for beta in scale.betas]


def _changes(law: str, alpha: float, beta: int) -> dict[str, str]:
    return {"strategy.growth": law, "strategy.alpha": f"{alpha:g}", "strategy.beta": f"{beta}"}


def _trials(study: Study) -> list[Trial]:
    return [
        trial
        for point in _points(study.scale)
        for trial in study.trials("hfedms-s", "static", _changes(*point), seeds=study.seeds[:1])
    ]


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
    scale = study.scale
    found = {point: results.of("hfedms-s", "static", _changes(*point)) for point in _points(scale)}
    grid = _grid(found)
    figure = Figure(
        "growth", f"HFedMS-S, static data, {study.words}", (*_heat_maps(scale, grid), *_group_curves(study)), columns=3
    )
    broken = divergences(
        {f"{law}, alpha {alpha:g}, beta {beta}": found[law, alpha, beta] for law, alpha, beta in found}
    )
    return ExperimentOutcome((_table(study, grid, broken),), (figure,), (_claim(scale, grid),))


def _grid(found: Mapping[Point, Seeds]) -> Grid:
    """Return the losses at the end. What diverged has the worst of all points that its seed has."""
    grid = {point: seeds.final("loss") for point, seeds in found.items()}
    for point, seeds in found.items():
        for seed in seeds.diverged:
            others = [losses[seed] for losses in grid.values() if seed in losses]
            grid[point] |= {seed: max(others)} if others else {}
    return grid


def _table(study: Study, grid: Grid, broken: str) -> Table:
    law, alpha, beta, loss = published.BEST_GROWTH
    rows = tuple((*point, mean_of(losses)) for point, losses in grid.items())
    paper = f"The paper's lowest loss is {loss} with {law}, alpha = {alpha:g}, beta = {beta}"
    counted = f" Counted as the worst: {broken}." if broken else ""
    note = f"{paper}. Here {study.words}, the first.{counted}"
    return Table(
        "growth", "Final test loss by growth of the number of groups", ("growth", "alpha", "beta", "loss"), rows, note
    )


def _heat_maps(scale: Scale, grid: Grid) -> list[Panel]:
    """Draw a map for each law, all in the same colours; the lowest loss of each is marked."""
    means = {point: mean_of(losses) for point, losses in grid.items()}
    every = [loss for loss in means.values() if loss is not None]
    limits = (min(every), max(every)) if every else None
    panels: list[Panel] = []
    for law, alphas in scale.growth.items():
        betas = scale.betas
        values = tuple(tuple(means[law, alpha, beta] for alpha in alphas) for beta in betas)
        lowest = min((loss for row in values for loss in row if loss is not None), default=None)
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
    """Judge the heat-maps, seed by seed. With one seed nothing can be decided; the differences are shown."""
    seeds = sorted(set.intersection(*({*losses} for losses in grid.values())))
    if not seeds:
        return Claim("Q9", "defaults", (), "needs all points of the grid")
    by_seed = [_differences(scale, {point: losses[seed] for point, losses in grid.items()}) for seed in seeds]
    parts = (ClaimPart(text, tuple(each[text] for each in by_seed)) for text in by_seed[0])
    return Claim("Q9", "defaults", tuple(parts))


def _differences(scale: Scale, losses: Mapping[Point, float]) -> dict[str, float]:
    """Return what the claim says of one seed's losses, as differences that are positive where it is right."""
    best = {law: min(loss for point, loss in losses.items() if point[0] == law) for law in scale.growth}
    alphas, betas = scale.growth["log"], scale.betas
    ours = losses["log", scale.alpha, scale.beta]
    others = [loss for point, loss in losses.items() if point[0] == "log" and point[1:] != (scale.alpha, scale.beta)]
    return {
        **{f"log's best is below {law}'s best": best[law] - best["log"] for law in scale.growth if law != "log"},
        f"alpha = {scale.alpha:g}, beta = {scale.beta} is log's best point": min(others) - ours,
        "the slowest growth is worse": losses["log", alphas[0], betas[0]] - ours,
        "the fastest growth is worse": losses["log", alphas[-1], betas[-1]] - ours,
    }


GROWTH = Experiment("growth", "figure: heat-maps over alpha and beta, and how groups grow", _trials, _outcome, ("Q9",))
