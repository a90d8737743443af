"""Codecs keep to their bounds, by hand and at random; what is not sent comes later; the same key rounds the same."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray
from torch import Tensor

from hfedms_sim.learning.compression import by_content, by_seed, half, largest, quantised, stepped
from hfedms_sim.learning.error_feedback import ErrorFeedback
from hfedms_sim.seeds import Draws

DRAWS = Draws(3)
Numbers = NDArray[np.float32]
normal = st.floats(2**-14, 65_504, width=32) | st.floats(-65_504, -(2**-14), width=32)
plain = st.just(0.0) | st.floats(2**-60, 2**60, width=32) | st.floats(-(2**60), -(2**-60), width=32)
shapes = array_shapes(min_dims=2, max_dims=4, max_side=6)


def int8_of(value: Tensor, seed: int = 0) -> Tensor:
    return quantised("int8", {"w": value}, by_seed(DRAWS, "uplink", seed))["w"]


@given(arrays(np.float32, st.integers(1, 30), elements=normal))
def test_a_float16_is_nearer_than_one_part_in_2048(values: Numbers) -> None:
    value = torch.from_numpy(values)
    assert ((half(value) - value).abs() <= 2.0**-11 * value.abs()).all()


def test_float16_by_hand() -> None:
    value = torch.tensor([1 + 2**-11, 1 + 3 * 2**-11, 70_000.0, -1e30, 0.0, torch.inf])
    assert half(value).tolist() == [1.0, 1 + 2**-9, 65_504.0, -65_504.0, 0.0, torch.inf]
    assert half(torch.tensor([torch.nan])).isnan().all()


@given(arrays(np.float32, shapes, elements=plain), st.integers(0, 2**64 - 1))
def test_an_int8_is_within_a_step_of_its_channel(values: Numbers, seed: int) -> None:
    value = torch.from_numpy(values)
    step = value.abs().flatten(1).amax(dim=1) / 127
    apart = (int8_of(value, seed) - value).abs().flatten(1).amax(dim=1)
    assert (apart <= step * (1 + 1e-4)).all()


@given(arrays(np.float32, shapes, elements=plain), st.integers(0, 2**64 - 1))
def test_an_int8_is_a_whole_number_of_steps_from_minus_127_to_127(values: Numbers, seed: int) -> None:
    value = torch.from_numpy(values).flatten(1)
    step = (value.abs().amax(dim=1, keepdim=True) / 127).double()
    steps = int8_of(value, seed).double() / torch.where(step > 0, step, torch.ones_like(step))
    assert (steps.abs() <= 127.001).all()
    assert ((steps - steps.round()).abs() < 1e-3).all()


def test_int8_by_hand_rounds_up_where_the_draw_is_below_the_fraction() -> None:
    value = torch.tensor([[127.0, 2.25, -2.25], [0.0, 0.0, 0.0], [-254.0, 1.0, 3.0]])
    uniform = torch.tensor([[0.9, 0.2, 0.2], [0.5, 0.5, 0.5], [0.0, 0.6, 0.4]])
    assert stepped(value, uniform).tolist() == [[127.0, 3.0, -2.0], [0.0, 0.0, 0.0], [-254.0, 0.0, 4.0]]


def test_int8_leaves_biases_as_they_are_and_shows_what_is_not_finite() -> None:
    bias = torch.tensor([0.123456, -7.0])
    assert int8_of(bias) is bias
    assert not int8_of(torch.tensor([[1.0, torch.inf], [1.0, torch.nan]])).isfinite().all(dim=1).any()


def test_int8_errs_to_neither_side() -> None:
    """Over 4,000 keys the mean is within five standard errors; a step's variance is at most a quarter."""
    value = torch.from_numpy(np.random.default_rng(1).normal(size=(4, 5)).astype(np.float32))
    step, keys = value.abs().amax(dim=1, keepdim=True) / 127, 4_000
    mean = torch.stack([int8_of(value, seed) for seed in range(keys)]).double().mean(dim=0)
    assert ((mean - value).abs() <= 5 * 0.5 * step / keys**0.5 + 1e-7).all()


def test_a_tensor_sent_by_the_server_arrives_the_same_whenever_and_another_does_not() -> None:
    value = torch.from_numpy(np.random.default_rng(2).normal(size=(40, 50)).astype(np.float32))
    first, again = (quantised("int8", {"w": value.clone()}, by_content(DRAWS))["w"] for _ in range(2))
    assert torch.equal(first, again)
    nearly = value.clone()
    nearly[0, 0] += 1e-4
    other = quantised("int8", {"w": nearly}, by_content(DRAWS))["w"]
    assert (first != other).float().mean() > 0.2, "other draws, not only another number"


def test_draws_differ_by_seed_leg_name_and_run() -> None:
    value = torch.zeros(9, 7)
    rounding = [
        by_seed(DRAWS, "uplink", 1)("w", value),
        by_seed(DRAWS, "uplink", 2)("w", value),
        by_seed(DRAWS, "relay", 1)("w", value),
        by_seed(DRAWS, "uplink", 1)("v", value),
        by_seed(Draws(4), "uplink", 1)("w", value),
    ]
    assert len({tuple(each.flatten().tolist()) for each in rounding}) == len(rounding)
    assert all(((each >= 0) & (each < 1)).all() for each in rounding)


def test_the_largest_by_hand_with_equal_ones_by_name_and_place() -> None:
    values = {"b": torch.tensor([3.0, -5.0]), "a": torch.tensor([[3.0, -3.0], [0.0, 1.0]])}
    kept = {count: {name: each.flatten().tolist() for name, each in largest(values, count).items()} for count in (1, 3)}
    assert kept[1] == {"a": [0, 0, 0, 0], "b": [0, -5]}
    assert kept[3] == {"a": [3, -3, 0, 0], "b": [0, -5]}, "of three threes the first two"


@given(arrays(np.float32, st.integers(1, 40), elements=st.integers(-4, 4).map(float)), st.data())
def test_the_largest_are_as_many_as_asked_for_and_none_left_is_larger(values: Numbers, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(values)))
    kept = largest({"w": torch.from_numpy(values)}, count)["w"].numpy()
    order = np.argsort(-np.abs(values), kind="stable")
    assert np.array_equal(kept[order[:count]], values[order[:count]])
    assert not kept[order[count:]].any()


def test_a_change_that_is_not_finite_is_sent_whole() -> None:
    values = {"w": torch.tensor([1.0, torch.nan, 2.0])}
    assert largest(values, 1) is values


def test_what_is_not_sent_comes_later_by_hand_over_three_rounds() -> None:
    """One number of three a round: 5 first, then 2 + 2 of the second, then all the 1 + 1 + 1 of the third."""
    feedback, change, sent = ErrorFeedback(), {"w": torch.tensor([5.0, 2.0, 1.0])}, []
    for _ in range(3):
        sent.append(feedback.sent(8, 0, change, 1)["w"].tolist())
        feedback.end_round()
        change = {"w": torch.tensor([0.5, 2.0, 1.0])}
    assert sent == [[5, 0, 0], [0, 4, 0], [0, 0, 3]]
    assert feedback.state()["residual/8/w"].tolist() == [1.0, 2.0, 0.0]


def test_a_round_may_ask_twice_what_a_sensor_sends_and_sensors_keep_their_own() -> None:
    feedback, change = ErrorFeedback(), {"w": torch.tensor([3.0, 2.0])}
    first, again = (feedback.sent(1, 5, change, 1)["w"].tolist() for _ in range(2))
    feedback.end_round()
    assert first == again == [3, 0]
    assert feedback.sent(1, 5, change, 1)["w"].tolist() == [0, 4]
    assert feedback.sent(2, 5, change, 1)["w"].tolist() == [3, 0]


def test_a_sensor_may_have_two_turns_in_a_round() -> None:
    feedback, change = ErrorFeedback(), {"w": torch.tensor([3.0, 2.0])}
    assert feedback.sent(1, 5, change, 1)["w"].tolist() == [3, 0]
    assert feedback.sent(1, 6, change, 1)["w"].tolist() == [0, 4]
    assert feedback.state()["residual/1/w"].tolist() == [3.0, 0.0]


def test_residuals_go_into_a_state_and_come_back() -> None:
    feedback, other = ErrorFeedback(), ErrorFeedback()
    feedback.sent(1, 5, {"a.w": torch.tensor([3.0, 2.0]), "b": torch.tensor([1.0])}, 1)
    feedback.sent(12, 5, {"a.w": torch.tensor([1.0, 1.0]), "b": torch.tensor([1.0])}, 2)
    state = {name: value.copy() for name, value in feedback.state().items()}
    other.sent(7, 5, {"b": torch.tensor([9.0])}, 1)
    other.restore(state)
    assert {name: value.tolist() for name, value in other.state().items()} == {
        "residual/1/a.w": [0.0, 2.0],
        "residual/1/b": [1.0],
        "residual/12/a.w": [0.0, 0.0],
        "residual/12/b": [1.0],
    }


@pytest.mark.parametrize("codec", ["float16", "int8"])
def test_what_comes_in_double_precision_stays_in_it(codec: str) -> None:
    value = {"w": torch.ones(2, 2, dtype=torch.float64)}
    assert quantised(codec, value, by_content(DRAWS))["w"].dtype == torch.float64  # type: ignore[arg-type]
