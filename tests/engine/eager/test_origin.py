"""Every array knows the operator and the user's line that made it."""

import sys

import numpy as np

import paddle
from paddle.engine.eager.trace import origin_of


def here():
    return sys._getframe(1).f_lineno


def test_a_computed_value():
    x = paddle.ones([3])
    y, line = paddle.exp(x) * 2, here()
    assert origin_of(y) == ("", None)  # nothing is computed yet
    y.numpy()
    assert origin_of(y) == ("multiply", (__file__, line))


def test_every_visit_of_a_program_tells_the_line():
    kept = []
    for _ in range(6):
        kept.append(paddle.tanh(paddle.to_tensor([1.0])))
        line = here() - 1
        kept[-1].numpy()
    assert {origin_of(t) for t in kept} == {("tanh", (__file__, line))}


def test_an_array_from_outside():
    x, line = paddle.to_tensor(np.ones((2, 2))), here()
    (x + 1).numpy()  # use does not change where it is from
    assert origin_of(x) == ("", (__file__, line))


def test_values_changed_in_place():
    x = paddle.to_tensor([1.0])
    x.add_(paddle.to_tensor([2.0]))
    line = here() - 1
    x.numpy()
    assert origin_of(x) == ("add", (__file__, line))
    x.set_value(np.zeros(1, "float32"))
    assert origin_of(x) == ("", (__file__, here() - 1))


def test_a_parameter_is_made_by_the_step_of_its_optimizer():
    fc = paddle.nn.Linear(2, 2)
    opt = paddle.optimizer.Momentum(0.1, parameters=fc.parameters())
    for _ in range(3):
        fc(paddle.ones([1, 2])).sum().backward()
        opt.step()
        line = here() - 1
        opt.clear_grad()
        fc.weight.numpy()
        assert origin_of(fc.weight) == ("subtract", (__file__, line))
