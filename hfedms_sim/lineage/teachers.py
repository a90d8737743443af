"""Other runs that a run learns from: what they have learnt, and why nothing of it can be used, if that is so.

A round's learning is found under its lineage, which starts from the settings of a run (root.json) and has every round
in it. So two runs that share nothing differ in these settings, or in their very first round.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hfedms_sim.lineage.metrics_log import MetricsLog
from hfedms_sim.result import differences
from hfedms_sim.rounds import lineage_root

ROOT, LOG = "root.json", "metrics.log"

_MOST_NAMED = 3
_SCENARIO_KEYS = {"augment": "stream.augment", "arrival": "stream.arrival", "batch": "stream.batch"}
_TELLING = ("strategy.name", "data.set", "model")
"""Where runs differ in one of these, what follows from it is not worth a word."""


class Teacher:
    """The lineage store of another run, which is only read. `log` has the rounds that it has finished."""

    def __init__(self, learning: Path) -> None:
        self.log = MetricsLog(learning / LOG)
        self._learning = learning

    def refusal_at_root(self, settings: Mapping[str, Any]) -> str | None:
        """Return why a run that starts from these settings can learn nothing here; None if it may."""
        if not self.log.finite:
            return self._refusal("it has learnt nothing itself")
        theirs = root_settings(self._learning / ROOT)
        if theirs is None or lineage_root(theirs) == lineage_root(settings):
            return None
        return self._refusal(f"it has another {_named(theirs, json.loads(json.dumps(settings)))}")

    def refusal_at_round(self, round_number: int, lineage: str) -> str | None:
        """Return why a run whose first round to learn is this one can learn nothing here; None if it can."""
        if lineage in self.log.finite:
            return None
        if root_settings(self._learning / ROOT) is None:
            return self._refusal(f"it has no sound {ROOT}, and its rounds are not those of this run")
        return self._refusal(
            f"it has the same settings, but other sensors or samples took part in round {round_number}"
        )

    def _refusal(self, why: str) -> str:
        return f"nothing to learn from {self._learning.parent}: {why}"


def root_settings(path: Path) -> dict[str, Any] | None:
    """Return the settings that a store's lineages start from; None if there are none, or none to be trusted."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        settings: dict[str, Any] = content["settings"]
        return settings if lineage_root(settings) == content["lineage"] else None
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        return None


def _named(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """Return the keys that differ, with both values; of many the first few."""
    found = {key: (was, now) for key, was, now in differences(theirs, ours)}
    if "seed" in found:
        found.pop("data.seed", None)  # the same seed once more
    for telling in _TELLING:
        if telling in found:
            part = telling.partition(".")[0]
            found = {key: values for key, values in found.items() if key == telling or not key.startswith(f"{part}.")}
    named = [
        f"{_SCENARIO_KEYS.get(key, key)} ({_shown(was)}, here {_shown(now)})"
        for key, (was, now) in list(found.items())[:_MOST_NAMED]
    ]
    more = [f"{len(found) - len(named)} more"] if len(found) > len(named) else []
    *first, last = [*named, *more]
    return f"{', '.join(first)} and {last}" if first else last


def _shown(value: Any) -> str:
    text = "none" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
