"""Where the sensors stand: the settings. How positions follow from them: world/site/placement.py."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from hfedms_sim.scenario.base import LEAST, NonNegativeFloat, PositiveFloat, PositiveInt, Settings

_KEYS = {
    "none": (),
    "grid": ("width_m", "length_m", "pitch_m"),
    "uniform": ("width_m", "length_m"),
    "clusters": ("width_m", "length_m", "clusters", "spread_m"),
    "csv": ("width_m", "length_m", "path"),
}
Environment = Literal["LOS", "SL", "DL", "SH", "DH", "RMa", "UMa"]
Metres = Annotated[float, Field(ge=LEAST, le=1e5)]


class Placement(Settings):
    kind: Literal["none", "grid", "uniform", "clusters", "csv"] = "none"
    """none: sensors stand nowhere, every one has its cell's full rate; others place them in a hall."""
    width_m: Metres | None = None
    """The hall, along x."""
    length_m: Metres | None = None
    """The hall, along y."""
    pitch_m: PositiveFloat | None = None
    """Distance between neighbours (grid)."""
    clusters: PositiveInt | None = None
    """How many groups of machines (clusters)."""
    spread_m: NonNegativeFloat | None = None
    """Standard deviation of a sensor's place around its cluster's centre (clusters)."""
    path: Annotated[str, Field(min_length=1)] | None = None
    """CSV with the columns sensor, x_m, y_m and, if it is to say which radio a sensor has, cell (csv)."""
    environment: Environment = "SH"
    """3GPP indoor factory: sparse or dense clutter, low or high base stations; LOS: nothing in between.
    Outdoors: RMa is open ground under a mast, UMa a town under a roof's antenna."""
    extra_loss_db: Annotated[float, Field(ge=0, le=150)] = 0.0
    """What walls, rock or enclosures take, on top of every link's path loss."""

    @model_validator(mode="after")
    def _kind_has_its_figures(self) -> "Placement":
        for key in ("width_m", "length_m", "pitch_m", "clusters", "spread_m", "path"):
            given = getattr(self, key) is not None
            if given != (key in _KEYS[self.kind]):
                raise ValueError(f"kind: {self.kind} {'has no' if given else 'needs'} {key}")
        return self
