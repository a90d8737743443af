"""What training changes of the process is as it was when it has ended: runs are called from programs of others."""

import torch

from hfedms_sim import run
from hfedms_sim.learning import computing_with
from tests.conftest import tiny_scenario


def test_threads_and_device_hold_inside_and_are_put_back() -> None:
    before = torch.get_num_threads()
    with computing_with(threads=before + 1, device="meta"):
        assert torch.get_num_threads() == before + 1
        assert torch.zeros(1).device.type == "meta"
    assert torch.get_num_threads() == before
    assert torch.zeros(1).device.type == "cpu"


def test_they_are_put_back_after_a_failure_too() -> None:
    before = torch.get_num_threads()
    try:
        with computing_with(threads=before + 1, device="meta"):
            raise RuntimeError
    except RuntimeError:
        pass
    assert (torch.get_num_threads(), torch.zeros(1).device.type) == (before, "cpu")


def test_between_rounds_and_after_a_run_torch_is_as_whoever_called_it_has_it() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(before + 2)
    seen = []
    try:
        run(tiny_scenario(rounds=2), threads=1, on_round=lambda _: seen.append(torch.get_num_threads()))
        assert seen == [before + 2] * 2
        assert torch.get_num_threads() == before + 2
    finally:
        torch.set_num_threads(before)


def test_the_device_holds_whatever_the_callers_default_is() -> None:
    with torch.device("meta"), computing_with(threads=1, device="cpu"):
        assert torch.zeros(1).device.type == "cpu"
