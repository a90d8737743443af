"""The lineage store of a run: its own directory, which it adds to, and those of other runs, which it only reads.

    root.json                                what decides learning and shows in no round
    metrics.log                              finished rounds (metrics_log.py)
    checkpoints/ROUND-LINEAGE.safetensors    the learner's state (checkpoints.py); the newest two are kept
    pinned/ROUND-LINEAGE.safetensors         the same, kept for good: where another run branches off, and the end

What is damaged is reported in a line and then counts as absent: the rounds behind it are learnt again.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from hfedms_sim.errors import InputError
from hfedms_sim.lineage.checkpoints import DamagedCheckpointError, State, read_checkpoint, write_checkpoint
from hfedms_sim.lineage.metrics_log import Metrics, MetricsLog
from hfedms_sim.lineage.teachers import LOG, ROOT, Teacher, root_settings
from hfedms_sim.result import differences
from hfedms_sim.rounds import lineage_root
from hfedms_sim.system.files import own_directory, remove_leftovers, write_atomically

KEPT_CHECKPOINTS = 2
_CHECKPOINTS, _PINNED = "checkpoints", "pinned"


class LineageStore:
    """`directory` None: nothing is written. `pins`: lineages whose state is to be kept for good."""

    def __init__(
        self,
        directory: Path | None,
        others: Sequence[Path] = (),
        *,
        pins: Collection[str] = (),
        on_notice: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._directory = directory
        others = [other for other in others if directory is None or other.resolve() != directory.resolve()]
        self._teachers = [Teacher(other) for other in others]
        self._teachers_to_check = list(self._teachers)  # until the first round it may turn out that they teach nothing
        self._pins = frozenset(pins)
        self._on_notice = on_notice
        self._log: MetricsLog | None = None
        if directory is not None:
            self._log = self._prepared(directory)
        self._checkpoints: dict[str, list[Path]] = {}
        for each in (*others, *([] if directory is None else [directory])):
            for path in states_in(each):
                self._checkpoints.setdefault(lineage_of(path), []).append(path)

    @property
    def is_empty(self) -> bool:
        logs = [teacher.log for teacher in self._teachers] + ([] if self._log is None else [self._log])
        return not self._checkpoints and not any(log.finite for log in logs)

    def claim(self, settings: Mapping[str, Any]) -> str:
        """The root lineage; refuses a directory that learns from another one, and shows the difference.

        Of other runs that start from another root nothing can be learnt, which is told.
        """
        root = lineage_root(settings)
        if self._directory is not None:
            path = self._directory / ROOT
            before = root_settings(path)
            if before is not None:
                _require_same(path, before, settings)
            elif path.is_file():  # lineages alone keep what was learnt apart
                self._on_notice(f"{path}: damaged, and written anew")
            write_atomically(path, json.dumps({"lineage": root, "settings": settings}, indent=2) + "\n")
        self._refuse([teacher.refusal_at_root(settings) for teacher in self._teachers_to_check])
        return root

    def _refuse(self, refusals: Sequence[str | None]) -> None:
        """Emit a notice for each teacher to check that nothing can be learnt from, which is then checked no more.

        `refusals`: the reason for each of `_teachers_to_check`, in their order; None: there is none so far.
        """
        for refusal in refusals:
            if refusal is not None:
                self._on_notice(refusal)
        pairs = zip(self._teachers_to_check, refusals, strict=True)
        self._teachers_to_check = [teacher for teacher, refusal in pairs if refusal is None]

    def recall_round(self, round_number: int, lineage: str) -> bool | None:
        """Return whether the model that the round led to is finite; None: no run that is read here has learnt it.

        What another run has learnt is copied into the own log. The first call, which is for the run's first round, also
        emits a notice for each other run whose first round was another one: nothing can be learnt from it.
        """
        self._refuse([teacher.refusal_at_round(round_number, lineage) for teacher in self._teachers_to_check])
        self._teachers_to_check = []
        if self._log is not None and lineage in self._log.finite:
            return self._log.finite[lineage]
        for teacher in self._teachers:
            if lineage in teacher.log.finite:
                self.note_learnt(round_number, lineage, teacher.log.finite[lineage])
                return teacher.log.finite[lineage]
        return None

    def metrics(self, round_number: int, lineage: str, probe_round: int | None) -> Metrics | None:
        """Return what the model measured; None: not known. What another run has measured is copied into the own log."""
        key = (lineage, probe_round)
        if self._log is not None and key in self._log.metrics:
            return self._log.metrics[key]
        for teacher in self._teachers:
            if key in teacher.log.metrics:
                self.note_metrics(round_number, lineage, probe_round, teacher.log.metrics[key])
                return teacher.log.metrics[key]
        return None

    def note_learnt(self, round_number: int, lineage: str, finite: bool) -> None:
        if self._log is not None and lineage not in self._log.finite:
            self._log.note_learnt(round_number, lineage, finite)

    def note_metrics(self, round_number: int, lineage: str, probe_round: int | None, metrics: Metrics) -> None:
        if self._log is not None:
            self._log.note_metrics(round_number, lineage, probe_round, metrics)

    def keeps_checkpoints(self) -> bool:
        return self._directory is not None

    def is_pinned(self, lineage: str) -> bool:
        return lineage in self._pins

    def has_checkpoint(self, lineage: str) -> bool:
        return lineage in self._checkpoints

    def save(self, round_number: int, lineage: str, state: State, *, pinned: bool = False) -> None:
        """The log up to here reaches the disk first: a checkpoint never stands without the rounds before it."""
        assert self._directory is not None
        assert self._log is not None
        self._log.sync()
        subdirectory = _PINNED if pinned or self.is_pinned(lineage) else _CHECKPOINTS
        path = own_directory(self._directory / subdirectory) / f"{round_number:08d}-{lineage}.safetensors"
        write_checkpoint(path, round_number, lineage, state)
        self._checkpoints.setdefault(lineage, []).append(path)
        self._prune()

    def newest_state(self, lineages: Sequence[str]) -> tuple[int, State] | None:
        """Return index and state of the last of these lineages that has a sound checkpoint."""
        for index in reversed(range(len(lineages))):
            state = self._state_of(lineages[index])
            if state is not None:
                return index, state
        return None

    def __enter__(self) -> "LineageStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    def _state_of(self, lineage: str) -> State | None:
        for path in self._checkpoints.get(lineage, [])[::-1]:
            try:
                return read_checkpoint(path, lineage)
            except FileNotFoundError:
                continue  # of a run that goes on: it keeps its newest only
            except DamagedCheckpointError as error:
                self._on_notice(f"{path}: checkpoint skipped, {error}")
                if self._is_own(path):
                    path.unlink(missing_ok=True)
        self._checkpoints.pop(lineage, None)
        return None

    def _is_own(self, path: Path) -> bool:
        return self._directory is not None and path.parent.parent == self._directory

    def _prune(self) -> None:
        """Keep the newest rounds, pinned or not, and of the others the pinned."""
        own = [path for paths in self._checkpoints.values() for path in paths if self._is_own(path)]
        for path in sorted(own, key=lambda path: path.name)[:-KEPT_CHECKPOINTS]:
            if path.parent.name != _PINNED:
                path.unlink(missing_ok=True)
                self._forget(path)

    def _forget(self, path: Path) -> None:
        lineage = lineage_of(path)
        self._checkpoints[lineage].remove(path)
        if not self._checkpoints[lineage]:
            del self._checkpoints[lineage]

    def _prepared(self, directory: Path) -> MetricsLog:
        for each in (directory, directory / _CHECKPOINTS, directory / _PINNED):
            remove_leftovers(each)
        log = MetricsLog(directory / LOG)
        if log.has_torn_end:
            self._on_notice(f"{directory / LOG}: the last line was torn off and is skipped")
        if log.damaged_lines:
            self._on_notice(f"{directory / LOG}: {log.damaged_lines} damaged lines are skipped")
        return log


def stored_files(directory: Path) -> list[Path]:
    """Return the files of a store that are there: what its lineages start from, the log, and the states."""
    single = [path for name in (ROOT, LOG) if (path := directory / name).is_file()]
    return [*single, *states_in(directory)]


def states_in(directory: Path) -> list[Path]:
    """Return the states of a store, those that are kept for good last."""
    return [path for name in (_CHECKPOINTS, _PINNED) for path in directory.glob(f"{name}/*.safetensors")]


def lineage_of(path: Path) -> str:
    """Return the lineage that the file of a state is named after."""
    return path.stem.partition("-")[2]


def _require_same(path: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    for key, was, is_now in differences(before, json.loads(json.dumps(now))):
        raise InputError(f"{path.parent.parent}: was trained with another {key}: {was!r:.80}, now {is_now!r:.80}")
