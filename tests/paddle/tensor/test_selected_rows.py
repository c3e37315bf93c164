"""Gradients by rows as users see them."""

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F

IDS = [[1, 2], [2, 5]]
WANT = np.zeros((10, 3), "float32")
WANT[[1, 2, 5]] = [[1] * 3, [2] * 3, [1] * 3]


@pytest.fixture
def table():
    return paddle.create_parameter([10, 3], "float32")


def total(g):
    """A gradient by rows as an array."""
    assert g.is_selected_rows() and not g.is_dense()
    out = np.zeros((10, 3), "float32")
    np.add.at(out, g.rows(), g.numpy())
    return out


def look_up(table, ids=IDS, **more):
    return F.embedding(paddle.to_tensor(ids), table, sparse=True, **more)


def test_what_it_looks_like(table):
    look_up(table).sum().backward()
    g = table.grad
    assert isinstance(g, paddle.Tensor) and g.is_selected_rows()
    assert g.shape == [4, 3] and g.rows() == [1, 2, 2, 5] and g.height == 10
    assert "rows=[1, 2, 2, 5]" in str(g) and "shape=[4, 3]" in repr(g)
    assert table.gradient()[1].tolist() == [1, 2, 2, 5]
    assert g.get_selected_rows().rows() == [1, 2, 2, 5]
    np.testing.assert_array_equal(total(g), WANT)


def test_elementwise_results_keep_the_rows(table):
    look_up(table).sum().backward()
    for h in (table.grad * 2.0, 2.0 * table.grad, table.grad / 0.5, -table.grad * -2.0):
        np.testing.assert_array_equal(total(h), 2 * WANT)
    assert table.grad.detach().is_selected_rows() and table.grad.clone().rows() == [1, 2, 2, 5]
    table.grad = paddle.exp(table.grad * 0.0)
    assert table.grad.is_selected_rows()


def test_later_backwards_add_rows(table):
    for i in range(3):
        look_up(table).sum().backward()
        np.testing.assert_array_equal(total(table.grad), (i + 1) * WANT)


def test_rows_and_dense_gradients_add_up(table):
    look_up(table).sum().backward()
    table.sum().backward()
    assert not table.grad.is_selected_rows()
    np.testing.assert_array_equal(table.grad.numpy(), WANT + 1)
    look_up(table).sum().backward()
    np.testing.assert_array_equal(table.grad.numpy(), 2 * WANT + 1)


@pytest.mark.parametrize("repeat", [1, 3])
def test_a_table_used_twice_and_a_tied_one(table, repeat):
    for _ in range(repeat):  # the second time is one step of the trie
        table.grad = None
        (look_up(table).sum() + look_up(table, [5, 7]).sum()).backward()
        want = WANT.copy()
        want[[5, 7]] += 1
        np.testing.assert_array_equal(total(table.grad), want)
        table.grad = None
        y = look_up(table)
        (y.sum() + paddle.matmul(paddle.ones([1, 3]), table, transpose_y=True).sum()).backward()
        np.testing.assert_array_equal(table.grad.numpy(), WANT + 1)


def test_backward_of_a_value_that_was_read(table):
    for _ in range(3):
        table.grad = None
        loss = (look_up(table) * 2.0).sum()
        float(loss)
        loss.backward()
        np.testing.assert_array_equal(total(table.grad), 2 * WANT)


def test_retain_graph(table):
    loss = look_up(table).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    np.testing.assert_array_equal(total(table.grad), 2 * WANT)


def test_indices_that_change_afterwards(table):
    for _ in range(2):
        table.grad = None
        ids = paddle.to_tensor([1, 2, 2, 5])
        F.embedding(ids, table, sparse=True).sum().backward()
        ids[:] = 0
        np.testing.assert_array_equal(total(table.grad), WANT)


def test_grad_gives_rows_too(table):
    (g,) = paddle.grad(look_up(table).sum(), [table])
    np.testing.assert_array_equal(total(g), WANT)
    assert table.grad is None


def test_higher_order(table):
    table.set_value(np.arange(30, dtype="float32").reshape(10, 3))
    (g,) = paddle.grad((look_up(table) ** 3).sum(), [table], create_graph=True)
    assert not g.stop_gradient
    paddle.to_tensor(1.0).numpy()
    g.numpy()  # the second order has to outlive a flush
    g.sum().backward()
    np.testing.assert_allclose(total(table.grad), 6 * table.numpy() * WANT, rtol=1e-6)


def test_a_table_that_was_computed_gets_a_dense_gradient(table):
    look_up(table * 2.0).sum().backward()
    assert not table.grad.is_selected_rows()
    np.testing.assert_array_equal(table.grad.numpy(), 2 * WANT)


def test_padding_takes_no_gradient(table):
    look_up(table, padding_idx=2).sum().backward()
    want = WANT.copy()
    want[2] = 0
    np.testing.assert_array_equal(total(table.grad), want)


def test_hooks(table):
    seen = []
    handle = table.register_hook(lambda g: seen.append(g.is_selected_rows()))
    look_up(table).sum().backward()
    handle.remove()
    table.grad = None
    table.register_hook(lambda g: paddle.nn.functional.relu(g) * 3.0)
    look_up(table).sum().backward()
    assert seen == [True]
    np.testing.assert_array_equal(total(table.grad), 3 * WANT)


@pytest.mark.parametrize("clear", ["clear_grad", "clear_gradient", "optimizer"])
def test_cleared_is_none(table, clear):
    look_up(table).sum().backward()
    if clear == "optimizer":
        paddle.optimizer.SGD(0.1, [table]).clear_grad()
    else:
        getattr(table, clear)()
    assert table.grad is None


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("shape", [(0,), (), (2, 0), (2, 3, 4)])
def test_shapes(table, shape, kind):
    ids = np.zeros(shape, kind)
    y = F.embedding(paddle.to_tensor(ids), table, sparse=True)
    assert y.shape == [*shape, 3]
    y.sum().backward()
    assert table.grad.rows() == [0] * ids.size and table.grad.shape == [ids.size, 3]


def test_clipping_sees_the_sum_of_a_row(table):
    look_up(table).sum().backward()
    norm = paddle.nn.utils.clip_grad_norm_([table], 1.0)
    np.testing.assert_allclose(float(norm), np.sqrt((WANT**2).sum()), rtol=1e-6)
    np.testing.assert_allclose(total(table.grad), WANT / float(norm), rtol=1e-5)
    table.grad = None
    look_up(table).sum().backward()
    paddle.nn.utils.clip_grad_value_([table], 1.5)
    np.testing.assert_array_equal(total(table.grad), np.minimum(WANT, 1.5))
    ((p, g),) = paddle.nn.ClipGradByNorm(0.5)([(table, table.grad)])
    assert p is table
    np.testing.assert_allclose(np.linalg.norm(total(g)), 0.5, rtol=1e-5)


def test_a_bad_index_is_an_error(table):
    with pytest.raises((ValueError, IndexError), match="out of range"):
        look_up(table, [3, 10])
    ids = paddle.to_tensor([3, 9]) + 1  # not known at the call
    loss = F.embedding(ids, table, sparse=True).sum()
    loss.backward()
    with pytest.raises(IndexError, match="10"):
        float(loss)
    look_up(table).sum().backward()
    np.testing.assert_array_equal(total(table.grad), WANT)
