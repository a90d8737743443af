"""One run through the command line; prints its processor seconds and its peak of memory as JSON.

The peak is the kernel's VmHWM, which begins anew with the program: ru_maxrss would count the parent's memory too.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from hfedms_sim.cli import main


def _peak_bytes() -> int:
    """Return the largest resident set of this process so far, which the kernel gives in KiB."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(status["VmHWM"].split()[0])


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        options = ["--quiet", "--allow-infeasible", "--allow-large", "--out", str(Path(place) / "run")]
        main(["run", *sys.argv[1:], *options], standalone_mode=False)
    print(json.dumps({"processor_s": process_time(), "memory_bytes": _peak_bytes()}))
