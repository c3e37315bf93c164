"""Random transforms: what they draw, from which generators, and what they refuse."""

import random

import numpy as np
import pytest

import paddle
from paddle.vision import transforms as T

IMAGE = np.arange(6 * 8 * 3, dtype="uint8").reshape(6, 8, 3)


@pytest.fixture(autouse=True)
def seeded():
    random.seed(5)
    np.random.seed(5)


EVERY = [
    T.RandomResizedCrop(4), T.RandomCrop(4, 1), T.RandomHorizontalFlip(), T.RandomVerticalFlip(),
    T.ColorJitter(0.4, 0.4, 0.4, 0.1), T.RandomRotation(30), T.RandomAffine(30, (0.1, 0.1), (0.8, 1.2), 10),
    T.RandomPerspective(1.0), T.RandomErasing(1.0),
]  # fmt: skip


@pytest.mark.parametrize("transform", EVERY, ids=lambda t: type(t).__name__)
def test_the_same_seed_gives_the_same_image(transform):
    def draw():
        random.seed(1)
        np.random.seed(1)
        return [transform(IMAGE) for _ in range(3)]

    first, second = draw(), draw()
    assert all((a == b).all() for a, b in zip(first, second))
    assert "Flip" in type(transform).__name__ or any((a != b).any() for a, b in zip(first, first[1:]))


def test_draws_are_those_of_upstream():
    """Recorded from PaddlePaddle 3.3.1 with both generators seeded with 5."""
    assert T.RandomCrop(3)._get_param(IMAGE, (3, 3)) == RECORDED["crop"]
    assert T.RandomResizedCrop(4)._get_param(IMAGE) == RECORDED["resized"]
    affine = T.RandomAffine(30, (0.3, 0.3), (0.8, 1.2), (1, 2, 3, 4))._get_param((8, 6))
    assert np.allclose(np.hstack(affine), RECORDED["affine"])
    assert T.RandomPerspective().get_params(20, 10, 0.5)[1] == RECORDED["perspective"]
    erasing = T.RandomErasing(1.0)._get_param(IMAGE, [0])
    assert erasing[:4] == RECORDED["erasing"]


RECORDED = {
    "crop": (2, 5, 3, 3),
    "resized": (2, 4, 3, 4),
    "affine": [-28.259686302983116, 0.0, 1.0, 1.0595898212547696, 1.9009004917506227, 3.1132059646531443],
    "perspective": [[2, 0], [17, 1], [14, 7], [1, 9]],
    "erasing": (0, 4, 3, 1),
}


def test_crops():
    assert T.RandomCrop(9, pad_if_needed=True)(IMAGE).shape == (9, 9, 3)
    np.testing.assert_array_equal(T.RandomCrop((6, 8))(IMAGE), IMAGE)
    assert T.RandomCrop((2, 3), [1, 2, 3, 4], padding_mode="reflect")(IMAGE).shape == (2, 3, 3)
    with pytest.raises(ValueError, match="smaller"):
        T.RandomCrop(7)(IMAGE)
    wide = np.zeros((2, 40, 3), "uint8")
    assert T.RandomResizedCrop((5, 7), scale=(1.0, 1.0))(wide).shape == (5, 7, 3)  # no part fits: the middle
    assert T.RandomResizedCrop(3)._get_param(wide.transpose(1, 0, 2), attempts=0) == (18, 0, 3, 2)
    for bad in ({"scale": (1, 0.5)}, {"ratio": (2, 1)}):
        with pytest.raises(AssertionError):
            T.RandomResizedCrop(3, **bad)


@pytest.mark.parametrize("name", ["Brightness", "Contrast", "Saturation", "Hue"])
def test_bounds_of_colors(name):
    make = getattr(T, f"{name}Transform")
    assert make(0).value is None and make(0)(IMAGE) is IMAGE
    low, high = make(0.25).value
    assert (low, high) == ((-0.25, 0.25) if name == "Hue" else (0.75, 1.25))
    for bad, error in ((-1, ValueError), ((0.4, 0.3), ValueError), ("a", TypeError), ((1, 2, 3), TypeError)):
        with pytest.raises(error):
            make(bad)
    if name != "Hue":
        assert make(2).value[0] == 0 and make([0.5, 1.5]).value == [0.5, 1.5]


def test_color_jitter_of_every_kind():
    jitter = T.ColorJitter(0.4, (0.8, 1.2), 0.4, 0.1)
    assert jitter(IMAGE).shape == IMAGE.shape and jitter(T.to_tensor(IMAGE)).shape == [3, 6, 8]
    assert jitter(pytest.importorskip("PIL.Image").fromarray(IMAGE)).mode == "RGB"
    assert (T.ColorJitter()(IMAGE) == IMAGE).all()


def test_geometry_rejects():
    for make, error in (
        (lambda: T.RandomAffine(-1), ValueError), (lambda: T.RandomAffine((1, 2, 3)), ValueError),
        (lambda: T.RandomAffine(1, (0.1, 2)), ValueError), (lambda: T.RandomAffine(1, None, (0, 1)), ValueError),
        (lambda: T.RandomAffine(1, 0.1), TypeError), (lambda: T.RandomAffine(1, shear=(1, 2, 3)), ValueError),
        (lambda: T.RandomAffine(1, interpolation="lanczos"), AssertionError),
        (lambda: T.RandomRotation(-1), ValueError), (lambda: T.RandomAffine(1, fill=object()), TypeError),
        (lambda: T.RandomRotation((1, 2, 3)), ValueError),
        (lambda: T.RandomAffine(1, center=(1,)), ValueError), (lambda: T.RandomPerspective(2), AssertionError),
        (lambda: T.RandomPerspective(1, -1), AssertionError), (lambda: T.RandomErasing(2), AssertionError),
        (lambda: T.RandomErasing(1, (0.5, 2)), AssertionError), (lambda: T.RandomErasing(1, ratio=3), AssertionError),
        (lambda: T.RandomErasing(1, value="x"), ValueError), (lambda: T.RandomErasing(1, value=None), AssertionError),
        (lambda: T.RandomErasing(1, value=(1, 2))(IMAGE), ValueError), (lambda: T.Pad(1, 0, "x"), AssertionError),
        (lambda: T.Pad((1, 2, 3)), ValueError), (lambda: T.Resize((1, 2, 3)), AssertionError),
    ):  # fmt: skip
        with pytest.raises(error):
            make()


def test_erasing():
    white = np.full((20, 20, 3), 255, "uint8")
    out = T.RandomErasing(1.0, value=(1, 2, 3))(white)
    changed = (out != 255).any(-1)
    rows, columns = changed.any(1), changed.any(0)
    assert changed.sum() == rows.sum() * columns.sum() > 0 and out[changed].tolist()[0] == [1, 2, 3]
    assert (T.RandomErasing(0.0)(white) == white).all()
    noise = T.RandomErasing(1.0, value="random")(paddle.zeros([3, 20, 20]))
    assert noise.numpy().std() > 0.05
    assert T.RandomErasing(1.0, value="random")(white[..., 0]).shape == (20, 20)
    nothing_fits = T.RandomErasing(1.0, scale=(1, 1), ratio=(1, 1))
    assert nothing_fits(white) is white
    assert T.RandomErasing(1.0, inplace=True)(white) is white and white.min() == 0
