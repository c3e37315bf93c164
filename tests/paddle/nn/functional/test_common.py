import numpy as np
import pytest

import paddle
import paddle.nn.functional as F

RNG = np.random.default_rng(0)


def T(a):
    return paddle.to_tensor(a)


def test_linear(gradients_hold):
    x, w, b = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(4, 5)), RNG.normal(size=5)
    np.testing.assert_allclose(F.linear(T(x), T(w), T(b)).numpy(), x @ w + b)
    np.testing.assert_allclose(F.linear(T(x[0, 0]), T(w)).numpy(), x[0, 0] @ w)
    gradients_hold(F.linear, x, w, b)
    assert F.linear(paddle.zeros([0, 4]), paddle.ones([4, 5])).shape == [0, 5]
    with pytest.raises(ValueError, match="inner sizes differ"):
        F.linear(paddle.ones([2, 3]), paddle.ones([4, 3]))


# ---- padding ----
@pytest.mark.parametrize("mode, name", [("constant", "constant"), ("reflect", "reflect"), ("replicate", "edge"),
                                        ("circular", "wrap")])  # fmt: skip
def test_pad_modes(mode, name, gradients_hold):
    x = RNG.normal(size=(1, 2, 4, 5))
    want = np.pad(x, [(0, 0), (0, 0), (2, 0), (1, 3)], mode=name)
    np.testing.assert_array_equal(F.pad(T(x), [1, 3, 2, 0], mode).numpy(), want)
    last = F.pad(T(x.transpose(0, 2, 3, 1).copy()), [1, 3, 2, 0], mode, data_format="NHWC").numpy()
    np.testing.assert_array_equal(last.transpose(0, 3, 1, 2), want)
    gradients_hold(lambda t: F.pad(t, [1, 3, 2, 0], mode), x)


def test_pad_forms():
    x = np.arange(6.0).reshape(2, 3)
    same = lambda got, width, value=0.0: np.testing.assert_array_equal(  # noqa: E731
        got.numpy(), np.pad(x, width, constant_values=value)
    )
    same(F.pad(T(x), [1, 2]), [(0, 0), (1, 2)])
    same(F.pad(T(x), [1, 2, 3, 4]), [(1, 2), (3, 4)])
    same(F.pad(T(x), [1, 2, 3, 4], pad_from_left_axis=False), [(3, 4), (1, 2)])
    same(F.pad(T(x), [1, 1], value=7.0), [(0, 0), (1, 1)], 7.0)
    np.testing.assert_array_equal(F.pad(T(x), [-1, 0]).numpy(), x[:, 1:])
    ring = F.pad(T(np.arange(3.0).reshape(1, 1, 3)), [7, 5], "circular").numpy().ravel()
    np.testing.assert_array_equal(ring, np.pad(np.arange(3.0), (7, 5), mode="wrap"))
    assert F.zeropad2d(paddle.ones([1, 1, 2, 2]), [1, 2, 3, 4]).shape == [1, 1, 9, 5]


def test_pad_rejects():
    with pytest.raises(AssertionError, match="neither an integer nor a list"):
        F.pad(paddle.ones([2]), "a")
    with pytest.raises(AssertionError, match="mode: 'zz'"):
        F.pad(paddle.ones([2]), [1, 1], "zz")
    with pytest.raises(AssertionError, match="too few or too many axes"):
        F.pad(paddle.ones([2]), [1, 1], "reflect")
    with pytest.raises(ValueError, match="wrong length"):
        F.pad(paddle.ones([1, 1, 4]), [1, 1, 1], "reflect")
    with pytest.raises(ValueError, match="wider than the axis"):
        F.pad(paddle.ones([1, 1, 3]), [3, 0], "reflect")


# ---- dropout ----
def test_dropout():
    paddle.seed(1)
    x = paddle.ones([200, 50])
    x.stop_gradient = False
    y = F.dropout(x, 0.3)
    values = y.numpy()
    assert set(np.round(np.unique(values), 5)) == {0.0, np.float32(round(1 / 0.7, 5))}
    assert abs((values == 0).mean() - 0.3) < 0.02
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), values, rtol=1e-6)
    paddle.seed(1)
    np.testing.assert_array_equal(F.dropout(x, 0.3).numpy(), values)
    assert (F.dropout(x, 0.3).numpy() != values).any()
    same = F.dropout(x, 0.3, training=False)
    assert same is not x and (same.numpy() == 1).all()
    np.testing.assert_allclose(F.dropout(x, 0.3, training=False, mode="downscale_in_infer").numpy(), 0.7)
    assert set(np.unique(F.dropout(x, 0.3, mode="downscale_in_infer").numpy())) == {0.0, 1.0}
    assert (F.dropout(x, 1.0).numpy() == 0).all() and F.dropout(x, 0.0) is x


def test_dropout_of_axes_and_channels():
    x = paddle.ones([40, 30, 3, 2])
    rows = F.dropout(x, 0.5, axis=0).numpy()
    assert ((rows == rows[:, :1, :1, :1]).all()) and 0 < (rows == 0).mean() < 1
    channels = F.dropout2d(x, 0.5).numpy()
    assert (channels == channels[:, :, :1, :1]).all() and 0.3 < (channels == 0).mean() < 0.7
    last = F.dropout2d(x, 0.5, data_format="NHWC").numpy()
    assert (last == last[:, :1, :1, :]).all()
    assert F.dropout3d(paddle.ones([2, 3, 2, 2, 2])).shape == [2, 3, 2, 2, 2]
    assert F.dropout1d(paddle.ones([2, 3])).shape == [2, 3]


def test_alpha_dropout_keeps_mean_and_deviation():
    paddle.seed(3)
    x = paddle.randn([100_000])
    y = F.alpha_dropout(x, 0.3).numpy()
    assert abs(y.mean()) < 0.02 and abs(y.std() - 1) < 0.02
    assert F.feature_alpha_dropout(paddle.ones([4, 3, 2]), 0.5).shape == [4, 3, 2]


@pytest.mark.parametrize("change, kind, text", [
    (dict(p=1.5), ValueError, "p is out of range"),
    (dict(p="a"), TypeError, "p is not a number"),
    (dict(mode="zz"), ValueError, "mode is not known"),
    (dict(axis=5), ValueError, "no such axis"),
    (dict(axis="a"), TypeError, "axis is not an axis"),
    (dict(x=[1.0]), ValueError, "not a Tensor"),
])  # fmt: skip
def test_dropout_rejects(change, kind, text):
    with pytest.raises(kind, match=text):
        F.dropout(**(dict(x=paddle.ones([2, 2])) | change))


# ---- rearranging ----
def test_channels_and_pixels(gradients_hold):
    x = RNG.normal(size=(2, 8, 2, 3))
    y = F.pixel_shuffle(T(x), 2)
    want = x.reshape(2, 2, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 4, 6)
    np.testing.assert_array_equal(y.numpy(), want)
    np.testing.assert_array_equal(F.pixel_unshuffle(y, 2).numpy(), x)
    last = T(x.transpose(0, 2, 3, 1).copy())
    up = F.pixel_shuffle(last, 2, "NHWC")
    np.testing.assert_array_equal(F.pixel_unshuffle(up, 2, "NHWC").numpy(), last.numpy())
    order = F.channel_shuffle(T(np.arange(6.0).reshape(1, 6, 1, 1)), 2).flatten().tolist()
    assert order == [0, 3, 1, 4, 2, 5]
    gradients_hold(lambda t: F.pixel_shuffle(t, 2), x)
    with pytest.raises(ValueError, match="does not divide"):
        F.pixel_shuffle(T(x), 3)
    with pytest.raises(TypeError, match="not an integer"):
        F.pixel_shuffle(T(x), 1.5)


def test_unfold_and_fold(gradients_hold):
    x = RNG.normal(size=(2, 3, 5, 6))
    y = F.unfold(T(x), [2, 3], [1, 2], [1, 0], [2, 1]).numpy()
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0)])
    at = 0
    for i in range(5):
        for j in range(2):
            patch = padded[:, :, i : i + 3 : 2, 2 * j : 2 * j + 3]
            np.testing.assert_array_equal(y[:, :, at], patch.reshape(2, -1))
            at += 1
    assert at == y.shape[2]
    ones = F.fold(F.unfold(paddle.ones([1, 1, 4, 4]), 2, 2), [4, 4], 2, 2)
    assert (ones.numpy() == 1).all()
    gradients_hold(lambda t: F.unfold(t, 2, 1, 1), x)
    columns = RNG.normal(size=(1, 8, 9))
    gradients_hold(lambda t: F.fold(t, [4, 4], 2), columns)
    with pytest.raises(AssertionError, match="has not 4 axes"):
        F.unfold(paddle.ones([2, 2]), 2)
    with pytest.raises(ValueError, match="larger than the padded input"):
        F.unfold(T(x), 9)
    with pytest.raises(ValueError, match="does not fit the sizes"):
        F.fold(paddle.ones([1, 3, 4]), [2, 2], 2)


def test_bilinear_and_label_smooth(gradients_hold):
    x, y, w = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 4)), RNG.normal(size=(5, 2, 4))
    np.testing.assert_allclose(F.bilinear(T(x), T(y), T(w)).numpy(), np.einsum("ni,oij,nj->no", x, w, y))
    gradients_hold(F.bilinear, x, y, w)
    smooth = F.label_smooth(T(np.eye(4)), epsilon=0.2).numpy()
    np.testing.assert_allclose(smooth, np.eye(4) * 0.8 + 0.05)
    with pytest.raises(ValueError, match="epsilon"):
        F.label_smooth(T(np.eye(4)), epsilon=2)


# ---- indices ----
def test_embedding(gradients_hold):
    w, i = RNG.normal(size=(5, 3)), np.array([[0, 4], [2, 2]])
    np.testing.assert_array_equal(F.embedding(T(i), T(w)).numpy(), w[i])
    gradients_hold(lambda t: F.embedding(T(i), t), w)
    table = T(w)
    table.stop_gradient = False
    out = F.embedding(T(i), table, padding_idx=-3)
    assert (out.numpy()[1] == 0).all()
    out.sum().backward()
    np.testing.assert_array_equal(table.grad.numpy()[:, 0], [1, 0, 0, 0, 1])
    assert F.embedding(paddle.zeros([0], "int64"), T(w)).shape == [0, 3]
    assert F.embedding(T(3), T(w)).shape == [3]
    np.testing.assert_array_equal(F.embedding(T(i), T(w), sparse=True).numpy(), w[i])


def test_embedding_shortens_long_rows():
    w = T(np.array([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0]]))
    F.embedding(T([0, 1]), w, max_norm=1.0)
    np.testing.assert_allclose(w.numpy(), [[0.6, 0.8], [0.3, 0.4], [30, 40]], rtol=1e-6)


def test_embedding_by_frequency():
    w = paddle.ones([3, 2])
    w.stop_gradient = False
    F.embedding(T([0, 0, 1]), w, scale_grad_by_freq=True).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), [[1, 1], [1, 1], [0, 0]])


def test_bad_indices():
    w = T(np.ones((3, 2), "float32"))
    for bad in (-1, 3):
        with pytest.raises(ValueError, match=str(bad)):
            F.embedding(T([0, bad]), w)
        with pytest.raises(ValueError, match=str(bad)):  # not known at the call
            F.embedding(T([0, bad]) + 0, w).numpy()
        with pytest.raises(ValueError, match=str(bad)):
            F.one_hot(T([0, bad]) + 0, 3).numpy()
    with pytest.raises(NotImplementedError, match="index type"):
        F.embedding(T([0.5]), w)
    with pytest.raises(ValueError, match="no matrix"):
        F.embedding(T([0]), paddle.ones([3]))
    with pytest.raises(ValueError, match="padding_idx"):
        F.embedding(T([0]), w, padding_idx=3)


def test_one_hot():
    np.testing.assert_array_equal(F.one_hot(T([[1], [0]]), 3).numpy(), np.eye(3)[[[1], [0]]])
    assert F.one_hot(T([0, 2])).shape == [2, 3] and F.one_hot(T(1), 4).tolist() == [0, 1, 0, 0]
    assert F.one_hot(paddle.zeros([0], "int64"), 3).shape == [0, 3]
    with pytest.raises(ValueError, match="empty"):
        F.one_hot(paddle.zeros([0], "int64"))
    with pytest.raises(RuntimeError, match="index type"):
        F.one_hot(T([0.0]), 3)


def test_sequence_mask_and_gather_tree():
    assert F.sequence_mask(T([1, 3, 0])).tolist() == [[1, 0, 0], [1, 1, 1], [0, 0, 0]]
    assert F.sequence_mask(T([1]), 2, "float32").tolist() == [[1.0, 0.0]]
    ids = T(np.array([[[2, 2], [6, 1]], [[3, 9], [6, 1]], [[0, 1], [9, 0]]]))
    parents = T(np.array([[[0, 0], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1]]]))
    assert F.gather_tree(ids, parents).tolist() == [[[2, 2], [1, 6]], [[3, 3], [6, 1]], [[0, 1], [9, 0]]]
