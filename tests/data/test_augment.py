"""Augmentation against a slow and obvious loop, and the limits it promises."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hfedms_sim.data.augment import augmented, crop_centres
from hfedms_sim.seeds import Draws


def one_augmented(image: NDArray[np.float32], draws: Draws, sensor: int, arrival: int) -> NDArray[np.float64]:
    """Pixel by pixel, with plain numbers."""

    def u(what: str) -> float:
        return draws.one_uniform(f"augment/{what}", sensor, arrival)

    area = 0.8 + 0.2 * u("area")
    low, high = math.log(max(0.8, area)), math.log(min(1.2, 1 / area))
    aspect = math.exp(low + (high - low) * u("aspect"))
    width, height = 28 * math.sqrt(area * aspect), 28 * math.sqrt(area / aspect)
    left, top = u("left") * (28 - width), u("top") * (28 - height)
    result = np.empty((28, 28))
    for row in range(28):
        y = min(max(top + (row + 0.5) * height / 28 - 0.5, 0), 27)
        for column in range(28):
            x = min(max(left + (column + 0.5) * width / 28 - 0.5, 0), 27)
            result[row, column] = _read(image, y, x) * (0.9 + 0.2 * u("brightness"))
    return result


def _read(image: NDArray[np.float32], y: float, x: float) -> float:
    above, before = int(y), int(x)
    below, after = min(above + 1, 27), min(before + 1, 27)
    down, along = y - above, x - before
    upper = (1 - along) * float(image[above, before]) + along * float(image[above, after])
    lower = (1 - along) * float(image[below, before]) + along * float(image[below, after])
    return (1 - down) * upper + down * lower


def noise(samples: int) -> NDArray[np.float32]:
    return np.random.default_rng(0).random((samples, 1, 28, 28), dtype=np.float32)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**63 - 1), sensor=st.integers(0, 10**7), first=st.integers(0, 2**40))
def test_a_batch_is_what_a_plain_loop_makes_of_it(seed: int, sensor: int, first: int) -> None:
    images, arrivals = noise(2), np.array([first, first + 7])
    batch = augmented(images, Draws(seed), sensor, arrivals)
    assert (batch.dtype, batch.shape) == (np.float32, (2, 1, 28, 28))
    for place, arrival in enumerate(arrivals.tolist()):
        assert np.abs(batch[place, 0] - one_augmented(images[place, 0], Draws(seed), sensor, arrival)).max() < 1e-5


def test_a_sample_looks_the_same_in_whatever_batch_it_comes() -> None:
    images, arrivals = noise(50), np.arange(50)
    batch = augmented(images, Draws(1), 3, arrivals)
    assert np.array_equal(augmented(images[10:13], Draws(1), 3, arrivals[10:13]), batch[10:13])
    assert np.array_equal(augmented(images[::-1], Draws(1), 3, arrivals[::-1]), batch[::-1])
    assert augmented(images[:0], Draws(1), 3, arrivals[:0]).shape == (0, 1, 28, 28)


def test_seed_sensor_and_arrival_each_make_a_difference() -> None:
    image = noise(1)
    results = [
        augmented(image, Draws(seed), sensor, np.array([arrival])).tobytes()
        for seed, sensor, arrival in ((1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2))
    ]
    assert len(set(results)) == 4


def test_brightness_is_even_between_nine_and_eleven_tenths_and_not_clipped() -> None:
    factors = augmented(np.ones((5000, 1, 28, 28), dtype=np.float32), Draws(1), 0, np.arange(5000))[:, 0, 14, 14]
    assert 0.9 - 1e-6 <= factors.min() < 0.901
    assert 1.099 < factors.max() <= 1.1 + 1e-6
    assert abs(factors.mean() - 1) < 0.005


def test_crops_keep_to_their_area_their_aspect_and_the_image() -> None:
    rows, columns = crop_centres(Draws(2), 0, np.arange(20_000), 28, 28)
    height, width = ((at[:, 14] - at[:, 13]) for at in (rows, columns))  # in images: 28 readings over 28 pixels
    area, aspect = height * width, width / height
    assert 0.8 - 1e-9 <= area.min() < 0.801
    assert 0.999 < area.max() <= 1 + 1e-9
    assert abs(area.mean() - 0.9) < 0.002
    assert 0.8 - 1e-9 <= aspect.min() < 0.83
    assert 1.17 < aspect.max() <= 1.2 + 1e-9
    for at in (rows, columns):
        assert (at.min(), at.max()) >= (0, 0)
        assert at.max() <= 27
        assert abs(at.mean() - 13.5) < 0.02  # no side is favoured


def test_channels_of_an_image_are_changed_alike_and_images_need_not_be_square() -> None:
    images = np.random.default_rng(0).random((3, 3, 20, 12), dtype=np.float32)
    batch = augmented(images, Draws(1), 2, np.arange(3))
    assert batch.shape == images.shape
    for channel in range(3):
        alone = augmented(images[:, channel : channel + 1], Draws(1), 2, np.arange(3))
        assert np.array_equal(batch[:, channel], alone[:, 0])


def test_a_crop_of_a_wide_image_is_as_wide_a_share_of_it_as_of_a_square_one() -> None:
    square, wide = (crop_centres(Draws(2), 0, np.arange(50), 28, width)[1] for width in (28, 280))
    assert np.allclose((wide[:, 140] - wide[:, 130]) / 10, square[:, 14] - square[:, 13])
