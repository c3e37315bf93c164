"""Parameters, ParamAttr, create_parameter, unique names."""

import threading

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.utils import unique_name


def test_unique_names():
    with unique_name.guard("p_"):
        assert [unique_name.generate("a") for _ in range(2)] == ["p_a_0", "p_a_1"]
        with unique_name.guard():
            assert unique_name.generate("a") == "a_0"
        assert unique_name.generate("a") == "p_a_2"
    old, _ = unique_name.switch()
    try:
        assert unique_name.generate("b") == "b_0"
    finally:
        unique_name.switch(old)


def test_names_are_unique_over_threads():
    with unique_name.guard():
        found = []
        threads = [
            threading.Thread(target=lambda: found.extend(unique_name.generate("t") for _ in range(200)))
            for _ in range(4)
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert len(set(found)) == 800


def test_a_parameter_shares_the_values_of_its_tensor():
    x = paddle.ones([2])
    p = nn.Parameter(x)
    assert isinstance(p, paddle.Tensor) and not p.stop_gradient and p.trainable and p.persistable and p.is_leaf
    p.trainable = False
    assert p.stop_gradient
    with pytest.raises(ValueError):
        p.trainable = 3
    assert nn.Parameter(x, requires_grad=False).stop_gradient
    assert nn.Parameter.from_tensor(x, name="q").name == "q"
    assert repr(nn.Parameter(x)).startswith("Parameter containing:\nTensor(shape=[2]")


def test_a_parameter_shares_memory_with_its_source_as_upstream():
    x = paddle.ones([2])
    p = nn.Parameter(x)
    with paddle.no_grad():
        p.add_(paddle.ones([2]))
    np.testing.assert_array_equal(x.numpy(), [2.0, 2.0])
    np.testing.assert_array_equal(p.numpy(), [2.0, 2.0])


def test_create_parameter():
    p = paddle.create_parameter([2, 3], "float64", name="me", default_initializer=nn.initializer.Constant(2.0))
    assert p.name == "me" and str(p.dtype) == "paddle.float64" and p.numpy().sum() == 12.0
    assert not paddle.create_parameter([3], "float32", is_bias=True).numpy().any()
    assert paddle.create_parameter([2], "int32", default_initializer=nn.initializer.Constant(3)).stop_gradient
    assert paddle.create_parameter([], "float32").shape == [] and paddle.create_parameter([0, 2], "float32").size == 0


def test_what_an_attribute_may_be():
    fc = nn.Linear(2, 2, weight_attr="w", bias_attr=nn.initializer.Constant(5.0))
    assert fc.weight.name == "w" and (fc.bias.numpy() == 5.0).all()
    assert nn.Linear(2, 2, bias_attr=False).bias is None
    decay = paddle.regularizer.L2Decay(0.1)
    fc = nn.Linear(2, 2, weight_attr=decay, bias_attr=True)
    assert fc.weight.regularizer is decay
    attr = paddle.ParamAttr(learning_rate=0.5, trainable=False, need_clip=False)
    p = nn.Linear(2, 2, weight_attr=attr).weight
    assert p.optimize_attr == {"learning_rate": 0.5} and p.stop_gradient and not p.need_clip


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: paddle.ParamAttr(name=3), TypeError),
        (lambda: paddle.ParamAttr(name=""), ValueError),
        (lambda: paddle.ParamAttr(initializer=3), TypeError),
        (lambda: paddle.ParamAttr(learning_rate="a"), TypeError),
        (lambda: paddle.ParamAttr(regularizer=3), TypeError),
        (lambda: paddle.create_parameter("a", "float32"), TypeError),
        (lambda: paddle.create_parameter([2], "nope"), TypeError),
        (lambda: paddle.create_parameter([2], "float32", name=3), TypeError),
    ],
)
def test_bad_arguments(call, kind):
    with pytest.raises(kind):
        call()
