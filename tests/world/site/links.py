"""The path loss of a link in line of sight, and of one behind clutter."""

from numpy.typing import ArrayLike

from hfedms_sim.world.site.path_loss import Environment, Floats, loss_db


def los_loss_db(distance_m: ArrayLike, carrier_ghz: float) -> Floats:
    """Path loss in line of sight, the same in every hall."""
    return loss_db("LOS", distance_m, True, carrier_ghz)


def nlos_loss_db(environment: Environment, distance_m: ArrayLike, carrier_ghz: float) -> Floats:
    """Path loss behind clutter: never less than in line of sight, and for DL never less than for SL."""
    return loss_db(environment, distance_m, False, carrier_ghz)
