"""Why a run ended before its last round, as its summary has it under `stopped`; null if it did not.

    {"reason": "target", "round": 70, "detail": "accuracy 0.6"}                 the accuracy to stop at was reached
    {"reason": "time", "round": 41, "detail": "7200 s"}                         the time to stop after was over
    {"reason": "diverged", "round": 3, "detail": "a weight is not finite"}      training broke down
    {"reason": "stalled", "round": 9, "detail": "every sensor is gone for ever"}  nobody is left to go on with

Earlier versions wrote a sentence instead, which is read into the same form.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

TARGET, TIME, DIVERGED, STALLED = "target", "time", "diverged", "stalled"

_SENTENCES = {
    TARGET: re.compile(r"(?P<detail>accuracy \S+) reached in round (?P<round>\d+)"),
    DIVERGED: re.compile(r"diverged in round (?P<round>\d+): (?P<detail>.+)"),
}


class Stopped(NamedTuple):
    reason: str
    """`target`, `time`, `diverged` or `stalled`; a later version may know others."""
    round: int
    """The last one that was played."""
    detail: str

    @classmethod
    def at_target(cls, accuracy: float, round_number: int) -> "Stopped":
        """Return that the accuracy to stop at was reached."""
        return cls(TARGET, round_number, f"accuracy {accuracy:g}")

    @classmethod
    def out_of_time(cls, after_s: float, round_number: int) -> "Stopped":
        """Return that the simulated time to stop after was over."""
        return cls(TIME, round_number, f"{after_s:g} s")

    @classmethod
    def diverged(cls, what: str, round_number: int) -> "Stopped":
        """Return that something is not finite any more."""
        return cls(DIVERGED, round_number, f"{what} is not finite")

    @classmethod
    def stalled(cls, why: str, round_number: int) -> "Stopped":
        """Return that the run could make no progress any more."""
        return cls(STALLED, round_number, why)

    def __str__(self) -> str:
        if self.reason == TARGET:
            return f"{self.detail} reached in round {self.round}"
        if self.reason == TIME:
            return f"{self.detail} over in round {self.round}"
        return f"{self.reason} in round {self.round}: {self.detail}"


def stopped_of(summary: Mapping[str, Any]) -> Stopped | None:
    """Return why a run ended early by its summary, of whatever version; None if it did not.

    What no version has written is a ValueError.
    """
    written = summary.get("stopped")
    if written is None:
        return None
    if isinstance(written, str):
        return _of_sentence(written)
    try:
        return Stopped(str(written["reason"]), int(written["round"]), str(written["detail"]))
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"stopped = {written!r:.80}: must be null or have reason, round and detail") from None


def has_diverged(summary: Mapping[str, Any]) -> bool:
    """Return whether a run ended because training broke down."""
    stopped = stopped_of(summary)
    return stopped is not None and stopped.reason == DIVERGED


def has_stalled(summary: Mapping[str, Any]) -> bool:
    """Return whether a run ended because nobody was left to go on with."""
    stopped = stopped_of(summary)
    return stopped is not None and stopped.reason == STALLED


def current_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return a summary in the form of this version: `stopped` is data also where it was a sentence."""
    stopped = stopped_of(summary)
    return {**summary, "stopped": None if stopped is None else stopped._asdict()}


def _of_sentence(text: str) -> Stopped:
    for reason, sentence in _SENTENCES.items():
        if found := sentence.fullmatch(text):
            return Stopped(reason, int(found["round"]), found["detail"])
    raise ValueError(f"stopped = {text!r:.80}: is no reason to stop")
