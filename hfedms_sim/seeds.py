"""Keyed randomness: every draw is a pure function of (seed, purpose, entity, index).

Nothing is ever drawn "next". So two radios, or two strategies, see the same factory (common random numbers), a run
can be replayed from any point, and one more sensor moves nobody else's draws.

The hash is counter-based and vectorised over entities. The 64-bit state starts from BLAKE2b(seed, purpose) and
absorbs the entity and then the index, each through two rounds of the finaliser known as variant 13 of David
Stafford's mixers (the output function of SplitMix64): x ^= x >> 30, x *= a, x ^= x >> 27, x *= b, x ^= x >> 31. It
is a statistical hash, not a cryptographic one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLY_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLY_2 = np.uint64(0x94D049BB133111EB)
_GOLDEN_INT, _MULTIPLY_1_INT, _MULTIPLY_2_INT = int(_GOLDEN), int(_MULTIPLY_1), int(_MULTIPLY_2)
_MASK = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Draws:
    """All randomness of one run. Passed to whatever needs to draw."""

    seed: int

    def bits(self, purpose: str, entity: ArrayLike, index: ArrayLike = 0) -> NDArray[np.uint64]:
        """64 random bits for each (entity, index); the two broadcast against each other."""
        state = _absorb(_purpose_key(self.seed, purpose), np.asarray(entity))
        return _absorb(state, np.asarray(index))

    def uniform(self, purpose: str, entity: ArrayLike, index: ArrayLike = 0) -> NDArray[np.float64]:
        """Uniform on [0, 1), with 53 random bits."""
        return _unit_interval(self.bits(purpose, entity, index))

    def of_entities(self, purposes: Sequence[str], entities: int) -> "EntityDraws":
        """Prepares draws for these purposes and the first `entities` entities."""
        keys = np.array([[_purpose_key(self.seed, purpose)] for purpose in purposes])
        return EntityDraws(_absorb(keys, np.arange(entities)))

    def normal(self, purpose: str, entity: ArrayLike, index: ArrayLike = 0) -> NDArray[np.float64]:
        """Standard normal, by the Box-Muller transform of two uniform draws."""
        radius = np.sqrt(-2.0 * np.log1p(-self.uniform(f"{purpose}/radius", entity, index)))
        angle = 2.0 * np.pi * self.uniform(f"{purpose}/angle", entity, index)
        return np.asarray(radius * np.cos(angle), dtype=np.float64)

    def one_uniform(self, purpose: str, entity: int, index: int = 0) -> float:
        """A single uniform draw, the same as `uniform` gives, at a tenth of the cost of an array of one."""
        state = _absorb_one(int(_purpose_key(self.seed, purpose)), entity)
        return (_absorb_one(state, index) >> 11) * 2.0**-53

    def order(self, purpose: str, entities: NDArray[np.int64], index: int = 0) -> NDArray[np.int64]:
        """The entities in random order."""
        return entities[np.argsort(self.bits(purpose, entities, index), kind="stable")]

    def subset(self, purpose: str, entities: NDArray[np.int64], size: int, index: int = 0) -> NDArray[np.int64]:
        """`size` of the entities, uniformly without replacement, in ascending order."""
        return np.sort(self.order(purpose, entities, index)[:size])


@dataclass(frozen=True, slots=True)
class EntityDraws:
    """Draws that have absorbed purpose and entity, and only lack an index."""

    states: NDArray[np.uint64]

    def uniform(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the uniforms that `Draws.uniform` gives, by purpose, index and entity."""
        return _unit_interval(_absorb(self.states[:, np.newaxis], indices[:, np.newaxis]))


@lru_cache(maxsize=4096)
def _purpose_key(seed: int, purpose: str) -> np.uint64:
    digest = blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def _unit_interval(bits: NDArray[np.uint64]) -> NDArray[np.float64]:
    unit = (bits >> np.uint64(11)).astype(np.float64)
    unit *= 2.0**-53
    return unit


def _absorb(state: np.uint64 | NDArray[np.uint64], word: NDArray[np.generic]) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        keyed: NDArray[np.uint64] = np.asarray(state ^ ((word.astype(np.uint64) + np.uint64(1)) * _GOLDEN))
        _mix(keyed)
        keyed += _GOLDEN
        _mix(keyed)
    return keyed


def _mix(x: NDArray[np.uint64]) -> None:
    """Mix in place: new arrays for every step would take three times as long as the steps."""
    shifted = np.empty_like(x)
    np.right_shift(x, np.uint64(30), out=shifted)
    x ^= shifted
    x *= _MULTIPLY_1
    np.right_shift(x, np.uint64(27), out=shifted)
    x ^= shifted
    x *= _MULTIPLY_2
    np.right_shift(x, np.uint64(31), out=shifted)
    x ^= shifted


def _absorb_one(state: int, word: int) -> int:
    return _mix_one((_mix_one(state ^ (((word + 1) * _GOLDEN_INT) & _MASK)) + _GOLDEN_INT) & _MASK)


def _mix_one(x: int) -> int:
    x = ((x ^ (x >> 30)) * _MULTIPLY_1_INT) & _MASK
    x = ((x ^ (x >> 27)) * _MULTIPLY_2_INT) & _MASK
    return x ^ (x >> 31)
