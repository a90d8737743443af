"""Soaks the command line: `python -m soak --hours 3 --seed 1`; exit code 1 if anything was not as it must be.

`--only N` plays one action of a seed again. What succeeded is deleted, what failed stays in the directory.
"""

import argparse
import shutil
import signal
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from soak.soak import Done, Soak
from soak.summary import line_of, summary_of

_SECONDS_PER_HOUR = 3600.0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--hours", type=_positive, default=3.0, help="how long (default 3)")
    parser.add_argument("--seed", type=int, default=1, help="which actions, and when they strike (default 1)")
    parser.add_argument("--at-a-time", type=int, default=2, help="actions beside each other (default 2)")
    parser.add_argument("--only", type=int, metavar="N", help="the action of this number alone")
    parser.add_argument("--out", type=Path, default=Path("build/soak"), help="where to (default build/soak)")
    options = parser.parse_args(arguments)
    if not Path("/proc/self/stat").exists():
        parser.error("needs /proc, as Linux has it")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # commands hear Ctrl-C also of a soak in the background
    soak = Soak(_fresh(options.out.absolute(), options.seed), options.seed, _tell)
    print(f"soaking in {soak.directory}", flush=True)
    if options.only is not None:
        done = soak.do(options.only)
        soak.done.append(done)
        _tell(done)
    else:
        soak.last(options.hours * _SECONDS_PER_HOUR, options.at_a_time)
    return _concluded(soak)


def _concluded(soak: Soak) -> int:
    """Print the summary and keep it; of a soak without a failure nothing else is kept but the table of samples."""
    summary = summary_of(soak)
    print(f"\n{summary}", flush=True)
    (soak.directory / "summary.txt").write_text(summary, encoding="utf-8")
    if soak.has_failed:
        return 1
    if soak.samples.is_file():
        soak.samples.replace(soak.directory / "samples.csv")
    for name in ("actions", "wholes", "long", "cache", "scenarios"):
        shutil.rmtree(soak.directory / name, ignore_errors=True)
    return 0


def _fresh(parent: Path, seed: int) -> Path:
    """Return a directory that is not there yet."""
    return next(path for number in count(1) if not (path := parent / f"seed{seed}-{number:03d}").exists())


def _positive(text: str) -> float:
    if not (hours := float(text)) > 0:
        raise argparse.ArgumentTypeError(f"must be more than 0, not {text}")
    return hours


def _tell(done: Done) -> None:
    print(line_of(done), flush=True)


if __name__ == "__main__":
    sys.exit(main())
