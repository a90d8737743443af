"""Seconds of a FedAvg round on one core: hfedms_sim, a plain loop, and the same round in other simulators.

110 clients with 50 samples each, one epoch in mini-batches of 5, the paper's network of 6.7 million parameters; no
evaluation. After the first round, which does not count, everybody's model is compared with the plain loop's.
"""

import argparse
import signal
import sys
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

from benchmarks.peers.contest import Contestant, ContestantFailedError, one_core, take_turns
from benchmarks.peers.making import make_workload
from benchmarks.peers.ours import ENGINES
from benchmarks.peers.outcomes import same_outcomes
from benchmarks.peers.table import OURS, PLAIN, print_table, verdicts
from benchmarks.peers.workload import save_workload

PEERS = ("pfl", "flgo", "flower")
ENVIRONMENTS = Path(__file__).resolve().parents[2] / ".peers"


def main(arguments: list[str]) -> bool:
    chosen = _parser().parse_args(arguments)
    workload = make_workload(chosen.clients)
    print(f"(e) a FedAvg round of {workload.clients} clients on one core, engine {chosen.engine}")
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as ending:
        directory = Path(temporary)
        save_workload(directory / "workload.npz", workload)
        contestants = []
        for name, command in commands(chosen.engine, chosen.peers).items():
            with one_core():
                contestant = Contestant(name, command, directory / "workload.npz", directory / f"{name}.log")
            contestants.append(ending.enter_context(closing(contestant)))
        take_turns(contestants, 1)
        same = same_outcomes(contestants, workload, directory)
        turns = take_turns(contestants, chosen.rounds)
    print_table(turns, {each.name: each.versions for each in contestants})
    return all([*same, *verdicts(turns)])


def commands(engine: str, peers: list[str]) -> dict[str, list[str]]:
    """Return the commands of those whose environment is there."""
    found = {
        OURS: [sys.executable, "-m", "benchmarks.peers.ours", engine],
        PLAIN: [sys.executable, "-m", "benchmarks.peers.plain"],
    }
    for peer in peers:
        python = ENVIRONMENTS / peer / "bin" / "python"
        if python.exists():
            found[peer] = [str(python), "-m", f"benchmarks.peers.on_{peer}"]
        else:
            print(f"    {peer}: skipped, it has no environment; `make peers` makes it")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--engine", choices=ENGINES, default="native", help="of hfedms_sim (default: %(default)s)")
    parser.add_argument("--rounds", type=_positive, default=5, help="that count (default: %(default)s)")
    parser.add_argument("--clients", type=_positive, default=110, help="fewer for a quick look (default: %(default)s)")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS), help="(default: all)")
    return parser


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError
    return number


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # stopped processes must not stay behind
    try:
        sys.exit(0 if main(sys.argv[1:]) else 1)
    except ContestantFailedError as failure:
        sys.exit(str(failure))
