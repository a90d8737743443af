"""The directory of a campaign: who may begin one there, and who may go on with it.

    campaign.json    the options and every trial's resolved scenario; for each data file that one names, a SHA-256 of
                     what is in it instead of its path, so that the campaign can go on on another machine

    SHA256SUMS       checksums of the campaign's own files (system/checksums.py); its trials' directories have their own

A campaign that goes on must be the same in all of it. What is refused is refused before anything is written.
"""

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from hfedms_sim.campaign.records import DIRECTORY, digest_of
from hfedms_sim.campaign.tasks import Options
from hfedms_sim.campaign.trials import Trial
from hfedms_sim.data.loaders.files import errors_name, only_file
from hfedms_sim.errors import InputError
from hfedms_sim.result import differences, read_json
from hfedms_sim.run_directory import RunDirectory, require_no_links
from hfedms_sim.scenario import Scenario
from hfedms_sim.system.checksums import Checksums, sha256_of
from hfedms_sim.system.files import is_blank

MANIFEST = "campaign.json"
TREE, OLDER_TREE = "training_tree.json", "kinship.json"
TABLES = ("comparison.csv", "trials.csv", "curves.csv")
_CONTENT = "sha256:"
_KEYS = {"options", "trials"}
_OLDER_KEYS = {"options", "cells"}
_NAME = re.compile(r"[A-Za-z0-9_=+-][A-Za-z0-9._=+-]{0,199}")


def campaign_directory(name: str, out: Path | None, resume: bool) -> RunDirectory:
    """Make a campaign's directory, runs/NAME-NNN or `out`, or return that of the one in `out` to go on with.

    To go on needs `out`.
    """
    if not resume:
        return RunDirectory.fresh(Path("runs"), name) if out is None else RunDirectory.at(out)
    assert out is not None
    require_no_links(out)
    if not is_blank(out):
        if not (out / MANIFEST).is_file():
            raise InputError(f"{out}: no campaign to resume, {MANIFEST} is missing")
        manifest_of(out)
    return RunDirectory(out, is_new=False)


def claim(directory: RunDirectory, trials: Sequence[Trial], options: Options) -> dict[str, str]:
    """Make the directory this campaign's and return what identifies each trial, by name (`digests_of`).

    The directory of another campaign is refused with the first difference.
    """
    try:
        require_names(trials)
        now = {"options": options.identity(), "trials": _portable(trials)}
        if (directory.path / MANIFEST).is_file():
            _require_same(directory.path, manifest_of(directory.path), now)
        else:
            directory.write_json(MANIFEST, now)
    except InputError:
        directory.abandon()
        raise
    return _digests(now["trials"], options)


def digests_of(trials: Sequence[Trial], options: Options) -> dict[str, str]:
    """Return by name what identifies each trial: its resolved scenario, what its data files hold, and the options."""
    return _digests(_portable(trials), options)


def _digests(scenarios: dict[str, Any], options: Options) -> dict[str, str]:
    return {name: digest_of(scenario, options.identity()) for name, scenario in scenarios.items()}


def manifest_of(path: Path) -> dict[str, Any]:
    """Return what a sound campaign.json says: the options, and the scenarios of the trials by name."""
    Checksums(path).require(MANIFEST)
    content = read_json(path / MANIFEST)
    if set(content) == _OLDER_KEYS:
        raise InputError(f"{path}: is a campaign of an older version, with cells for trials; start a new one")
    if set(content) != _KEYS or not all(isinstance(content[key], dict) for key in _KEYS):
        raise InputError(f"{path / MANIFEST}: is not a campaign's")
    for name, scenario in content["trials"].items():
        if not _NAME.fullmatch(name) or not isinstance(scenario, dict):
            raise InputError(f"{path / MANIFEST}: damaged (trial {name!a:.60})")
    return content


def files_of_campaign(path: Path) -> list[str]:
    """Return the files of a campaign's directory that are its own and are there, by their paths within it."""
    single = [path / name for name in (MANIFEST, TREE, OLDER_TREE, *TABLES)]
    found = [*(each for each in single if each.is_file()), *path.glob(f"{DIRECTORY}/*.json")]
    return [each.relative_to(path).as_posix() for each in found]


def _require_same(path: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    for key, was, is_now in differences(before, now):
        if str(was).startswith(_CONTENT) and str(is_now).startswith(_CONTENT):
            raise InputError(f"{path}: was run with other content of the file in {key}: {was:.20}, now {is_now:.20}")
        raise InputError(f"{path}: was run with another {key}: {was!r:.80}, now {is_now!r:.80}")


def require_names(trials: Sequence[Trial]) -> None:
    """Refuse names that are no file names everywhere, and such as differ in case only."""
    seen: set[str] = set()
    for name in (trial.name for trial in trials):
        if not _NAME.fullmatch(name):
            raise InputError(f"trial {name!a:.60}: its name must be letters, digits and . _ = + - (at most 200)")
        if name.lower() in seen:
            raise InputError(f"trial {name}: there are two of that name")
        seen.add(name.lower())


def _portable(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the resolved scenarios by name, with what a file holds, as a digest, instead of where it is."""
    digests: dict[str, str] = {}
    return {trial.name: _with_contents(trial.scenario.model_dump(mode="json"), digests) for trial in trials}


def require_files(scenario: Scenario) -> None:
    """Refuse to play a scenario of campaign.json that has digests where it named files."""
    if any(str(part.get("path")).startswith(_CONTENT) for part in _parts_with_files(scenario.model_dump(mode="json"))):
        raise InputError(f"{MANIFEST} has checksums in place of the files that its scenario names")


def _parts_with_files(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [scenario[key] for key in ("data", "stream", "compute", "availability")]
    return [*parts, scenario["sensors"]["placement"]]


def _with_contents(scenario: dict[str, Any], digests: dict[str, str]) -> dict[str, Any]:
    for part in _parts_with_files(scenario):
        path = part.get("path")
        if path is not None:
            if path not in digests:
                digests[path] = content_of(Path(path))
            part["path"] = digests[path]
    return scenario


def content_of(path: Path) -> str:
    """Return what stands for a file's content: its SHA-256, or that of all files of a directory and their names."""
    with errors_name(path):
        if not path.is_dir():
            return _CONTENT + sha256_of(only_file(path))
        files = sorted(each for each in path.rglob("*") if each.is_file() and not each.name.startswith("."))
        listed = "".join(f"{each.relative_to(path).as_posix()}\0{sha256_of(each)}\n" for each in files)
        return _CONTENT + sha256(listed.encode()).hexdigest()
