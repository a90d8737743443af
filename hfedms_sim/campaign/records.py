"""The record of a trial: all that a campaign's tables and pictures need of it, in one small file that outlives the run.

    records/NAME.json    {"sha256": ..., "trial": ..., "variant": ..., "digest": ..., "summary": ..., "provenance": ...,
                          "curve": {"round": [...], ...}}

The checksum is over everything else in the file, as sorted JSON; line ends and spaces do not matter to it. The digest
is that of the resolved scenario and the options, so that a record cannot be taken for another trial's. Wall times are
in `provenance` only. The command line is left out: it may hold paths of the machine.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from hfedms_sim.campaign.curves import Curve, Point
from hfedms_sim.campaign.trials import Variant
from hfedms_sim.errors import InputError
from hfedms_sim.result import read_json
from hfedms_sim.summary import checked_provenance, checked_summary
from hfedms_sim.system.files import write_atomically
from hfedms_sim.system.foreign_text import printable

DIRECTORY = "records"
_POINTS = TypeAdapter(tuple[Point, ...])
_PROVENANCE = (
    "versions", "platform", "git_revision", "started", "ended", "wall_s", "timing_only",
    "rounds_trained", "rounds_reused",
)  # fmt: skip


@dataclass(frozen=True)
class TrialRecord:
    """What is kept of a finished trial. `digest` names the scenario and the options that it was played with."""

    trial: str
    variant: Variant
    digest: str
    summary: Mapping[str, Any]
    provenance: Mapping[str, Any]
    curve: Curve

    @classmethod
    def of_run(
        cls,
        trial: str,
        variant: Variant,
        digest: str,
        summary: Mapping[str, Any],
        provenance: Mapping[str, Any],
        curve: Curve,
    ) -> "TrialRecord":
        """Make the record of a run that has just ended, without what a record leaves out."""
        kept = {key: value for key, value in summary.items() if key != "wall_s"}
        return cls(trial, variant, digest, kept, {key: provenance[key] for key in _PROVENANCE}, curve)

    def as_json(self) -> dict[str, Any]:
        """Return the content of its file but for the checksum."""
        return {
            "trial": self.trial,
            "variant": [list(pair) for pair in self.variant],
            "digest": self.digest,
            "summary": self.summary,
            "provenance": self.provenance,
            "curve": self.curve.as_json(),
        }


def digest_of(scenario: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a scenario, as campaign.json has it, and of the options that it is played with."""
    return _sha256({"scenario": scenario, "options": options})


def write_record(directory: Path, record: TrialRecord) -> None:
    """Write records/NAME.json below a campaign's directory, whole or not at all, a line for each of its keys."""
    content = record.as_json()
    lines = [f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in content.items()]
    text = ",\n".join([f'"sha256": "{_sha256(content)}"', *lines])
    write_atomically(path_of(directory, record.trial), "{\n" + text + "\n}\n")


def path_of(directory: Path, trial: str) -> Path:
    """Return where a campaign's directory has the record of a trial."""
    return directory / DIRECTORY / f"{trial}.json"


def read_record(path: Path) -> TrialRecord:
    """Read a record, or refuse one whose checksum does not match."""
    content = read_json(path)
    checksum = content.pop("sha256", None)
    if checksum != _sha256(content) or content.get("trial") != path.stem:
        raise InputError(f"{path}: damaged (its checksum does not match)")
    try:
        return TrialRecord(
            content["trial"],
            tuple((printable(what), printable(which)) for what, which in content["variant"]),
            str(content["digest"]),
            checked_summary(content["summary"]),
            checked_provenance(content["provenance"]),
            Curve(_POINTS.validate_python(Curve.from_json(content["curve"]).rows)),
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise InputError(f"{path}: is not the record of a trial") from None


def read_records(directory: Path | str) -> dict[str, TrialRecord]:
    """Return all records of a campaign by the names of their trials, in the order of the names.

    It only reads, and needs nothing of the campaign but its `records`. A damaged record is refused.
    """
    place = Path(directory) / DIRECTORY
    if not place.is_dir():
        raise InputError(f"{directory}: has no records of a campaign")
    return {path.stem: read_record(path) for path in sorted(place.glob("*.json"))}


def _sha256(content: Any) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
