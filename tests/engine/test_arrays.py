import numpy as np
import pytest

import paddle
from paddle.engine import arrays


@pytest.mark.parametrize("shape", [(), (0, 5), (7,), (64, 64), (129, 1001)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bool"])
def test_arrays_begin_with_a_line(shape, dtype):
    a = arrays.empty(shape, dtype)
    assert a.shape == shape and a.dtype == dtype and a.flags.c_contiguous and a.flags.writeable
    assert type(a) is np.ndarray
    if a.nbytes >= arrays.LEAST_BYTES:
        assert a.ctypes.data % arrays.LINE == 0
        a[:] = 1  # to the last element


def test_views_have_the_array_as_base():
    a = arrays.empty((128, 128), "float32")
    assert a[1:].base is a and a.reshape(-1).base is a and a.T.base is a
    assert arrays.root_of(a[1:].T[:5]) is a and arrays.root_of(a) is a
    b = np.zeros(5)
    assert arrays.root_of(b[1:]) is b


@pytest.mark.parametrize("n", [10, 300])
def test_copies_are_contiguous_and_ones_own(n):
    a = np.arange(n * n, dtype="float64").reshape(n, n)
    for x in (a, a.T, a[::2, ::3]):
        b = arrays.copied(x)
        assert b.flags.c_contiguous and b.dtype == x.dtype and not np.may_share_memory(a, b)
        np.testing.assert_array_equal(b, x)
        np.testing.assert_array_equal(arrays.copied(x, np.dtype("int32")), x.astype("int32"))


def test_tensors_begin_with_a_line():
    x = paddle.to_tensor(np.ones((100, 100), "float32"))
    y = paddle.exp(x)
    assert x.array().ctypes.data % arrays.LINE == 0 and y.array().ctypes.data % arrays.LINE == 0


def test_memory_of_a_view_that_a_user_holds_is_not_written_over():
    x = paddle.to_tensor(np.ones((100, 100), "float32"))
    for _ in range(4):
        x = x + 1
        seen = x.array()[1:]
        before = seen.copy()
        x = x * 2
        x.numpy()
        np.testing.assert_array_equal(seen, before)
