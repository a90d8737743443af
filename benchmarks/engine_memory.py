"""How much memory an engine takes for a round beyond the data and the model, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import torch

from benchmarks.engine_rounds import COLUMNS, Column, PaperRound


def peak_bytes(engine: str, column: str) -> float:
    """Return the peak of the round; starts a process."""
    command = [sys.executable, "-m", "benchmarks.engine_memory", engine, column]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _status_bytes(key: str) -> int:
    """A line of this process's memory figures, which the kernel gives in KiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return 1024 * int(line.split()[1])
    raise KeyError(key)


if __name__ == "__main__":
    torch.set_num_threads(1)
    column = COLUMNS[sys.argv[2]]
    PaperRound(Column(1, 1, column.is_full)).by_engine(sys.argv[1])  # loads what torch loads at first use
    played = PaperRound(column)
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = _status_bytes("VmRSS")
    played.by_engine(sys.argv[1])
    print(_status_bytes("VmHWM") - before)
