"""When a payload arrives: what the sender of a transfer waits for."""

from collections.abc import Callable
from typing import Any

from hfedms_sim.world.clock import Clock


class Delivery:
    """Happens when the receiver has the payload.

    Nearly every transfer has its own, so it is no `simpy.Event`, which takes half as long again to make. It has what
    those who wait for one use, and what SimPy itself uses of one that is scheduled.
    """

    __slots__ = ("callbacks", "transfers", "value")
    _ok = True  # it never fails

    def __init__(self) -> None:
        self.callbacks: list[Callable[[Any], object]] = []
        self.transfers = 1
        """How many it stands for."""
        self.value: float | None = None
        """When service began; None: at once (fair sharing)."""

    def after(self, env: Clock, delay_s: float, service_start_s: float | None = None) -> None:
        self.value = service_start_s
        env.schedule(self, delay=delay_s)  # type: ignore[arg-type]
