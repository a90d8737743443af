"""The embedded data set: pure, lazy, varied, readable by a simple classifier."""

from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.data.base import CHARACTERS
from hfedms_sim.data.glyphs import glyphs as glyphs_module
from hfedms_sim.data.glyphs.forms import HANDS, POINTS, letter_forms
from hfedms_sim.data.glyphs.glyphs import Glyphs
from hfedms_sim.data.glyphs.labels import GlyphLabels
from hfedms_sim.data.glyphs.writers import write_characters
from hfedms_sim.scenario.models import CHARACTER_IMAGES
from hfedms_sim.seeds import Draws


def glyphs(**changes: Any) -> Glyphs:
    return Glyphs(**{"seed": 1, "devices": 20, "types": 4} | changes)


def test_labels_are_digits_then_capitals_then_small_letters() -> None:
    assert len(CHARACTERS) == CHARACTER_IMAGES.classes
    assert (CHARACTERS[0], CHARACTERS[10], CHARACTERS[36], CHARACTERS[61]) == ("0", "A", "a", "z")


def test_a_device_has_100_to_300_samples_and_a_fifth_are_for_testing() -> None:
    data = glyphs(devices=3000)
    devices = np.arange(3000)
    test = data.test_sizes(devices)
    sizes = data.train_sizes(devices) + test
    assert (sizes.min(), sizes.max()) == (100, 300)
    assert np.abs(test - 0.2 * sizes).max() <= 0.5
    assert len(data.train_labels(3)) == len(data.train_inputs(3)) == data.train_sizes(devices)[3]
    assert len(data.test_labels(3)) == len(data.test_inputs(3)) == test[3]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**63 - 1), types=st.integers(1, 10**9), device=st.integers(0, 10_000_000))
def test_labels_of_many_devices_are_those_of_each_alone(seed: int, types: int, device: int) -> None:
    data = glyphs(seed=seed, types=types)
    devices = np.array([device, 0, device + 1])
    labels, offsets = data.train_labels_of(devices)
    for place, one in enumerate(devices.tolist()):
        assert labels[offsets[place] : offsets[place + 1]].tolist() == data.train_labels(one).tolist()
    assert np.diff(offsets).tolist() == data.train_sizes(devices).tolist()
    assert labels.max() < CHARACTER_IMAGES.classes


def test_labels_of_many_devices_do_not_depend_on_the_chunks() -> None:
    labels, offsets = glyphs().train_labels_of(np.arange(600))
    later, later_offsets = glyphs().train_labels_of(np.arange(250, 600))
    assert labels[offsets[250] :].tolist() == later.tolist()
    assert (later_offsets[-1], offsets[0]) == (offsets[-1] - offsets[250], 0)
    assert len(glyphs().train_labels_of(np.arange(0)).labels) == 0


def test_more_devices_move_nobody_elses_samples() -> None:
    few, many = glyphs(devices=3), glyphs(devices=3000)
    assert np.array_equal(few.train_labels(2), many.train_labels(2))
    assert np.array_equal(few.train_inputs(2), many.train_inputs(2))


def test_another_seed_gives_other_labels_and_other_images() -> None:
    assert not np.array_equal(glyphs(seed=1).train_labels(0)[:80], glyphs(seed=2).train_labels(0)[:80])
    labels = np.arange(CHARACTER_IMAGES.classes)
    assert not np.array_equal(write_characters(Draws(1), 0, labels), write_characters(Draws(2), 0, labels))


def test_labels_and_sizes_draw_no_image(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("an image was drawn")

    monkeypatch.setattr(glyphs_module, "write_characters", refuse)
    data = glyphs()
    data.train_labels(0), data.test_labels(0), data.train_sizes(np.arange(9)), data.train_labels_of(np.arange(9))
    with pytest.raises(AssertionError, match="drawn"):
        data.train_inputs(0)


def test_inputs_are_multiples_of_a_255th_in_the_polarity_asked_for() -> None:
    bright, dark = glyphs().test_inputs(1), glyphs(ink="dark").test_inputs(1)
    assert (bright.dtype, bright.shape[1:]) == (np.float32, (1, 28, 28))
    assert bright[:, :, 0].max() < 0.5  # the border is background
    assert np.array_equal(np.rint(bright * 255) / np.float32(255), bright)
    assert np.abs(bright + dark - 1).max() < 1e-6
    assert (bright.min(), bright.max()) == (0, 1)


def test_content_tells_apart_whatever_differs() -> None:
    variants = [glyphs(), glyphs(seed=2), glyphs(types=5), glyphs(devices=21), glyphs(ink="dark")]
    assert len({str(variant.content) for variant in variants}) == len(variants)


def test_devices_of_a_type_share_a_preference_and_differ_from_other_types() -> None:
    law = GlyphLabels(Draws(3), types=4)
    devices = np.arange(400)
    probabilities, types = law.probabilities(devices), law.types_of(devices)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.bincount(types).min() > 60
    means = np.array([probabilities[types == kind].mean(axis=0) for kind in range(4)])
    within = np.linalg.norm(probabilities - means[types], axis=1).mean()
    between = np.linalg.norm(means[:, None] - means[None], axis=2)[~np.eye(4, dtype=bool)].min()
    assert between > within


def test_a_devices_own_skew_is_a_dirichlet_draw_of_concentration_one_half() -> None:
    skews = GlyphLabels(Draws(5), types=1).skews(np.arange(20_000))
    mean, variance = 1 / 62, (1 / 62) * (61 / 62) / (62 / 2 + 1)
    assert np.abs(skews.mean(axis=0) - mean).max() < 5 * np.sqrt(variance / 20_000)
    assert np.abs(skews.var(axis=0) / variance - 1).max() < 0.15


def test_labels_follow_the_probabilities() -> None:
    law = GlyphLabels(Draws(1), types=3)
    devices = np.arange(2000)
    labels, offsets = law.train_labels_of(devices)
    expected = (law.probabilities(devices) * np.diff(offsets)[:, None]).sum(axis=0)
    assert np.abs(np.bincount(labels, minlength=62) / expected - 1).max() < 0.1


def test_every_hand_writes_every_class_in_a_form_of_its_own() -> None:
    points, lengths = letter_forms()
    assert points.shape == (len(HANDS), CHARACTER_IMAGES.classes, POINTS, 2)
    assert lengths.min() > 0.5
    for forms in points:
        assert len({form.tobytes() for form in forms}) == CHARACTER_IMAGES.classes
    assert points[..., 1].min() > -1.35
    assert points[..., 1].max() < 1


def test_ink_stays_inside_the_image() -> None:
    for device in range(6):
        images = write_characters(Draws(9), device, np.arange(CHARACTER_IMAGES.classes)).astype(float)
        border = np.concatenate(
            [
                images[:, [0, -1]].reshape(CHARACTER_IMAGES.classes, -1),
                images[:, :, [0, -1]].reshape(CHARACTER_IMAGES.classes, -1),
            ]
        )
        assert border.mean() < 6  # of 255: soft edges only
        assert images.max(axis=(1, 2)).min() > 200


def test_a_simple_classifier_reads_them_but_not_all() -> None:
    """Nearest mean image; chance is 1/62."""
    labels = np.tile(np.arange(CHARACTER_IMAGES.classes), 2)
    images = np.array([write_characters(Draws(1), device, labels) for device in range(60)], dtype=float)
    images = images.reshape(60, len(labels), 784)
    means = images[:, : CHARACTER_IMAGES.classes].mean(axis=0)
    unseen = images[:, CHARACTER_IMAGES.classes :]
    distance = (means**2).sum(axis=1) - 2 * unseen @ means.T
    accuracy = (distance.argmin(axis=2) == np.arange(CHARACTER_IMAGES.classes)).mean()
    assert 0.3 < accuracy < 0.9


SKEWS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


def laws(skew: float, types: int = 4) -> Any:
    return GlyphLabels(Draws(1), types, skew).probabilities(np.arange(120))


def mean_distance(probabilities: Any) -> float:
    """Total variation, over all pairs of devices."""
    return float(np.abs(probabilities[:, None] - probabilities[None]).sum(axis=-1).mean() / 2)


def test_labels_without_a_skew_are_those_of_before_there_was_one() -> None:
    labels = glyphs().train_labels_of(np.arange(500)).labels
    digest = "f2bb6d5cfe7753b333d73d0737a6c7d1b8fc71a789fcbde515a58865ce8af72b"
    assert sha256(labels.tobytes()).hexdigest() == digest
    assert np.array_equal(labels, glyphs(skew=1.0).train_labels_of(np.arange(500)).labels)


@pytest.mark.parametrize("types", [1, 4, 1000])
def test_devices_lie_the_farther_apart_the_larger_the_skew(types: int) -> None:
    distances = [mean_distance(laws(skew, types)) for skew in SKEWS]
    assert distances == sorted(distances)
    assert len(set(distances)) == len(SKEWS)


@pytest.mark.parametrize("skew", SKEWS)
def test_a_skew_below_one_scales_every_distance_and_probabilities_remain_such(skew: float) -> None:
    assert np.allclose(laws(skew).sum(axis=1), 1)
    assert laws(skew).min() >= 0
    if skew <= 1:
        assert mean_distance(laws(skew)) == pytest.approx(skew * mean_distance(laws(1.0)))


def test_the_samples_themselves_follow_the_skew() -> None:
    """Also after rounding to slots: the mean share of a device's most frequent class only grows."""

    def shares(skew: float) -> list[float]:
        data = glyphs(skew=skew)
        return [
            float(np.bincount(data.train_labels(device)).max() / len(data.train_labels(device))) for device in range(20)
        ]

    means = [float(np.mean(shares(skew))) for skew in (0.0, 1.0, 1.5, 2.0)]
    assert means == sorted(means)
    assert shares(2.0) == [1.0] * 20


def test_without_skew_every_device_draws_from_the_same_table() -> None:
    assert np.ptp(laws(0.0), axis=0).max() == 0
    assert np.allclose(laws(0.0), 1 / CHARACTER_IMAGES.classes)


def test_at_the_largest_skew_a_device_sees_a_class_as_often_as_its_law_says() -> None:
    """One type, many devices: the chosen classes have the mean law's frequencies, within five standard errors."""
    law, devices = GlyphLabels(Draws(3), 1, 2.0), np.arange(20_000)
    chosen = law.probabilities(devices).mean(axis=0)
    expected = GlyphLabels(Draws(3), 1).probabilities(devices).mean(axis=0)
    assert (np.abs(chosen - expected) < 5 * np.sqrt(expected / len(devices))).all()


def test_skew_moves_neither_sizes_nor_hands() -> None:
    devices = np.arange(20)
    assert np.array_equal(glyphs(skew=2.0).train_sizes(devices), glyphs().train_sizes(devices))
    labels = glyphs(skew=2.0).train_labels(3)
    assert np.array_equal(
        glyphs(skew=2.0).train_inputs(3)[:, 0],
        (write_characters(Draws(1), 3, labels) / np.float32(255)).astype(np.float32),
    )


def test_content_tells_data_of_different_skews_apart() -> None:
    assert glyphs(skew=0.5).content != glyphs().content
    assert glyphs(skew=1).content == glyphs().content
