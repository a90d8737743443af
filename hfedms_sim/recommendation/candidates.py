"""What there is to choose from: every strategy with the values of its decisive settings, over every radio."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from hfedms_sim.campaign import Trial, Variant
from hfedms_sim.campaign.trials import trial_name
from hfedms_sim.errors import Argument, InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.recommendation.goal import Goal
from hfedms_sim.scenario import Scenario, Source, keys_of
from hfedms_sim.scenario.compression import Quantiser
from hfedms_sim.scenario.overrides import Override, overrides_of
from hfedms_sim.scenario.problems import unknown
from hfedms_sim.strategies import STRATEGIES
from hfedms_sim.strategies.known_strategies import AnyStrategy

STRATEGIES_TRIED = ("fedavg", "fedadam", "fedbuff", "hfedms-s", "hfedms-d", "hfedms-plus")
"""Unless others are asked for: the plain mean, an adaptive server, no barrier, HFedMS, and HFedMS by rule."""

PLAIN: Quantiser = "none"
"""The codec of numbers that are sent as they are."""
Settings = tuple[tuple[str, str], ...]
"""Keys of a strategy and their values as YAML, such as ("learning_rate", "0.03"). Empty: as the scenario has them."""


@dataclass(frozen=True)
class Candidate:
    """One answer to the question: a strategy, its settings, a radio."""

    number: int
    strategy: str
    settings: Settings
    radio: str
    profile: str | None = None
    """The name or path of what every cell is put on; None: as the scenario has it."""

    @property
    def words(self) -> str:
        settings = "".join(f", {key} {value}" for key, value in self.settings)
        return f"{self.strategy}{settings} over {self.radio}"

    @property
    def variant(self) -> Variant:
        return (("profile", self.radio), ("strategy", self.strategy), *self.settings)


@dataclass(frozen=True)
class Question:
    """What is asked: a goal in a scenario, with what is changed in it for all candidates alike."""

    source: Source
    goal: Goal
    rounds: int | None = None
    overrides: Sequence[str] = ()
    prices: Mapping[str, float] = field(default_factory=dict)
    """What a megabyte costs on a radio, by its name; none are known if this is empty."""
    codec: Quantiser | None = None
    """How all candidates send what is trained, on every leg; None: as each strategy has it."""

    @cached_property
    def base(self) -> Scenario:
        """Return the scenario without a candidate; one keeps what it also has of its strategy's settings."""
        common = [text for text in self.overrides if _setting_in(text) is None]
        own = type(load_scenario(self.source, rounds=self.rounds, overrides=common).strategy)
        known = [text for text in self.overrides if _setting_in(text) is None or _setting_in(text) in keys_of(own)]
        return load_scenario(self.source, rounds=self.rounds, overrides=known)

    def scenario(self, candidate: Candidate, seed: int | None = None, rounds: int | None = None) -> Scenario:
        """Return the candidate's scenario; it is played until it is as accurate as is asked for."""
        accuracy = self.goal.accuracy
        keys = keys_of(STRATEGIES[candidate.strategy].Settings)
        given = [text for text in self.overrides if _setting_in(text) in keys]
        settings = [f"strategy.{key}={value}" for key, value in candidate.settings]
        goal = [f"stop_at={accuracy!r}", f"targets=[{accuracy!r}]"]
        return load_scenario(
            self.base,
            profile=candidate.profile,
            strategy=candidate.strategy,
            rounds=rounds,
            seed=seed,
            overrides=[*goal, *given, *self._compression(candidate), *settings],
        )

    def _compression(self, candidate: Candidate) -> list[str]:
        if self.codec is None:
            return []
        legs = ", ".join(f"{leg}: {self.codec}" for leg in _legs(candidate))
        return [f"strategy.compression={{{legs}}}"]

    def codec_of(self, candidate: Candidate) -> str:
        """Return how a candidate sends what is trained, such as `int8`; leg by leg where these differ."""
        compression = self.scenario(candidate).strategy.compression
        codecs = {leg: getattr(compression, leg) for leg in _legs(candidate)}
        if len(set(codecs.values())) == 1:
            return str(codecs["uplink"])
        return ", ".join(f"{leg} {codec}" for leg, codec in codecs.items())

    @property
    def fixed(self) -> frozenset[str]:
        """Return the settings of strategies that are the same for all that have them, because an override says so."""
        whole = (change.value for change in overrides_of(self.overrides) if change.path == ("strategy",))
        mapped = (key for value in whole if isinstance(value, Mapping) for key in value if key != "name")
        return frozenset([*mapped, *(key for text in self.overrides if (key := _setting_in(text)) is not None)])

    def require_strategies(self, strategies: Iterable[str]) -> None:
        """Refuse strategies that are none, and settings that nobody has."""
        settings = [*(_known(name).Settings for name in strategies), type(self.base.strategy)]
        having = {key for each in settings for key in keys_of(each)}
        for text in self.overrides:
            key = _setting_in(text)
            if key is not None and key not in having:
                raise InputError(f"strategy.{key}: no strategy that is tried has it: {', '.join(strategies)}")

    def require_prices(self, radios: Iterable[str]) -> None:
        """Refuse prices of radios that are not tried, and radios without a price where others have one."""
        tried = dict.fromkeys(radios)
        for radio in self.prices:
            if radio not in tried:
                known = ", ".join(tried)
                raise InputError(Argument("price"), f" {radio!a:.60}: no such radio is tried; tried: {known}")
        for radio in tried:
            if self.prices and radio not in self.prices:
                raise InputError(Argument("price"), f": {radio} has none; either every radio has one, or none")

    def trial(self, candidate: Candidate, seed: int, rounds: int | None = None) -> Trial:
        name = trial_name(candidate.number, candidate.variant, seed)
        return Trial(name, candidate.variant, self.scenario(candidate, seed, rounds))


def candidates_of(
    question: Question, strategies: Sequence[str], profiles: Sequence[str]
) -> tuple[list[Candidate], list[str]]:
    """Return all candidates, and why combinations are none, a line each.

    No profiles: the radios that the scenario has. Settings that come to the same scenario are one candidate.
    """
    question.require_strategies(strategies)
    found: list[Candidate] = []
    refused: list[str] = []
    radios = _radios(question, profiles)
    for (profile, radio), strategy in product(radios.items(), dict.fromkeys(strategies)):
        seen: list[Scenario] = []
        for settings in _points(strategy, question.fixed):
            candidate = Candidate(len(found) + 1, strategy, settings, radio, profile)
            try:
                scenario = question.scenario(candidate)
            except InputError as error:
                refused.append(f"{', '.join((strategy, *map(' '.join, settings)))}: {error}")
                if not settings:
                    break  # nor are others of this strategy
                continue
            if scenario not in seen:
                seen.append(scenario)
                found.append(candidate)
    if not found:
        raise InputError(refused[0])
    return found, list(dict.fromkeys(refused))


def _legs(candidate: Candidate) -> tuple[str, ...]:
    """Return the legs that a model takes: sensors may hand it to one another."""
    relays = STRATEGIES[candidate.strategy].Settings.relays
    return ("downlink", "relay", "uplink") if relays else ("downlink", "uplink")


def _setting_in(override: str) -> str | None:
    """Return which setting of a strategy an override changes, as `strategy.compression.uplink=...`; None if none."""
    path = Override.parse(override).path
    return str(path[1]) if len(path) > 1 and path[0] == "strategy" and path[1] != "name" else None


def _known(name: str) -> AnyStrategy:
    if name not in STRATEGIES:
        raise InputError(unknown("strategy", name, STRATEGIES))
    return STRATEGIES[name]


def _radios(question: Question, profiles: Sequence[str]) -> dict[str | None, str]:
    """Return how the radios of each profile are called; what cannot be read is refused, and so are two of a name."""
    found: dict[str | None, str] = {}
    for profile in profiles or (None,):
        radio = load_scenario(question.base, profile=profile).profile_names
        same = next((other for other, name in found.items() if name == radio and other != profile), None)
        if same is not None:
            raise InputError(Argument("profiles"), f" {same}, {profile}: both are called {radio!a:.60}")
        found[profile] = radio
    return found


def _points(strategy: str, fixed: frozenset[str]) -> Iterator[Settings]:
    """Yield the scenario's own settings, then every combination of the decisive ones that are not fixed."""
    yield ()
    decisive = {key: values for key, values in STRATEGIES[strategy].Settings.decisive.items() if key not in fixed}
    for values in product(*decisive.values()) if decisive else ():
        yield tuple(zip(decisive, (str(value) for value in values), strict=True))
