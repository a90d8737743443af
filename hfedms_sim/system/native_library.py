"""Which compiled kernels are here, and which of them to use. Known without torch: a timing-only run's lineage asks too.

kernels.c is built once for each instruction set, when a compiler was there at installation. The environment variable
HFEDMS_SIM_KERNELS forces a variant (baseline, avx2, avx512) or turns them off; variants agree to rounding.
"""

import ctypes
import os
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from hfedms_sim.errors import InputError

VARIANTS = ("baseline", "avx2", "avx512")
"""The instruction sets, from the least to the best."""
OFF = "off"
SETTING = "HFEDMS_SIM_KERNELS"
DIRECTORY = Path(__file__).parent.parent / "learning" / "engine"
_INTERFACE = 3  # as in kernels.c


def available() -> bool:
    return variant() != OFF


def variant() -> str:
    """The one in use: the best this processor runs, or the one that is forced; "off" if there is none."""
    asked = os.environ.get(SETTING, "")
    choices = runnable(DIRECTORY)
    if asked and asked not in (OFF, *choices):
        raise InputError(f"{SETTING}={asked!r} cannot be used here. Allowed: {', '.join((OFF, *choices))}.")
    return asked or (choices[-1] if choices else OFF)


@cache
def runnable(directory: Path) -> tuple[str, ...]:
    """The variants that were built and that this processor runs."""
    baseline = library(directory, VARIANTS[0])
    if baseline is None:
        return ()
    baseline.kernels_best_variant.restype = ctypes.c_char_p
    best = VARIANTS.index(baseline.kernels_best_variant().decode())
    return tuple(name for name in VARIANTS[: best + 1] if library(directory, name) is not None)


@cache
def library(directory: Path, name: str) -> ctypes.CDLL | None:
    # What was built for any Python first: clones may still hold what earlier versions built for one.
    for path in (directory / f"_kernels_{name}{suffix}" for suffix in reversed(EXTENSION_SUFFIXES)):
        if path.exists():
            try:
                found = ctypes.CDLL(str(path))
            except OSError:  # built for another system
                return None
            return found if found.kernels_interface() == _INTERFACE else None
    return None
