"""What went wrong: a row of the trace each, counted by kind and by sensor."""

from collections import Counter
from typing import Literal

from simpy import Environment

from hfedms_sim.trace import FaultRow, Trace

FaultKind = Literal[
    "out of coverage", "outage", "skip", "retry", "detour", "lost work", "no report", "missed scatter", "late",
    "not delivered", "void", "empty battery", "diverged",
]  # fmt: skip


class FaultLog:
    def __init__(self, env: Environment, trace: Trace) -> None:
        self.env = env
        self.round = 0
        self.by_kind: Counter[str] = Counter()
        self.by_sensor: Counter[int] = Counter()
        self._trace = trace

    def of_sensor(self, kind: FaultKind, sensor: int, detail: str) -> None:
        self.by_sensor[sensor] += 1
        self.note(kind, f"sensor {sensor}", detail)

    def note(self, kind: FaultKind, entity: str, detail: str, time_s: float | None = None) -> None:
        """Write a row; now, unless it happened before."""
        self.by_kind[kind] += 1
        time_s = self.env.now if time_s is None else time_s
        self._trace.faults.append(FaultRow(time_s=time_s, kind=kind, entity=entity, round=self.round, detail=detail))
