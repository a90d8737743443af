"""Small factories that finish in seconds, with much that can go wrong on the way, as files for the command line."""

from pathlib import Path
from typing import Any

import yaml

_RADIO = {"name": "fast", "uplink_bps": 8e3, "downlink_bps": 8e3}
_FACTORY: dict[str, Any] = {
    "name": "small",
    "rounds": 30,
    "model": "tiny-mlp",
    "sensors": {"count": 8},
    "cells": [{"name": "hall", "profile": _RADIO}],
    "stream": {"batch": 10},
    "evaluate_every": 3,
}
_FAULTS = [
    {"kind": "sensor-crash", "mean_up_s": 4000.0, "mean_down_s": 300.0},
    {"kind": "cell-outage", "mean_up_s": 1500.0, "mean_down_s": 30.0},
    {"kind": "transfer-loss", "probability": 0.02},
]
_HFEDMS = {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5, "memory": 20}
_COMPRESSED = {"uplink": "topk", "share": 0.02, "downlink": "int8"}
_MANY = {"stream": {"arrival": "saturated", "batch": 10}, "sensors": {"count": 40}, "rounds": 60}

SCENARIOS: dict[str, dict[str, Any]] = {
    "plain": {"strategy": {"name": "fedavg", "sample_ratio": 0.5, "learning_rate": 0.1}},
    "faulty": {"strategy": _HFEDMS, "faults": _FAULTS, "rounds": 60, "probe_round": 7},
    "compressed": {"strategy": {"name": "fedavg", "sample_ratio": 0.5, "compression": _COMPRESSED}, "faults": _FAULTS},
    "windows": {"strategy": {"name": "fedbuff"}, "faults": _FAULTS[:2]},
    "poisson": {"strategy": _HFEDMS, "stream": {"arrival": "poisson", "rate_hz": 0.5, "batch": 10, "buffer": 20}},
    "many": _MANY | {"strategy": {"name": "fedavg", "sample_ratio": 0.5}, "faults": _FAULTS},
    "long": _MANY | {"strategy": {"name": "fedavg", "sample_ratio": 0.5}, "faults": _FAULTS, "rounds": 200},
}
"""What each changes of the factory."""
RATES_BPS = (4e3, 2e5, 4e6)
"""The rates of the radios that campaigns compare."""


def write_scenarios(directory: Path) -> None:
    """Write every scenario as NAME.yaml, and the radios as radio0.yaml and so on."""
    directory.mkdir(parents=True)
    for name, changes in SCENARIOS.items():
        (directory / f"{name}.yaml").write_text(yaml.safe_dump(_FACTORY | {"name": name} | changes))
    for number, rate in enumerate(RATES_BPS):
        radio = {"name": f"radio{number}", "uplink_bps": rate, "downlink_bps": rate}
        (directory / f"radio{number}.yaml").write_text(yaml.safe_dump(radio))
