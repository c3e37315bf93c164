"""What a captured function does beside its result: each call does it, or the capture is refused."""

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.jit import to_static

T = paddle.to_tensor


class Counter(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", paddle.zeros([1]))

    def forward(self, x):
        self.n = self.n + x
        self.last = x * 2
        return self.n * 1


def test_buffers_that_forward_assigns():
    layer = to_static(Counter(), full_graph=True)
    n = layer.n
    for i in range(1, 4):
        assert layer(T([1.0])).tolist() == [float(i)] and layer.n.tolist() == [float(i)]
        assert layer.last.tolist() == [2.0]
    assert layer.n is n and layer.state_dict()["n"].tolist() == [3.0]
    layer.eval()
    assert layer(T([5.0])).tolist() == [8.0] and layer.last.tolist() == [10.0]


def test_saving_leaves_buffers_alone(tmp_path):
    layer = Counter()
    try:
        paddle.jit.save(layer, str(tmp_path / "m"), [paddle.static.InputSpec([1], "float32")])
    except ValueError as e:
        assert "(" in str(e)
    assert layer.n.tolist() == [0.0] and layer(T([1.0])).tolist() == [1.0]


@pytest.mark.parametrize("change", [lambda x: x.__setitem__(0, 5.0), lambda x: x.add_(T(1.0)), lambda x: x.fill_(2.0)])
def test_arguments_that_are_changed_in_place(change):
    def f(x):
        change(x)
        return x * 2

    static = to_static(f, full_graph=True)
    for _ in range(3):
        a, b = T([1.0, 2.0]), T([1.0, 2.0])
        assert static(a).tolist() == f(b).tolist() and a.tolist() == b.tolist()


class Seven(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 7


def test_gradients_that_python_computes_are_refused():
    x = T([3.0], stop_gradient=False)
    for f, name in ((lambda x: Seven.apply(x) + x, "PyLayer"), (lambda x: hooked(x * x), "register_hook")):
        static = to_static(f, full_graph=True)
        with pytest.raises(NotImplementedError, match=rf"(?s)\(Unimplemented\) {name}.*at: test_effects.py"):
            static(x)
        with paddle.no_grad():
            assert static(x).tolist() == f(x.detach()).tolist() if name == "PyLayer" else True
        to_static(f)(x).backward()
        x.clear_gradient()


def hooked(y):
    if not y.stop_gradient:
        y.register_hook(lambda g: g * 10)
    return y


def test_arrays_among_the_arguments_are_tensors():
    f = to_static(lambda x, more: x * 2 + more[0], full_graph=True)
    a = np.ones(2, "float32")
    for value in (1.0, 5.0):
        a[:] = value
        out = f(a, [np.zeros(2, "float32")])
        assert isinstance(out, paddle.Tensor) and out.tolist() == [2 * value] * 2
    assert len(f.concrete_programs) == 1


def test_sizes_of_open_axes():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [None, 2], "float32")
            y = x * x.size
            for f in (paddle.unstack, paddle.unbind, lambda x: paddle.unstack(x, -2)):
                with pytest.raises(TypeError, match="size of axis 0 is open"):
                    f(x)
            assert len(paddle.unstack(x, 1)) == 2
        (out,) = paddle.static.Executor().run(main, feed={"x": np.ones((4, 2), "float32")}, fetch_list=[y])
        assert (out == 8).all()
    finally:
        paddle.disable_static()
