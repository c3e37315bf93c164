"""jacobian, hessian, modes, saved_tensors_hooks, arguments of grad and backward."""

import numpy as np
import pytest

import paddle


def leaf(values):
    return paddle.to_tensor(np.array(values, "float64"), stop_gradient=False)


def test_jacobian():
    x = leaf([1.0, 2.0, 3.0])
    j = paddle.autograd.jacobian(x * x, x)
    assert j.shape == [3, 3]
    np.testing.assert_array_equal(j[:].numpy(), np.diag([2.0, 4.0, 6.0]))
    np.testing.assert_array_equal(j[1].numpy(), [0.0, 4.0, 0.0])
    np.testing.assert_array_equal((j * 2.0).numpy(), np.diag([4.0, 8.0, 12.0]))


def test_jacobian_of_several():
    x, y = leaf([1.0, 2.0]), leaf([3.0])
    out = paddle.autograd.jacobian((x * y, y * y), (x, y))
    assert [[j.shape for j in row] for row in out] == [[[2, 2], [2, 1]], [[1, 2], [1, 1]]]
    np.testing.assert_array_equal(out[1][0][:].numpy(), [[0.0, 0.0]])


def test_batched_jacobian():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    j = paddle.autograd.jacobian(x * x, x, batch_axis=0)
    np.testing.assert_array_equal(j[:].numpy(), [np.diag([2.0, 4.0]), np.diag([6.0, 8.0])])


def test_hessian():
    x = leaf([1.0, 2.0])
    h = paddle.autograd.hessian((x * x * x).sum() + x[0] * x[1], x)
    np.testing.assert_array_equal(h[:].numpy(), [[6.0, 1.0], [1.0, 12.0]])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: paddle.autograd.jacobian(x * x, x, batch_axis=1),
        lambda x: paddle.autograd.jacobian(leaf(np.ones((2, 2, 2))), x),
        lambda x: paddle.autograd.hessian(x * x, x),
    ],
)
def test_bad_shapes(call):
    with pytest.raises(ValueError):
        call(leaf([1.0, 2.0]))


def test_modes_nest_and_are_decorators():
    @paddle.no_grad()
    def off():
        return paddle.is_grad_enabled()

    @paddle.enable_grad()
    def on():
        return paddle.is_grad_enabled()

    assert not off() and paddle.is_grad_enabled()
    with paddle.no_grad():
        assert on()
        with paddle.set_grad_enabled(True):
            assert paddle.is_grad_enabled()
        assert not paddle.is_grad_enabled()
    paddle.set_grad_enabled(False)
    try:
        assert not paddle.is_grad_enabled()
    finally:
        paddle.set_grad_enabled(True)


def test_a_generator_switches_only_inside():
    @paddle.no_grad()
    def steps():
        got = yield paddle.is_grad_enabled()
        try:
            yield got, paddle.is_grad_enabled()
        except KeyError:
            yield "caught"

    g = steps()
    assert next(g) is False and paddle.is_grad_enabled()
    assert g.send(5) == (5, False) and paddle.is_grad_enabled()
    assert g.throw(KeyError()) == "caught"
    g.close()
    assert paddle.is_grad_enabled()


def test_no_grad_has_to_be_called():
    with pytest.raises(TypeError):

        @paddle.no_grad
        def f(x):
            return x


@pytest.mark.parametrize("flush", [False, True])
def test_saved_tensors_hooks(flush):
    packed, unpacked = [], []
    x = leaf([1.0, 2.0])
    before = x * 5.0
    with paddle.autograd.saved_tensors_hooks(
        lambda t: (packed.append(t.shape), t.numpy())[1],
        lambda a: (unpacked.append(1), paddle.to_tensor(a))[1],
    ):
        y = x * x * before
        if flush:
            y.numpy()
    assert packed and not unpacked
    count = len(packed)
    (y * y).sum().backward()  # y * y is outside: not packed
    assert len(unpacked) == count == len(packed)
    np.testing.assert_allclose(x.grad.numpy(), 6 * 25 * np.array([1.0, 2.0]) ** 5)


def test_hooks_of_saved_tensors_see_py_layers():
    seen = []

    class Square(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            return g * x * 2.0

    x = leaf([3.0])
    with paddle.autograd.saved_tensors_hooks(lambda t: (seen.append(t), t)[1], lambda t: t * 10.0):
        y = Square.apply(x)
    y.sum().backward()
    assert seen and x.grad.item() == 60.0


@pytest.mark.parametrize(
    "call",
    [
        lambda x: paddle.grad(3, x),
        lambda x: paddle.grad([], x),
        lambda x: paddle.grad(x * 2, "x"),
        lambda x: paddle.grad(x * 2, x, grad_outputs=[None, None]),
        lambda x: paddle.grad(x * 2, x, only_inputs=False),
        lambda x: paddle.autograd.backward(3),
        lambda x: paddle.autograd.backward([x * 2], [3]),
    ],
)
def test_arguments_that_are_no_tensors(call):
    with pytest.raises(AssertionError):
        call(leaf([1.0]))


def test_the_graph_can_be_written_to_a_folder(tmp_path):
    x = leaf([1.0])
    paddle.grad(x * x, x, dump_backward_graph_path=str(tmp_path / "graph"))
    assert "multiply" in (tmp_path / "graph" / "backward_graph.txt").read_text()
