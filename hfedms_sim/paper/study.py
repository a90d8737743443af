"""A study: at which scale, on which data, with which seeds and in which reading the paper's experiments are played.

It makes the trials of all experiments, so that the same question is the same trial wherever it is asked: its record is
then taken over from the experiment that has it already.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from hfedms_sim.campaign import Trial, Variant
from hfedms_sim.data import DATA_SETTINGS, kind_of, open_dataset
from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.paper.published import DataKind
from hfedms_sim.paper.readings import Reading, overrides_of
from hfedms_sim.paper.scales import Scale
from hfedms_sim.paper.tuned import TUNING_SEED, Column, Tuned
from hfedms_sim.scenario import CHARACTER_IMAGES, Scenario, keys_of
from hfedms_sim.strategies import SHIPPED

_SHIPPED: dict[DataKind, str] = {"stream": "paper-stream", "static": "paper-static"}
_WATCHED = ("hfedms-s", "hfedms-d")  # on streams: evaluated in every round, and probed for forgetting
_JUDGED_TUNED = ("fedavg", "hfedms-s", "hfedms-d")
_FULL_SHARE = {"hfedms-d": 0.6}  # of FedAvg's seconds: calibration rounds are shorter
_LONGEST_NAME = 180  # without rounds and seed

Changes = Mapping[str, str]
"""Keys of a scenario and what they are set to, as text to be read as YAML."""


@dataclass(frozen=True)
class Study:
    scale: Scale
    data: Path | None = None
    chosen_seeds: tuple[int, ...] = ()
    """Instead of the scale's own."""
    reading: Reading = "text"
    tuned: Tuned = field(default_factory=Tuned)

    def __post_init__(self) -> None:
        if TUNING_SEED in self.chosen_seeds and self.tuned and self.scale.tuned_seeds:
            raise InputError(f"--seeds: {TUNING_SEED} is what settings were tuned on, nothing is judged on it")

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.chosen_seeds or self.scale.seeds

    def tuned_seeds(self, kind: DataKind) -> tuple[int, ...]:
        """Return the seeds of tuned settings; on static data, where a round is long, only the first of those chosen."""
        if self.chosen_seeds:
            return self.chosen_seeds if kind == "stream" else self.chosen_seeds[:1]
        return self.scale.tuned_seeds.get(kind, ())

    def tunes(self, strategy: str, kind: DataKind) -> bool:
        """Return whether the strategy is played with tuned settings too: at full scale only the best rival is."""
        if not self.tuned.has(strategy, kind) or not self.tuned_seeds(kind):
            return False
        return self.scale.name != "full" or strategy in (*_JUDGED_TUNED, self.tuned.best_rival(kind))

    @property
    def kinds(self) -> tuple[DataKind, ...]:
        """Return the kinds of data of this study; the program's reading is about streams."""
        return self.scale.kinds if self.reading == "text" else ("stream",)

    @property
    def words(self) -> str:
        """Return in a few words what was played."""
        data = "glyphs" if self.data is None else self.data.stem
        reading = "" if self.reading == "text" else f", the {self.reading}'s reading"
        seeds = f"{len(self.seeds)} seed{'s' if len(self.seeds) > 1 else ''}"
        return f"{self.scale.name}: {data}, {self.scale.model}, {self.scale.rounds} rounds, {seeds}{reading}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the settings that strategies are judged with: their sources' defaults, and tuned ones if there are."""
        return ("defaults", "tuned") if self.tuned and self.scale.tuned_seeds else ("defaults",)

    def trials(
        self,
        strategy: str,
        kind: DataKind,
        changes: Changes | None = None,
        *,
        column: Column = "defaults",
        seeds: tuple[int, ...] | None = None,
        rounds: int | None = None,
    ) -> list[Trial]:
        """Return one trial for each seed."""
        return [
            self._trial(strategy, kind, changes or {}, column, seed, rounds or self.scale.rounds)
            for seed in (self.seeds if seeds is None else seeds)
        ]

    def scenario(self, strategy: str, kind: DataKind, changes: Changes, seed: int, rounds: int) -> Scenario:
        scale, settings = self.scale, keys_of(SHIPPED[strategy].Settings)
        watched = kind == "stream" and strategy in _WATCHED
        overrides = [*scale.overrides, f"evaluate_every={1 if watched else scale.evaluate_every}"]
        if watched and rounds >= scale.probe_round:
            overrides.append(f"probe_round={scale.probe_round}")
        overrides += [f"strategy.{key}={getattr(scale, key)}" for key in ("alpha", "beta") if key in settings]
        if self.data is not None:
            overrides.append(f"data={{set: {kind_of(self.data)}, path: {str(self.data)!r}}}")
        overrides += overrides_of(self.reading, strategy, kind)
        overrides += [f"{key}={value}" for key, value in changes.items()]
        return load_scenario(_SHIPPED[kind], strategy=strategy, seed=seed, rounds=rounds, overrides=overrides)

    def _trial(self, strategy: str, kind: DataKind, changes: Changes, column: Column, seed: int, rounds: int) -> Trial:
        tuned = self.tuned.settings(strategy, kind) if column == "tuned" else {}
        scenario = self.scenario(strategy, kind, {**tuned, **changes}, seed, rounds)
        variant = variant_of(strategy, kind, column, changes)
        cost = self._round_s(scenario, strategy, kind)
        return Trial(f"{_words(variant)}-{rounds}-seed{seed}", variant, scenario, cost)

    def _round_s(self, scenario: Scenario, strategy: str, kind: DataKind) -> float:
        """Return the processor seconds that a round is expected to take, evaluation included."""
        share = _FULL_SHARE.get(strategy, 1.0)
        return self.scale.round_s[kind] * share + self.scale.evaluation_s / scenario.evaluate_every


def variant_of(strategy: str, kind: str, column: str, changes: Changes) -> Variant:
    """Return what tells a trial from the others of a study, but for its seed."""
    changed = ((key.removeprefix("strategy."), value) for key, value in changes.items())
    return (("data", kind), ("strategy", strategy), ("settings", column), *changed)


def seconds_of(trials: list[Trial]) -> float:
    """Return the processor seconds that trials are expected to take."""
    return sum(trial.scenario.rounds * trial.cost for trial in trials)


def require_data(scale: Scale, data: Path | None) -> None:
    """Refuse data that no trial of the scale could use, before anything is written."""
    if data is not None:
        chosen = DATA_SETTINGS[kind_of(data)].model_validate({"set": kind_of(data), "path": str(data)})
        found = open_dataset(chosen, sensors=scale.sensors, types=scale.types, seed=0).shape
        if found != CHARACTER_IMAGES:
            raise InputError(f"--data {data}: has samples of {found}; the paper's experiments need {CHARACTER_IMAGES}")
    elif scale.name == "full":
        raise InputError(f"--scale full needs --data PATH, a data set of at least {scale.sensors} devices")


def _words(variant: Variant) -> str:
    """Return the variant as a part of a file name."""
    (_, kind), (_, strategy), (_, column), *changed = variant
    words = [kind, strategy, *([column] if column != "defaults" else []), *(f"{key}={value}" for key, value in changed)]
    name = re.sub(r"[^A-Za-z0-9._=+-]+", "_", "-".join(words))
    if len(name) <= _LONGEST_NAME:
        return name
    digest = sha256(name.encode()).hexdigest()[:8]
    return f"{name[: _LONGEST_NAME - len(digest) - 1]}-{digest}"
