"""What a soak says: a line for each action as it ends, and a summary."""

import csv
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from soak.soak import ACTIONS, Done, Soak

_ROWS = 10


def line_of(done: Done) -> str:
    """Return one action in a line, and what failed in those below it."""
    told = f"{done.number:5d}  {done.kind:20s} {done.took_s:6.1f} s"
    return told if done.fault is None else f"{told}  FAILED: {done.fault}"


def summary_of(soak: Soak) -> str:
    """Return actions by kind, failures with what repeats them, and what the long campaign held."""
    return "\n".join([*_kinds(soak), "", *_failures(soak), "", *_leaks(soak)]) + "\n"


def _kinds(soak: Soak) -> Iterator[str]:
    yield f"{'action':20s} {'done':>5s} {'failed':>6s} {'median s':>8s}"
    for kind in ACTIONS:
        found = [done for done in soak.done if done.kind == kind]
        failed = sum(done.fault is not None for done in found)
        took_s = f"{median(done.took_s for done in found):8.1f}" if found else ""
        yield f"{kind:20s} {len(found):5d} {failed:6d} {took_s}"
    failed = sum(done.fault is not None for done in soak.done)
    yield f"{'all':20s} {len(soak.done):5d} {failed:6d}"


def _failures(soak: Soak) -> Iterator[str]:
    failed = [done for done in soak.done if done.fault is not None]
    yield "nothing failed" if not failed else "failed:"
    for done in failed:
        yield f"- {done.kind}: {done.fault}"
        yield f"  again: python -m soak --seed {soak.seed} --only {done.number}"
        yield f"  left in {done.directory}, by"
        yield from (f"    {command}" for command in done.commands)


def _leaks(soak: Soak) -> Iterator[str]:
    if soak.leak_fault is not None:
        yield f"the long campaign FAILED: {soak.leak_fault}"
    if soak.samples.is_file():
        yield "the process that leads the long campaign:"
        yield from _sampled(soak.samples)
    for growth in soak.growths:
        verdict = "flat" if growth.is_flat else f"FAILED, at most {growth.allowed:.4g} allowed"
        yield f"{growth.what}: {growth.then:.4g} after the warm-up, at most {growth.most:.4g} later: {verdict}"


def _sampled(path: Path) -> Iterator[str]:
    """Return some rows of the table, from its first to its last."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    yield "  ".join(header)
    step = max(1, len(rows) // _ROWS)
    for row in [*rows[:-1:step], *rows[-1:]]:
        yield "  ".join(f"{float(value):>{len(name)}.5g}" for name, value in zip(header, row, strict=True))
