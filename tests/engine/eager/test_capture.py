"""Captures: what they record, what they leave as it was, and calls of what they made."""

import numpy as np
import pytest

import paddle
from paddle.engine.eager.capture import ValueNeeded, capture, capturing, outside
from paddle.engine.eager.trace import current
from paddle.engine.types import TensorType, float32


def tensor(*values, grad=False):
    return paddle.to_tensor(np.array(values, "float32"), stop_gradient=not grad)


def made(captured, *results):
    return captured.graph([captured.slot(t) for t in results])


def test_a_graph_of_arguments_and_what_is_read_outside():
    w = tensor(1.0, 2.0)
    seen = []
    captured = capture(lambda x: (seen.append(capturing()), x * w + 1.0)[1], [tensor(3.0, 4.0)])
    graph, leaves = made(captured, captured.result)
    assert seen == [True] and not capturing()
    assert [n.op.name for n in graph.nodes if n.op.name != "constant"] == ["multiply", "add"]
    assert len(graph.inputs) == 2 and leaves[0] == captured.inputs[0]
    assert [t is w for t, _ in captured.externals] == [True]


@pytest.mark.parametrize("several", [False, True])
def test_tensors_of_outside_are_as_before(several, monkeypatch):
    monkeypatch.setattr("paddle.engine.eager.trace._several", several)
    w, x = tensor(1.0, 2.0), tensor(3.0, 4.0)
    deferred = w * 2  # not yet computed
    running = current()

    def change(a):
        w.add_(a)
        w[0] = 7.0
        deferred.set_value(np.zeros(2, "float32"))
        return w * 1.0

    captured = capture(change, [x])
    assert current() is running
    assert w.tolist() == [1.0, 2.0] and deferred.tolist() == [2.0, 4.0]
    assert [t is w or t is deferred for t, _ in captured.changes] == [True, True]


def test_a_constant_made_within_is_no_change():
    def f(x):
        z = paddle.to_tensor(np.ones(2, "float32"))
        z += x
        return z

    captured = capture(f, [tensor(1.0, 2.0)])
    assert captured.changes == []
    f = paddle.jit.to_static(f, full_graph=True)
    for _ in range(3):
        assert f(tensor(1.0, 2.0)).tolist() == [2.0, 3.0]


def test_values_are_refused_with_the_users_line():
    for ask in (lambda x: bool(x.sum() > 0), lambda x: x.numpy(), lambda x: float(x[0]), lambda x: paddle.nonzero(x)):
        with pytest.raises(ValueNeeded, match=r"(?s)A value was asked for.*at: test_capture.py"):
            capture(ask, [tensor(1.0, 2.0)])
    assert not capturing()
    assert (tensor(1.0) + 1).tolist() == [2.0]


def test_a_value_of_outside_can_be_read_within():
    w = tensor(2.0) * 2
    captured = capture(lambda x: x * float(w), [tensor(1.0)])
    assert not captured.externals


def test_captures_nest():
    w = tensor(5.0)
    found = []

    def outer(x):
        y = x * 2

        def inner(z):
            return z + y + w

        found.append(capture(inner, [x]))
        assert capturing()
        return y

    captured = capture(outer, [tensor(1.0)])
    inner = found[0]
    assert [t is w for t, _ in inner.externals] == [False, True]
    assert inner.externals[0][0].epoch == captured.epoch


@pytest.mark.parametrize("several", [False, True])
def test_an_inner_capture_leaves_the_outer_one_as_it_was(several, monkeypatch):
    monkeypatch.setattr("paddle.engine.eager.trace._several", several)

    def outer(x):
        y = x * 2
        inner = capture(lambda z: y.add_(z), [x])
        assert len(inner.changes) == 1
        return y + 1

    captured = capture(outer, [tensor(1.0)])
    graph, _ = made(captured, captured.result)
    assert [n.op.name for n in graph.nodes if n.op.name != "constant"] == ["multiply", "add"]


def test_state_can_be_made_outside():
    def f(x):
        with outside():
            state = paddle.zeros([1])
        assert capturing()
        return x + state, state

    captured = capture(f, [TensorType((1,), float32)])
    assert captured.result[1].tolist() == [0.0]
    assert len(captured.externals) == 1


def test_gradients_within_a_capture():
    w = tensor(2.0, 3.0, grad=True)

    def f(x):
        (w * x).sum().backward()
        return w.grad * 1.0

    captured = capture(f, [tensor(5.0, 7.0)])
    assert w.grad is None
    assert [t is w for t, _ in captured.grads] == [True]
    f = paddle.jit.to_static(f, full_graph=True)
    assert f(tensor(5.0, 7.0)).tolist() == [5.0, 7.0]
    assert w.grad.tolist() == [5.0, 7.0]


def test_a_changed_gradient_accumulates_on_each_call():
    w = tensor(2.0, grad=True)
    (w * 1.0).backward()

    def f(x):
        (w * x).backward()

    f = paddle.jit.to_static(f, full_graph=True)
    for expected in (4.0, 7.0, 10.0):
        f(tensor(3.0))
        assert w.grad.tolist() == [expected]
