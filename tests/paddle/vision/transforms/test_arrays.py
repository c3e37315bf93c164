"""Arrays have the results of OpenCV 5.0, from which the expected numbers here were recorded."""

import numpy as np
import pytest

from paddle.vision import transforms as T

GRAY = (np.arange(20).reshape(4, 5) * 37 % 256).astype("uint8")
RAMP = (np.arange(1, 31).reshape(5, 6) * 8).astype("uint8")
COLORS = np.array([[[10, 20, 30], [200, 100, 0], [255, 255, 255], [0, 0, 0], [7, 250, 130], [90, 90, 91]]], "uint8")

RESIZED = {  # to 2 x 3, and the second row of 3 x 7
    "nearest": ([[0, 37, 111], [114, 151, 225]], [185, 185, 222, 3, 3, 40, 77]),
    "bilinear": ([[105, 39, 100], [91, 153, 129]], [150, 171, 160, 96, 122, 93, 42]),
    "area": ([[107, 64, 98], [93, 152, 135]], [150, 172, 168, 96, 125, 96, 42]),
    "bicubic": ([[117, 21, 102], [80, 170, 130]], [171, 207, 183, 96, 130, 88, 8]),
    "lanczos": ([[120, 13, 113], [68, 178, 131]], [173, 220, 184, 95, 127, 93, 0]),
}
ROTATED = {
    "nearest": [[9, 9, 32, 40, 96, 9], [16, 24, 80, 88, 144, 144], [64, 72, 120, 128, 184, 192],
                [56, 112, 120, 176, 184, 232], [104, 160, 160, 216, 224, 9]],
    "bilinear": [[9, 15, 31, 58, 79, 11], [15, 34, 65, 96, 127, 84], [40, 71, 102, 133, 164, 195],
                 [78, 109, 140, 171, 202, 233], [80, 146, 177, 208, 160, 54]],
    "bicubic": [[8, 12, 27, 61, 79, 10], [10, 33, 61, 98, 138, 86], [37, 73, 102, 135, 165, 200],
                [84, 108, 140, 169, 224, 255], [83, 155, 191, 231, 170, 50]],
}  # fmt: skip


@pytest.mark.parametrize("mode", RESIZED)
def test_resize(mode):
    small, row = RESIZED[mode]
    assert T.resize(GRAY, (2, 3), mode).tolist() == small
    assert T.resize(GRAY, (3, 7), mode)[1].tolist() == row
    stacked = np.stack([GRAY, GRAY[::-1], GRAY], -1)
    assert T.resize(stacked, (2, 3), mode)[..., 2].tolist() == small
    floats = T.resize(GRAY.astype("float32"), (2, 3), mode)
    assert floats.dtype == np.float32 and np.abs(floats - small).max() < 1
    assert T.resize(GRAY[..., None], (2, 3), mode).shape == (2, 3, 1)


def test_resize_to_half_takes_means():
    assert T.resize(GRAY[:, :4], (2, 2)).tolist() == [[111, 57], [97, 171]]
    np.testing.assert_allclose(T.resize(GRAY[:2, :2].astype("float32"), (1, 1)), [[111]])


@pytest.mark.parametrize("dtype", ["uint16", "int16", "int32", "float64"])
@pytest.mark.parametrize("mode", RESIZED)
def test_resize_keeps_constants_and_dtypes(mode, dtype):
    out = T.resize(np.full((7, 5, 2), 201, dtype), (11, 3), mode)
    assert out.dtype == dtype
    np.testing.assert_allclose(out, 201, rtol=1e-6)


def test_resize_bounds_what_overshoots():
    step = np.repeat(np.array([0, 255], "uint8"), 4)[None].repeat(4, 0)
    for mode in ("bicubic", "lanczos"):
        out = T.resize(step, (8, 16), mode)[0].tolist()
        assert out[5:7] == [0, 0] and out[9:11] == [255, 255]  # not 251 and 4


@pytest.mark.parametrize("mode", ROTATED)
def test_rotate(mode):
    assert T.rotate(RAMP, 30, mode, fill=9).tolist() == ROTATED[mode]


def test_rotate_decides_ties_as_opencv():
    image = np.arange(48, dtype="uint8").reshape(6, 8)
    assert T.rotate(image, 30)[3, 5] == 3 * 8 + 5  # read at 3.5 - 6e-8, which is 3.5 in float32
    wide = np.arange(7 * 9, dtype="uint8").reshape(7, 9)
    assert T.rotate(wide, 135)[4, 4] == 3 * 9 + 5


def test_rotate_right_angles_and_expands():
    image = np.arange(12, dtype="uint8").reshape(3, 4)
    np.testing.assert_array_equal(T.rotate(image[:, :3], 180)[1:, 1:], image[1:, 1:3][::-1, ::-1])
    assert T.rotate(image[:2], 90, expand=True).shape == (4, 2) and T.rotate(image, 45, expand=True).shape == (5, 6)


def test_perspective():
    start, end = [[0, 0], [5, 0], [5, 4], [0, 4]], [[1, 0], [4, 1], [5, 4], [0, 3]]
    expected = [[9, 8, 11, 9, 9, 9], [43, 94, 82, 67, 48, 9], [118, 154, 149, 143, 136, 9],
                [200, 199, 198, 197, 195, 94], [79, 100, 126, 156, 194, 240]]  # fmt: skip
    assert T.perspective(RAMP, start, end, "bilinear", 9).tolist() == expected
    np.testing.assert_array_equal(T.perspective(RAMP, start, start), RAMP)
    flat = [[0, 0], [5, 0], [5, 0], [0, 0]]
    assert T.perspective(RAMP, start, flat).shape == RAMP.shape  # no map takes the corners there


def test_a_number_fills_the_first_channel():
    image = np.full((4, 4, 3), 200, "uint8")
    assert T.rotate(image, 45, fill=7)[0, 0].tolist() == [7, 0, 0]
    assert T.rotate(image, 45, fill=[7, 8, 9])[0, 0].tolist() == [7, 8, 9]
    assert T.pad(image, 1, 5)[0, 0].tolist() == [5, 0, 0] and T.pad(image[..., 0], 1, 5)[0, 0] == 5
    assert T.affine(image, 45, [0, 0], 1.0, 0, fill=7)[0, 0].tolist() == [7, 7, 7]


def test_colors():
    hue = [[[10, 30, 16], [200, 0, 141], [255, 255, 255], [0, 0, 0], [178, 250, 7], [90, 91, 91]]]
    assert T.adjust_hue(COLORS, 0.2).tolist() == hue
    assert T.to_grayscale(COLORS)[..., 0].tolist() == [[18, 119, 255, 0, 164, 90]]
    assert T.to_grayscale(COLORS, 3).shape == COLORS.shape
    assert T.adjust_brightness(COLORS, 1.5)[0, :2].tolist() == [[15, 30, 45], [255, 150, 0]]
    assert T.adjust_contrast(COLORS, 0.5)[0, :2].tolist() == [[42, 47, 52], [137, 87, 37]]
    saturate = T.functional.adjust_saturation
    np.testing.assert_array_equal(saturate(COLORS, 1.0), COLORS)
    gray = saturate(COLORS, 0.0)
    assert (gray == gray[..., :1]).all() and gray[0, 0, 0] == 21  # blue comes first


@pytest.mark.parametrize("f", [T.adjust_hue, T.functional.adjust_saturation])
def test_colors_need_three_channels(f):
    with pytest.raises(ValueError, match="colours"):
        f(GRAY, 0.1)
    with pytest.raises(TypeError, match="bytes"):
        T.adjust_contrast(GRAY.astype("float32"), 2.0)


@pytest.mark.parametrize(
    "mode, expected",
    [("edge", [1, 1, 2, 3, 3]), ("reflect", [2, 1, 2, 3, 2]), ("symmetric", [1, 1, 2, 3, 3])],
)
def test_pad(mode, expected):
    image = np.array([[1, 2, 3]], "uint8")
    assert T.pad(image, (1, 0), 0, mode)[0].tolist() == expected
    assert T.pad(image, (1, 2, 3, 4)).shape == (7, 7)


def test_erase_may_be_in_place():
    image = np.ones((3, 3, 3), "uint8")
    out = T.erase(image, 0, 1, 2, 2, np.array([5, 6, 7]))
    assert image.min() == 1 and out[1, 2].tolist() == [5, 6, 7] and out[2].min() == 1
    assert T.erase(image, 0, 0, 1, 1, 0, inplace=True) is image and image[0, 0, 0] == 0


def test_normalize_keeps_float64_and_widens_integers():
    for dtype, result in (("uint8", "float32"), ("float32", "float32"), ("float64", "float64"), ("int64", "float64")):
        assert T.normalize(COLORS.astype(dtype), [1] * 3, [2] * 3, "HWC").dtype == result
