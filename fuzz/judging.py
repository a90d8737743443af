"""What every outcome must be: success, or exit code 2 or 1 and one line; nothing injected, nothing changed."""

import re
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

MOST_PROCESSOR_S, MOST_BYTES = 10.0, 2e9
"""What no case may take: the limits that the estimate is given too."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ALLOWED_CODES = (0, 1, 2)


class Outcome(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str
    processor_s: float
    memory_bytes: float
    raised: str = ""
    """What got out of the command, where it was called in process."""


def faults_of(outcome: Outcome) -> list[str]:
    """Return what is wrong with an outcome, in a few words each."""
    faults = []
    if outcome.raised:
        faults.append(f"raised {outcome.raised}")
    if outcome.exit_code not in _ALLOWED_CODES:
        faults.append(f"exit code {outcome.exit_code}")
    if "Traceback (most recent call last)" in outcome.stderr + outcome.stdout:
        faults.append("traceback")
    errors = [line for line in outcome.stderr.splitlines() if line.startswith("error: ")]
    is_check = outcome.exit_code == 2 and len(errors) > 1  # which lists every problem
    if outcome.exit_code in (1, 2) and not errors and "problem" not in outcome.stdout:
        faults.append("no line of error")
    if outcome.exit_code == 1 and len(errors) > 1 and not is_check:
        faults.append(f"{len(errors)} lines of error")
    if found := _CONTROL.search(outcome.stdout + outcome.stderr):
        faults.append(f"prints {found.group()!a}")
    if outcome.processor_s > MOST_PROCESSOR_S:
        faults.append(f"{outcome.processor_s:.0f} s of processor time")
    if outcome.memory_bytes > MOST_BYTES:
        faults.append(f"{outcome.memory_bytes / 1e9:.1f} GB")
    return faults


def tree_digest(directory: Path) -> str:
    """Return a hash of all names, kinds and contents below a directory."""
    digest = sha256()
    for path in sorted(directory.rglob("*")):
        digest.update(
            f"{path.relative_to(directory)}\0{path.is_symlink()}\0{path.is_dir()}\0".encode("utf-8", "replace")
        )
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()
