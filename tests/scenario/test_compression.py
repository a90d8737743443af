"""Sizes of messages by hand, what a lineage holds of compression, and what is refused."""

import pytest
from pydantic import ValidationError

from hfedms_sim.feasibility import radio_costs
from hfedms_sim.models import spec_of
from hfedms_sim.scenario import Compression, Contents, LocalTraining, Matrices
from hfedms_sim.scenario.compression import UplinkCodec
from hfedms_sim.strategies import SHIPPED
from hfedms_sim.strategies.fedavg import FedAvgSettings
from tests.conftest import tiny_scenario

CNN = spec_of("cnn")
MESSAGE = Contents(4 * 1000, 900, Matrices(800, 20))  # 100 numbers that no gradient changes


@pytest.mark.parametrize(
    ("codec", "size_bytes"),
    [
        ("none", 4000),
        ("float16", 900 * 2 + 100 * 4),
        ("int8", 800 * 1 + 20 * 4 + 100 * 4 + 100 * 4),
        ("topk", 9 * 8 + 100 * 4),
    ],
)
def test_sizes_by_hand(codec: UplinkCodec, size_bytes: int) -> None:
    assert Compression(uplink=codec).leg_bytes(MESSAGE) == (4000, 4000, size_bytes)
    if codec != "topk":
        assert Compression(downlink=codec, relay=codec).leg_bytes(MESSAGE) == (size_bytes, size_bytes, 4000)


@pytest.mark.parametrize(
    ("share", "trained", "count"), [(0.01, 900, 9), (0.07, 100, 7), (1e-6, 900, 1), (0.011, 900, 10), (1.0, 900, 900)]
)
def test_topk_sends_the_share_rounded_up_and_at_least_one(share: float, trained: int, count: int) -> None:
    assert Compression(share=share).sent_numbers(trained) == count


@pytest.mark.parametrize(("share", "size_bytes"), [(0.49, 441 * 8 + 400), (0.5, 4000), (0.6, 4000), (1.0, 4000)])
def test_topk_sends_everything_where_that_is_no_longer(share: float, size_bytes: int) -> None:
    assert Compression(uplink="topk", share=share).leg_bytes(MESSAGE).uplink == size_bytes


def test_sizes_of_the_papers_network() -> None:
    """6,687,834 numbers; 2,306 channels of as many biases."""
    sizes = Compression(uplink="topk", downlink="int8", relay="float16").leg_bytes(CNN.contents)
    assert sizes == (6_685_528 + 4 * 2_306 + 4 * 2_306, 2 * 6_687_834, 8 * 66_879)
    assert Compression(downlink="int8").leg_bytes(CNN.classifier_contents).downlink == 6_200 + 4 * 62 + 4 * 62


@pytest.mark.parametrize("name", SHIPPED)
def test_a_lineage_holds_compression_where_there_is_any(name: str) -> None:
    settings = SHIPPED[name].Settings
    plain = settings(name=name, compression=Compression()).learning_settings()
    assert "compression" not in plain
    assert settings(name=name, compression=Compression(share=0.5)).learning_settings() == plain, "nothing is sent so"
    compressed = settings(name=name, compression=Compression(downlink="int8")).learning_settings()
    assert compressed == plain | {"compression": Compression(downlink="int8").model_dump()}


RELAYING = ("static-groups", "static-icg", "hfedms-s", "hfedms-d", "hfedms-async", "hfedms-plus")


@pytest.mark.parametrize("name", SHIPPED)
def test_what_does_not_fit_a_strategy_is_refused_with_what_does(name: str) -> None:
    settings, relays = SHIPPED[name].Settings, name in RELAYING
    assert settings.relays is relays
    codec, said = (
        (Compression(uplink="topk"), "compression.uplink = topk: .*; allowed: none, float16, int8")
        if relays
        else (Compression(relay="int8"), "compression.relay = int8: .*; allowed: none")
    )
    with pytest.raises(ValidationError, match=said):
        settings(name=name, compression=codec)


def test_settings_that_say_nothing_of_relays_compress_nothing() -> None:
    class Mine(LocalTraining):
        name: str = "mine"

    assert Mine().compression.is_off
    with pytest.raises(ValidationError, match=r"compression: mine does not say .*; allowed: none"):
        Mine(compression=Compression(uplink="float16"))


def test_distillation_is_refused_where_models_are_relayed_in_fewer_bytes() -> None:
    settings = SHIPPED["hfedms-d"].Settings
    settings(name="hfedms-d", compression=Compression(downlink="int8"), distillation=0.1)  # type: ignore[call-arg]
    with pytest.raises(ValidationError, match=r"compression.relay = int8: distillation: 0.1 .*; allowed: none"):
        settings(name="hfedms-d", compression=Compression(relay="int8"), distillation=0.1)  # type: ignore[call-arg]


def test_memory_of_a_sensor_that_sends_its_change() -> None:
    """It keeps the model as it came, which FedProx has anyway, and what topk has not sent."""
    own = CNN.model_bytes
    expected = {
        ("fedavg", "none"): 0,
        ("fedavg", "int8"): own,
        ("fedavg", "topk"): 2 * own,
        ("fedprox", "topk"): 2 * own,
    }
    for (name, codec), memory_bytes in expected.items():
        settings = SHIPPED[name].Settings(name=name, compression=Compression(uplink=codec))  # type: ignore[arg-type]
        assert SHIPPED[name].costs(settings, CNN).memory_bytes == memory_bytes


def test_the_feasibility_line_is_of_what_is_sent() -> None:
    """A kilobyte a second."""
    compression = Compression(uplink="topk", downlink="int8")
    scenario = tiny_scenario().model_copy(update={"strategy": FedAvgSettings(compression=compression)})
    (cost,) = radio_costs(scenario, CNN)
    whole, classifier = (compression.leg_bytes(each) for each in (CNN.contents, CNN.classifier_contents))
    expected = [size / 1000 for size in (whole.uplink, whole.downlink, classifier.uplink, classifier.downlink)]
    assert list(cost[1:]) == pytest.approx(expected)
