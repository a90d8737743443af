"""What came out: seconds a round, how many times ours, memory, versions, and the bars."""

from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.bars import at_least
from benchmarks.peers.contest import Turn

OURS, PLAIN = "hfedms_sim", "plain loop"
BARS = {"pfl": 4.0, "flgo": 5.0, "flower": 8.0}

Turns = Mapping[str, Sequence[Turn]]


def seconds(turns: Sequence[Turn]) -> float:
    return median(turn.seconds for turn in turns)


def print_table(turns: Turns, versions: Mapping[str, Mapping[str, str]]) -> None:
    print(f"    {'':<12}{'s a round':>10}{'range':>15}{'CPU s':>8}{'times ours':>12}{'GB':>6}  versions")
    for name, own in turns.items():
        every = sorted(turn.seconds for turn in own)
        spread = f"{every[0]:.2f}-{every[-1]:.2f}"
        cpu_s, gigabytes = median(turn.cpu_s for turn in own), max(turn.memory_bytes for turn in own) / 1e9
        ratio, packages = seconds(own) / seconds(turns[OURS]), " ".join(f"{k} {v}" for k, v in versions[name].items())
        print(
            f"    {name:<12}{seconds(own):>10.2f}{spread:>15}{cpu_s:>8.2f}{ratio:>12.2f}{gigabytes:>6.2f}  {packages}"
        )


def verdicts(turns: Turns) -> list[bool]:
    ours_s = seconds(turns[OURS])
    return [
        at_least(f"{peer} to ours", seconds(turns[peer]) / ours_s, bar) for peer, bar in BARS.items() if peer in turns
    ]
