"""With what, when and how a run was made: what provenance.json says, and what the lineage needs to know of it."""

import platform
import subprocess
import sys
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("hfedms_sim", "simpy", "numpy", "pandas", "pyarrow", "pydantic", "torch")


def provenance_of(seed: int) -> dict[str, Any]:
    """Return the provenance of a run that starts now."""
    return {
        "versions": {"python": platform.python_version()} | {name: package_version(name) for name in PACKAGES},
        "platform": platform.platform(),
        "seed": seed,
        "command": sys.argv,
        "git_revision": _git_revision(),
        "started": now(),
        "ended": None,
        "wall_s": None,
        "rounds_trained": None,
        "rounds_reused": None,
    }


def package_version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _git_revision() -> str | None:
    """Return the revision of the source tree this package runs from, if it is one; '-dirty' if it has changes."""
    root = Path(__file__).resolve().parent.parent.parent
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
