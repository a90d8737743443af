"""Data sections of older runs, which have every key of every set."""

from typing import Any

import pytest

from hfedms_sim.scenario.data import without_old_defaults


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            {"set": "glyphs", "path": None, "ink": "bright", "skew": 1.0},
            {"set": "glyphs", "ink": "bright", "skew": 1.0},
        ),
        ({"path": None, "ink": "dark"}, {"ink": "dark"}),
        (
            {"set": "npz", "path": "a.npz", "ink": "bright", "skew": 1.0},
            {"set": "npz", "path": "a.npz", "ink": "bright"},
        ),
        ({"set": "leaf", "path": "a", "skew": 1}, {"set": "leaf", "path": "a"}),
        ({"set": "parquet", "path": "a", "skew": 1.0}, {"set": "parquet", "path": "a"}),
    ],
)
def test_keys_that_a_set_does_not_have_go_where_they_say_nothing(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert without_old_defaults(old) == new


@pytest.mark.parametrize(
    "raw",
    [
        {"set": "glyphs", "path": "a.npz"},
        {"set": "npz", "path": None, "skew": 0.5},
        {"set": "npz", "skew": True},
        {"set": "mine", "path": None, "skew": 1.0},
        {"set": ["npz"], "skew": 1.0},
        {},
    ],
)
def test_whatever_says_something_stays_for_validation(raw: dict[str, Any]) -> None:
    assert without_old_defaults(raw) == raw
