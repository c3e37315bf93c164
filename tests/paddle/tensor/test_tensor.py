import copy
import pickle

import numpy as np
import pytest

import paddle


def leaf(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)


def test_description():
    x = paddle.ones([2, 3], "float64")
    assert (x.ndim, x.size, x.size(1), len(x), x.element_size(), x.strides) == (2, 6, 3, 2, 8, [3, 1])
    assert x.shape == [2, 3] == x.shape[:] and x.shape == (2, 3) and x.shape.numel() == 6
    assert repr(x.place) == "Place(cpu)" and x.place.is_cpu_place()
    assert x.name != paddle.ones([1]).name


def test_reading_one_element():
    assert float(paddle.to_tensor(1.5)) == 1.5 and int(paddle.to_tensor(2.9)) == 2 and bool(paddle.to_tensor([1]))
    assert complex(paddle.to_tensor(1.0)) == 1 and [1, 2, 3][paddle.to_tensor(1)] == 2
    x = paddle.to_tensor([[1, 2], [3, 4]])
    assert x.item(1, 0) == 3 and x.item(3) == 4 and f"{paddle.to_tensor(1.5):.2f}" == "1.50"
    for bad in (lambda: float(x), lambda: bool(x), lambda: len(paddle.to_tensor(1))):
        with pytest.raises(AssertionError):
            bad()
    with pytest.raises(ValueError, match="more than one"):
        x.item()
    with pytest.raises(ValueError, match="no such element"):
        x.item(9)


def test_identity_and_equality():
    x = paddle.to_tensor([1.0])
    assert {x: 1}[x] == 1 and x in [x] and (x == None) is False and (x != None) is True  # noqa: E711
    assert (x == np.array([1.0])).tolist() == [True]
    assert 1.0 in x and 2.0 not in x


def test_numpy_operators_leave_the_work_to_tensors():
    assert isinstance(np.ones(1, "float32") == paddle.ones([1]), paddle.Tensor)
    assert np.array(paddle.ones([2])).tolist() == [1.0, 1.0]


def test_stop_gradient_of_an_intermediate_cuts_the_graph():
    x = leaf(1.0, 2.0)
    y = x * 2.0
    y.stop_gradient = True
    assert (y * 3.0).stop_gradient
    y.stop_gradient = False  # what it was before
    (y * 3.0).backward()
    assert x.grad.tolist() == [6.0, 6.0] and not y.is_leaf


def test_stop_gradient_makes_a_leaf():
    x = paddle.ones([2]) * 3.0
    x.stop_gradient = False
    assert x.is_leaf
    (x * x).backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_freezing_and_thawing_a_leaf_in_use():
    w = leaf(2.0)
    a = w * 3.0
    w.stop_gradient = True
    b = w * 5.0
    assert b.stop_gradient
    (a + b).backward()
    assert w.grad.tolist() == [3.0]
    w.stop_gradient = False
    (w * 7.0).backward()
    assert w.grad.tolist() == [10.0]


def test_gradients_can_be_cleared_and_set():
    x = leaf(3.0)
    (x * x).backward()
    assert x.gradient().tolist() == [6.0]
    x.clear_grad()
    assert x.grad.tolist() == [0.0]
    x.clear_gradient(False)
    assert x.grad is None
    x.grad = paddle.ones([1])
    (x * x).backward()
    assert x.grad.tolist() == [7.0]
    with pytest.raises(ValueError):
        x.grad = 3


def test_hooks():
    x = leaf(1.0)
    seen = []
    y = x * 2.0
    y.register_hook(lambda g: seen.append(g.item()))
    handle = x.register_hook(lambda g: g * 10.0)
    (y * 3.0).backward()
    assert seen == [3.0] and x.grad.tolist() == [60.0]
    assert handle.remove() and not handle.remove()
    with pytest.raises(RuntimeError, match="no gradients"):
        paddle.ones([1]).register_hook(lambda g: g)


def test_retain_grads():
    x = leaf(1.0)
    y = x * 2.0
    y.retain_grads()
    (y * 3.0).backward()
    assert y.grad.tolist() == [3.0]


def test_detach():
    x = leaf(1.0)
    y = x * 2.0
    assert y.detach().stop_gradient and y.detach().tolist() == [2.0]
    y.detach_()
    assert y.stop_gradient and y.is_leaf


def test_in_place_rules():
    x = paddle.zeros([2])
    assert x.fill_(3.0) is x and x.zero_().tolist() == [0.0, 0.0] and x.inplace_version == 2
    with pytest.raises(ValueError, match="leaf"):
        leaf(1.0).zero_()
    w = leaf(1.0)
    with paddle.no_grad():
        w.fill_(5.0)
    assert not w.stop_gradient and w.tolist() == [5.0]


def test_set_value():
    x = leaf(1.0, 2.0)
    x.set_value(np.array([3.0, 4.0], "float32"))
    assert x.tolist() == [3.0, 4.0] and not x.stop_gradient
    for bad in (np.zeros(3, "float32"), np.zeros(2), 3, [1.0, 2.0]):
        with pytest.raises(AssertionError):
            x.set_value(bad)
    assert x.tolist() == [3.0, 4.0]


def test_copies():
    x = leaf(1.0)
    for y in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x)), x.clone()):
        assert y is not x and y.tolist() == [1.0] and not y.stop_gradient
    b = paddle.to_tensor([1.5], dtype="bfloat16")
    assert pickle.loads(pickle.dumps(b)).dtype is paddle.bfloat16


def test_conversions():
    x = paddle.to_tensor([1.7, -1.7])
    assert x.astype("int32").tolist() == [1, -1] and x.int().dtype is paddle.int32
    assert x.to("float64").dtype is paddle.float64 and x.to("cpu", "int8").dtype is paddle.int8
    assert x.to(paddle.ones([1], "int64")).dtype is paddle.int64 and x.astype(float).dtype is paddle.float64
    assert x.cpu() is x and x.type_as(paddle.ones([1], "int64")).dtype is paddle.int64
    for bad, kind in (("nope", ValueError), (3, ValueError)):
        with pytest.raises(kind):
            x.to(bad)
    with pytest.raises(TypeError):
        x.astype("nope")
    with pytest.raises(ValueError):
        x.cuda()


def test_complex_parts():
    z = paddle.as_complex(paddle.to_tensor([[1.0, 2.0]]))
    assert z.tolist() == [1 + 2j] and z.real().tolist() == [1.0] and z.imag().tolist() == [2.0]
    assert paddle.as_real(z).tolist() == [[1.0, 2.0]]
    with pytest.raises(ValueError):
        paddle.as_complex(paddle.ones([3]))


def test_dlpack():
    x = paddle.to_tensor([1.0, 2.0])
    assert np.from_dlpack(x).tolist() == [1.0, 2.0]
    assert paddle.utils.dlpack.from_dlpack(paddle.utils.dlpack.to_dlpack(x)).tolist() == [1.0, 2.0]


def test_flags():
    assert paddle.get_flags("FLAGS_check_nan_inf") == {"FLAGS_check_nan_inf": False}
    with pytest.raises(ValueError):
        paddle.set_flags({"FLAGS_nope": 1})
    with pytest.raises(TypeError):
        paddle.set_flags(3)
