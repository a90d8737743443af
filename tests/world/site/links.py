"""The path loss of a link in line of sight, and of one behind clutter; a site without shadowing."""

from numpy.typing import ArrayLike

from hfedms_sim.seeds import Draws
from hfedms_sim.world.site.path_loss import Environment, Floats, loss_db


class NoShadowing(Draws):
    """Draws whose normals are all 0."""

    def normal(self, purpose: str, entity: ArrayLike, index: ArrayLike = 0) -> Floats:
        return 0.0 * super().normal(purpose, entity, index)


def los_loss_db(distance_m: ArrayLike, carrier_ghz: float) -> Floats:
    """Path loss in line of sight, the same in every hall."""
    return loss_db("LOS", distance_m, True, carrier_ghz)


def nlos_loss_db(environment: Environment, distance_m: ArrayLike, carrier_ghz: float) -> Floats:
    """Path loss behind clutter: never less than in line of sight, and for DL never less than for SL."""
    return loss_db(environment, distance_m, False, carrier_ghz)
