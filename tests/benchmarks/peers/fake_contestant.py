"""A contestant without torch: NAME DIRECTORY [BEHAVIOUR]. It has a child process that ticks, and that outlives it.

Its rounds are lines of DIRECTORY/rounds, its child's ticks bytes of DIRECTORY/NAME.ticks.
"""

import json
import subprocess
import sys
from pathlib import Path

TICKING = """
import sys, time
ballast = bytes(range(256)) * 400_000
while True:
    with open(sys.argv[1], "ab", buffering=0) as ticks:
        ticks.write(b".")
    time.sleep(0.01)
"""


def main(name: str, directory: Path, behaviour: str = "good") -> None:
    child = subprocess.Popen([sys.executable, "-c", TICKING, str(directory / f"{name}.ticks")], stdout=sys.stderr)
    (directory / f"{name}.child").write_text(str(child.pid))
    answer({"versions": {"fake": "1.0"}})
    for line in sys.stdin:
        if behaviour == "dies":
            sys.exit("out of luck")
        with (directory / "rounds").open("a") as rounds:
            rounds.write(f"{name} {line}")
        answer({"seconds": 1.5})


def answer(content: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
