"""Gradients against finite differences, for functions of tensors."""

import numpy as np
import pytest

import paddle


@pytest.fixture
def gradients_hold():
    """check(f, *arrays): the gradients of sum(f * w) in float64, along a random direction."""

    def check(f, *arrays, step=1e-6, tolerance=1e-5):
        rng = np.random.default_rng(3)
        arrays = [np.asarray(a, "float64") for a in arrays]
        tensors = [paddle.to_tensor(a) for a in arrays]
        for t in tensors:
            t.stop_gradient = False
        out = f(*tensors)
        weight = rng.normal(size=tuple(out.shape))
        out.backward(paddle.to_tensor(weight))

        def value(*changed):
            return float((f(*map(paddle.to_tensor, changed)).numpy() * weight).sum())

        for i, (a, t) in enumerate(zip(arrays, tensors)):
            direction = rng.normal(size=a.shape)
            up, down = list(arrays), list(arrays)
            up[i], down[i] = a + step * direction, a - step * direction
            want = (value(*up) - value(*down)) / (2 * step)
            have = float((t.grad.numpy() * direction).sum())
            assert abs(have - want) <= tolerance * (1 + abs(want)), f"argument {i}: {have}, expected {want}"

    return check
