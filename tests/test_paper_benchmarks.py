"""The paper's claims on curves made by hand, and the scenarios behind them. The runs themselves take minutes."""

import pytest
from click.testing import CliRunner

from hfedms_sim.cli import main
from hfedms_sim.paper.benchmarks import (
    BASELINES,
    HFEDMS,
    PUBLISHED,
    STATIC_GROUPINGS,
    Claim,
    Curve,
    DataKind,
    _scenario,
    claims,
)
from hfedms_sim.report.benchmarks import benchmarks_table, claims_table

KINDS: tuple[DataKind, ...] = ("stream", "static")


def paper_like() -> dict[tuple[str, DataKind], Curve]:
    """Straight lines to the published figures; fixed groups overfit, HFedMS gets there in a tenth of the rounds."""
    curves = {}
    for kind in KINDS:
        for name in (*BASELINES, *STATIC_GROUPINGS, HFEDMS[kind]):
            accuracy, loss = PUBLISHED.get(name, {}).get(kind, (0.84 if name == "static-icg" else 0.83, 0.5))
            fast = name in HFEDMS.values()
            curves[name, kind] = Curve(
                name,
                kind,
                {5: accuracy * (0.99 if fast else 0.3), 30: accuracy * (0.995 if fast else 0.6), 60: accuracy},
                {5: 2 * loss, 30: 0.8 * loss if name in STATIC_GROUPINGS else 1.5 * loss, 60: loss},
            )
    return curves


def by_name(curves: dict[tuple[str, DataKind], Curve]) -> dict[str, Claim]:
    return {claim.name: claim for claim in claims(curves)}


def changed(name: str, kind: DataKind, **points: dict[int, float]) -> dict[tuple[str, DataKind], Curve]:
    curves = paper_like()
    before = curves[name, kind]
    curves[name, kind] = Curve(name, kind, points.get("accuracy", before.accuracy), points.get("loss", before.loss))
    return curves


def test_the_papers_own_figures_fulfil_its_claims() -> None:
    held = {name: claim.holds for name, claim in by_name(paper_like()).items()}
    assert held == {"Q1": True, "Q2": True, "Q3": True, "Q4": True, "Q7": True, "Q8": True}


@pytest.mark.parametrize(
    ("broken", "name", "kind", "points"),
    [
        ("Q1", "fedadam", "stream", {"accuracy": {60: 0.9}}),
        ("Q1", "fedadam", "stream", {"loss": {60: 0.1}}),
        ("Q2", "ida", "static", {"accuracy": {60: 0.9}}),
        ("Q3", "fedprox", "static", {"accuracy": {60: 0.5}}),
        ("Q3", "fedavg", "stream", {"accuracy": {60: 0.76}}),
        ("Q4", "hfedms-d", "stream", {"accuracy": {5: 0.1, 30: 0.2, 60: 0.842}}),
        ("Q7", "static-groups", "static", {"accuracy": {60: 0.85}}),
        ("Q8", "hfedms-s", "static", {"loss": {5: 0.2, 60: 0.453}}),
        ("Q8", "static-icg", "static", {"loss": {5: 2.0, 60: 0.4}}),
    ],
)
def test_a_claim_that_does_not_hold_is_reported_so(
    broken: str, name: str, kind: DataKind, points: dict[str, dict[int, float]]
) -> None:
    assert not by_name(changed(name, kind, **points))[broken].holds


def test_the_tables_show_published_beside_measured() -> None:
    assert benchmarks_table(paper_like(), "title").row_count == 12
    assert claims_table(claims(paper_like())).row_count == 6


@pytest.mark.parametrize("kind", KINDS)
def test_every_strategy_has_its_scenario_at_both_scales(kind: DataKind) -> None:
    for name in (*BASELINES, *STATIC_GROUPINGS, HFEDMS[kind]):
        small, full = (_scenario(name, kind, scale, None, 1) for scale in ("smoke", "full"))  # type: ignore[arg-type]
        assert (small.sensors.count, full.sensors.count) == (40, 368)
        assert (small.rounds, full.rounds) == (60, 500)
        assert (small.model, full.model) == ("small-cnn", "cnn")
        assert small.stream.arrival == full.stream.arrival == ("saturated" if kind == "stream" else "static")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["efficiency", "--scale", "smoke"], "--scale is for 'paper benchmarks'"),
        (["efficiency", "--data", "x.npz"], "--data is for"),
        (["benchmarks", "--out", "x.png"], "--out is for 'paper grouping'"),
        (["benchmarks", "--scale", "full"], "--scale full needs --data FILE"),
    ],
)
def test_options_that_do_not_belong_are_refused(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["paper", *arguments])
    assert result.exit_code == 2
    assert message in result.output
