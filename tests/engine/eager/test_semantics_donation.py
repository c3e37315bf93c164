"""Buffers are overwritten only when nothing reads them any more, a later backward included."""

import numpy as np
import pytest

import paddle
from paddle.engine import flags


@pytest.fixture(autouse=True, params=["never", "always"])
def tier(request):
    before = flags.get("FLAGS_eager_compile")
    paddle.set_flags({"FLAGS_eager_compile": request.param})
    yield request.param
    paddle.set_flags({"FLAGS_eager_compile": before})


def array(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype("float32")


@pytest.mark.parametrize("repeat", [1, 3])
def test_an_input_nobody_holds_is_there_for_a_backward_after_the_loss_was_read(repeat):
    w = paddle.to_tensor(array(3, 4, seed=1), stop_gradient=False)
    for i in range(repeat):
        x = array(3, 4, seed=2 + i)
        y = w * paddle.to_tensor(x)
        z = paddle.tanh(y)
        z.sum().item()
        z.sum().backward()
        expected = x * (1 - np.tanh(w.numpy() * x) ** 2)
        np.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-4, atol=1e-6)
        w.clear_gradient(False)


def test_a_value_of_an_earlier_flush_that_only_the_graph_holds():
    w = paddle.to_tensor(array(3, 4, seed=1), stop_gradient=False)
    h = paddle.tanh(w)
    h.numpy()
    y = h * h * 0.5
    del h
    y.numpy()
    y.sum().backward()
    t = np.tanh(array(3, 4, seed=1))
    np.testing.assert_allclose(w.grad.numpy(), t * (1 - t * t), rtol=1e-4, atol=1e-6)
