"""What must be the same, byte for byte, however often a command was interrupted on the way to it.

Wall times and the machine's own facts are left out: they stand in provenance.json, in `wall_s` of summaries, and in
`provenance` of records.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

Outcome = dict[str, bytes]
"""The files of a directory by name, or what must be equal of them."""

_EXHIBITS = {".csv", ".txt", ".tex", ".md", ".png", ".svg", ".pdf"}


def of_run(directory: Path) -> Outcome:
    """Return the tables, the scenario, the summary and, where it was trained, the model of a run."""
    names = [*sorted(path.name for path in directory.glob("*.parquet")), "scenario.yaml", "learning/model.safetensors"]
    found = {name: (directory / name).read_bytes() for name in names if (directory / name).exists()}
    return found | {"summary.json": _without(directory / "summary.json", "wall_s")}


def of_campaign(directory: Path) -> Outcome:
    """Return the tables, the manifest, the records and all trials of a campaign."""
    names = [*sorted(path.name for path in directory.glob("*.csv")), "campaign.json"]
    return {name: (directory / name).read_bytes() for name in names} | _of_trials(directory)


def of_experiments(directory: Path) -> Outcome:
    """Return everything that experiments of the paper show, their claims, and the trials behind them."""
    found: Outcome = {}
    for experiment in sorted(path for path in directory.iterdir() if path.is_dir()):
        shown = [path for path in sorted(experiment.iterdir()) if path.suffix in _EXHIBITS]
        shown += [experiment / name for name in ("claims.json", "experiment.json")]
        files = {path.name: path.read_bytes() for path in shown if path.name != "command.txt"}
        found |= {f"{experiment.name}/{name}": each for name, each in (files | _of_trials(experiment)).items()}
    return found


def of_file(path: Path) -> Outcome:
    """Return a file, or all files of a directory by their names."""
    if path.is_dir():
        return {each.name: each.read_bytes() for each in sorted(path.iterdir())}
    return {path.name: path.read_bytes()}


def differences(is_now: Outcome, expected: Outcome) -> list[str]:
    """Return the names of what is missing, new or not equal."""
    return sorted(name for name in is_now.keys() | expected.keys() if is_now.get(name) != expected.get(name))


def leftovers(directory: Path) -> list[str]:
    """Return temporary files and directories below a directory: nothing that is finished has hidden ones."""
    return sorted(str(path.relative_to(directory)) for path in directory.rglob(".*"))


def fingerprints(directory: Path, but_for: Path | None = None) -> dict[str, str]:
    """Return what is below a directory by name, but for one path: kind and mode, and a digest of every file."""
    found = {}
    for path in sorted(directory.rglob("*")):
        if but_for is None or (path != but_for and but_for not in path.parents):
            found[str(path.relative_to(directory))] = f"{path.lstat().st_mode:o} {_digest(path)}"
    return found


def _of_trials(directory: Path) -> Outcome:
    records = sorted(directory.glob("records/*.json"))
    found = {f"records/{path.name}": _without(path, "provenance", "sha256") for path in records}
    for trial in sorted(directory.glob("trials/*")):
        found |= {f"trials/{trial.name}/{name}": each for name, each in of_run(trial).items()}
    return found


def _without(path: Path, *keys: str) -> bytes:
    content = json.loads(path.read_text(encoding="utf-8"))
    return json.dumps({key: value for key, value in content.items() if key not in keys}).encode()


def _digest(path: Path) -> str:
    if path.is_symlink():
        return str(path.readlink())
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


Reading = Callable[[Path], Outcome]
