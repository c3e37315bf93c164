import itertools

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F

RNG = np.random.default_rng(0)


def T(a):
    return paddle.to_tensor(a)


def resized(row, out, kind, align_corners, align_mode=0, scale=0.0):
    """One row resized, element by element."""
    n = len(row)
    result = []
    ratio = ((n - 1) / (out - 1) if out > 1 else 0.0) if align_corners else (1 / scale if scale else n / out)
    for z in range(out):
        if kind == "nearest":
            result.append(row[min(int(ratio * z), n - 1)])
            continue
        at = ratio * z if align_corners or (kind == "linear" and align_mode) else ratio * (z + 0.5) - 0.5
        if kind == "linear":
            at = max(at, 0.0)
            low = min(int(at), n - 1)
            share = at - low
            result.append(row[low] * (1 - share) + row[min(low + 1, n - 1)] * share)
        else:
            low = int(np.floor(at))
            total = 0.0
            for k in range(-1, 3):
                d = abs(at - (low + k))
                a = -0.75
                w = ((a + 2) * d - (a + 3)) * d * d + 1 if d <= 1 else ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                total += w * row[min(max(low + k, 0), n - 1)]
            result.append(total)
    return np.array(result)


@pytest.mark.parametrize("out", [3, 5, 8])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("mode", ["linear", "bilinear", "bicubic"])
def test_smooth_modes(out, align_corners, mode, gradients_hold):
    kind = "cubic" if mode == "bicubic" else "linear"
    x = RNG.normal(size=(2, 1, 4) if mode == "linear" else (1, 2, 4, 5))
    size = [out] if mode == "linear" else [out, 7]
    got = F.interpolate(T(x), size, mode=mode, align_corners=align_corners).numpy()
    want = x
    for axis, n in enumerate(size, 2):
        want = np.apply_along_axis(resized, axis, want, n, kind, align_corners)
    np.testing.assert_allclose(got, want, atol=1e-6)
    gradients_hold(lambda t: F.interpolate(t, size, mode=mode, align_corners=align_corners), x)


def test_other_modes(gradients_hold):
    x = RNG.normal(size=(1, 2, 4, 6))
    near = F.interpolate(T(x), scale_factor=2).numpy()
    np.testing.assert_array_equal(near, x.repeat(2, 2).repeat(2, 3))
    gradients_hold(lambda t: F.interpolate(t, scale_factor=[1.5, 2.0]), x)
    points = F.interpolate(T(x), [4, 3], mode="bilinear", align_mode=1).numpy()
    np.testing.assert_allclose(points, np.apply_along_axis(resized, 3, x, 3, "linear", False, 1), atol=1e-6)
    area = F.interpolate(T(x), [2, 3], mode="area").numpy()
    np.testing.assert_allclose(area, x.reshape(1, 2, 2, 2, 3, 2).mean((3, 5)))
    last = F.interpolate(T(x.transpose(0, 2, 3, 1).copy()), [5, 5], mode="bilinear", data_format="NHWC").numpy()
    want = F.upsample(T(x), [5, 5], mode="bilinear").numpy()
    np.testing.assert_allclose(last.transpose(0, 3, 1, 2), want)
    volume = RNG.normal(size=(1, 1, 2, 3, 4))
    assert F.interpolate(T(volume), [3, 3, 3], mode="trilinear").shape == [1, 1, 3, 3, 3]
    assert F.interpolate(paddle.ones([1, 1, 2, 2], "uint8"), [4, 4]).dtype is paddle.uint8


@pytest.mark.parametrize("change, kind, text", [
    (dict(size=None), ValueError, "neither size nor scale_factor"),
    (dict(scale_factor=2), ValueError, "both given"),
    (dict(mode="zz"), ValueError, "mode is not known"),
    (dict(mode="linear"), ValueError, "does not go with the axes"),
    (dict(align_corners=True), ValueError, "align_corners"),
    (dict(size=[2]), ValueError, "wrong length"),
    (dict(size=[0, 2]), AssertionError, "not positive"),
    (dict(size=5), TypeError, "not a list"),
    (dict(size=None, scale_factor=-1), ValueError, "not positive"),
    (dict(data_format="ZZ"), ValueError, "data_format"),
    (dict(align_mode=2), ValueError, "align_mode"),
    (dict(x=paddle.ones([1, 1, 4, 4], "int32"), mode="bilinear"), RuntimeError, "no kernel"),
])  # fmt: skip
def test_interpolate_rejects(change, kind, text):
    with pytest.raises(kind, match=text):
        F.interpolate(**(dict(x=paddle.ones([1, 1, 4, 4]), size=[2, 2]) | change))


# ---- sampling ----
def sampled(x, grid, mode, padding, align):
    n, c, h, w = x.shape
    out = np.zeros((n, c, *grid.shape[1:3]))

    def place(v, size):
        at = (v + 1) / 2 * (size - 1) if align else ((v + 1) * size - 1) / 2
        if padding == "border":
            return min(max(at, 0), size - 1)
        if padding == "reflection":
            low, span = (0, size - 1) if align else (-0.5, size)
            at = abs(at - low) % (2 * span)
            at = low + (at if at <= span else 2 * span - at)
            return min(max(at, 0), size - 1)
        return at

    def read(i, j, k):
        return x[i, :, int(j), int(k)] if 0 <= j < h and 0 <= k < w else 0.0

    for i, r, s in itertools.product(range(n), *map(range, grid.shape[1:3])):
        a, b = place(grid[i, r, s, 1], h), place(grid[i, r, s, 0], w)
        if mode == "nearest":
            out[i, :, r, s] = read(i, np.rint(a), np.rint(b))
            continue
        j, k = np.floor(a), np.floor(b)
        for dj, dk in itertools.product((0, 1), repeat=2):
            weight = (1 - abs(a - (j + dj))) * (1 - abs(b - (k + dk)))
            out[i, :, r, s] += weight * read(i, j + dj, k + dk)
    return out


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [True, False])
def test_grid_sample(mode, padding, align, gradients_hold):
    x, grid = RNG.normal(size=(2, 3, 4, 5)), RNG.uniform(-1.4, 1.4, (2, 3, 2, 2))
    call = lambda a, g: F.grid_sample(a, g, mode, padding, align)  # noqa: E731
    np.testing.assert_allclose(call(T(x), T(grid)).numpy(), sampled(x, grid, mode, padding, align), atol=1e-9)
    if mode == "bilinear":
        gradients_hold(call, x, grid)
    else:
        gradients_hold(lambda a: call(a, T(grid)), x)


def test_grid_sample_of_volumes_and_nan():
    x = RNG.normal(size=(1, 2, 3, 4, 5))
    theta = np.eye(3, 4)[None]
    grid = F.affine_grid(T(theta), [1, 2, 3, 4, 5])
    np.testing.assert_allclose(F.grid_sample(T(x), grid).numpy(), x, atol=1e-9)
    bad = F.grid_sample(paddle.ones([1, 1, 2, 2]), paddle.full([1, 1, 1, 2], float("nan"))).numpy()
    assert np.isnan(bad).all() or (bad == 0).all()  # no read outside


def test_affine_grid(gradients_hold):
    theta = np.array([[[1.0, 0.0, 0.5], [0.0, -1.0, 0.0]]])
    grid = F.affine_grid(T(theta), [1, 1, 2, 3]).numpy()
    np.testing.assert_allclose(grid[0, 0], [[-0.5, 1.0], [0.5, 1.0], [1.5, 1.0]])
    outer = F.affine_grid(T(theta), [1, 1, 2, 3], align_corners=False).numpy()
    np.testing.assert_allclose(outer[0, 0, 0], [-2 / 3 + 0.5, 0.5])
    gradients_hold(lambda t: F.affine_grid(t, [1, 1, 2, 3]), theta)
    with pytest.raises(ValueError, match="do not fit"):
        F.affine_grid(T(theta), [1, 1, 2])
    with pytest.raises(ValueError, match="do not fit"):
        F.grid_sample(paddle.ones([1, 1, 3, 3]), paddle.ones([1, 2, 2, 3]))


def test_temporal_shift(gradients_hold):
    x = RNG.normal(size=(4, 4, 1, 1))
    v = x.reshape(2, 2, 4)
    want = np.zeros_like(v)
    want[:, 1, 0], want[:, 0, 1], want[:, :, 2:] = v[:, 0, 0], v[:, 1, 1], v[:, :, 2:]
    np.testing.assert_array_equal(F.temporal_shift(T(x), 2).numpy().reshape(2, 2, 4), want)
    gradients_hold(lambda t: F.temporal_shift(t, 2), x)
    with pytest.raises(ValueError, match="seg_num"):
        F.temporal_shift(T(x), 3)
    with pytest.raises(ValueError, match="shift_ratio"):
        F.temporal_shift(T(x), 2, 0.6)
