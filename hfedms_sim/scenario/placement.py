"""Where the sensors stand: the settings, by kind. How positions follow from them: world/site/placement.py."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from hfedms_sim.scenario.base import LEAST, NonNegativeFloat, PositiveFloat, PositiveInt, Settings, without_nulls

Environment = Literal["LOS", "SL", "DL", "SH", "DH", "RMa", "UMa"]
Metres = Annotated[float, Field(ge=LEAST, le=1e5)]


class AnyPlacement(Settings):
    """What all kinds have in common: the surroundings, in which a signal gets weaker."""

    kind: str
    """Where the sensors stand."""
    environment: Environment = "SH"
    """3GPP indoor factory: sparse or dense clutter, low or high base stations; LOS: nothing in between.
    Outdoors: RMa is open ground under a mast, UMa a town under a roof's antenna."""
    extra_loss_db: Annotated[float, Field(ge=0, le=150)] = 0.0
    """What walls, rock or enclosures take, on top of every link's path loss."""

    @model_validator(mode="before")
    @classmethod
    def _without_keys_of_other_kinds(cls, raw: Any) -> Any:
        return without_nulls(raw)


class Nowhere(AnyPlacement):
    kind: Literal["none"] = "none"
    """none: sensors stand nowhere, every one has its cell's full rate, whatever the surroundings."""


class InHall(AnyPlacement):
    """Sensors that stand in a hall, or on a piece of ground."""

    width_m: Metres
    """The hall, along x."""
    length_m: Metres
    """The hall, along y."""


class OnGrid(InHall):
    kind: Literal["grid"]
    """grid: row by row."""
    pitch_m: PositiveFloat
    """Distance between neighbours."""


class Anywhere(InHall):
    kind: Literal["uniform"]
    """uniform: anywhere, independently of each other."""


class InClusters(InHall):
    kind: Literal["clusters"]
    """clusters: around machines."""
    clusters: PositiveInt
    """How many groups of machines."""
    spread_m: NonNegativeFloat
    """Standard deviation of a sensor's place around its cluster's centre, no more than the hall's longer side."""

    @model_validator(mode="after")
    def _spread_is_within_the_hall(self) -> "InClusters":
        longest_m = max(self.width_m, self.length_m)
        if self.spread_m > longest_m:
            raise ValueError(f"spread_m = {self.spread_m:g}: must be at most {longest_m:g}, the hall's longer side")
        return self


class PlacedByCsv(InHall):
    kind: Literal["csv"]
    """csv: where a file says."""
    path: Annotated[str, Field(min_length=1)]
    """CSV with the columns sensor, x_m, y_m and, if it is to say which radio a sensor has, cell."""


Placement = Annotated[Nowhere | OnGrid | Anywhere | InClusters | PlacedByCsv, Field(discriminator="kind")]
