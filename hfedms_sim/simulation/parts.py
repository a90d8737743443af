"""What a scenario's names stand for: its data set, open, and its network, built for the shape of the data.

In Python these may be objects instead of names; the scenario then says so, and a run directory can be read without
them, but only be played again by whoever passes them again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from hfedms_sim.data import Dataset, ObjectData, open_dataset, require_dataset, source_of
from hfedms_sim.data import code_digest as data_digest
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.foreign_code import code_digest, modules_of
from hfedms_sim.known_parts import path_of
from hfedms_sim.models import MODELS, Model, model_class
from hfedms_sim.models import code_digest as model_digest
from hfedms_sim.models import require_sound as require_sound_model
from hfedms_sim.scenario import CHARACTER_IMAGES, LocalTraining, ModelSpec, Scenario
from hfedms_sim.strategies import AnyStrategy, Strategy, name_of, require_sound, strategy_of
from hfedms_sim.strategies import code_digest as strategy_digest

AnyModel = Model | type[Model] | Callable[[tuple[int, ...], int], Any]
"""A network of one's own: an object or a class, or just a function of (input shape, classes) that makes a module."""


class Parts(NamedTuple):
    dataset: Dataset
    model: ModelSpec
    outside: "Outside"


class Outside(NamedTuple):
    """The parts of a run that do not ship, as MODULE:NAME, and a hash of their code; None for those that do."""

    strategy: tuple[str, str] | None
    model: tuple[str, str] | None
    data: tuple[str, str] | None

    def paths(self) -> dict[str, str | None]:
        return {kind: None if known is None else known[0] for kind, known in self._asdict().items()}

    @contextmanager
    def blamed(self, when: str) -> Iterator[None]:
        """Tell in one line what somebody else's code raises; what ours raises, where there is none, goes through."""
        try:
            yield
        except (InputError, RunError):
            raise
        except Exception as error:
            named = [path for path in self.paths().values() if path is not None]
            if not named:
                raise
            said = (str(error).splitlines() or [""])[0]
            raise RunError(f"{', '.join(named)}: raised {type(error).__name__} {when}: {said}") from error

    def digests(self) -> dict[str, str]:
        """Return the hashes as a lineage holds them."""
        names = {"strategy": "outside_code", "model": "outside_model", "data": "outside_data"}
        return {names[kind]: known[1] for kind, known in self._asdict().items() if known is not None}


def with_objects(
    scenario: Scenario,
    strategy: LocalTraining | AnyStrategy | None = None,
    model: AnyModel | None = None,
    data: Dataset | None = None,
) -> Scenario:
    """Return the scenario that names these objects instead of its own parts."""
    if not isinstance(scenario, Scenario):
        raise InputError(f"scenario is a {type(scenario).__name__}: must be a Scenario, as load_scenario makes it")
    changes: dict[str, Any] = {}
    if strategy is not None:
        changes["strategy"] = _settings_of(strategy)
    if model is not None:
        changes["model"] = model_object(model).name
    if data is not None:
        require_dataset(data, scenario.sensors.count)
        changes["data"] = ObjectData(set="object", name=data.name)
    return scenario.model_copy(update=changes)


def parts_of(scenario: Scenario, model: AnyModel | None = None, data: Dataset | None = None) -> Parts:
    """Open the data set and work out the network's figures; objects stand for the names in the scenario."""
    dataset = _opened(scenario) if data is None else data
    network = _known_model(scenario.model) if model is None else model_object(model)
    spec = network.spec(dataset.shape)
    if refusal := scenario.strategy.refusal_of(spec):
        raise InputError(f"strategy: {refusal}")
    return Parts(dataset, spec, _outside(scenario, network, data))


def _settings_of(strategy: LocalTraining | AnyStrategy) -> LocalTraining:
    """Return settings that name their strategy, so that whoever writes down what was set writes it down too."""
    if isinstance(strategy, LocalTraining):
        require_sound(strategy_of(strategy))
        return strategy.model_copy(update={"name": strategy.name})
    if isinstance(strategy, type) and issubclass(strategy, Strategy):
        return require_sound(strategy).Settings(name=name_of(strategy))
    raise InputError(f"strategy is {strategy!r:.60}: must be a strategy's settings or its class")


def _known_model(name: str) -> Model:
    if name not in MODELS:
        raise InputError(f"model = '{name}': its code is not here; import its module, or pass the model to run()")
    return _made(MODELS[name])


def model_object(model: AnyModel) -> Model:
    """Return the network that an object, a class or a function stands for."""
    if isinstance(model, Model):
        return model
    if isinstance(model, type) and issubclass(model, Model):
        return _made(require_sound_model(model))
    if not callable(model) or isinstance(model, type) or not hasattr(model, "__code__"):
        raise InputError(f"model is {model!r:.60}: must be a Model, or a function of input shape and classes")
    made = model_class(model)
    if made.name in MODELS.shipped:
        raise InputError(f"model: {path_of(model)} would be called '{made.name}', as a shipped network is; rename it")
    return made()


def _made(model: type[Model]) -> Model:
    try:
        return model()
    except TypeError as error:
        raise InputError(f"{path_of(model)}: cannot be made without arguments ({error}); pass an object") from None


def _opened(scenario: Scenario) -> Dataset:
    sensors = scenario.sensors
    return open_dataset(scenario.data, sensors=sensors.count, types=sensors.types, seed=scenario.seed)


def _outside(scenario: Scenario, model: Model, data: Dataset | None) -> Outside:
    strategy, network = strategy_of(scenario.strategy), type(model)
    return Outside(
        _named(strategy, strategy_digest(strategy)),
        _named(network, model_digest(network)),
        _outside_source(scenario) if data is None else _outside_object(data),
    )


def _outside_source(scenario: Scenario) -> tuple[str, str] | None:
    source = source_of(scenario.data)
    return _named(source, data_digest(source))


def _outside_object(data: Dataset) -> tuple[str, str] | None:
    return _named(type(data), code_digest(type(data), modules_of(type(data))))


def _named(part: type[Any], digest: str | None) -> tuple[str, str] | None:
    return None if digest is None else (path_of(part), digest)


def outside_modules(scenario: Scenario) -> tuple[str, ...]:
    """Return the modules that define a scenario's network, where it does not ship: another process must import them.

    The settings of strategies and data sets are classes, which processes import by themselves when they are sent some.
    """
    model = MODELS.get(scenario.model)
    return () if model is None or model_digest(model) is None else (model.__module__,)


def lineage_data(dataset: Dataset) -> dict[str, Any]:
    """Return what a lineage holds of a data set: its content, and its shape where that is not what it always was."""
    if dataset.shape == CHARACTER_IMAGES:
        return dataset.content
    return dataset.content | {"input_shape": list(dataset.shape.input_shape), "classes": dataset.shape.classes}
