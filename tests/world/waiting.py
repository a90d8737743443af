"""Waiting for a delivery from outside any story."""

from hfedms_sim.world.clock import Clock
from hfedms_sim.world.delivery import Delivery
from hfedms_sim.world.stories import Story, Together


def run_until(env: Clock, delivery: Delivery) -> None:
    def wait() -> Story:
        yield delivery

    env.run(Together(env, [wait()]))
