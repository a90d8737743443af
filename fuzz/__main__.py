"""Plays many cases on all cores, and says which of them broke a promise; exit code 1 if one did."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

from fuzz.entries import ENTRIES, WEIGHTS
from fuzz.playing import LONGEST_S, Ground

_BATCH = 100
"""Cases that one process plays: then another one begins, with memory that nobody has used."""


def main() -> int:
    arguments = _arguments()
    root = Path(arguments.root or tempfile.mkdtemp(prefix="hfedms-fuzz-")).resolve()
    if arguments.only:
        entry, _, number = arguments.only.rpartition("/")
        print(Ground(root, arguments.seed).play(entry, int(number), as_process=arguments.as_process).as_json())
        return 0
    if arguments.batch:
        return _play_batch(root, arguments.seed, arguments.batch, as_process=arguments.as_process)
    Ground(root, arguments.seed)  # makes what the cases are made of, once
    chosen = _chosen(arguments.cases + arguments.processes, arguments.seed)
    jobs = [*_batches(chosen[: arguments.cases], False), *_batches(chosen[arguments.cases :], True)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        played = [each for batch in pool.map(lambda job: _batch(root, arguments.seed, *job), jobs) for each in batch]
    return _summary(played, len(chosen), root)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="played in process")
    parser.add_argument("--processes", type=int, default=50, help="played as processes of their own")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--root", help="where to play; default a temporary directory")
    parser.add_argument("--only", metavar="ENTRY/NUMBER", help="one case, to look at")
    parser.add_argument("--as-process", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--batch", help=argparse.SUPPRESS)
    return parser.parse_args()


def _chosen(count: int, seed: int) -> list[tuple[str, int]]:
    """Return so many cases, entry points by their weights, numbered within each."""
    random, numbers = Random(seed), Counter[str]()
    cases = []
    for entry in random.choices(list(ENTRIES), WEIGHTS, k=count):
        numbers[entry] += 1
        cases.append((entry, numbers[entry]))
    return cases


def _batches(cases: list[tuple[str, int]], as_process: bool) -> Iterator[tuple[list[tuple[str, int]], bool]]:
    for start in range(0, len(cases), _BATCH):
        yield cases[start : start + _BATCH], as_process


def _batch(root: Path, seed: int, cases: list[tuple[str, int]], as_process: bool) -> list[dict[str, Any]]:
    """Play cases in a process of their own. Whoever takes it down is a failure, and those behind it are played anew."""
    played: list[dict[str, Any]] = []
    while len(played) < len(cases):
        left = cases[len(played) :]
        listed = json.dumps(left)
        command = [sys.executable, "-m", "fuzz", "--root", str(root), "--seed", str(seed), "--batch", listed]
        command += ["--as-process"] if as_process else []
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S * len(left) / 4 + 300)
            lines, ended = done.stdout.splitlines(), f"the process ended with {done.returncode}: {done.stderr[-300:]}"
        except subprocess.TimeoutExpired as error:
            lines, ended = (error.stdout or b"").decode().splitlines(), "hangs"
        played += [json.loads(line) for line in lines if line.startswith("{")]
        if len(played) < len(cases):
            entry, number = cases[len(played)]
            played.append({"name": f"{entry}-{number}", "words": [], "exit_code": None, "processor_s": 0.0,
                           "memory_bytes": 0.0, "faults": [ended], "said": ""})  # fmt: skip
    told = [f"{len(played)} more", *map(_line_of, (each for each in played if each["faults"]))]
    print("\n".join(told), file=sys.stderr, flush=True)
    return played


def _play_batch(root: Path, seed: int, listed: str, *, as_process: bool) -> int:
    ground = Ground(root, seed)
    for entry, number in json.loads(listed):
        print(ground.play(entry, number, as_process=as_process).as_json(), flush=True)
    return 0


def _summary(played: list[dict[str, Any]], count: int, root: Path) -> int:
    failed = [each for each in played if each["faults"]]
    codes = Counter(each["exit_code"] for each in played)
    print(f"{len(played):,} of {count:,} cases: " + ", ".join(f"{n:,} exit {code}" for code, n in codes.most_common()))
    slowest, largest = (max(played, key=lambda each: each[key]) for key in ("processor_s", "memory_bytes"))
    print(f"slowest {slowest['processor_s']:.1f} s ({slowest['name']}), largest {largest['memory_bytes'] / 1e9:.2f} GB "
          f"({largest['name']})")  # fmt: skip
    for each in failed:
        print(_line_of(each))
    print(f"{len(failed)} failed; their directories are in {root / 'cases'}" if failed else "all kept their promises")
    return 1 if failed else 0


def _line_of(failed: dict[str, Any]) -> str:
    entry, _, number = failed["name"].rpartition("-")
    what, words = "; ".join(failed["faults"]), " ".join(failed["words"])
    return f"FAILED {entry}/{number}: {what} | {words!a:.200} | {failed['said']!a}"


if __name__ == "__main__":
    sys.exit(main())
