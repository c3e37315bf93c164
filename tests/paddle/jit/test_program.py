"""`to_static(full_graph=True)`: calls as programs, against the same code in eager mode."""

import copy

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.jit import to_static


def full(f):
    return to_static(f, full_graph=True)


def network():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))


def trained(model, steps=4):
    paddle.seed(3)
    optimizer = paddle.optimizer.AdamW(0.01, parameters=model.parameters())
    losses = []
    rng = np.random.default_rng(0)
    for _ in range(steps):
        x = paddle.to_tensor(rng.standard_normal((16, 4)).astype("float32"))
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses, {k: v.numpy() for k, v in model.state_dict().items()}


def test_training_with_dropout_and_batch_norm_is_bit_for_bit_that_of_eager_mode():
    model = network()
    static = full(copy.deepcopy(model))
    assert type(static) is nn.Sequential
    eager, program = trained(model), trained(static)
    assert eager[0] == program[0]
    for name, value in eager[1].items():
        assert np.array_equal(value, program[1][name]), name


def test_modes_are_part_of_the_form():
    model = network()
    static = full(copy.deepcopy(model))
    x = paddle.randn([8, 4])
    for mode in ("train", "eval", "train"):
        found = []
        for m in (model, static):
            getattr(m, mode)()
            paddle.seed(1)
            found.append(m(x).numpy())
        assert np.array_equal(*found)
        assert np.array_equal(model(x).numpy(), found[0]) == (mode == "eval")
        assert np.array_equal(static(x).numpy(), found[1]) == (mode == "eval")
    with paddle.no_grad():
        assert static(x).stop_gradient
    assert not static(x).stop_gradient


def test_each_form_is_captured_once():
    calls = []

    @full
    def f(x, scale=1.0, *, names=("a",)):
        calls.append(scale)
        return x * scale, {"n": len(names), "y": [x + 1]}

    x = paddle.to_tensor([1.0, 2.0])
    for _ in range(3):
        out, rest = f(x, 2.0)
        assert out.tolist() == [2.0, 4.0] and rest["n"] == 1 and rest["y"][0].tolist() == [2.0, 3.0]
    assert calls == [2.0]
    f(x, 3.0)
    f(paddle.to_tensor([1.0]), 3.0)
    f(x.astype("float64"), 3.0)
    f(x, 3.0, names=("a", "b"))
    assert calls == [2.0] + [3.0] * 4
    assert f(x, 0.0)[0].tolist() == [0.0, 0.0] and np.signbit(f(x, -0.0)[0].numpy()).all()
    assert len(f.concrete_programs) == 7


def test_parameters_stay_live():
    linear = full(nn.Linear(2, 1))
    x = paddle.ones([1, 2])
    linear.weight.set_value(np.array([[1.0], [2.0]], "float32"))
    first = float(linear(x))
    linear.weight.set_value(np.array([[10.0], [20.0]], "float32"))
    assert float(linear(x)) - first == 27.0
    linear.weight.stop_gradient = True
    out = linear(x)
    out.backward()
    assert linear.weight.grad is None and linear.bias.grad.tolist() == [1.0]


def test_gradients_reach_what_comes_before_and_after():
    @full
    def f(a, b):
        with paddle.no_grad():
            c = a * 10.0
        return a * b + c, a.detach() * 2

    found = []
    for function in (f, f.dygraph_function):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        y = (x * 3).exp()
        float(y.sum())
        out, cut = function(y, x * 2)
        assert cut.stop_gradient
        (out.sum() * 2).backward()
        found.append(x.grad.numpy())
    np.testing.assert_array_equal(*found)


def test_second_order():
    f = full(lambda x: (x**3).sum())
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (g,) = paddle.grad(f(x), x, create_graph=True)
    g.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_what_comes_out_unchanged():
    w = paddle.to_tensor([5.0])

    @full
    def f(x):
        return x, w, 3, None, "s"

    x = paddle.to_tensor([1.0])
    for _ in range(2):
        a, b, *rest = f(x)
        assert a.tolist() == [1.0] and b is w and rest == [3, None, "s"]


def test_programs_call_programs_and_methods_bind():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(3.0))

        @to_static(full_graph=True)
        def forward(self, x):
            return self.part(x) + 1

        @to_static(full_graph=True)
        def part(self, x):
            return x * self.scale

    one, two = Net(), Net()
    two.scale.set_value(np.array([5.0], "float32"))
    x = paddle.to_tensor([2.0])
    for _ in range(2):
        assert one(x).tolist() == [7.0] and two(x).tolist() == [11.0]
    assert one.part(x).tolist() == [6.0]


def test_amp_within_and_around():
    linear = nn.Linear(4, 4)
    f = full(lambda x: linear(x))
    x = paddle.randn([2, 4])
    with paddle.amp.auto_cast(dtype="bfloat16"):
        assert f(x).dtype == paddle.bfloat16
    assert f(x).dtype == paddle.float32

    @full
    def g(x):
        with paddle.amp.auto_cast(dtype="bfloat16"):
            y = linear(x)
        return y, x + 1

    y, z = g(x)
    assert y.dtype == paddle.bfloat16 and z.dtype == paddle.float32


def test_turned_off_and_rolled_back():
    calls = []

    @full
    def f(x):
        calls.append(1)
        return x

    x = paddle.ones([1])
    f(x), f(x)
    paddle.jit.enable_to_static(False)
    try:
        f(x), f(x)
    finally:
        paddle.jit.enable_to_static(True)
    assert len(calls) == 3
    layer = full(nn.Linear(1, 1))
    layer.forward.rollback()
    assert "forward" not in layer.__dict__
    with pytest.raises(AssertionError, match="neither True nor False"):
        paddle.jit.enable_to_static(1)


def test_without_full_graph_python_runs():
    calls = []

    @to_static
    def f(x):
        calls.append(float(x))
        return x + 1

    assert [f(paddle.to_tensor(1.0)).item(), f(paddle.to_tensor(2.0)).item()] == [2.0, 3.0]
    assert calls == [1.0, 2.0]


def test_bad_use():
    with pytest.raises(TypeError, match="nothing to call"):
        to_static(3)
    with pytest.raises(ValueError, match="backend is not known"):
        to_static(lambda x: x, backend="other")
    f = full(lambda x: x.numpy())
    for _ in range(2):
        with pytest.raises(RuntimeError, match="(?s)A value was asked for.*test_program.py"):
            f(paddle.ones([1]))


def test_an_error_within_leaves_the_engine_usable():
    table = paddle.rand([4, 2])
    f = full(lambda i: paddle.nn.functional.embedding(i, table))
    assert f(paddle.to_tensor([1])).shape == [1, 2]
    with pytest.raises((ValueError, IndexError)):
        f(paddle.to_tensor([9])).numpy()
    assert f(paddle.to_tensor([3])).shape == [1, 2]


def test_without_gradients_a_call_computes_at_once():
    w = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    f = full(lambda x, unused: (paddle.matmul(x, w), x, [x.sum() + 1]))
    x = paddle.to_tensor([[1.0, 1.0]])
    for i in range(4):
        y, same, (total,) = f(x, x)
        assert y.buffer is not None and y.stop_gradient and y.tolist() == [[4.0 + i, 6.0]]
        assert same.tolist() == x.tolist() and total.tolist() == 3.0
        w[0, 0] = 2.0 + i
        w.numpy()
    pending = x * 2
    assert f(pending, x)[0].buffer is None  # it is computed with what it follows from


def test_settings_reach_programs_that_are_known():
    f = full(lambda x: paddle.log(x))
    x = paddle.to_tensor([-1.0])
    assert np.isnan(f(x).item())
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        with pytest.raises(RuntimeError):
            f(x).item()
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})
    assert np.isnan(f(x).item())


def test_no_memory_is_kept_by_calls():
    import gc
    import weakref

    f = full(lambda x: x + 1)
    kept = weakref.ref(f(paddle.ones([4])))
    grown = []
    for _ in range(3):
        for i in range(200):
            f(paddle.full([4], float(i))).numpy()
        gc.collect()
        grown.append(sum(isinstance(o, paddle.Tensor) for o in gc.get_objects()))
    assert kept() is None and grown[0] == grown[1] == grown[2]
