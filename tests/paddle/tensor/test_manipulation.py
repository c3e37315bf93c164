import numpy as np
import pytest

import paddle

X = np.arange(24, dtype="float32").reshape(2, 3, 4)


def t(a=X, grad=False):
    return paddle.to_tensor(a, stop_gradient=not grad)


@pytest.mark.parametrize(
    "shape, want",
    [([6, 4], (6, 4)), ([0, -1], (2, 12)), ([-1], (24,)), ([4, 0, -1], (4, 3, 2)), ((2, 12), (2, 12)), (24, (24,))],
)
def test_reshape(shape, want):
    assert np.array_equal(paddle.reshape(t(), shape).numpy(), X.reshape(want))


def test_reshape_takes_sizes_one_by_one():
    assert t().reshape(6, 4).shape == [6, 4]
    assert t().reshape(paddle.to_tensor([4, 6])).shape == [4, 6]


@pytest.mark.parametrize("shape", [[5], [-1, -1], [7, -1], [2, -3], [2, 3, 4, 0]])
def test_reshape_rejects(shape):
    with pytest.raises(ValueError, match="reshape"):
        paddle.reshape(t(), shape)


def test_reshape_in_place():
    x = t()
    assert x.reshape_([24]) is x and x.shape == [24]
    with pytest.raises(ValueError, match="leaf"):
        t(grad=True).reshape_([24])


def test_empty_shapes():
    x = paddle.zeros([0, 3])
    assert x.reshape([0, -1]).shape == [0, 3] and x.reshape([3, 0]).shape == [3, 0]
    assert x.reshape([-1]).shape == [0] and x.reshape([3, -1]).shape == [3, 0]
    assert x.transpose([1, 0]).shape == [3, 0]
    assert paddle.concat([x, x]).shape == [0, 3]
    assert x.flip(0).shape == [0, 3] and x.roll(1).shape == [0, 3] and x.tile([2, 2]).shape == [0, 6]


@pytest.mark.parametrize("axes, want", [((0, -1), (24,)), ((1, 2), (2, 12)), ((0, 1), (6, 4)), ((1, 1), (2, 3, 4))])
def test_flatten(axes, want):
    assert paddle.flatten(t(), *axes).shape == list(want)


def test_squeeze_and_unsqueeze():
    x = paddle.ones([1, 2, 1])
    assert x.squeeze().shape == [2] and x.squeeze(0).shape == [2, 1] and x.squeeze([0, 1]).shape == [2, 1]
    assert x.unsqueeze([0, -1]).shape == [1, 1, 2, 1, 1]
    assert paddle.to_tensor(1.0).squeeze().shape == []
    for axis in (3, -4):
        with pytest.raises(ValueError, match="no such axis"):
            x.squeeze(axis)


def test_transpose():
    assert np.array_equal(t().transpose([2, 0, 1]).numpy(), X.transpose(2, 0, 1))
    assert np.array_equal(t().transpose(0, -1).numpy(), X.swapaxes(0, -1))
    assert np.array_equal(paddle.transpose(t(), dim0=0, dim1=1).numpy(), X.swapaxes(0, 1))
    assert np.array_equal(t().T.numpy(), X.T)
    assert np.array_equal(t().mT.numpy(), X.swapaxes(-1, -2))
    assert np.array_equal(paddle.moveaxis(t(), [0, 1], [2, 0]).numpy(), np.moveaxis(X, [0, 1], [2, 0]))
    with pytest.raises(ValueError, match="permutation"):
        t().transpose([0, 0, 1])


def test_concat_and_stack():
    a, b = X[:, :1], X[:, 1:]
    assert np.array_equal(paddle.concat([t(a), t(b)], 1).numpy(), X)
    assert np.array_equal(paddle.stack([t(), t()], -1).numpy(), np.stack([X, X], -1))
    assert np.array_equal(paddle.hstack([t(), t()]).numpy(), np.hstack([X, X]))
    assert np.array_equal(paddle.vstack([t([1]), t([2])]).numpy(), np.vstack([[1], [2]]))
    assert np.array_equal(paddle.column_stack([t([1, 2]), t([3, 4])]).numpy(), np.column_stack([[1, 2], [3, 4]]))


@pytest.mark.parametrize(
    "xs",
    [[], "a", [np.ones(2)], [paddle.ones([2]), paddle.ones([2], "int64")], [paddle.ones([2]), paddle.ones([2, 2])]],
)
def test_concat_rejects(xs):
    with pytest.raises(ValueError):
        paddle.concat(xs)


def test_split():
    for got, want in (
        (paddle.split(t(), 3, 1), np.split(X, 3, 1)),
        (paddle.split(t(), [1, -1], -1), np.split(X, [1], -1)),
        (paddle.chunk(t(), 2), np.split(X, 2)),
        (paddle.tensor_split(t(), 3, 2), np.array_split(X, 3, 2)),
        (paddle.tensor_split(t(), [1, 3], 2), np.split(X, [1, 3], 2)),
        (paddle.unbind(t(), 1), list(X.transpose(1, 0, 2))),
    ):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            assert np.array_equal(g.numpy(), w)
    for bad in (5, [1, 1], 0):
        with pytest.raises(ValueError):
            paddle.split(t(), bad, 1)


def test_gradients_of_joining_and_splitting():
    x = t(grad=True)
    a, b, c = paddle.split(x, 3, 1)
    (paddle.concat([c * 3.0, a], 1) * 2.0).backward()
    want = np.zeros_like(X)
    want[:, 0], want[:, 2] = 2, 6
    assert np.array_equal(x.grad.numpy(), want)


def test_tile_and_expand():
    assert np.array_equal(paddle.tile(t(), [2, 1, 2]).numpy(), np.tile(X, [2, 1, 2]))
    assert np.array_equal(paddle.tile(t(), 2).numpy(), np.tile(X, 2))
    assert paddle.ones([3]).tile(0).shape == [0]
    assert paddle.ones([1, 3]).expand([2, -1]).shape == [2, 3]
    assert paddle.ones([3]).expand(2, 3).shape == [2, 3]
    for shape in ([4], [-1, 3]):
        with pytest.raises(ValueError, match="broadcast"):
            paddle.ones([3]).expand(shape)
    x = paddle.ones([1, 3])
    x.stop_gradient = False
    x.expand([4, 3]).tile([2, 1]).backward()
    assert x.grad.tolist() == [[8.0] * 3]


def test_repeat_interleave():
    assert np.array_equal(paddle.repeat_interleave(t(), 2, 1).numpy(), np.repeat(X, 2, 1))
    assert np.array_equal(
        paddle.repeat_interleave(t(), paddle.to_tensor([0, 2, 1]), 1).numpy(), np.repeat(X, [0, 2, 1], 1)
    )
    assert np.array_equal(paddle.repeat_interleave(t(), 2).numpy(), np.repeat(X, 2))
    with pytest.raises(ValueError):
        paddle.repeat_interleave(t(), -1)


def test_flip_roll_rot90():
    assert np.array_equal(paddle.flip(t(), [0, 2]).numpy(), np.flip(X, (0, 2)))
    assert np.array_equal(paddle.roll(t(), 5).numpy(), np.roll(X, 5))
    assert np.array_equal(paddle.roll(t(), [1, -2], [0, 2]).numpy(), np.roll(X, [1, -2], [0, 2]))
    for k in range(-1, 5):
        assert np.array_equal(paddle.rot90(t(), k, [0, 2]).numpy(), np.rot90(X, k, (0, 2)))
    with pytest.raises(ValueError):
        paddle.flip(t(), [0, 0])


def test_slices():
    assert np.array_equal(paddle.slice(t(), [0, 2], [0, -3], [1, 9]).numpy(), X[0:1, :, -3:9])
    assert np.array_equal(paddle.strided_slice(t(), [2], [3], [0], [-2]).numpy(), X[:, :, 3:0:-2])
    assert np.array_equal(paddle.crop(t(), [1, -1, 2], [1, 1, 0]).numpy(), X[1:2, 1:, :2])
    assert np.array_equal(paddle.narrow(t(), 1, 1, 2).numpy(), X[:, 1:3])
    assert np.array_equal(
        paddle.unfold(t(np.arange(5)), 0, 3, 1).numpy(), np.lib.stride_tricks.sliding_window_view(np.arange(5), 3)
    )
    assert paddle.as_strided(t(np.arange(6)), [2, 2], [1, 2], 8).tolist() == [[1, 3], [2, 4]]
    with pytest.raises(ValueError):
        paddle.as_strided(t(np.arange(6)), [4], [2])


def test_view():
    assert paddle.view(t(), [24]).shape == [24] and t().view(2, 12).shape == [2, 12]
    assert np.array_equal(paddle.view(t(), "int32").numpy(), X.view("int32"))
    assert paddle.view(t(), "uint8").shape == [2, 3, 16]


def test_diagonals():
    m = X[0]
    for k in (-2, -1, 0, 1, 3, 9):
        assert np.array_equal(paddle.diagonal(t(m), k).numpy(), np.diagonal(m, k))
        assert np.array_equal(paddle.diagonal(t(), k, 0, 2).numpy(), np.diagonal(X, k, 0, 2))
    for k in (-1, 0, 2):
        assert np.array_equal(paddle.diag(t(np.array([1, 2])), k).numpy(), np.diag([1, 2], k))
    assert paddle.diag(t([1.0, 2.0]), 1, 7.0).tolist() == [[7, 1, 7], [7, 7, 2], [7, 7, 7]]
    assert paddle.diag_embed(t(), 1, 0, 2).shape == [5, 2, 5, 3]
    x = paddle.zeros([5, 2])
    x.fill_diagonal_(2.0, wrap=True)
    want = np.zeros((5, 2))
    np.fill_diagonal(want, 2.0, wrap=True)
    assert np.array_equal(x.numpy(), want)


def test_numbers_are_stacked_too():
    assert paddle.atleast_1d([1.0, 2.0]).tolist() == [1.0, 2.0]
    assert paddle.hstack([1.0, 2.0]).tolist() == [1.0, 2.0]
    assert paddle.vstack([1.0, 2.0]).tolist() == [[1.0], [2.0]]
    with pytest.raises(TypeError, match="x is not a list"):
        paddle.hstack(3)


@pytest.mark.parametrize(("name", "kind"), [("t", AttributeError), ("unbind", AttributeError), ("rank", AttributeError),
                                            ("numel", ValueError), ("shape", ValueError)])  # fmt: skip
def test_kinds_of_errors_for_what_is_no_tensor(name, kind):
    with pytest.raises(kind, match="is not a Tensor"):
        getattr(paddle, name)([1.0, 2.0])
