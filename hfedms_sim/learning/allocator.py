"""Freed memory is kept for the next step.

A step of SGD on the paper's network allocates and frees 27 MB of gradients. glibc hands blocks of that size back to
the system every time, and the page faults of getting them again cost a quarter of the step. Elsewhere (musl, macOS,
Windows) nothing is done.
"""

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
_LARGEST_BLOCK_BYTES, _LARGEST_IDLE_BYTES = 2**30, 2**31 - 1


def keep_freed_memory() -> None:
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_MMAP_THRESHOLD, _LARGEST_BLOCK_BYTES)
    mallopt(_TRIM_THRESHOLD, _LARGEST_IDLE_BYTES)
