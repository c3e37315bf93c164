"""Regions of interest, against the definitions in plain loops."""

import numpy as np
import pytest

import paddle
from paddle.vision import ops

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 6, 5, 7)).astype("float32")
BOXES = np.array([[0.4, 1.2, 5.3, 4.1], [-2, -1, 3, 9], [2, 2, 2.3, 2.4], [6, 3, 9, 9], [11, 12, 15, 16]], "float32")
COUNTS = np.array([2, 3], "int32")
IMAGES = np.repeat([0, 1], COUNTS)


def run(f, *args, **kwargs):
    x = paddle.to_tensor(X, stop_gradient=False)
    return x, f(x, paddle.to_tensor(BOXES), paddle.to_tensor(COUNTS), *args, **kwargs)


def interpolate(plane, y, x):
    h, w = plane.shape
    if not (-1 <= y <= h and -1 <= x <= w):
        return 0.0
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    i, j = int(y), int(x)
    k, l = min(i + 1, h - 1), min(j + 1, w - 1)
    a, b = y - i, x - j
    return (plane[i, j] * (1 - a) + plane[k, j] * a) * (1 - b) + (plane[i, l] * (1 - a) + plane[k, l] * a) * b


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("ratio", [-1, 2])
def test_roi_align(aligned, ratio):
    p, q, scale = 2, 3, 0.5
    _, out = run(ops.roi_align, (p, q), scale, ratio, aligned)
    assert out.shape == [5, 6, p, q]
    for r, box in enumerate(BOXES):
        x1, y1, x2, y2 = box * scale - (0.5 if aligned else 0)
        height, width = y2 - y1, x2 - x1
        if not aligned:
            height, width = max(height, 1), max(width, 1)
        m, n = (ratio, ratio) if ratio > 0 else (int(np.ceil(height / p)), int(np.ceil(width / q)))
        for i in range(p):
            for j in range(q):
                ys = [y1 + height / p * (i + (a + 0.5) / m) for a in range(m)]
                xs = [x1 + width / q * (j + (b + 0.5) / n) for b in range(n)]
                expected = np.mean([interpolate(X[IMAGES[r], 1], y, x) for y in ys for x in xs])
                assert out[r, 1, i, j].item() == pytest.approx(expected, abs=1e-5)


def test_roi_pool():
    p, q = 3, 2
    _, out = run(ops.roi_pool, (p, q))
    for r, box in enumerate(BOXES):
        x1, y1, x2, y2 = (int(np.floor(abs(v) + 0.5) * np.sign(v)) for v in box)
        height, width = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
        for i in range(p):
            for j in range(q):
                top, bottom = int(np.floor(i * height / p)) + y1, int(np.ceil((i + 1) * height / p)) + y1
                left, right = int(np.floor(j * width / q)) + x1, int(np.ceil((j + 1) * width / q)) + x1
                part = X[IMAGES[r], 2, max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
                assert out[r, 2, i, j].item() == pytest.approx(part.max() if part.size else 0.0)


def test_psroi_pool():
    p, q, scale = 2, 3, 0.5
    _, out = run(ops.psroi_pool, (p, q), scale)
    assert out.shape == [5, 1, p, q]
    for r, box in enumerate(BOXES):
        x1, y1, x2, y2 = np.floor(np.abs(box) + 0.5) * np.sign(box) * scale + [0, 0, scale, scale]
        height, width = max(y2 - y1, 0.1), max(x2 - x1, 0.1)
        for i in range(p):
            for j in range(q):
                top, bottom = (int(f(y1 + height / p * v)) for f, v in ((np.floor, i), (np.ceil, i + 1)))
                left, right = (int(f(x1 + width / q * v)) for f, v in ((np.floor, j), (np.ceil, j + 1)))
                part = X[IMAGES[r], i * q + j, max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
                assert out[r, 0, i, j].item() == pytest.approx(part.mean() if part.size else 0.0, abs=1e-6)


@pytest.mark.parametrize("name", ["roi_align", "roi_pool", "psroi_pool"])
def test_gradients_are_those_of_what_is_computed(name):
    f = getattr(ops, name)
    x, out = run(f, (2, 3))
    weights = RNG.normal(size=out.shape).astype("float32")
    (out * paddle.to_tensor(weights)).sum().backward()
    step = RNG.normal(size=X.shape) * 1e-3
    values = []
    for sign in (1, -1):
        moved = paddle.to_tensor(X + sign * step)
        values.append((f(moved, paddle.to_tensor(BOXES), paddle.to_tensor(COUNTS), (2, 3)).numpy() * weights).sum())
    assert (values[0] - values[1]) / 2 == pytest.approx((x.grad.numpy() * step).sum(), abs=1e-5)


def test_the_gradient_of_a_pool_goes_to_the_first_of_equals():
    x = paddle.zeros([1, 1, 2, 2])
    x.stop_gradient = False
    one = paddle.to_tensor([1], dtype="int32")
    ops.roi_pool(x, paddle.to_tensor([[0.0, 0.0, 1.0, 1.0]]), one, 1).sum().backward()
    assert x.grad.tolist() == [[[[1, 0], [0, 0]]]]


@pytest.mark.parametrize("layer, f", [("RoIAlign", "roi_align"), ("RoIPool", "roi_pool"), ("PSRoIPool", "psroi_pool")])
def test_layers_and_no_boxes(layer, f):
    made = getattr(ops, layer)((2, 3), 0.5)
    np.testing.assert_array_equal(run(made)[1].numpy(), run(getattr(ops, f), (2, 3), 0.5)[1].numpy())
    assert "spatial_scale=0.5" in repr(made)
    x, none = paddle.to_tensor(X), paddle.zeros([0, 4])
    out = made(x, none, paddle.zeros([2], "int32"))
    assert out.shape == [0, 1 if f == "psroi_pool" else 6, 2, 3]


@pytest.mark.parametrize("f", [ops.roi_align, ops.roi_pool, ops.psroi_pool])
def test_rejects(f):
    x, boxes, counts = paddle.to_tensor(X), paddle.to_tensor(BOXES), paddle.to_tensor(COUNTS)
    for args, error in (
        ((x, boxes, None, 1), AssertionError), ((x, boxes, counts + 1, 1), ValueError),
        ((x[0], boxes, counts, 1), ValueError), ((x, boxes[:, :3], counts, 1), ValueError),
        ((X, boxes, counts, 1), TypeError), ((x, boxes, counts, 1.5), TypeError),
        ((x, boxes, counts, (1, 2, 3)), TypeError), ((x.astype("int32"), boxes, counts, 1), RuntimeError),
    ):  # fmt: skip
        with pytest.raises(error):
            f(*args)
    with pytest.raises(ValueError, match="multiple"):
        ops.psroi_pool(x, boxes, counts, 4)
