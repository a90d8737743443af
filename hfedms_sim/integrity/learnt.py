"""What a trained run's store, its rounds and its model say of each other. Needs no torch."""

from collections.abc import Iterator
from math import isnan
from pathlib import Path

from safetensors import SafetensorError
from safetensors.numpy import load_file

from hfedms_sim.integrity.checks import Check, note, ok, problem
from hfedms_sim.integrity.content import Content
from hfedms_sim.lineage import WEIGHTS, Metrics, State, under
from hfedms_sim.lineage.checkpoints import DamagedCheckpointError, read_checkpoint
from hfedms_sim.lineage.metrics_log import MetricsLog
from hfedms_sim.lineage.store import lineage_of, states_in
from hfedms_sim.lineage.teachers import LOG, ROOT, root_settings
from hfedms_sim.result import MODEL_FILE


def check_learning(content: Content) -> Iterator[Check]:
    """Compare the log with the rounds, and the model with the state after the last round that was learnt."""
    learning, log = content.learning, MetricsLog(content.learning / LOG)
    if lost := log.damaged_lines + log.has_torn_end:
        yield note(f"{learning / LOG}: {lost} damaged lines count as not written")
    last = next((lineage for lineage in reversed(content.rounds("lineage")) if lineage in log.finite), "")
    damages = [*_damages(content, log), *_damaged_states(learning)]
    yield from (problem(line) for line in damages)
    if not damages:
        states = len(states_in(learning))
        whole = f", {states} kept states are whole" if states else ""
        yield ok(f"{learning}: {LOG} agrees with rounds.parquet{whole}")
    yield _check_model(learning, [path for path in states_in(learning) if lineage_of(path) == last])


def _damages(content: Content, log: MetricsLog) -> Iterator[str]:
    """Return what is wrong with what lineages start from, and with what the log says of the rounds."""
    learning = content.learning
    if root_settings(learning / ROOT) is None:
        yield f"{learning / ROOT}: damaged (its settings do not give its lineage)"
    unlike = _unlike_log(content, log)
    if unlike:
        more = f" and {len(unlike) - 1} more" if len(unlike) > 1 else ""
        yield f"{learning / LOG}: does not say what rounds.parquet does of round {unlike[0]}{more}"


def _unlike_log(content: Content, log: MetricsLog) -> list[int]:
    """Return the rounds whose metrics are not what the log has under their lineage, or under the last that was learnt.

    What a round measured depends on the probe too, so that the log may have several entries for one lineage.
    """
    noted: dict[str, list[Metrics]] = {}
    for (lineage, _), metrics in log.metrics.items():
        noted.setdefault(lineage, []).append(metrics)
    columns = [content.rounds(name) for name in ("round", "lineage", *Metrics._fields)]
    learnt, unlike = "", list[int]()
    for number, lineage, *values in zip(*columns, strict=True):
        learnt = lineage if lineage in log.finite else learnt
        measured = Metrics(*values)
        if measured != Metrics() and not any(_is_alike(measured, each) for each in noted.get(learnt, ())):
            unlike.append(number)
    return unlike


def _is_alike(one: Metrics, other: Metrics) -> bool:
    return all(mine == its or (_is_nan(mine) and _is_nan(its)) for mine, its in zip(one, other, strict=True))


def _is_nan(value: float | None) -> bool:
    return value is not None and isnan(value)


def _damaged_states(learning: Path) -> Iterator[str]:
    """Return what is wrong with states whose own checksum does not match; a directory may have no other."""
    for path in states_in(learning):
        try:
            read_checkpoint(path, lineage_of(path))
        except DamagedCheckpointError as error:
            yield f"{path}: damaged ({error})"
        except FileNotFoundError:
            continue  # somebody goes on with the run


def _check_model(learning: Path, states: list[Path]) -> Check:
    """Read the model, and compare it with a state of its round where that is kept here."""
    path = learning / MODEL_FILE
    try:
        model = load_file(path)
        kept = {state: under(WEIGHTS, read_checkpoint(state, lineage_of(state))) for state in states[-1:]}
    except (SafetensorError, OSError) as error:
        return problem(f"{path}: damaged ({error})")
    except DamagedCheckpointError:
        kept = {}  # which is a problem of its own
    for state, weights in kept.items():
        after = f"the state that is kept after round {int(state.name.partition('-')[0])}"
        if not _is_same(model, weights):
            return problem(f"{path}: is not the model of {after}")
        return ok(f"{path}: is the model of {after}")
    return ok(f"{path}: can be read; no state of its round is kept here to compare it with")


def _is_same(one: State, other: State) -> bool:
    """Return whether two models are the same bit for bit."""
    return one.keys() == other.keys() and all(
        (one[name].dtype, one[name].shape) == (other[name].dtype, other[name].shape)
        and one[name].tobytes() == other[name].tobytes()
        for name in one
    )
