"""What a strategy costs beyond plain SGD and the model, in the specification's own numbers."""

from typing import Any

import pytest

from hfedms_sim.models import spec_of
from hfedms_sim.scenario import ModelSpec
from hfedms_sim.strategies import SHIPPED, Costs

CNN, SMALL = spec_of("cnn"), spec_of("small-cnn")
MODEL_BYTES = 4 * 6_687_834
CONVOLUTIONS_BYTES = 4 * (832 + 51_264)
PLAIN = sorted(set(SHIPPED) - {"fedprox", "fedmmd", "fedfusion"})


def costs(name: str, model: ModelSpec = CNN, **changes: Any) -> Costs:
    return SHIPPED[name].costs(SHIPPED[name].Settings(name=name, **changes), model)


@pytest.mark.parametrize(("operator", "weights"), [("conv", 8_256), ("multi", 64), ("single", 1)])
def test_the_fusion_of_the_cnn_has_these_weights_and_sends_them_each_way(operator: str, weights: int) -> None:
    fusion = costs("fedfusion", operator=operator)
    assert fusion.parameters == 6_687_834 + weights
    assert fusion.model_bytes == MODEL_BYTES + 4 * weights
    assert fusion.extra_uplink_bytes == 0


@pytest.mark.parametrize(("operator", "weights"), [("conv", 2 * 16 * 16 + 16), ("multi", 16), ("single", 1)])
def test_the_small_cnns_fusion_follows_its_sixteen_channels(operator: str, weights: int) -> None:
    assert costs("fedfusion", SMALL, operator=operator).parameters == SMALL.parameters + weights


@pytest.mark.parametrize("name", sorted(set(SHIPPED) - {"fedfusion"}))
def test_nobody_else_sends_more_than_the_model(name: str) -> None:
    assert costs(name, compression={}).model_bytes == MODEL_BYTES
    assert costs(name).extra_uplink_bytes == 0


@pytest.mark.parametrize(("variant", "extra"), [("plain", 0), ("fedavg", 0), ("intrac", 4)])
def test_only_inverse_accuracies_are_sent_up_a_number_each(variant: str, extra: int) -> None:
    assert costs("ida", variant=variant).extra_uplink_bytes == extra
    assert costs("ida", variant=variant).model_bytes == MODEL_BYTES


def factor(name: str, **changes: str) -> float:
    return costs(name, **changes).training_multiply_adds / (3 * 17_295_928)


def test_compute_is_a_third_more_for_fedmmd_and_a_quarter_for_fedfusion() -> None:
    assert round(factor("fedmmd"), 2) == 1.33
    assert round(factor("fedfusion"), 2) == 1.23
    assert round(factor("fedfusion", operator="multi"), 2) == 1.21  # the convolutions' forward pass, hardly more
    assert factor("fedfusion", operator="single") == factor("fedfusion", operator="multi")


@pytest.mark.parametrize(("batch_size", "extra"), [(1, 6_687_834), (5, 1_337_567), (50, 133_757)])
def test_fedprox_pulls_every_parameter_once_a_step_however_many_samples_share_it(batch_size: int, extra: int) -> None:
    assert costs("fedprox", batch_size=batch_size).training_multiply_adds == 3 * 17_295_928 + extra


@pytest.mark.parametrize("name", PLAIN)
def test_all_others_compute_three_passes(name: str) -> None:
    assert factor(name) == 1.0


def test_fedfusions_work_counted_layer_by_layer() -> None:
    """Three passes of model and fusion (49 pixels x 128 x 64), one forward pass of the frozen convolutions."""
    convolutions = 28 * 28 * 25 * 32 + 14 * 14 * 25 * 32 * 64
    fusion = 7 * 7 * 128 * 64
    assert costs("fedfusion").training_multiply_adds == 3 * (17_295_928 + fusion) + convolutions


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_memory_is_that_of_the_frozen_copy(name: str) -> None:
    """26.75 MB for a whole model, 0.2 MB for its convolutions; HFedMS-D keeps an extractor and its memory."""
    expected = {
        "fedprox": MODEL_BYTES,
        "fedmmd": MODEL_BYTES,
        "fedfusion": CONVOLUTIONS_BYTES,
        "hfedms-d": 4 * 6_681_572 + 200 * (4 * 100 + 1),
    }.get(name, 0)
    assert costs(name).memory_bytes == expected


@pytest.mark.parametrize("changes", [{"interval": 1}, {"scc": "off"}])
def test_hfedms_d_without_a_semantic_memory_keeps_nothing(changes: dict[str, Any]) -> None:
    assert costs("hfedms-d", **changes).memory_bytes == 0


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_adam_takes_seven_multiply_adds_and_two_numbers_more_for_each_parameter(name: str) -> None:
    """In each step, which five samples share."""
    plain, adam = (costs(name, local_optimiser=each) for each in ("sgd", "adam"))
    parameters = 6_687_834 + (8_256 if name == "fedfusion" else 0)
    assert adam.training_multiply_adds - plain.training_multiply_adds == -(-7 * parameters // 5)
    assert adam.memory_bytes - plain.memory_bytes == 2 * 4 * parameters
    assert adam.model_bytes == plain.model_bytes
