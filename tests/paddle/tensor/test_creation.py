import numpy as np
import pytest

import paddle


@pytest.mark.parametrize(
    "data, dtype, shape",
    [
        (1, "int64", []),
        (1.5, "float32", []),
        (True, "bool", []),
        (1 + 2j, "complex64", []),
        ([1, 2.5], "float32", [2]),
        ([[1, 2], [3, 4]], "int64", [2, 2]),
        ([], "float32", [0]),
        (np.float64(2), "float64", []),
        (np.zeros((0, 3), "int32"), "int32", [0, 3]),
        (np.arange(6).reshape(2, 3)[:, ::2], "int64", [2, 2]),
    ],
)
def test_to_tensor_types(data, dtype, shape):
    t = paddle.to_tensor(data)
    assert t.dtype.name == dtype and t.shape == shape
    assert t.stop_gradient and t.is_leaf
    assert np.array_equal(t.numpy(), np.asarray(data).astype(dtype))


def test_to_tensor_copies():
    a = np.ones(2, "float32")
    t = paddle.to_tensor(a)
    a[0] = 7
    assert t.tolist() == [1.0, 1.0]


def test_to_tensor_takes_tensors_in_lists():
    one, two = paddle.to_tensor(1), paddle.to_tensor(2)
    assert paddle.to_tensor([one, [two][0]]).tolist() == [1, 2]
    assert paddle.to_tensor([paddle.ones([2]), paddle.zeros([2])]).shape == [2, 2]


def test_to_tensor_bfloat16():
    t = paddle.to_tensor([1.0, 2.5], dtype="bfloat16")
    assert t.dtype is paddle.bfloat16 and t.tolist() == [1.0, 2.5]
    assert t.numpy().dtype == np.uint16
    assert paddle.to_tensor(t.numpy()).tolist() == [1.0, 2.5]


@pytest.mark.parametrize(
    "data, kind",
    [
        ("abc", TypeError),
        (None, TypeError),
        ({}, TypeError),
        ([[1, 2], [3]], ValueError),
        (["a"], ValueError),
        (2**70, ValueError),
    ],
)
def test_to_tensor_rejects(data, kind):
    with pytest.raises(kind):
        paddle.to_tensor(data)


def test_to_tensor_rejects_devices_and_dtypes_that_are_not_there():
    with pytest.raises(ValueError, match="no device"):
        paddle.to_tensor(1, place="gpu:0")
    with pytest.raises(TypeError, match="not an element type"):
        paddle.to_tensor(1, dtype="float99")


def test_default_dtype():
    paddle.set_default_dtype("float64")
    try:
        assert paddle.get_default_dtype() == "float64"
        assert paddle.to_tensor(1.5).dtype is paddle.float64
        assert paddle.zeros([1]).dtype is paddle.float64
    finally:
        paddle.set_default_dtype("float32")
    with pytest.raises(TypeError, match="floating"):
        paddle.set_default_dtype("int32")


def test_shapes_may_be_given_in_several_ways():
    for shape in ([2, 3], (2, 3), paddle.to_tensor([2, 3]), [paddle.to_tensor(2), 3], np.array([2, 3])):
        assert paddle.zeros(shape).shape == [2, 3]
    assert paddle.ones(2, 3).shape == [2, 3]
    assert paddle.ones(size=[2]).shape == [2]
    assert paddle.zeros([]).shape == []


@pytest.mark.parametrize("shape, kind", [([-1], ValueError), ([2.5], TypeError), ("a", TypeError), (["a"], TypeError)])
def test_bad_shapes(shape, kind):
    with pytest.raises(kind):
        paddle.zeros(shape)


def test_full():
    assert paddle.full([2], 3).dtype is paddle.float32
    assert paddle.full([2], True).dtype is paddle.bool
    assert paddle.full([2], 2.7, "int32").tolist() == [2, 2]
    assert paddle.full([2], paddle.to_tensor(3.0)).tolist() == [3.0, 3.0]
    assert np.isinf(paddle.full([1], float("inf")).item())
    assert paddle.full_like(paddle.to_tensor([1]), 1.5).tolist() == [1]
    with pytest.raises(TypeError, match="not a number"):
        paddle.full([2], None)


@pytest.mark.parametrize("args", [(5,), (2, 5), (1, 10, 3), (10, 0, -3), (2, 2), (0.0, 1.0, 0.25), (0, 3, 0.5)])
def test_arange(args):
    got, want = paddle.arange(*args).numpy(), np.arange(*args)
    assert np.allclose(got, want) and got.shape == want.shape
    assert got.dtype.kind == want.dtype.kind


def test_arange_rejects_a_zero_step():
    with pytest.raises(ValueError, match="step is 0"):
        paddle.arange(0, 5, 0)


@pytest.mark.parametrize("args", [(0, 1, 5), (5, -1, 4), (2, 3, 1), (0, 1, 0)])
def test_linspace(args):
    assert np.allclose(paddle.linspace(*args).numpy(), np.linspace(*args))


def test_eye_tril_triu():
    assert np.array_equal(paddle.eye(2, 3).numpy(), np.eye(2, 3))
    x = np.arange(12.0).reshape(3, 4)
    for k in (-1, 0, 2):
        assert np.array_equal(paddle.tril(paddle.to_tensor(x), k).numpy(), np.tril(x, k))
        assert np.array_equal(paddle.triu(paddle.to_tensor(x), k).numpy(), np.triu(x, k))
    with pytest.raises(ValueError, match="not a matrix"):
        paddle.tril(paddle.ones([2]))
    with pytest.raises(TypeError):
        paddle.eye(-1)


def test_meshgrid():
    x, y = np.arange(3), np.arange(2)
    for indexing in ("ij", "xy"):
        got = paddle.meshgrid(paddle.to_tensor(x), paddle.to_tensor(y), indexing=indexing)
        for g, w in zip(got, np.meshgrid(x, y, indexing=indexing)):
            assert np.array_equal(g.numpy(), w)


def test_typed_constructors():
    assert paddle.FloatTensor(2, 3).shape == [2, 3]
    assert paddle.LongTensor([1, 2]).dtype is paddle.int64
    assert paddle.Tensor([1, 2]).dtype is paddle.float32


def test_finfo_and_iinfo():
    assert paddle.finfo("float32").eps == np.finfo("float32").eps
    assert paddle.finfo("bfloat16").bits == 16
    assert (paddle.iinfo("int8").min, paddle.iinfo("int8").max) == (-128, 127)
    with pytest.raises(ValueError):
        paddle.finfo("int32")
    with pytest.raises(ValueError):
        paddle.iinfo("float32")


def test_range_includes_its_end():
    assert paddle.range(0, 1, 0.5).tolist() == [0.0, 0.5, 1.0]
    assert paddle.range(2).dtype is paddle.float32


def test_the_module_makes_tensors_too():
    assert paddle.tensor([1, 2], dtype="float64", requires_grad=True).stop_gradient is False
    assert paddle.tensor.concat is paddle.concat


def test_numbers_of_a_wide_type_keep_their_digits():
    assert paddle.to_tensor(0.1, dtype="float64").item() == 0.1
    assert paddle.to_tensor([0.1, [0.2][0]], "float64").tolist() == [0.1, 0.2]
    assert paddle.to_tensor(16777217.0, "int64").item() == 16777217
    assert paddle.to_tensor([0.1]).dtype == paddle.float32 and paddle.to_tensor([1]).dtype == paddle.int64
