"""Training loops as people write them: what is frozen, read, replaced or clipped between steps.

Where a test holds plain numbers they were recorded from PaddlePaddle 3.3.1.
"""

import numpy as np
import pytest

import paddle
import paddle.nn as nn
from paddle.engine.eager.trace import current


def tensor(*shape, seed=0, sg=True):
    return paddle.to_tensor(np.random.RandomState(seed).randn(*shape).astype("float32"), stop_gradient=sg)


def filled(layer, seed=1):
    r = np.random.RandomState(seed)
    for p in layer.parameters():
        p.set_value((r.randn(*p.shape) * 0.3).astype("float32"))
    return layer


def net(seed=1):
    return filled(nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2)), seed)


def step(m, o, i):
    loss = (m(tensor(3, 4, seed=100 + i)) ** 2).mean()
    loss.backward()
    o.step()
    o.clear_grad()
    return loss


@pytest.mark.parametrize("how", ["stop_gradient", "trainable"])
def test_parameters_frozen_before_the_first_step_train_once_they_are_let_go(how):
    m = net()
    o = paddle.optimizer.SGD(0.1, parameters=m.parameters())
    for p in m[0].parameters():
        setattr(p, how, how == "stop_gradient")
    before = m[0].weight.numpy()
    for i in range(3):
        step(m, o, i)
    np.testing.assert_array_equal(m[0].weight.numpy(), before)
    for p in m[0].parameters():
        setattr(p, how, how != "stop_gradient")
    for i in range(3):
        w, b = m[0].weight.numpy(), m[0].bias.numpy()
        (m(tensor(3, 4, seed=100 + i)) ** 2).mean().backward()
        gw, gb = m[0].weight.grad.numpy(), m[0].bias.grad.numpy()
        o.step()
        o.clear_grad()
        assert np.abs(gw).max() > 0
        np.testing.assert_allclose(m[0].weight.numpy(), w - 0.1 * gw, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(m[0].bias.numpy(), b - 0.1 * gb, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("read", [False, True])
def test_freezing_a_parameter_between_flushes_keeps_its_gradient_and_hooks(read):
    m = net()
    o = paddle.optimizer.SGD(0.1, parameters=m.parameters())
    w = m[0].weight
    calls = []
    w.register_hook(lambda g: calls.append(1))
    step(m, o, 0)  # the new weight is deferred now
    (m(tensor(3, 4, seed=1)) ** 2).mean().backward()
    expected = w.grad.numpy() if read else None
    if read:
        w.numpy()
    w.stop_gradient = True
    assert w.grad is not None
    if read:
        np.testing.assert_array_equal(w.grad.numpy(), expected)
    w.stop_gradient = False
    (m(tensor(3, 4, seed=1)) ** 2).mean().backward()
    assert len(calls) == 3


def test_hyper_parameters_may_take_many_values():
    """From the third on they are inputs of the program, entered anew at every step."""
    for momentum in (0.9, 0.8, 0.7, 0.6, 0.5):
        p = paddle.create_parameter([4], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        optimizer = paddle.optimizer.Momentum(0.1, momentum=momentum, parameters=[p])
        want, velocity = 1.0, 0.0
        for _ in range(5):
            (p * p).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
            velocity = momentum * velocity + 2 * want
            want -= 0.1 * velocity
            np.testing.assert_allclose(p.numpy(), np.full(4, want), 1e-5)


def test_an_update_that_fails_leaves_gradients_on():
    p = paddle.create_parameter([4], "float32")
    trace = current()

    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        trace.update("key", [], [p], fail)
    assert trace.grad and not (p * 2.0).stop_gradient


def test_a_repeated_step_of_an_optimizer_is_one_step_of_the_trie(monkeypatch):
    from paddle.engine.eager.trace import Trace

    slow = []
    first = Trace.first_update
    monkeypatch.setattr(Trace, "first_update", lambda self, *a: slow.append(1) or first(self, *a))
    net = nn.Linear(4, 3)
    optimizer = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    for i in range(12):
        net(tensor(5, 4)).square().mean().backward()
        optimizer.step()
        optimizer.clear_grad()
        net.weight.numpy()
        if i == 5:
            slow.clear()
    assert not slow
