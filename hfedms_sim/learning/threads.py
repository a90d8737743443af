"""How many threads torch computes with: results are the same bit for bit only for the same number."""

import torch


def use_threads(threads: int) -> None:
    torch.set_num_threads(threads)
