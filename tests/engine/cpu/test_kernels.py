"""The first tier compiles a kernel once, not once per size."""

import numpy as np
import pytest

import paddle
from paddle.engine.cpu import jit
from paddle.nn import functional as F

N = 30


@pytest.mark.parametrize(
    "f",
    [
        lambda x, n: x[:, n - 1],
        lambda x, n: x[:, 1:n],
        lambda x, n: F.pad(x, [0, 0, n, 2 * n]),
        lambda x, n: paddle.arange(n).astype("float32"),
        lambda x, n: F.max_pool2d(x.reshape([1, 1, n, 6]), 2),
        lambda x, n: F.avg_pool2d(x.reshape([1, 1, n, 6]), 3, 1),
        lambda x, n: paddle.grad(x[:, n // 2 :].square().sum(), [x])[0],
    ],
    ids=["index", "slice", "pad", "arange", "max_pool", "avg_pool", "gradient of a slice"],
)
def test_sizes_and_places_make_no_new_kernels(f, monkeypatch):
    before = paddle.get_flags(["FLAGS_eager_compile", "FLAGS_reference"])
    paddle.set_flags({"FLAGS_eager_compile": "never"})
    compiled = []
    compile_object = jit.compile_object
    monkeypatch.setattr(jit, "compile_object", lambda *a, **k: compiled.append(a) or compile_object(*a, **k))
    try:
        for n in range(5, N):
            if n == 8:
                compiled.clear()  # one, two and more of something may be different kernels
            x = np.random.default_rng(n).standard_normal((1, n, 6)).astype("float32")
            paddle.set_flags({"FLAGS_reference": False})
            got = f(paddle.to_tensor(x, stop_gradient=False), n).numpy()
            paddle.set_flags({"FLAGS_reference": True})
            np.testing.assert_allclose(got, f(paddle.to_tensor(x, stop_gradient=False), n).numpy(), 1e-6)
    finally:
        paddle.set_flags(before)
    assert not compiled
