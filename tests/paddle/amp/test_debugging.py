import numpy as np
import pytest

import paddle
from paddle.amp.debugging import DebugMode, check_layer_numerics, check_numerics

BAD = [1.0, np.nan, np.inf, 0.0]


def test_counts_and_values():
    counts, values = check_numerics(paddle.to_tensor([1.0, 0.0, 3.0, 0.2]), "op", "v")
    assert counts.dtype is paddle.int64 and counts.tolist() == [0, 0, 1]
    assert values.dtype is paddle.float32
    np.testing.assert_allclose(values.numpy(), [3.0, 0.0, 1.05], rtol=1e-6)
    counts, values = check_numerics(paddle.to_tensor(BAD), "op", "v", DebugMode.CHECK_NAN_INF)
    assert counts.tolist() == [1, 1, 1]
    assert np.isnan(values.numpy()[2])
    assert check_numerics(paddle.zeros([0]), "op", "v")[0].tolist() == [0, 0, 0]
    assert check_numerics(paddle.to_tensor(2.0).astype("bfloat16"), "op", "v")[1].tolist() == [2.0, 2.0, 2.0]


def test_what_is_reported(capsys):
    with pytest.raises(RuntimeError, match=r"relu: there are NaN or infinities \(num_nan=1, num_inf=1, num_zero=1\)"):
        check_numerics(paddle.to_tensor(BAD), "relu", "h")
    assert capsys.readouterr().out == ""
    large = paddle.to_tensor([1e6])
    for mode, said in ((DebugMode.CHECK_NAN_INF, False), (DebugMode.CHECK_ALL_FOR_OVERFLOW, True),
                       (DebugMode.CHECK_ALL, True)):  # fmt: skip
        check_numerics(large, "relu", "h", mode)
        assert ("op=relu, tensor=h, dtype=float32" in capsys.readouterr().out) is said
    check_numerics(paddle.to_tensor(BAD), "relu", "h", DebugMode.CHECK_NAN_INF)
    assert "[ERROR]" in capsys.readouterr().out


def test_layers():
    class Log(paddle.nn.Layer):
        @check_layer_numerics
        def forward(self, x):
            return x.log(), "kept"

    assert Log()(paddle.ones([2]))[0].tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="Log: there are NaN"):
        Log()(paddle.zeros([2]))
    with pytest.raises(RuntimeError, match=r"input"):
        Log()(paddle.to_tensor([np.nan]))
    with pytest.raises(RuntimeError, match="first input"):
        Log()(3)
    with pytest.raises(ValueError, match="not a Tensor"):
        check_numerics(3, "op", "v")
