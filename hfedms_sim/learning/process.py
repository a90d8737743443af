"""What training needs of the process it runs in, for as long as it runs: torch's threads and device, kept memory.

Results are the same bit for bit only for the same number of threads. New tensors live on the default device.

A step of SGD on the paper's network allocates and frees 27 MB of gradients. glibc hands blocks of that size back to the
system every time, and the page faults of getting them again cost a quarter of the step; so what is freed is kept
meanwhile. Elsewhere (musl, macOS, Windows) nothing is done.
"""

import ctypes
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
_LARGEST_BLOCK_BYTES, _LARGEST_IDLE_BYTES = 2**30, 2**31 - 1
_FIRST_THRESHOLD_BYTES = 128 * 1024  # of both; glibc does not tell what they are now


@contextmanager
def computing_with(threads: int, device: str) -> Iterator[None]:
    """Compute with this many threads on this device, and put everything back as it was."""
    threads_before = torch.get_num_threads()
    torch.set_num_threads(threads)
    keep_freed_memory()
    try:
        with _new_tensors_on(torch.device(device)):
            yield
    finally:
        _set_thresholds(_FIRST_THRESHOLD_BYTES, _FIRST_THRESHOLD_BYTES)
        torch.set_num_threads(threads_before)


def _new_tensors_on(device: torch.device) -> AbstractContextManager[object]:
    """Return what makes a device the default one; nothing where it is: every call of torch would go a longer way."""
    return nullcontext() if torch.get_default_device() == device else device


def has_accelerator() -> bool:
    """Return whether torch can compute on something else than the CPU here."""
    return torch.cuda.is_available()


def on_device(tensor: Tensor) -> Tensor:
    """Return the tensor as it is on the CPU, else a copy: what comes from NumPy always begins there."""
    return tensor.to(torch.get_default_device())


def keep_freed_memory() -> None:
    """Let the allocator keep what is freed, from now on."""
    _set_thresholds(_LARGEST_BLOCK_BYTES, _LARGEST_IDLE_BYTES)


def _set_thresholds(largest_block_bytes: int, largest_idle_bytes: int) -> None:
    """Make the allocator keep freed blocks up to this size, and this many bytes of them."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_MMAP_THRESHOLD, largest_block_bytes)
    mallopt(_TRIM_THRESHOLD, largest_idle_bytes)
