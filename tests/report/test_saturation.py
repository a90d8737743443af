"""How busy cells were, in words."""

from typing import Any

from hfedms_sim.report.saturation import allowed_airtime, busiest_cell, saturation


def use(saturated: float, active: float = 0.0, allowed: float | None = None) -> dict[str, Any]:
    return {
        "airtime_s": 1.0,
        "active_share": active,
        "saturated_share": saturated,
        "allowed_airtime_share": allowed,
    }


def test_the_busier_direction_comes_first() -> None:
    directions = {"up": use(0.25), "down": use(0.75)}
    assert saturation(directions, is_shared=False) == "downlink 75.0% of the time, uplink 25.0%"
    assert saturation({"up": use(0.9), "down": use(0.9)}, is_shared=True) == "90.0% of the time, both directions in one"


def test_allowed_airtime_is_told_where_something_limits_it() -> None:
    assert allowed_airtime({"up": use(0.0), "down": use(0.0)}) is None
    shown = allowed_airtime({"up": use(0.0, allowed=0.181), "down": use(0.5)})
    assert shown == "uplink 18.1% used, by the busiest sender"


def test_the_busiest_cell_is_the_one_nearest_to_its_limits_and_then_the_most_active() -> None:
    def cell(name: str, **uses: dict[str, Any]) -> dict[str, Any]:
        return {"name": name, "directions": {"up": use(0.0)} | uses}

    wires = [cell("quiet", down=use(0.0, 0.1)), cell("lively", down=use(0.0, 0.2))]
    assert busiest_cell(wires)["name"] == "lively"
    assert busiest_cell([*wires, cell("full", down=use(0.3))])["name"] == "full"
    assert busiest_cell([*wires, cell("full", down=use(0.3)), cell("duty", up=use(0.0, allowed=0.4))])["name"] == "duty"
