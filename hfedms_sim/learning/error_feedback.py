"""Error feedback: what a sensor has not sent of its changes is added to its next ones.

Stich, Cordonnier, Jaggi, "Sparsified SGD with Memory", NeurIPS 2018. With e_k the residual of sensor k, at first 0, and
D its change of the round, it sends C(D + e_k) and keeps e_k <- D + e_k - C(D + e_k). A residual is as large as the
model, and there is one for each sensor that has ever sent.
"""

from hfedms_sim.learning.compression import largest
from hfedms_sim.learning.networks import Weights
from hfedms_sim.learning.state import arrays_of, weights_under
from hfedms_sim.lineage import State, under

_RESIDUAL = "residual"


class ErrorFeedback:
    """Residuals by sensor.

    A learner may ask for what a sensor sends several times: a new residual counts from the sensor's next turn on, or
    from the end of the round. `turn` is whatever tells turns apart.
    """

    def __init__(self) -> None:
        self._residuals: dict[int, Weights] = {}
        self._coming: dict[int, tuple[int, Weights]] = {}  # with the turn that made it

    def sent(self, sensor: int, turn: int, change: Weights, count: int) -> Weights:
        """Return what the sensor sends of a change in this turn, this many numbers."""
        if sensor in self._coming and self._coming[sensor][0] != turn:
            self._keep(sensor)
        residual = self._residuals.get(sensor, {})
        wanted = {name: value + residual[name] if name in residual else value for name, value in change.items()}
        sent = largest(wanted, count)
        self._coming[sensor] = turn, {name: value - sent[name] for name, value in wanted.items()}
        return sent

    def end_round(self) -> None:
        """Let the new residuals count from now on."""
        for sensor in tuple(self._coming):
            self._keep(sensor)

    def _keep(self, sensor: int) -> None:
        _, residual = self._coming.pop(sensor)
        self._residuals[sensor] = self._residuals.get(sensor, {}) | residual

    def state(self) -> State:
        self.end_round()
        state: State = {}
        for sensor, residual in self._residuals.items():
            state |= arrays_of(f"{_RESIDUAL}/{sensor}", residual)
        return state

    def restore(self, state: State) -> None:
        sensors = {name.partition("/")[0] for name in under(_RESIDUAL, state)}
        self._coming.clear()
        self._residuals = {int(sensor): weights_under(f"{_RESIDUAL}/{sensor}", state) for sensor in sensors}
