"""When a payload arrives: what the sender of a transfer waits for."""

from typing import Protocol

from simpy import Environment, Event


class TransferAborted(Exception):  # noqa: N818  what happened to a transfer, as simpy.Interrupt is to a process
    """The transfer was taken off the air before its payload arrived."""


class Delivery(Event):
    """Happens when the receiver has the payload; its value is when its airtime began. It fails if it is cancelled.

    Whatever carries it (`Carrier`) triggers it when the payload has arrived, not before, so that it can fail at any
    time until then.
    """

    def __init__(self, env: Environment, airtime_s: float, carrier: "Carrier", latency_s: float = 0.0) -> None:
        self.env = env  # as in Event.__init__, which would be one more call for every transfer
        self.callbacks = []
        self.airtime_s = airtime_s
        self.latency_s = latency_s
        """How long after the last of its airtime the receiver has it."""
        self.received_s = airtime_s
        """The airtime it gets in all: less than it needs if it is cancelled."""
        self.began_s: float | None = None
        """When its airtime began; None while it waits."""
        self.end_s = 0.0
        """When its airtime ends, on the clock of its carrier."""
        self.is_on_its_way = False
        """Whether it has had all its airtime."""
        self._carrier = carrier

    def arrive(self) -> None:
        """Happen now, unless it was cancelled on the way."""
        if not self.triggered:
            self.succeed(self.began_s)

    def cancel(self, error: Exception | None = None) -> float:
        """Take the transfer off the air and return the airtime it has had. Whoever waits for it gets the error.

        Nobody has to wait for it. Once it has happened, or was cancelled, this changes nothing.
        """
        if not self.triggered:
            self.received_s = self._carrier.withdraw(self)
            self.fail(error or TransferAborted("the transfer was cancelled"))
            self.defused = True
        return self.received_s


class Carrier(Protocol):
    """What brings deliveries about."""

    def withdraw(self, delivery: Delivery) -> float:
        """Forget a delivery of its own that has not arrived, and return the airtime it has had."""
