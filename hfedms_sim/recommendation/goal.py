"""What is asked for: a model that is good enough, soon enough, on batteries that last."""

from dataclasses import dataclass

from hfedms_sim.errors import Argument, InputError
from hfedms_sim.units import format_seconds


@dataclass(frozen=True)
class Goal:
    """`within_s` and `battery_s` None: any time, any battery."""

    accuracy: float
    within_s: float | None = None
    """Simulated seconds until the model is that accurate."""
    battery_s: float | None = None
    """How long the first battery to be empty lasts, if rounds go on as they do."""

    def __post_init__(self) -> None:
        if not 0 < self.accuracy <= 1:
            raise InputError(Argument("accuracy"), f" {self.accuracy:g}: must be above 0 and at most 1")
        for name, seconds in (("within", self.within_s), ("battery", self.battery_s)):
            if seconds is not None and not 0 < seconds < float("inf"):
                raise InputError(Argument(name), f" {seconds:g} s: must be above 0")

    @property
    def words(self) -> str:
        within = "" if self.within_s is None else f" within {format_seconds(self.within_s)}"
        battery = "" if self.battery_s is None else f", on batteries that last {format_seconds(self.battery_s)}"
        return f"an accuracy of {100 * self.accuracy:g} %{within}{battery}"
