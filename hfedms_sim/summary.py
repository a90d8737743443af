"""What summary.json and provenance.json may hold: checked when a run is read, because others may have written it.

Keys are those that programs of this package read. Keys of later versions stay as they are, and keys that earlier
versions did not write may be missing. docs/trace.md says what each means.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hfedms_sim.stopping import current_summary
from hfedms_sim.system.foreign_text import all_printable

_Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
"""What a column of whole numbers holds. JSON knows larger ones, with which nobody can compute."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", allow_inf_nan=False)


class _Bytes(_Part):
    up: _Whole
    down: _Whole
    total: _Whole


class _Target(_Part):
    accuracy: float
    round: _Whole | None
    simulated_s: float | None
    bytes: _Whole | None
    energy_j: float | None

    @model_validator(mode="after")
    def _has_costs(self) -> "_Target":
        if self.round is not None and (self.simulated_s is None or self.bytes is None):
            raise ValueError("a target that was reached has no costs")
        return self


class _Share(_Part):
    cause: str
    share: float


class _Limit(_Part):
    cause: str
    share: float
    detail: dict[str, Any]
    text: str
    rounds: _Whole
    shares: list[_Share]


class _Direction(_Part):
    airtime_s: float
    active_share: float
    saturated_share: float
    allowed_airtime_share: float | None


class _Cell(_Part):
    name: str
    sensors: _Whole
    directions: dict[str, _Direction] = {}


class _Life(_Part):
    mean_d: float | None
    worst_d: float | None
    worst_sensor: _Whole | None


class _Coverage(_Part):
    sensors: _Whole
    covered: _Whole


class _Summary(_Part):
    scenario: str
    strategy: str
    profile: str
    seed: _Whole
    rounds: _Whole
    simulated_s: float
    final_accuracy: float | None
    best_accuracy: float | None
    final_loss: float | None
    bytes: _Bytes
    energy_j: float | None
    targets: list[_Target]
    lineage: str
    wall_s: float = 0.0
    coverage: _Coverage | None = None
    energy_by_state: dict[str, float] | None = None
    energy_extrapolated: list[str] = []
    energy_missing: list[str] = []
    battery_life: dict[str, _Life | None] | None = None
    faults: dict[str, _Whole] = {}
    cells: list[_Cell] = []
    limited_by: _Limit | None = None


class _Provenance(_Part):
    timing_only: bool = True
    rounds_trained: _Whole | None = 0  # null until the run ends
    rounds_reused: _Whole | None = 0
    outside: dict[str, str | None] = {}


def checked_provenance(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what provenance.json holds, as `checked_summary` does; runs of the first versions were never trained."""
    _validate(_Provenance, content)
    printable: dict[str, Any] = all_printable(dict(content))
    return {"timing_only": True} | printable


def checked_summary(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a summary in the form of this version. What no version has written is a ValueError that names the key.

    Control characters, which could steer a terminal or break a picture's file, are replaced.
    """
    _validate(_Summary, content)
    printable: dict[str, Any] = all_printable(dict(content))
    return current_summary(printable)


def _validate(kind: type[_Part], content: Mapping[str, Any]) -> None:
    try:
        kind.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg'].lower()}") from None
