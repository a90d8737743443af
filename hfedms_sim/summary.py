"""What summary.json may hold: checked when a run is read, because somebody else may have written it.

Keys are those that programs of this package read. Keys of later versions stay as they are, and keys that earlier
versions did not write may be missing. docs/trace.md says what each means.
"""

import unicodedata
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from hfedms_sim.stopping import current_summary

_UNKNOWN_SIGN = "\N{REPLACEMENT CHARACTER}"
_LINE_ENDS = "\n\t"


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", allow_inf_nan=False)


class _Bytes(_Part):
    up: int
    down: int
    total: int


class _Target(_Part):
    accuracy: float
    round: int | None
    simulated_s: float | None
    bytes: int | None
    energy_j: float | None


class _Share(_Part):
    cause: str
    share: float


class _Limit(_Part):
    cause: str
    share: float
    detail: dict[str, Any]
    text: str
    rounds: int
    shares: list[_Share]


class _Direction(_Part):
    airtime_s: float
    active_share: float
    saturated_share: float
    allowed_airtime_share: float | None


class _Cell(_Part):
    name: str
    sensors: int
    directions: dict[str, _Direction] = {}


class _Life(_Part):
    mean_d: float | None
    worst_d: float | None
    worst_sensor: int | None


class _Coverage(_Part):
    sensors: int
    covered: int


class _Summary(_Part):
    scenario: str
    strategy: str
    profile: str
    seed: int
    rounds: int
    simulated_s: float
    final_accuracy: float | None
    best_accuracy: float | None
    final_loss: float | None
    bytes: _Bytes
    energy_j: float | None
    targets: list[_Target]
    lineage: str
    coverage: _Coverage | None = None
    energy_by_state: dict[str, float] | None = None
    energy_extrapolated: list[str] = []
    energy_missing: list[str] = []
    battery_life: dict[str, _Life | None] | None = None
    faults: dict[str, int] = {}
    cells: list[_Cell] = []
    limited_by: _Limit | None = None


def checked_summary(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a summary in the form of this version. What no version has written is a ValueError that names the key.

    Control characters, which could steer a terminal or break a picture's file, are replaced.
    """
    try:
        _Summary.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg'].lower()}") from None
    printable: dict[str, Any] = _printable(dict(content))
    return current_summary(printable)


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return "".join(_UNKNOWN_SIGN if _is_control(sign) else sign for sign in value)
    if isinstance(value, dict):
        return {_printable(key): _printable(own) for key, own in value.items()}
    return [_printable(own) for own in value] if isinstance(value, list) else value


def _is_control(sign: str) -> bool:
    return unicodedata.category(sign) == "Cc" and sign not in _LINE_ENDS
