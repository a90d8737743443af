"""Every breach that was ever found, as the command and the files that showed it. None may come back."""

from collections.abc import Mapping
from typing import NamedTuple

_TIMED = ("--timing-only", "--rounds", "1", "--out", "out")


class Breach(NamedTuple):
    name: str
    words: tuple[str, ...]
    files: Mapping[str, str] = {}
    """Contents by path."""


def _radio(figures: str) -> str:
    return f"{{name: x, cells: [{{name: a, profile: {{name: p, uplink_bps: 1e5, downlink_bps: 1e5, {figures}}}}}]}}"


def _scene(**parts: str) -> str:
    keys = {"name": "x", "model": "tiny-mlp", "sensors": "{count: 6}", "cells": "[{name: a, profile: lte-cat-m2}]"}
    return "".join(f"{key}: {value}\n" for key, value in (keys | parts).items())


BREACHES = (
    Breach("superscript-seed", ("compare", "quickstart", "--seeds", "²", *_TIMED)),
    Breach("seed-of-5000-digits", ("compare", "quickstart", "--seeds", "9" * 5000, *_TIMED)),
    Breach("range-beyond-decimals", ("sweep", "quickstart", "--grid", "rounds=1e9999999:2", *_TIMED)),
    Breach("product-of-ranges", ("sweep", "quickstart", "--grid", "rounds=1:9999", "--grid", "seed_=1:9999",
                                 "--grid", "strategy.beta=1:9999", *_TIMED)),
    Breach("markup-in-a-grid", ("sweep", "quickstart", "--grid", "description=[/b]", *_TIMED)),
    Breach("block-error-rate-of-nearly-one", ("run", "./s.yaml", *_TIMED),
           {"s.yaml": _radio("blocks: {error_rate: 0.9999999, size_bytes: 100}")}),
    Breach("times-of-1e308", ("run", "./s.yaml", *_TIMED), {"s.yaml": _radio("setup_s: 1e308, latency_s: 1e308")}),
    Breach("a-rate-of-1e-308", ("run", "./s.yaml", *_TIMED), {"s.yaml": _radio("").replace("1e5", "1e-308")}),
    Breach("short-silence", ("run", "lorawan-yard", "--profile", "lorawan-eu868-sf11", "--set",
                             "cells.0.profile.frames.uplink_silence_s=0.001", *_TIMED)),
    Breach("three-thousand-in-the-yard", ("run", "lorawan-yard", "--set", "sensors.count=3000", *_TIMED)),
    Breach("a-million-chains", ("run", "quickstart", "--set", "sensors.count=1000000", *_TIMED)),
    Breach("escapes-in-a-description", ("show", "./s.yaml"), {"s.yaml": _scene(description='"\\e]0;x\\a\\e[31m"')}),
    Breach("escapes-in-a-name", ("run", "\x1b[31m.yaml", *_TIMED)),
    Breach("a-foreign-summary", ("plot", "run", "--out", "p.png"), {"run/summary.json": '{"a": 1}'}),
    Breach("resume-of-any-directory", ("compare", "quickstart", "--profiles", "ethernet", "--resume", *_TIMED),
           {"out/cells.csv": "precious\n"}),
)  # fmt: skip
