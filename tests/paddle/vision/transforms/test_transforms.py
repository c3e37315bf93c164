import numpy as np
import pytest

import paddle
from paddle.vision import transforms as T

IMAGE = np.arange(48, dtype="uint8").reshape(4, 4, 3)


def pil(a):
    return pytest.importorskip("PIL.Image").fromarray(a)


def test_to_tensor_scales_bytes_only():
    x = T.to_tensor(IMAGE)
    assert x.shape == [3, 4, 4] and x.dtype is paddle.float32
    np.testing.assert_allclose(x.numpy(), IMAGE.transpose(2, 0, 1) / np.float32(255))
    assert T.to_tensor(IMAGE, "HWC").shape == [4, 4, 3] and T.to_tensor(IMAGE[..., 0]).shape == [1, 4, 4]
    assert T.to_tensor(IMAGE.astype("float64")).numpy().max() == 47
    assert T.to_tensor(IMAGE.astype("int64")).dtype is paddle.int64
    np.testing.assert_array_equal(T.to_tensor(pil(IMAGE)).numpy(), x.numpy())
    assert T.to_tensor(pil(IMAGE[..., 0])).shape == [1, 4, 4]


def test_to_tensor_rejects():
    with pytest.raises(TypeError, match="not an image"):
        T.to_tensor(3)
    with pytest.raises(ValueError, match="data_format"):
        T.to_tensor(IMAGE, "XX")


def test_normalize():
    chw = T.Normalize([1, 2, 3], [2, 2, 2])(IMAGE.transpose(2, 0, 1))
    hwc = T.normalize(IMAGE, [1, 2, 3], [2, 2, 2], "HWC")
    np.testing.assert_array_equal(chw, hwc.transpose(2, 0, 1))
    assert hwc.dtype == np.float32 and hwc[0, 0].tolist() == [-0.5, -0.5, -0.5]
    x = T.normalize(T.to_tensor(IMAGE), [0.5] * 3, [0.5] * 3)
    np.testing.assert_allclose(x.numpy(), (IMAGE.transpose(2, 0, 1) / 255 - 0.5) / 0.5, rtol=1e-5, atol=1e-6)
    assert T.normalize(IMAGE, [0] * 3, [1] * 3, "HWC", to_rgb=True)[0, 0].tolist() == [2, 1, 0]
    assert T.Normalize([127.5], [127.5])(np.zeros((1, 2, 2))).tolist() == [[[-1, -1], [-1, -1]]]


def test_transpose_and_compose():
    assert T.Transpose()(IMAGE).shape == (3, 4, 4) and T.Transpose()(IMAGE[..., 0]).shape == (1, 4, 4)
    assert T.Transpose((1, 0, 2))(IMAGE)[1, 0].tolist() == IMAGE[0, 1].tolist()
    both = T.Compose([T.Transpose(), T.Normalize(0.0, 255.0)])
    assert both(IMAGE).shape == (3, 4, 4) and "Transpose" in repr(both)


def test_resize_keeps_proportions_and_kind():
    wide = np.zeros((4, 8, 3), "uint8")
    assert T.Resize(2)(wide).shape == (2, 4, 3) and T.Resize((5, 6))(wide).shape == (5, 6, 3)
    assert T.Resize(2)(pil(wide)).size == (4, 2)
    assert T.resize(paddle.ones([3, 4, 8]), (2, 2)).shape == [3, 2, 2]
    assert T.resize(IMAGE[..., 0].astype("float32"), (2, 2)).dtype == np.float32


def test_resize_of_arrays():
    a = np.array([[0, 10], [20, 30]], "float32")
    np.testing.assert_allclose(T.resize(a, (1, 1)), [[15]])
    np.testing.assert_allclose(T.resize(a, (2, 4))[0], [0, 2.5, 7.5, 10])
    assert T.resize(a, (4, 4), "nearest")[0].tolist() == [0, 0, 10, 10]
    np.testing.assert_array_equal(T.resize(IMAGE, (4, 4)), IMAGE)
    with pytest.raises(ValueError, match="interpolation"):
        T.resize(a, 2, "nope")
    with pytest.raises(TypeError):
        T.resize(3, 3)


@pytest.mark.parametrize("kind", ["array", "tensor", "pil"])
def test_flips_and_crops(kind):
    gray = IMAGE[..., 0]
    make = {"array": lambda a: a, "tensor": lambda a: paddle.to_tensor(a[None]), "pil": pil}[kind]
    back = {"array": lambda a: a, "tensor": lambda a: a.numpy()[0], "pil": np.asarray}[kind]
    for transform, expected in (
        (T.hflip, gray[:, ::-1]), (T.vflip, gray[::-1]), (lambda x: T.crop(x, 1, 2, 3, 2), gray[1:4, 2:4]),
        (T.CenterCrop(2), gray[1:3, 1:3]), (T.RandomHorizontalFlip(1.0), gray[:, ::-1]),
        (T.RandomVerticalFlip(0.0), gray),
    ):  # fmt: skip
        np.testing.assert_array_equal(back(transform(make(gray))), expected)


def test_keys_say_what_the_fields_are():
    image, label = T.ToTensor(keys=["image"])((IMAGE, 3))
    assert image.shape == [3, 4, 4] and label == 3
    with pytest.raises(NotImplementedError, match="label"):
        T.ToTensor(keys=["image", "label"])((IMAGE, 3))
    with pytest.raises(ValueError, match="keys"):
        T.BaseTransform(3)
    with pytest.raises(NotImplementedError):
        T.BaseTransform()(IMAGE)
    with pytest.raises(AssertionError):
        T.RandomHorizontalFlip(2.0)


@pytest.mark.parametrize("make, error, words", [
    (lambda: T.Compose(T.ToTensor()), TypeError, "put it into brackets"),
    (lambda: T.Compose([T.Resize(4), T.ToTensor]), TypeError, r"transforms\[1\][^$]*write ToTensor\(\)"),
    (lambda: T.Compose([T.Resize(4), "flip"]), TypeError, r"transforms\[1\][^$]*received: str"),
    (lambda: T.Resize("32")(IMAGE), TypeError, "neither a number nor a pair"),
    (lambda: T.Resize(-3)(IMAGE), ValueError, "size=-3"),
    (lambda: T.Resize([4, 0])(IMAGE), ValueError, r"size=\[4, 0\]"),
    (lambda: T.RandomCrop("4")(IMAGE), ValueError, "RandomCrop: this is no size"),
    (lambda: T.RandomCrop("44")(IMAGE), ValueError, "RandomCrop: this is no size"),
    (lambda: T.CenterCrop("44")(IMAGE), ValueError, "this is no size"),
    (lambda: T.RandomHorizontalFlip("1"), TypeError, "prob: '1'"),
])  # fmt: skip
def test_mistakes_are_told(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_steps_of_compose_are_kept_as_given():
    steps = (f for f in [np.negative])
    assert T.Compose(steps).transforms is steps and T.Compose([np.float32]).transforms == [np.float32]
