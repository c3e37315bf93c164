"""PyLayer: operations whose gradient is Python."""

import numpy as np
import pytest

import paddle
from paddle.autograd import PyLayer


def leaf(values):
    return paddle.to_tensor(np.array(values, "float64"), stop_gradient=False)


class Cube(PyLayer):
    @staticmethod
    def forward(ctx, x, factor=1.0):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x * x * factor

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return g * 3.0 * x * x * ctx.factor


@pytest.mark.parametrize("repeat", range(3))
def test_forward_and_backward(repeat):
    x = leaf([1.0, 2.0])
    y = Cube.apply(x, factor=2.0)
    assert not y.stop_gradient and not y.is_leaf
    (y * 3.0).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [18.0, 72.0])


def test_in_the_middle_of_a_graph_and_over_a_flush():
    x = leaf([1.0, 2.0])
    y = Cube.apply(x * 2.0)
    y.numpy()
    z = Cube.apply(y + 0.0)
    z.numpy()
    z.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 9 * 8**3 * np.array([1.0, 2.0]) ** 8)


def test_second_order_through_backward():
    x = leaf([2.0])
    (g,) = paddle.grad(Cube.apply(x), x, create_graph=True)
    (h,) = paddle.grad(g, x)
    assert (g.item(), h.item()) == (12.0, 12.0)


class Two(PyLayer):
    @staticmethod
    def forward(ctx, a, k, b):
        ctx.save_for_backward(a, b)
        return a * b, k, a + b

    @staticmethod
    def backward(ctx, g1, g2):
        a, b = ctx.saved_tensor()
        return g1 * b + g2, g1 * a + g2


def test_several_inputs_and_outputs_some_not_tensors():
    a, b = leaf([2.0]), leaf([5.0])
    p, k, s = Two.apply(a, "text", b)
    assert k == "text"
    (p * 2.0 + s).sum().backward()
    assert (a.grad.item(), b.grad.item()) == (11.0, 5.0)


def test_missing_gradients_are_zeros_or_none():
    seen = []

    class Split(PyLayer):
        @staticmethod
        def forward(ctx, a, fill):
            ctx.set_materialize_grads(fill)
            return a * 1.0, a * 2.0

        @staticmethod
        def backward(ctx, g1, g2):
            seen.append(g2)
            return g1

    for fill in (True, False):
        x = leaf([1.0])
        Split.apply(x, fill)[0].sum().backward()
        assert x.grad.item() == 1.0
    assert seen[0].item() == 0.0 and seen[1] is None


def test_outputs_without_gradient():
    class Sign(PyLayer):
        @staticmethod
        def forward(ctx, a):
            positive = a > 0
            same = a * 1.0
            ctx.mark_non_differentiable(same)
            return a * 2.0, positive, same

        @staticmethod
        def backward(ctx, g, *rest):
            return g * 7.0

    x = leaf([1.0])
    out, positive, same = Sign.apply(x)
    assert positive.stop_gradient and same.stop_gradient
    out.sum().backward()
    assert x.grad.item() == 7.0


def test_an_input_given_back_is_another_tensor():
    class Same(PyLayer):
        @staticmethod
        def forward(ctx, a):
            ctx.mark_not_inplace(a)
            return a

        @staticmethod
        def backward(ctx, g):
            return g * 4.0

    x = leaf([3.0])
    y = Same.apply(x)
    assert y is not x and x.is_leaf
    (y + x).sum().backward()
    assert x.grad.item() == 5.0


def test_gradients_are_off_inside_and_none_is_a_gradient():
    modes = []

    class Off(PyLayer):
        @staticmethod
        def forward(ctx, a, b):
            modes.append(paddle.is_grad_enabled())
            return a + b

        @staticmethod
        def backward(ctx, g):
            modes.append(paddle.is_grad_enabled())
            return g, None

    a, b = leaf([1.0]), leaf([1.0])
    Off.apply(a, b).sum().backward()
    assert modes == [False, False] and paddle.is_grad_enabled()
    assert a.grad.item() == 1.0 and b.grad is None


def test_without_gradients_nothing_is_kept():
    with paddle.no_grad():
        assert Cube.apply(leaf([1.0])).stop_gradient
    assert Cube.apply(leaf([1.0]).detach()).stop_gradient


def test_the_graph_is_freed():
    x = leaf([1.0])
    y = Cube.apply(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        y.sum().backward()


@pytest.mark.parametrize(
    "given, kind, text",
    [
        (lambda g: (g, g), ValueError, "number of gradients"),
        (lambda g: g.sum(), ValueError, "another shape"),
        (lambda g: 3.0, TypeError, "not a Tensor"),
    ],
)
def test_bad_gradients(given, kind, text):
    class Bad(PyLayer):
        @staticmethod
        def forward(ctx, a):
            return a * 1.0

        @staticmethod
        def backward(ctx, g):
            return given(g)

    with pytest.raises(kind, match=text):
        Bad.apply(leaf([1.0, 2.0])).sum().backward()


def test_unwritten_methods():
    class Empty(PyLayer):
        pass

    with pytest.raises(NotImplementedError):
        Empty.apply(leaf([1.0]))


def test_an_error_in_forward_leaves_the_mode():
    class Broken(PyLayer):
        @staticmethod
        def forward(ctx, a):
            raise KeyError("no")

    with pytest.raises(KeyError):
        Broken.apply(leaf([1.0]))
    assert paddle.is_grad_enabled()


def test_once_differentiable_gives_constants():
    from paddle.autograd import once_differentiable

    class Once(PyLayer):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            (a,) = ctx.saved_tensor()
            return g * 2.0 * a

    x = leaf([3.0])
    (g,) = paddle.grad(Once.apply(x), x, create_graph=True)
    assert g.item() == 6.0 and g.stop_gradient
