"""What `grad` of a Tensor holds, and who may change it."""

import numpy as np
import pytest

import paddle


def leaf(*values):
    return paddle.to_tensor(values, stop_gradient=False)


@pytest.mark.parametrize("visits", [1, 2, 3])
def test_leaves_with_the_same_gradient_have_one_each(visits):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    for _ in range(visits):
        (x + y).sum().backward()
    assert x.grad.tolist() == y.grad.tolist() == [visits] * 2
    with paddle.no_grad():
        x.grad.scale_(10.0)
    assert x.grad.tolist() == [10.0 * visits] * 2 and y.grad.tolist() == [visits] * 2


def test_leaves_with_the_same_gradient_in_a_program_seen_before():
    for _ in range(4):
        x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
        for _ in range(2):
            (x + y).sum().backward()
        assert x.grad.tolist() == y.grad.tolist() == [2.0, 2.0]
        x.grad = y.grad = None
        loss = (x + y).sum()
        loss.numpy()
        loss.backward()
        (x + y).sum().backward()
        assert x.grad.tolist() == y.grad.tolist() == [2.0, 2.0]


def test_a_retained_gradient_is_not_that_of_what_it_came_from():
    x = leaf(1.0, 2.0)
    for _ in range(2):
        y = x + 1.0
        y.retain_grads()
        y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0] and x.grad.tolist() == [2.0, 2.0]


def test_a_gradient_of_the_user_is_not_added_to():
    x, g = leaf(1.0, 2.0), paddle.ones([2])
    for _ in range(2):
        paddle.autograd.backward([x + 0.0], [g])
    x.register_hook(lambda _: g)
    (x * 5).sum().backward()
    x.clear_gradient(False)
    (x * 5).sum().backward()
    (x * 5).sum().backward()
    assert g.tolist() == [1.0, 1.0] and x.grad.tolist() == [2.0, 2.0]


def test_a_gradient_takes_gradients():
    x = leaf(1.0, 2.0)
    for n in range(1, 3):
        (x * x).sum().backward()
        assert not x.grad.stop_gradient and x.grad.is_leaf
        y = x.grad * 3
        assert not y.stop_gradient
        y.sum().backward()
        assert x.grad.grad.tolist() == [3.0, 3.0]
        x.grad.grad = None
        assert x.grad.tolist() == [2.0 * n, 4.0 * n]
    with pytest.raises(ValueError, match="cannot be changed in place"):
        x.grad.scale_(0.5)
    x.clear_gradient()
    assert not x.grad.stop_gradient and x.grad.tolist() == [0.0, 0.0]


def test_gradients_of_two_leaves_that_are_equal_take_gradients_apart():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + y).sum().backward()
    (x.grad * 2 + y.grad * 3).sum().backward()
    assert x.grad.grad.tolist() == [2.0, 2.0] and y.grad.grad.tolist() == [3.0, 3.0]


def test_an_assigned_gradient_is_a_value_of_its_own():
    x, g = leaf(1.0, 2.0), paddle.ones([2])
    x.grad = g
    (x * 2).sum().backward()
    assert g.tolist() == [1.0, 1.0] and g.stop_gradient and x.grad.tolist() == [3.0, 3.0]
    x.grad = x.grad * 2
    assert x.grad.is_leaf and x.grad.tolist() == [6.0, 6.0]


def test_data_writes_through():
    w = leaf(1.0, 2.0)
    w.data[0] = 5.0
    assert w.tolist() == [5.0, 2.0] and not w.stop_gradient and w.is_leaf
    w.data.set_value(np.array([7.0, 8.0], "float32"))
    assert w.tolist() == [7.0, 8.0]
    w.data = paddle.to_tensor([1, 2, 3])
    assert w.tolist() == [1, 2, 3] and w.dtype == paddle.int64 and not w.stop_gradient
    with pytest.raises(ValueError, match="not a Tensor"):
        w.data = [1.0]


def test_gradients_go_on_through_a_leaf_whose_data_changed():
    w = leaf(1.0, 2.0)
    for _ in range(3):
        (w * w).sum().backward()
        w.data -= 0.5 * w.grad.data
        w.clear_gradient(False)
        assert w.tolist() == [0.0, 0.0]
        w.data = paddle.to_tensor([1.0, 2.0])


def test_second_derivatives_of_products_are_zeros_where_nothing_is_left():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    for made, other in ((lambda: x * y, [1.0, 1.0]), (lambda: x / y, [-1 / 9, -1 / 16])):
        (g,) = paddle.grad(made(), x, create_graph=True)
        (gxx,) = paddle.grad(g, x, retain_graph=True)
        (gxy,) = paddle.grad(g, y)
        assert gxx.tolist() == [0.0, 0.0]
        np.testing.assert_allclose(gxy.numpy(), other, rtol=1e-6)
    (g,) = paddle.grad(x * 2.0, x, create_graph=True)
    assert paddle.grad(g, x, allow_unused=True) == [None]


def test_the_gradient_given_to_backward_takes_the_type_of_its_tensor():
    x = leaf(1.0, 2.0)
    y = paddle.matmul(x.reshape([1, 2]), x.reshape([2, 1]))
    paddle.autograd.backward([y], [paddle.ones([1, 1], "float64")])
    assert x.grad.dtype == paddle.float32 and x.grad.tolist() == [2.0, 4.0]
