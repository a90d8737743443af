"""Exhibits of every kind, as an experiment might make them."""

from math import exp

from hfedms_sim.exhibits import (
    Bars,
    Boxes,
    Dots,
    DotSet,
    Figure,
    HeatMap,
    Line,
    Lines,
    Mark,
    Panel,
    Span,
    Table,
    Timeline,
)

ROUNDS = tuple(float(each) for each in range(1, 41))


def rising(label: str, pace: float, *, band: float = 0.0) -> Line:
    y = tuple(0.8 * (1 - exp(-each / pace)) for each in ROUNDS)
    edges = tuple(each - band for each in y), tuple(each + band for each in y)
    return Line(label, ROUNDS, y, *(edges if band else ((), ())), style="solid" if band else "dashed")


PANELS: tuple[Panel, ...] = (
    Lines(
        "Accuracy",
        "round",
        "accuracy",
        (rising("hfedms-d, interval=3", 8, band=0.04), rising("fedavg", 15)),
        marks=(Mark("y", 0.7, "70 %"), Mark("x", 20, "probe")),
    ),
    Lines("Again, on a logarithmic axis", "bytes", "accuracy", (rising("fedavg", 15),), log_x=True),
    Boxes("Distance", "CPD", (("random", (0.1, 0.2, 0.4, 0.9)), ("ICG", (0.01, 0.02, 0.05, 0.1))), log_y=True),
    HeatMap(
        "Accuracy by alpha and beta",
        "beta",
        "alpha",
        ("5", "10", "15"),
        ("1", "2"),
        ((0.61, 0.7, None), (0.5, 0.72, 0.66)),
        marked=((1, 1),),
    ),
    Bars(
        "Cost in $ & more",
        "hours",
        ("lte-cat-m2", "wifi-halow", "ethernet"),
        (("fedavg", (12.0, 7.0, 1.0)), ("hfedms-d, interval=3", (5.0, None, 0.4))),
    ),
    Bars("Parts of a sum", "joules", ("one", "two"), (("fedavg", (1.0, 2.0)), ("idle", (None, 0.5))), is_stacked=True),
    Timeline(
        "A round",
        "seconds",
        ("sensor 0", "sensor $1$"),
        (Span(0, 0.0, 2.0, "downlink", "model", True), Span(1, 0.5, 3.0, "waiting"), Span(1, 3.0, 4.0, "uplink")),
        marked_as="critical path",
    ),
    Dots(
        "Time and joules",
        "hours",
        "joules",
        (
            DotSet("fedavg", (1.0,), (9.0,), texts=("fedavg",)),
            DotSet("best", (1.0, 2.0), (9.0, 3.0), texts=("a $1$", "b"), is_joined=True, is_named=True),
        ),
        log_x=True,
    ),
    Dots(
        "A hall",
        "x in m",
        "y in m",
        (
            DotSet("sensor", (5.0, 20.0), (4.0, 8.0), values=(0.5, 1.0), to=((10.0, 5.0), (10.0, 5.0))),
            DotSet("no coverage", (29.0,), (1.0,), marker="cross"),
            DotSet("base station", (10.0,), (5.0,), texts=("hall",), marker="triangle", is_named=True),
        ),
        value_label="Mbit/s",
        is_map=True,
        extent=(30.0, 10.0),
    ),
)
FIGURE = Figure("everything", "Every kind of panel", PANELS)
TABLE = Table(
    "costs",
    "What it cost",
    ("strategy", "rounds", "hours"),
    (("fedavg", 490, 1258.7990123), ("hfedms-d", 1_234_567, 0.123456789), ("none", None, 1.25e-9)),
    note="Simulated.",
)
