"""What a run's tables and its summary say of each other.

All of it is exact: these figures were copied from one to the other, not computed twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa

from hfedms_sim.integrity.checks import Check, ok, problem
from hfedms_sim.result import read_json, read_summary
from hfedms_sim.stopping import has_stalled
from hfedms_sim.trace import TABLES, read_trace_table


@dataclass(frozen=True)
class Content:
    """What a run directory holds, read without asking what the names in its scenario stand for."""

    directory: Path
    summary: Mapping[str, Any]
    provenance: Mapping[str, Any]
    tables: Mapping[str, pa.Table]

    @property
    def learning(self) -> Path:
        """Return where the lineage store and the model are."""
        return self.directory / "learning"

    @property
    def is_trained(self) -> bool:
        """Whether there is anything that was learnt."""
        return not self.provenance.get("timing_only")

    def rounds(self, column: str) -> list[Any]:
        """Return a column of the table of rounds."""
        values: list[Any] = self.tables["rounds"][column].to_pylist()
        return values


def read_content(directory: Path) -> Content:
    """Read all files of a run but for its scenario and what it has learnt; an InputError if one cannot be read."""
    return Content(
        directory,
        read_summary(directory / "summary.json"),
        read_json(directory / "provenance.json"),
        {name: read_trace_table(directory, name) for name in TABLES},
    )


def check_tables(content: Content) -> Iterator[Check]:
    """Compare the summary with the table of rounds."""
    unlike = [
        f"summary.json says {key} = {said!r}, rounds.parquet {counted!r}"
        for key, said, counted in _sayings(content)
        if said != counted
    ]
    yield from (problem(f"{content.directory}: {line}") for line in unlike)
    if not unlike:
        rows = sum(table.num_rows for table in content.tables.values())
        yield ok(f"{content.directory}: {len(TABLES)} tables can be read, {rows:,} rows, and agree with summary.json")


def _sayings(content: Content) -> Iterator[tuple[str, Any, Any]]:
    """Return keys of the summary, what it says, and what the rounds do."""
    summary, rounds = content.summary, content.rounds
    yield "rounds", summary["rounds"], len(rounds("round"))
    if not rounds("round"):
        return
    up, down = sum(rounds("uplink_bytes")), sum(rounds("downlink_bytes"))
    yield "bytes.up", summary["bytes"]["up"], up
    yield "bytes.down", summary["bytes"]["down"], down
    yield "bytes.total", summary["bytes"]["total"], up + down
    yield "lineage", summary["lineage"], rounds("lineage")[-1]
    if not has_stalled(summary):
        yield "simulated_s", summary["simulated_s"], rounds("end_s")[-1]
    measured = [pair for pair in zip(rounds("accuracy"), rounds("loss"), strict=True) if pair[0] is not None]
    final = measured[-1] if measured else (None, None)
    yield "final_accuracy", summary["final_accuracy"], final[0]
    yield "final_loss", summary["final_loss"], final[1]
    yield "best_accuracy", summary["best_accuracy"], max((accuracy for accuracy, _ in measured), default=None)
    yield from _of_targets(content)


def _of_targets(content: Content) -> Iterator[tuple[str, Any, Any]]:
    """Return the same of what each target accuracy took."""
    sent = zip(content.rounds("uplink_bytes"), content.rounds("downlink_bytes"), strict=True)
    columns = (content.rounds("round"), content.rounds("end_s"), accumulate(up + down for up, down in sent))
    costs = list(zip(content.rounds("accuracy"), *columns, strict=True))
    for target in content.summary["targets"]:
        reached = (cost for accuracy, *cost in costs if accuracy is not None and accuracy >= target["accuracy"])
        counted = next(reached, [None, None, None])
        for key, value in zip(("round", "simulated_s", "bytes"), counted, strict=True):
            yield f"targets.{target['accuracy']:g}.{key}", target[key], value
