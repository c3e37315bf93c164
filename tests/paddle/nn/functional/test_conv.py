import itertools

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F


def convolved(x, w, stride, pads, dilation, groups):
    """Plain loops over output places and kernel places."""
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    sizes = [
        (n - (k - 1) * d - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], w.shape[2:], stride, dilation)
    ]  # fmt: skip
    out = np.zeros((x.shape[0], w.shape[0], *sizes))
    inner, outer = w.shape[1], w.shape[0] // groups
    for z in itertools.product(*map(range, sizes)):
        for k in itertools.product(*map(range, w.shape[2:])):
            at = tuple(z[i] * stride[i] + k[i] * dilation[i] for i in range(rank))
            for g in range(groups):
                part = x[(slice(None), slice(g * inner, (g + 1) * inner), *at)]
                kernel = w[(slice(g * outer, (g + 1) * outer), slice(None), *k)]
                out[(slice(None), slice(g * outer, (g + 1) * outer), *z)] += part @ kernel.T
    return out


CASES = [
    # rank, sizes, kernel, stride, padding, dilation, groups
    (1, (7,), (3,), (1,), (1,), (1,), 1),
    (1, (9,), (3,), (2,), (0,), (2,), 1),
    (2, (6, 5), (3, 2), (1, 1), (1, 0), (1, 1), 1),
    (2, (7, 6), (3, 3), (2, 2), (1, 1), (1, 1), 2),
    (2, (7, 8), (2, 3), (3, 2), (0, 2), (2, 1), 1),
    (2, (5, 5), (3, 3), (1, 1), (1, 1), (1, 1), 4),
    (3, (4, 5, 3), (2, 2, 2), (1, 2, 1), (1, 0, 1), (1, 1, 1), 2),
]


@pytest.mark.parametrize("rank, sizes, kernel, stride, padding, dilation, groups", CASES)
def test_values_and_gradients(rank, sizes, kernel, stride, padding, dilation, groups, gradients_hold):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 4, *sizes)), rng.normal(size=(4, 4 // groups, *kernel))
    b = rng.normal(size=4)
    f = getattr(F, f"conv{rank}d")
    call = lambda x, w, b: f(x, w, b, list(stride), list(padding), list(dilation), groups)  # noqa: E731
    want = convolved(x, w, stride, [(p, p) for p in padding], dilation, groups) + b.reshape(1, -1, *[1] * rank)
    np.testing.assert_allclose(call(*map(paddle.to_tensor, (x, w, b))).numpy(), want, rtol=1e-9, atol=1e-9)
    gradients_hold(call, x, w, b)


@pytest.mark.parametrize("rank, sizes, kernel, stride, padding, dilation, groups", CASES)
def test_transpose_is_the_gradient_of_the_convolution(rank, sizes, kernel, stride, padding, dilation, groups,
                                                      gradients_hold):  # fmt: skip
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(2, 4, *sizes)), rng.normal(size=(4, 4 // groups, *kernel))
    forward = getattr(F, f"conv{rank}d")
    a = paddle.to_tensor(x)
    a.stop_gradient = False
    y = forward(a, paddle.to_tensor(w), None, list(stride), list(padding), list(dilation), groups)
    g = rng.normal(size=tuple(y.shape))
    y.backward(paddle.to_tensor(g))
    back = getattr(F, f"conv{rank}d_transpose")
    call = lambda g, w: back(g, w, None, list(stride), list(padding), groups=groups, dilation=list(dilation),  # noqa: E731
                             output_size=list(sizes))  # fmt: skip
    np.testing.assert_allclose(call(paddle.to_tensor(g), paddle.to_tensor(w)).numpy(), a.grad.numpy(), atol=1e-9)
    gradients_hold(call, g, w)


def test_forms_of_padding():
    x, w = paddle.rand([1, 2, 7, 6]), paddle.rand([3, 2, 3, 3])
    same = F.conv2d(x, w, padding=1).numpy()
    for form in ([1, 1], [1, 1, 1, 1], [[1, 1], [1, 1]], [[0, 0], [0, 0], [1, 1], [1, 1]], "SAME", "same"):
        np.testing.assert_allclose(F.conv2d(x, w, padding=form).numpy(), same, rtol=1e-5)
    assert F.conv2d(x, w, padding="SAME", stride=2).shape == [1, 3, 4, 3]
    assert F.conv2d(x, w, padding="VALID").shape == [1, 3, 5, 4]
    assert F.conv2d(x, w, padding=[1, 2, 0, 3]).shape == [1, 3, 8, 7]
    # upstream ignores the dilation with SAME
    np.testing.assert_allclose(F.conv2d(x, w, padding="SAME", dilation=2).numpy(), same, rtol=1e-5)


def test_channels_last():
    x, w, b = paddle.rand([2, 3, 6, 5]), paddle.rand([4, 3, 3, 2]), paddle.rand([4])
    want = F.conv2d(x, w, b).numpy()
    got = F.conv2d(paddle.to_tensor(x.numpy().transpose(0, 2, 3, 1).copy()), w, b, data_format="NHWC").numpy()
    np.testing.assert_allclose(got.transpose(0, 3, 1, 2), want, rtol=1e-5, atol=1e-6)


def test_empty_batch_and_16_bit():
    assert F.conv2d(paddle.zeros([0, 2, 5, 5]), paddle.ones([3, 2, 3, 3])).shape == [0, 3, 3, 3]
    for dtype in ("float16", "bfloat16"):
        out = F.conv2d(paddle.ones([1, 2, 4, 4]).astype(dtype), paddle.ones([3, 2, 3, 3]).astype(dtype))
        assert out.dtype is getattr(paddle, dtype) and (out.astype("float32").numpy() == 18).all()


def test_second_order():
    x, w = paddle.rand([1, 2, 4, 4], "float64"), paddle.rand([2, 2, 3, 3], "float64")
    x.stop_gradient = w.stop_gradient = False
    (g,) = paddle.grad((F.conv2d(x, w, padding=1) ** 2).sum(), x, create_graph=True)
    (h,) = paddle.grad((g * g).sum(), w)
    step, d = 1e-6, np.random.default_rng(0).normal(size=(2, 2, 3, 3))

    def value(v):
        w2 = paddle.to_tensor(v)
        x2 = paddle.to_tensor(x.numpy())
        x2.stop_gradient = False
        (g2,) = paddle.grad((F.conv2d(x2, w2, padding=1) ** 2).sum(), x2)
        return float((g2 * g2).sum())

    want = (value(w.numpy() + step * d) - value(w.numpy() - step * d)) / (2 * step)
    assert abs(float((h.numpy() * d).sum()) - want) < 1e-4 * abs(want)


@pytest.mark.parametrize("change, text", [
    (dict(x=paddle.ones([1, 2, 3])), "number of axes"),
    (dict(x=paddle.ones([1, 3, 5, 5])), "channels, weight and groups"),
    (dict(groups=3), "channels, weight and groups"),
    (dict(groups=0), "channels, weight and groups"),
    (dict(stride=0), "stride is not positive"),
    (dict(dilation=0), "dilation is not positive"),
    (dict(stride=[1, 1, 1]), "stride has the wrong length"),
    (dict(padding="zz"), "padding is not known"),
    (dict(padding=[1, 1, 1]), "padding has the wrong length"),
    (dict(padding=[[1, 0], [0, 0], [0, 0], [0, 0]]), "batch or the channels"),
    (dict(data_format="ZZ"), "data_format is not known"),
    (dict(x=np.ones(3)), "not a Tensor"),
    (dict(weight=paddle.ones([2, 2, 9, 9])), "larger than the padded input"),
    (dict(bias=paddle.ones([3])), "do not broadcast"),
    (dict(weight=paddle.ones([2, 2, 3, 3], "float64")), "element types"),
])  # fmt: skip
def test_bad_arguments(change, text):
    arguments = dict(x=paddle.ones([1, 2, 5, 5]), weight=paddle.ones([2, 2, 3, 3])) | change
    with pytest.raises(ValueError, match=text):
        F.conv2d(**arguments)


def test_what_has_no_shape():
    with pytest.raises(AttributeError, match="x is not a Tensor"):
        F.conv2d([1.0], paddle.ones([2, 2, 3, 3]))


def test_bad_output_sizes():
    x, w = paddle.ones([1, 2, 5, 5]), paddle.ones([2, 2, 3, 3])
    with pytest.raises(ValueError, match="cannot be reached"):
        F.conv2d_transpose(x, w, stride=2, output_size=[20, 20])
    with pytest.raises(ValueError, match="both given"):
        F.conv2d_transpose(x, w, stride=2, output_size=12, output_padding=1)
    with pytest.raises(ValueError, match="output_padding is out of range"):
        F.conv2d_transpose(x, w, stride=2, output_padding=2)
    with pytest.raises(RuntimeError, match="no kernel"):
        F.conv2d(x.astype("int32"), w.astype("int32"))
