import numpy as np
import pytest

import paddle

X = np.arange(60, dtype="float32").reshape(3, 4, 5)

BASIC = [
    0, -1, (0, 1), (2, 3, -5), slice(None), slice(1, 3), slice(None, None, -1), slice(2, 0, -1), slice(5, 9),
    (slice(None), 1), (slice(None), slice(1, None, 2)), (..., 0), (0, ...), ..., None, (None, 0),
    (slice(None), None, 1), (slice(None, None, -2), slice(3, None, -1), slice(None, None, 3)), (slice(0, 0),),
    (0, slice(0, 0)), (), (np.int64(1), slice(None)), (..., None), (1, None, ..., slice(1, 2)),
]  # fmt: skip

ADVANCED = [
    [0, 2], [], ([0, 2], [1, 1]), (slice(None), [0, 3]), (..., [0, -1]), ([[0, 1], [2, 0]],),
    ([0, 1], slice(None), [1, 4]), (slice(None), [0, 1], [2, 3]), ([[0], [2]], [1, 3]), [True, False, True],
    (slice(None), [True, False, True, True]), X[:, :, 0] > 20, X > 30, (slice(1, None), [0, 2], slice(None, None, 2)),
    np.array([1, 2]), np.array(2),
]  # fmt: skip


def as_key(key):
    """Arrays in a key as Tensors."""
    if isinstance(key, tuple):
        return tuple(as_key(k) for k in key)
    return paddle.to_tensor(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("key", BASIC + ADVANCED, ids=lambda k: repr(k)[:40])
@pytest.mark.parametrize("deferred", [False, True])
def test_getitem_is_numpys(key, deferred):
    x = paddle.to_tensor(X)
    x = x + 0.0 if deferred else x
    want = X[np.array(key, int) if isinstance(key, list) and not key else key]
    got = x[as_key(key)]
    assert got.shape == list(want.shape)
    assert np.array_equal(got.numpy(), want)


@pytest.mark.parametrize("key", BASIC + ADVANCED, ids=lambda k: repr(k)[:40])
def test_setitem_is_numpys(key):
    where = np.array(key, int) if isinstance(key, list) and not key else key
    value = np.random.default_rng(0).normal(size=X[where].shape).astype("float32")
    for v in (value, 7.0):
        want, x = X.copy(), paddle.to_tensor(X)
        want[where] = v
        x[as_key(key)] = paddle.to_tensor(v) if isinstance(v, np.ndarray) else v
        assert np.array_equal(x.numpy(), want)


def test_an_integer_beside_a_list_is_applied_first():
    x = paddle.to_tensor(X)
    assert np.array_equal(x[0, :, [0, 1]].numpy(), X[0][:, [0, 1]])


@pytest.mark.parametrize("key", [(1, slice(None, None, 2)), [0, 2, 0], (slice(None), [1, 1, 3]), np.array([[1], [1]])])
def test_gradient_of_getitem(key):
    x = paddle.to_tensor(X, stop_gradient=False)
    (x[as_key(key)] * 2.0).backward()
    want = np.zeros_like(X)
    np.add.at(want, key, 2.0)
    assert np.array_equal(x.grad.numpy(), want)


def test_gradient_of_setitem():
    x = paddle.to_tensor(X, stop_gradient=False)
    v = paddle.to_tensor(np.ones(5, "float32"), stop_gradient=False)
    y = x * 1.0
    y[1] = v
    y.backward()
    want = np.ones_like(X)
    want[1] = 0
    assert np.array_equal(x.grad.numpy(), want)
    assert v.grad.tolist() == [4.0] * 5


def test_a_change_of_a_part_changes_the_whole():
    x = paddle.zeros([2, 3])
    x[1][2] = 5.0
    part = x[0]
    part.fill_(1.0)
    assert x.tolist() == [[1.0, 1.0, 1.0], [0.0, 0.0, 5.0]]


def test_masks_with_values():
    x = paddle.to_tensor([1.0, -2.0, 3.0])
    x[x < 0] = -x[x < 0]
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_true_and_false_make_an_axis():
    x = paddle.to_tensor(X)
    assert x[True].shape == [1, 3, 4, 5] and x[False].shape == [0, 3, 4, 5]


def test_tensor_of_no_axis_as_index():
    x, i = paddle.to_tensor(X), paddle.to_tensor(1)
    assert np.array_equal(x[i].numpy(), X[1])
    assert np.array_equal(x[i:].numpy(), X[1:])


@pytest.mark.parametrize("key", [3, -4, (0, 4), (0, 0, 0, 0), [3], np.array([True, False])])
def test_out_of_range(key):
    with pytest.raises(IndexError):
        paddle.to_tensor(X)[key].numpy()


def test_out_of_range_at_the_flush_leaves_the_engine_usable():
    y = paddle.to_tensor(X)[paddle.to_tensor([0, 9])]
    with pytest.raises(IndexError, match="9"):
        y.numpy()
    assert paddle.to_tensor(X)[0, 0, 1].item() == 1.0


@pytest.mark.parametrize("key", ["a", 1.5, (..., ...), slice(None, None, 0), np.array([1.5])])
def test_what_is_no_index(key):
    with pytest.raises(ValueError):
        paddle.to_tensor(X)[key]


def test_values_that_do_not_fit():
    x = paddle.zeros([3])
    with pytest.raises(ValueError, match="does not fit"):
        x[:] = paddle.ones([2])
    with pytest.raises(ValueError, match="no value"):
        x[0] = "a"
    leaf = paddle.to_tensor([1.0], stop_gradient=False)
    with pytest.raises(ValueError, match="leaf"):
        leaf[0] = 2.0


def test_rows_do_not_share_memory_with_what_is_computed_from_them():
    x = paddle.to_tensor(X)
    row = x[1]
    for _ in range(3):
        row = row * 2.0
        row.numpy()
    assert np.array_equal(x.numpy(), X)
