"""The paper's efficiency table: published, closed form, simulated."""

import pytest

from hfedms_sim.paper.experiments.accounting import EfficiencyRow, efficiency

pytestmark = pytest.mark.thorough  # 490 rounds of 368 sensors on the clock

# strategy, T: TiB and hours in the paper's accounting, to the digits worked out independently
BY_HAND = {
    ("fedavg", 1): (2.62925, 1261.897),
    ("hfedms-s", 1): (0.17171, 82.410),
    ("hfedms-d", 3): (0.09671, 42.200),
    ("hfedms-d", 5): (0.05648, 24.648),
    ("hfedms-d", 7): (0.08078, 35.256),
    ("hfedms-d", 9): (0.07280, 31.781),
}


@pytest.fixture(scope="module")
def rows() -> list[EfficiencyRow]:
    return list(efficiency())


def test_all_twelve_published_figures_come_out_at_their_printed_precision(rows: list[EfficiencyRow]) -> None:
    for row in rows:
        assert f"{row.paper.tebibytes:.3f}" == f"{row.published.tebibytes:.3f}"
        assert f"{row.paper.hours:.0f}" == f"{row.published.hours:.0f}"
    assert sum(row.agreeing_figures for row in rows) == 12


def test_the_papers_accounting_agrees_with_the_formulas_worked_out_by_hand(rows: list[EfficiencyRow]) -> None:
    for row in rows:
        tebibytes, hours = BY_HAND[row.published.strategy, row.published.interval]
        assert round(row.paper.tebibytes, 5) == tebibytes
        assert round(row.paper.hours, 3) == hours


def test_simulated_bytes_equal_the_closed_form_exactly_reports_apart(rows: list[EfficiencyRow]) -> None:
    for row in rows:
        assert row.simulated.total_bytes == row.exact.total_bytes
        assert row.simulated.report_bytes == row.exact.report_bytes
    assert [row.simulated.report_bytes for row in rows] == [0, 2_920_448, 1_095_168, 638_848, 912_640, 821_376]


def test_simulated_seconds_equal_the_closed_form_to_1e9(rows: list[EfficiencyRow]) -> None:
    for row in rows:
        assert row.simulated.seconds == pytest.approx(row.exact.seconds, rel=1e-9)


def test_exact_fedavg_differs_from_the_paper_in_the_third_digit(rows: list[EfficiencyRow]) -> None:
    assert round(rows[0].exact.tebibytes, 5) == 2.62280
    assert round(rows[0].exact.hours, 1) == 1258.8
