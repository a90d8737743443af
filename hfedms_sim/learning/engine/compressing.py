"""An engine around another: what it trains on, and what comes of it, has gone over the air in fewer bytes.

The server keeps its model w in full precision. Sensors start from what they receive of it, v = C_down(w). Where a
sensor trains alone, both ends hold v, and it sends its change: the server takes w + C_up(x - v) for the x it made. The
last sensor of a longer chain does not hold v, so it sends all of x, and the server takes w + (C_up(x) - v). On the way
along a chain C_relay is applied to what one sensor hands to the next. So what the downlink has rounded off does not add
up from round to round.

Numbers that no gradient changes, such as BatchNorm's running figures, are sent as they are and taken as they come: a
change added to a rounded variance could make it negative. A sensor without samples hands on what it got, as it got it.
"""

from collections.abc import Callable, Iterator, Sequence

from torch import Tensor

from hfedms_sim.errors import InputError
from hfedms_sim.learning.compression import by_content, by_seed, quantised
from hfedms_sim.learning.engine.base import Chain, Engine, Norm, Sgd, TrainedChains
from hfedms_sim.learning.engine.chain_models import mean_by_distance
from hfedms_sim.learning.engine.losses import CROSS_ENTROPY, Loss
from hfedms_sim.learning.error_feedback import ErrorFeedback
from hfedms_sim.learning.merging import RunningMean
from hfedms_sim.learning.networks import Weights
from hfedms_sim.scenario import LocalTraining
from hfedms_sim.seeds import Draws

Numbered = Iterator[tuple[int, Weights]]
"""Models by the number of their chain, in any order."""


class CompressingEngine:
    def __init__(
        self, inner: Engine, settings: LocalTraining, draws: Draws, untrained: frozenset[str] = frozenset()
    ) -> None:
        """`untrained` are the names of the weights that no gradient changes."""
        self.feedback = ErrorFeedback()
        self._inner = inner
        self._codecs = settings.compression
        self._sends_changes = not settings.relays
        self._draws = draws
        self._untrained = untrained

    def train_models(
        self, start: Weights, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd, loss: Loss = CROSS_ENTROPY
    ) -> Weights:
        if not self._is_plain_after_downlink(start):
            return _mean(self.train_chains(start, chains, sgd, loss).models(), shares) or start
        received = self.received(start)
        return self._taken(start, received, self._inner.train_models(received, chains, shares, sgd, loss))

    def train_chains(
        self, start: Weights, chains: Sequence[Chain], sgd: Sgd, loss: Loss = CROSS_ENTROPY
    ) -> TrainedChains:
        received = self.received(start)
        if self._codecs.relay == "none":
            ends = self._inner.train_chains(received, chains, sgd, loss)
            return _Ends(lambda: self._arrived(start, received, chains, ends.models()))
        self._require_no_reference(sgd, loss)

        def along(model: Weights, part: Chain) -> Weights:
            return self._inner.train_models(model, [part], [1.0], sgd, loss)

        return _Ends(lambda: self._arrived(start, received, chains, self._relayed(received, chains, along)))

    def train_classifiers(self, start: Weights, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd) -> Weights:
        received = self.received(start)
        if self._is_plain_after_downlink(start):
            return self._taken(start, received, self._inner.train_classifiers(received, chains, shares, sgd))

        def along(model: Weights, part: Chain) -> Weights:
            return self._inner.train_classifiers(model, [part], [1.0], sgd)

        ends = self._relayed(received, chains, along)
        return _mean(self._arrived(start, received, chains, ends), shares) or start

    def received(self, sent: Weights) -> Weights:
        codec = self._codecs.downlink
        return sent if codec == "none" else sent | quantised(codec, self._trained(sent), by_content(self._draws))

    def extract(self, weights: Weights, images: Tensor) -> Tensor:
        return self._inner.extract(weights, images)

    def logits(self, weights: Weights, images: Tensor) -> Tensor:
        return self._inner.logits(weights, images)

    def _relayed(
        self, received: Weights, chains: Sequence[Chain], along: Callable[[Weights, Chain], Weights]
    ) -> Numbered:
        """Yield where each chain ends; `along` takes weights along a part of one."""
        codec = self._codecs.relay
        for number, chain in enumerate(chains):
            if codec == "none":
                yield number, along(received, chain)
                continue
            model = received
            for place, local in enumerate(chain, start=1):
                model = along(model, [local])
                if place < len(chain):
                    rounding = by_seed(self._draws, "relay", local.seed)
                    model = model | quantised(codec, self._trained(model), rounding)
            yield number, model

    def _arrived(self, start: Weights, received: Weights, chains: Sequence[Chain], ends: Numbered) -> Numbered:
        """Yield what the server makes of each end; a chain in which nobody trained has changed nothing."""
        for number, model in ends:
            yield number, self._sent_up(start, received, chains[number], model) if chains[number] else start

    def _sent_up(self, start: Weights, received: Weights, chain: Chain, model: Weights) -> Weights:
        trained, sender = self._trained(model), chain[-1]
        numbers = _count(trained)
        codec = self._codecs.uplink_codec(numbers)
        if codec == "none":
            return self._taken(start, received, model)
        rounding = by_seed(self._draws, "uplink", sender.seed)
        if not self._sends_changes and codec != "topk":
            return self._taken(start, received, model | quantised(codec, trained, rounding))
        change = {name: value - received[name] for name, value in trained.items()}
        if codec == "topk":
            sent = self.feedback.sent(sender.sensor, sender.seed, change, self._codecs.sent_numbers(numbers))
        else:
            sent = quantised(codec, change, rounding)
        return model | {name: start[name] + value for name, value in sent.items()}

    def _taken(self, start: Weights, received: Weights, back: Weights) -> Weights:
        """Return the server's model after what came back is taken as a change of what had been received."""
        if received is start:
            return back
        return back | {name: start[name] + (value - received[name]) for name, value in self._trained(back).items()}

    def _trained(self, weights: Weights) -> Weights:
        return {name: value for name, value in weights.items() if name not in self._untrained}

    def _is_plain_after_downlink(self, start: Weights) -> bool:
        """Return whether the server gets whole models, so that the mean of their ends is all it needs."""
        return self._codecs.relay == "none" and self._codecs.uplink_codec(_count(self._trained(start))) == "none"

    def _require_no_reference(self, sgd: Sgd, loss: Loss) -> None:
        if sgd.proximal or loss.discrepancy is not None:
            why = "sensors after the first of a chain lack the server's model, which the strategy's loss refers to"
            raise InputError(f"strategy.compression.relay = '{self._codecs.relay}': {why}; allowed: none")


class _Ends:
    """Where chains end, as the server has it."""

    def __init__(self, each: Callable[[], Numbered]) -> None:
        self._each = each

    def models(self) -> Numbered:
        return self._each()

    def mean_by_distance(self, share_of: Callable[[int, float], float], norm: Norm = "l2") -> Weights | None:
        return mean_by_distance(self._each, share_of, norm)


def _mean(ends: Numbered, shares: Sequence[float]) -> Weights | None:
    mean = RunningMean()
    for number, end in ends:
        mean.add(end, shares[number])
    return mean.result()


def _count(weights: Weights) -> int:
    return sum(value.numel() for value in weights.values())
