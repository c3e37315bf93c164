import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from paddle.vision.ops import DeformConv2D, deform_conv2d

RNG = np.random.default_rng(0)


def normal(*shape):
    return paddle.to_tensor(RNG.normal(size=shape).astype("float32"), stop_gradient=False)


@pytest.mark.parametrize("stride, padding, dilation, groups", [(1, 0, 1, 1), (2, 1, 1, 2), ((1, 2), (2, 0), 2, 1)])
def test_without_offsets_it_is_a_convolution(stride, padding, dilation, groups):
    x, weight, bias = normal(2, 4, 7, 8), normal(6, 4 // groups, 3, 2), normal(6)
    expected = F.conv2d(x, weight, bias, stride, padding, dilation, groups)
    n, _, p, q = expected.shape
    offset = paddle.zeros([n, 2 * 2 * 6, p, q])
    mask = paddle.full([n, 2 * 6, p, q], 0.5)
    out = deform_conv2d(x, offset, weight, bias, stride, padding, dilation, 2, groups)
    np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-4, atol=1e-4)
    half = deform_conv2d(x, offset, weight, None, stride, padding, dilation, 2, groups, mask)
    np.testing.assert_allclose(2 * half.numpy(), (expected - bias.reshape([1, 6, 1, 1])).numpy(), rtol=1e-4, atol=1e-4)


def test_offsets_move_what_is_read():
    x = normal(1, 2, 6, 6)
    one = paddle.ones([1, 2, 1, 1])
    offset = np.zeros((1, 4, 6, 6), "float32")
    offset[:, 0], offset[:, 3] = 1.5, -2.0  # the first channel half way below, the second two to the left
    out = deform_conv2d(x, paddle.to_tensor(offset), one, deformable_groups=2).numpy()[0, 0]
    a, b = x.numpy()[0]
    assert out[1, 3] == pytest.approx((a[2, 3] + a[3, 3]) / 2 + b[1, 1], abs=1e-6)
    assert out[4, 0] == pytest.approx(a[5, 0] / 2, abs=1e-6) and out[5, 1] == 0  # outside is 0
    assert not deform_conv2d(x, paddle.full([1, 2, 6, 6], 1e30), one).numpy().any()


def test_gradients():
    inputs = [normal(1, 2, 5, 5), normal(1, 8, 4, 4), normal(3, 2, 2, 2), normal(1, 4, 4, 4)]
    f = lambda x, o, w, m: deform_conv2d(x, o, w, mask=m)  # noqa: E731
    weights = RNG.normal(size=(1, 3, 4, 4)).astype("float32")
    (f(*inputs) * paddle.to_tensor(weights)).sum().backward()
    for i, t in enumerate(inputs):
        step = RNG.normal(size=t.shape) * 1e-4
        values = []
        for sign in (1, -1):
            moved = [paddle.to_tensor(v.numpy().astype("float64")) for v in inputs]
            moved[i] = moved[i] + paddle.to_tensor(sign * step)
            values.append((f(*moved).numpy() * weights).sum())
        assert (values[0] - values[1]) / 2 == pytest.approx((t.grad.numpy() * step).sum(), rel=1e-3, abs=1e-6)


def test_layer():
    layer = DeformConv2D(4, 6, (3, 2), stride=2, padding=1, deformable_groups=2, groups=2, bias_attr=False)
    assert layer.weight.shape == [6, 2, 3, 2] and layer.bias is None
    assert DeformConv2D(4, 6, 1).bias.shape == [6]
    x, offset = normal(1, 4, 8, 8), normal(1, 24, 4, 5)
    expected = deform_conv2d(x, offset, layer.weight, None, 2, 1, 1, 2, 2)
    np.testing.assert_array_equal(layer(x, offset).numpy(), expected.numpy())
    with pytest.raises(ValueError, match="divide"):
        DeformConv2D(3, 4, 1, groups=2)
    with pytest.raises(AssertionError, match="weight_attr"):
        DeformConv2D(3, 4, 1, weight_attr=False)


def test_rejects():
    x, offset, weight = normal(1, 2, 6, 6), normal(1, 18, 4, 4), normal(3, 2, 3, 3)
    for args, kwargs, error in (
        ((x, offset[:, :9], weight), {}, ValueError), ((x, offset, weight), {"groups": 2}, ValueError),
        ((x, offset, weight), {"stride": 2.5}, TypeError), ((x, offset, weight), {"mask": offset}, ValueError),
        ((x[0], offset, weight), {}, ValueError), ((x, offset, weight.numpy()), {}, TypeError),
    ):  # fmt: skip
        with pytest.raises(error):
            deform_conv2d(*args, **kwargs)
