"""What a strategy's default settings add to the root of a lineage stays as it is: finished runs are found again.

A new setting must not change these. One that has to is a commit of its own that says why, and
`learning/version.py:LEARNING_VERSION` goes up if the same settings now learn something else.
"""

from typing import Any

import pytest

from hfedms_sim.rounds import lineage_root
from hfedms_sim.strategies import SHIPPED

ROOTS = {
    "fedavg": "647f2cfcb64d6fee",
    "fedprox": "40e6c687f5b8da42",
    "fedmmd": "1a1201ee221e32c4",
    "fedfusion": "462d343628e5bf96",
    "ida": "b63880cd2d0b5a0a",
    "fedadagrad": "0f775f82056198cb",
    "fedadam": "154b0e82bcb66774",
    "fedyogi": "0bdd8033b3fa69ba",
    "fedcs": "de67df36a728d43f",
    "fedasync": "6f5a71a48ab68101",
    "fedbuff": "2f8058db16dc2069",
    "hierfavg": "27198f60459294c3",
    "static-groups": "e2fc784410fdff31",
    "static-icg": "0ae2e74a4234713b",
    "hfedms-s": "88a2d180c7e843eb",
    "hfedms-d": "8efd983247f5c0bc",
    "hfedms-async": "8c9aae8de3082b9a",
    "hfedms-plus": "00a753bfc618fe1d",
}


@pytest.mark.parametrize("name", SHIPPED)
def test_default_settings_have_the_root_they_always_had(name: str) -> None:
    root = lineage_root(SHIPPED[name].Settings(name=name).learning_settings())[:16]
    assert root == ROOTS.get(name), f'a new strategy has a line here: "{name}": "{root}",'


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("fedasync", {"weights": "samples"}),
        ("hfedms-async", {"weights": "samples", "order": "round"}),
        ("fedbuff", {"staleness_slope": 3.0, "staleness_limit": 1.0}),
        ("fedavg", {"over_selection": 0.5}),
    ],
)
def test_a_setting_without_effect_is_in_no_root(name: str, change: dict[str, Any]) -> None:
    settings = SHIPPED[name].Settings
    assert settings(name=name, **change).learning_settings() == settings(name=name).learning_settings()


@pytest.mark.parametrize("law", ["constant", "hinge"])
def test_the_settings_of_the_chosen_law_are_in_the_root(law: str) -> None:
    settings = SHIPPED["fedbuff"].Settings
    other = settings(name="fedbuff", staleness=law, staleness_limit=1.0)  # type: ignore[call-arg]
    plain = settings(name="fedbuff", staleness=law)  # type: ignore[call-arg]
    assert (other.learning_settings() == plain.learning_settings()) == (law == "constant")
