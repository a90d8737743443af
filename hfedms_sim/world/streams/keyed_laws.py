"""Exact laws, each drawn as a pure function of a key: the samplers behind the arrival paths.

A key (seed, purpose, entity, index) opens blocks of 512 random bits, BLAKE2b(seed, purpose; entity, index, block).
One block gives eight words and costs a quarter of `Draws.one_uniform`, which gives one; a NumPy generator per key
would cost thirty times as much, and its laws may change with NumPy's version.

Binomial(n, 1/2): up to 512 trials, the ones among n random bits, exact by definition; above, transformed rejection
(BTRS of Hörmann 1993, J. Stat. Comput. Simul. 46:101-110).

Poisson(mean): below 10, inversion of one uniform by sequential search; from 10 on, transformed rejection (PTRS of
Hörmann 1993, Insurance Math. Econ. 12:39-45; its published constants break the bounds of `RejectionHat` by up to
0.6 %, so `height` has 0.1 / b more here and `sure` 0.01 less, and the early refusal in the tails is left out).

Gamma(k, 1), k >= 1: Marsaglia and Tsang 2000, ACM Trans. Math. Softw. 26:363-372.

Beta(a, a), a >= 1/2: (1 + cos(2 pi V) sqrt(1 - U^(2 / (2a - 1)))) / 2 (Ulrich 1984, Appl. Stat. 33:158-163).

"Exact" is up to the rounding of lgamma: the acceptance of a count near 1e9 is right to about 1e-5.
"""

import math
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import count
from struct import Struct
from typing import NamedTuple

from hfedms_sim.seeds import Draws

BLOCK_WORDS = 8
_BLOCK_BITS = 64 * BLOCK_WORDS
_pack_key = Struct("<3q").pack
_unpack_words = Struct(f"<{BLOCK_WORDS}Q").unpack


class KeyedBits:
    """Random 64-bit words for each (entity, index); two purposes share none."""

    def __init__(self, draws: Draws, purpose: str) -> None:
        self._keyed = blake2b(f"{draws.seed}/{purpose}/".encode())

    def block(self, entity: int, index: int, block: int = 0) -> tuple[int, ...]:
        keyed = self._keyed.copy()
        keyed.update(_pack_key(entity, index, block))
        return _unpack_words(keyed.digest())

    def ones(self, entity: int, index: int, bits: int) -> int:
        """How many of `bits` random bits, at most 512, are set."""
        keyed = self._keyed.copy()
        keyed.update(_pack_key(entity, index, 0))
        return (int.from_bytes(keyed.digest(), "little") >> (_BLOCK_BITS - bits)).bit_count()

    def uniforms(self, entity: int, index: int) -> Iterator[float]:
        """Yield as many uniforms as anyone asks for; neither 0 nor 1 is among them."""
        for block in count():
            for word in self.block(entity, index, block):
                yield ((word >> 12) + 0.5) * 2.0**-52


def binomial_half(words: KeyedBits, entity: int, index: int, trials: int) -> int:
    """Binomial(trials, 1/2)."""
    if trials <= _BLOCK_BITS:
        return words.ones(entity, index, trials) if trials else 0
    return _by_rejection(words.uniforms(entity, index), half_hat(trials))


def poisson(words: KeyedBits, entity: int, index: int, mean: float) -> int:
    uniforms = words.uniforms(entity, index)
    return _by_inversion(next(uniforms), mean) if mean < 10 else _by_rejection(uniforms, poisson_hat(mean))


def _by_inversion(uniform: float, mean: float) -> int:
    number, mass = 0, math.exp(-mean)
    left = uniform - mass
    while left > 0 and mass > 0:
        number += 1
        mass *= mean / number
        left -= mass
    return number


class RejectionHat(NamedTuple):
    """Transformed rejection: u in (-1/2, 1/2) proposes the number floor((2 a / (1/2 - |u|) + b) u + centre).

    It is accepted with probability mass(number) (a / (1/2 - |u|)^2 + b) / height, which must not be above 1; while
    1/2 - |u| >= 0.07 it must not be below `sure`, so that most numbers are accepted before their mass is computed.
    """

    a: float
    b: float
    centre: float
    height: float
    sure: float
    log_mass: Callable[[int], float]


def half_hat(trials: int) -> RejectionHat:
    deviation = math.sqrt(trials) / 2
    b = 1.15 + 2.53 * deviation

    def log_mass(number: int) -> float:
        """Relative to the mode's."""
        if not 0 <= number <= trials:
            return -math.inf
        mode = (trials + 1) // 2
        top = math.lgamma(mode + 1) + math.lgamma(trials - mode + 1)
        return top - math.lgamma(number + 1) - math.lgamma(trials - number + 1)

    return RejectionHat(
        -0.0823 + 0.0248 * b, b, trials / 2 + 0.5, (2.83 + 5.1 / b) * deviation, 0.92 - 4.2 / b, log_mass
    )


def poisson_hat(mean: float) -> RejectionHat:
    b = 0.931 + 2.53 * math.sqrt(mean)
    height = 1.1239 + 1.1328 / (b - 3.4) + 0.1 / b
    sure = 0.9177 - 3.6224 / (b - 2)

    def log_mass(number: int) -> float:
        return number * math.log(mean) - mean - math.lgamma(number + 1) if number >= 0 else -math.inf

    return RejectionHat(-0.059 + 0.02483 * b, b, mean + 0.43, height, sure, log_mass)


def _by_rejection(uniforms: Iterator[float], hat: RejectionHat) -> int:
    a, b, centre, height, sure, log_mass = hat
    while True:
        u, v = next(uniforms) - 0.5, next(uniforms)
        inside = 0.5 - abs(u)
        number = math.floor((2 * a / inside + b) * u + centre)
        if inside >= 0.07 and v <= sure:
            return number
        if math.log(v * height / (a / (inside * inside) + b)) <= log_mass(number):
            return number


def gamma(words: KeyedBits, entity: int, index: int, shape: float) -> float:
    """Gamma(shape, 1), shape >= 1: for a whole shape, the sum of that many unit exponentials."""
    uniforms = words.uniforms(entity, index)
    d = shape - 1 / 3
    while True:
        radius, angle = math.sqrt(-2 * math.log(next(uniforms))), 2 * math.pi * next(uniforms)
        normal = radius * math.cos(angle)
        cube = (1 + normal / math.sqrt(9 * d)) ** 3
        if cube > 0 and math.log(next(uniforms)) < normal * normal / 2 + d * (1 - cube + math.log(cube)):
            return d * cube


def symmetric_beta(words: KeyedBits, entity: int, index: int, shape: float) -> float:
    """Beta(shape, shape): the first half's share of a sum of 2 x shape exponentials."""
    uniforms = words.uniforms(entity, index)
    radius = math.sqrt(-math.expm1(2 / (2 * shape - 1) * math.log(next(uniforms))))
    return 0.5 + radius * math.cos(2 * math.pi * next(uniforms)) / 2
