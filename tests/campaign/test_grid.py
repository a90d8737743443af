"""Values of a sweep, as they are typed."""

import pytest

from hfedms_sim.campaign.grid import parse_grid
from hfedms_sim.errors import InputError


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("strategy.interval=1:9:2", ("1", "3", "5", "7", "9")),
        ("k=1:3", ("1", "2", "3")),
        ("k=1:4:2", ("1", "3")),
        ("k=9:1:-4", ("9", "5", "1")),
        ("k=0.1:0.5:0.1", ("0.1", "0.2", "0.3", "0.4", "0.5")),
        ("k=100:300:100", ("100", "200", "300")),
        ("k=4,10:30:10,log", ("4", "10", "20", "30", "log")),
        ("k=[1, 2],[3]", ("[1, 2]", "[3]")),
        ("k={a: 1, b: 2},'x, y'", ("{a: 1, b: 2}", "'x, y'")),
        ("k=a=b", ("a=b",)),
        ("k=1e-3:2e-3:1e-3", ("0.001", "0.002")),
    ],
)
def test_values_and_ranges(text: str, values: tuple[str, ...]) -> None:
    assert parse_grid(text).values == values


@pytest.mark.parametrize("text", ["k", "k=", "=1", "k=1,,2", "k=1,1", "k=1:9:0", "k=9:1", "k=1:1000000", "seed=1,2"])
def test_what_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--grid"):
        parse_grid(text)
