"""What holds for every kind of image."""

import numpy as np
import pytest

import paddle
from paddle.vision import transforms as T

RNG = np.random.default_rng(0)
IMAGE = RNG.integers(0, 256, (6, 8, 3)).astype("uint8")
CORNERS = [[0, 0], [7, 0], [7, 5], [0, 5]]


def pil(a):
    return pytest.importorskip("PIL.Image").fromarray(a)


def tensor(a):
    return T.to_tensor(a) if a.ndim == 3 else T.to_tensor(a[..., None])


MAKE = {"array": lambda a: a, "pil": pil, "tensor": tensor}
BACK = {"array": lambda a: a, "pil": np.asarray, "tensor": lambda t: np.rint(t.numpy().transpose(1, 2, 0) * 255)}
KINDS = pytest.mark.parametrize("kind", MAKE)


def apply(kind, f, a=IMAGE):
    return BACK[kind](f(MAKE[kind](a)))


@KINDS
def test_what_changes_nothing(kind):
    for f in (
        lambda x: T.affine(x, 0, [0, 0], 1.0, 0.0), lambda x: T.rotate(x, 0), lambda x: T.pad(x, 0),
        lambda x: T.perspective(x, CORNERS, CORNERS), lambda x: T.adjust_brightness(x, 1.0),
        lambda x: T.adjust_contrast(x, 1.0), lambda x: T.functional.adjust_saturation(x, 1.0),
        lambda x: T.resize(x, 6), lambda x: T.erase(x, 0, 0, 0, 0, 0),
    ):  # fmt: skip
        np.testing.assert_allclose(apply(kind, f), IMAGE, atol=1)
    assert np.abs(apply(kind, lambda x: T.adjust_hue(x, 0.0)).astype(int) - IMAGE).max() <= 12  # 256 hues are few


@KINDS
def test_quarter_turns(kind):
    square = IMAGE[:, :6]
    turned = apply(kind, lambda x: T.rotate(x, 90), square)
    shift = 1 if kind == "array" else 0  # arrays turn around the corner of the middle pixel, as in OpenCV
    np.testing.assert_array_equal(turned[shift:], np.rot90(square)[: 6 - shift])


@KINDS
def test_affine_moves_scales_and_shears(kind):
    moved = apply(kind, lambda x: T.affine(x, 0, [2, 1], 1.0, 0.0, fill=9))
    np.testing.assert_array_equal(moved[1:, 2:], IMAGE[:-1, :-2])
    assert (moved[0] == (9 if kind != "tensor" else 9 * 255)).all()
    double = apply(kind, lambda x: T.affine(x, 0, (0, 0), 2.0, [0.0, 0.0]))
    np.testing.assert_array_equal(double[1:5, 2:6], np.repeat(np.repeat(IMAGE[2:4, 3:5], 2, 0), 2, 1))


def test_affine_of_arrays_and_pil_images_agree():
    for angle, move, scale, shear, center in ((33, (1, -1), 1.3, (7, 4), None), (-100, (0, 2), 0.8, 5, (2, 3))):
        f = lambda x: T.affine(x, angle, move, scale, shear, center=center)  # noqa: B023, E731
        assert (apply("array", f) != apply("pil", f)).any(-1).sum() <= 1  # float32 against fixed point


@KINDS
def test_bad_arguments(kind):
    x = MAKE[kind](IMAGE)
    for f, error in (
        (lambda: T.affine(x, "a", (0, 0), 1.0, 0), TypeError), (lambda: T.affine(x, 1, 0, 1.0, 0), TypeError),
        (lambda: T.affine(x, 1, (0,), 1.0, 0), ValueError), (lambda: T.affine(x, 1, (0, 0), 0.0, 0), ValueError),
        (lambda: T.affine(x, 1, (0, 0), 1.0, (1, 2, 3)), ValueError),
        (lambda: T.affine(x, 1, (0, 0), 1.0, 0, 3), TypeError), (lambda: T.resize(x, (1, 2, 3)), TypeError),
        (lambda: T.affine(x, 1, (0, 0), 1.0, 0, center=3), TypeError), (lambda: T.resize(x, 2.5), TypeError),
        (lambda: T.resize(x, 3, "nope"), ValueError), (lambda: T.rotate(x, 3, "nope"), ValueError),
        (lambda: T.pad(x, "1"), TypeError), (lambda: T.pad(x, (1, 2, 3)), ValueError),
        (lambda: T.pad(x, 1.5), ValueError), (lambda: T.pad(x, -1), ValueError), (lambda: T.pad(x, 1, None), TypeError),
        (lambda: T.pad(x, 1, 0, "nope"), AssertionError), (lambda: T.pad(x, 1, 0, 3), TypeError),
        (lambda: T.to_grayscale(x, 2), ValueError), (lambda: T.perspective(x, CORNERS[:3], CORNERS), ValueError),
        (lambda: T.adjust_hue(x, 0.6), (ValueError, AssertionError)), (lambda: T.center_crop(x, (1, 2, 3)), ValueError),
    ):  # fmt: skip
        with pytest.raises(error):
            f()
    if kind != "tensor":
        with pytest.raises(KeyError, match="no such interpolation"):
            T.resize(x, 3, "nope")


@pytest.mark.parametrize("name", T.functional.__all__)
def test_what_is_no_image(name):
    more = {"resize": (3,), "pad": (1,), "crop": (0, 0, 1, 1), "center_crop": (1,), "erase": (0, 0, 1, 1, 0),
            "affine": (1, (0, 0), 1.0, 0), "rotate": (1,), "perspective": (CORNERS, CORNERS)}  # fmt: skip
    args = more.get(name, (0.1,) if name.startswith("adjust") else ())
    if name == "normalize":
        return  # takes whatever can be computed with, as upstream
    for thing in (3, "a", np.zeros(4), np.zeros((1, 2, 3, 4))):
        with pytest.raises(TypeError, match="not an image"):
            getattr(T.functional, name)(thing, *args)


def test_parts_outside():
    with pytest.raises(ValueError, match="outside"):
        T.center_crop(IMAGE, 9)
    with pytest.raises(ValueError, match="outside"):
        T.crop(T.to_tensor(IMAGE), -1, 0, 2, 2)
    assert T.center_crop(pil(IMAGE), 10).size == (10, 10)
    assert T.crop(IMAGE, 4, 4, 9, 9).shape == (2, 4, 3)


# ---- Tensors ----------------------------------------------------------------------------------


def test_batches():
    one = T.to_tensor(IMAGE)
    two = paddle.stack([one, one * 0.5])
    for f in (
        T.hflip, lambda x: T.crop(x, 1, 2, 3, 4), lambda x: T.rotate(x, 20, "bilinear", expand=True),
        lambda x: T.resize(x, (3, 4)), lambda x: T.pad(x, 1, 0, "edge"), lambda x: T.affine(x, 9, (1, 1), 1.1, 3),
        lambda x: T.normalize(x, [0.5] * 3, [0.5] * 3), T.to_grayscale, lambda x: T.adjust_hue(x, 0.2),
        lambda x: T.perspective(x, CORNERS, [[1, 0], [7, 1], [6, 5], [0, 5]]), lambda x: T.adjust_contrast(x, 2.0),
    ):  # fmt: skip
        np.testing.assert_allclose(f(two)[1].numpy(), f(one * 0.5).numpy(), atol=1e-6)


def test_fill_of_tensors():
    x = paddle.ones([3, 8, 8])
    corner = lambda y: y[:, 0, 0].tolist()  # noqa: E731
    assert corner(T.rotate(x, 45, fill=7)) == [7, 7, 7] and corner(T.rotate(x, 45, fill=[7, 8, 9])) == [7, 8, 9]
    assert corner(T.rotate(x, 45, fill=None)) == [0, 0, 0]
    assert corner(T.rotate(x, 45, "bilinear", fill=2)) == pytest.approx([2, 2, 2])
    assert corner(T.affine(x[:1], 45, (0, 0), 1.0, 0, fill=7)) == [7]


def test_gradients_reach_the_image():
    x = T.to_tensor(IMAGE)
    x.stop_gradient = False
    T.rotate(T.adjust_brightness(T.hflip(x), 0.5), 180).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 0.5)


def test_colors_of_tensors():
    x = T.to_tensor(IMAGE)
    r, g, b = x.numpy()
    np.testing.assert_allclose(T.to_grayscale(x)[0].numpy(), 0.2989 * r + 0.587 * g + 0.114 * b, rtol=1e-5)
    np.testing.assert_allclose(T.adjust_brightness(x, 2.0).numpy(), np.clip(2 * x.numpy(), 0, 1), rtol=1e-6)
    np.testing.assert_allclose(T.adjust_hue(T.adjust_hue(x, 0.3), -0.3).numpy(), x.numpy(), atol=1e-5)
    np.testing.assert_allclose(
        T.adjust_hue(x, 1 / 3).numpy(), x.numpy()[[2, 0, 1]], atol=1e-5
    )  # a third of the circle: red becomes green
    gray = T.adjust_contrast(x, 0.0).numpy()
    assert np.ptp(gray) < 1e-6
    assert T.adjust_brightness((x * 255).astype("uint8"), 2.0).dtype is paddle.uint8
    np.testing.assert_array_equal(T.adjust_hue(x[:1], 0.2).numpy(), x[:1].numpy())
    for f in (T.adjust_brightness, T.adjust_contrast, T.functional.adjust_saturation):
        with pytest.raises(AssertionError, match="negative"):
            f(x, -1.0)
        with pytest.raises((ValueError, AssertionError), match="channels"):
            f(x[:2], 0.5)


def test_tensors_that_are_no_images():
    with pytest.raises(RuntimeError, match="no image"):
        T.hflip(paddle.ones([3, 4]))
    with pytest.raises(ValueError, match="symmetric"):
        T.pad(paddle.ones([3, 4, 4]), 1, 0, "symmetric")


# ---- PIL images -------------------------------------------------------------------------------


@pytest.mark.parametrize("mode, channels", [("1", 1), ("L", 1), ("LA", 2), ("RGBA", 4), ("I", 1), ("F", 1)])
def test_modes_of_pil_images(mode, channels):
    image = pil(IMAGE).convert(mode)
    assert T.to_tensor(image).shape == [channels, 6, 8]
    for f in (lambda x: T.rotate(x, 30, fill=5), lambda x: T.affine(x, 30, (0, 0), 1.0, 0, fill=5), T.hflip):
        assert f(image).mode == mode
    if mode != "LA":
        assert T.adjust_hue(image, 0.1).mode == mode


def test_pil_images_with_a_palette():
    image = pil(IMAGE).convert("P")
    for mode in ("constant", "edge"):
        out = T.pad(image, 1, 0, mode)
        assert out.size == (10, 8) and out.convert("RGB").getpixel((1, 1)) == image.convert("RGB").getpixel((0, 0))


def test_fill_of_pil_images():
    black = pil(np.zeros((4, 4, 3), "uint8"))
    for f in (lambda x: T.rotate(x, 45, fill=7), lambda x: T.affine(x, 45, (0, 0), 1.0, 0, fill=7)):
        assert f(black).getpixel((0, 0)) == (7, 7, 7)
    assert T.rotate(black.convert("L"), 45, fill=7).getpixel((0, 0)) == 7
    assert T.pad(black, 1, "red").getpixel((0, 0)) == (255, 0, 0)
    assert T.erase(black, 1, 1, 2, 2, 9).getpixel((1, 1)) == (9, 9, 9)
