"""What the queueing tests share: size laws of mean one, a driver, replications, intervals, Erlang C.

Time is in mean airtimes: every size law has mean 1 s, so arrivals per second are also the offered load in channels.
`-o log_cli=true -o log_cli_level=INFO` shows every theory value next to what was measured.
"""

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from simpy import Environment, Event

from hfedms_sim.world.radio.airtime import Pool
from hfedms_sim.world.radio.delivery import Delivery

Seconds: TypeAlias = NDArray[np.float64]
SizeLaw: TypeAlias = Callable[[np.random.Generator, int], Seconds]
PoolOf: TypeAlias = Callable[[Environment], Pool]

REPLICATIONS = 20
TRANSFERS = 25_000
WARM_UP = 2_500  # an empty pool is faster than a stationary one
RUN_OFF = 1_250  # and so is a pool nobody else arrives at
CONFIDENCE = 0.999
WIDEST = 0.04  # of the theory value: a wider interval would agree with anything

log = logging.getLogger(__name__)


def deterministic(rng: np.random.Generator, count: int) -> Seconds:
    return np.ones(count)


def exponential(rng: np.random.Generator, count: int) -> Seconds:
    return rng.exponential(1.0, count)


def hyperexponential(rng: np.random.Generator, count: int) -> Seconds:
    """Two exponentials that carry half the load each; squared coefficient of variation 4."""
    often = 0.5 * (1.0 + np.sqrt(3.0 / 5.0))
    mean_s = np.where(rng.random(count) < often, 0.5 / often, 0.5 / (1.0 - often))
    return mean_s * rng.exponential(1.0, count)


SIZE_LAWS: tuple[SizeLaw, ...] = (deterministic, exponential, hyperexponential)


@dataclass(frozen=True, slots=True)
class Served:
    """What became of the transfers, in the order they were sent."""

    airtime_s: Seconds
    sent_s: Seconds
    delivered_s: Seconds
    started_s: Seconds
    """When its airtime began: at once where the pool shares fairly."""

    @property
    def response_s(self) -> Seconds:
        return self.delivered_s - self.sent_s

    def stationary(self) -> "Served":
        """Without the transfers that saw the pool fill up at the start or run empty at the end."""
        kept = slice(WARM_UP, len(self.sent_s) - RUN_OFF)
        return Served(self.airtime_s[kept], self.sent_s[kept], self.delivered_s[kept], self.started_s[kept])


class Log:
    """Sends transfers and notes when they were sent, started and delivered. Latencies are taken in turn."""

    def __init__(self, env: Environment, pool: Pool, latencies_s: Sequence[float] = (0.0,)) -> None:
        self._env = env
        self._pool = pool
        self._latencies_s = latencies_s
        self._airtime_s: list[float] = []
        self._sent_s: list[float] = []
        self._delivered_s: list[float] = []
        self._started_s: list[float] = []

    def send(self, airtime_s: float) -> Delivery:
        delivery = self._pool.send(airtime_s, self._latencies_s[len(self._sent_s) % len(self._latencies_s)])
        delivery.callbacks.append(partial(self._note, len(self._sent_s)))
        self._airtime_s.append(airtime_s)
        self._sent_s.append(self._env.now)
        self._delivered_s.append(np.nan)
        self._started_s.append(np.nan)
        return delivery

    def _note(self, transfer: int, delivery: Event) -> None:
        self._delivered_s[transfer] = self._env.now
        self._started_s[transfer] = delivery.value

    def served(self) -> Served:
        served = Served(*map(np.array, (self._airtime_s, self._sent_s, self._delivered_s, self._started_s)))
        lost = np.isnan(served.delivered_s).sum()
        assert lost == 0, f"{lost} of {len(served.sent_s)} transfers were never delivered"
        return served


def serve(
    pool_of: PoolOf, gaps_s: Iterable[float], airtimes_s: Iterable[float], latencies_s: Sequence[float] = (0.0,)
) -> Served:
    """Sends each transfer a gap after the one before, and runs until all are delivered."""
    env = Environment(0.0)
    transfers = Log(env, pool_of(env), latencies_s)

    def arrivals() -> Generator[Event, None, None]:
        for gap_s, airtime_s in zip(gaps_s, airtimes_s, strict=True):
            if gap_s:
                yield env.timeout(gap_s)
            transfers.send(airtime_s)

    env.process(arrivals())
    env.run()
    return transfers.served()


def poisson_replications(pool_of: PoolOf, law: SizeLaw, arrivals_per_s: float) -> Iterator[Served]:
    """Independent stationary stretches with Poisson arrivals, one for each of the seeds 0, 1, 2, ..."""
    for seed in range(REPLICATIONS):
        rng = np.random.default_rng(seed)
        gaps_s = rng.exponential(1.0 / arrivals_per_s, TRANSFERS)
        yield serve(pool_of, gaps_s.tolist(), law(rng, TRANSFERS).tolist()).stationary()


def mean_responses_s(pool_of: PoolOf, law: SizeLaw, arrivals_per_s: float) -> list[float]:
    return [float(served.response_s.mean()) for served in poisson_replications(pool_of, law, arrivals_per_s)]


def assert_agrees(case: str, measured: Iterable[float], theory: float, confidence: float = CONFIDENCE) -> None:
    """The Student-t interval over the replications contains the theory value, and is narrow enough to say so."""
    sample = np.array(list(measured))
    quantile = stats.t.ppf(0.5 + confidence / 2.0, len(sample) - 1)
    half_width = float(quantile * sample.std(ddof=1) / np.sqrt(len(sample)))
    verdict = f"{case}: theory {theory:.4f}, measured {sample.mean():.4f} +- {half_width:.4f}"
    log.info(verdict)
    assert half_width < WIDEST * theory, f"too wide to mean anything: {verdict}"
    assert abs(sample.mean() - theory) < half_width, verdict


def erlang_c(channels: int, load: float) -> float:
    """Probability that an M/M/c arrival waits, by way of the Erlang B recursion."""
    blocked = 1.0
    for servers in range(1, channels + 1):
        blocked = load * blocked / (servers + load * blocked)
    return channels * blocked / (channels - load * (1.0 - blocked))
