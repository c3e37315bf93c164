"""Control flow of Python on Tensors: converted functions against the same functions as written."""

import numpy as np
import pytest

import paddle
from paddle.jit import to_static
from paddle.jit.dy2static import convert_function

from .control_programs import PROGRAMS

W = [2.0, -1.0, 0.5]
INPUTS = [
    ([1.0, 2.0, -0.5], 3),
    ([-1.0, 0.5, -2.0], 1),
    ([0.5, 0.2, 0.1], 0),
    ([-0.1, -0.2, 0.4], 2),
    ([3.0, 1.0, 2.0], 5),
]


def outcome(f, v, n):
    x, w = (paddle.to_tensor(a, stop_gradient=False) for a in (v, W))
    out = f(x, w, paddle.to_tensor(n))
    (out * out).sum().backward()
    zero = np.zeros(3, "float32")
    return [out.numpy(), *(zero if t.grad is None else t.grad.numpy() for t in (x, w))]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_recorded_is_as_written(f):
    program = to_static(f, full_graph=True)
    made = convert_function(f)
    assert made is not f
    for v, n in INPUTS:
        want = outcome(f, v, n)
        for got in (outcome(made, v, n), outcome(program, v, n)):
            for a, b in zip(got, want, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
    assert len(program.concrete_programs) == 1
