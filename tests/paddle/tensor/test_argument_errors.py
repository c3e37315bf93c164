"""Which exceptions bad indices, axes and sizes raise: those of upstream, function by function."""

import builtins

import pytest

import paddle
import paddle.nn.functional as F

x = paddle.ones([3, 4])
far = paddle.to_tensor([7])


def first_builtin(error):
    """The first of an error's classes that Python itself brings."""
    return next(c for c in type(error).__mro__ if getattr(builtins, c.__name__, None) is c)


@pytest.mark.parametrize("name, call", [
    ("embedding", lambda: F.embedding(far, x)),
    ("one_hot", lambda: F.one_hot(far, 3)),
    ("index_select", lambda: paddle.index_select(x, far)),
    ("gather_nd", lambda: paddle.gather_nd(x, far.reshape([1, 1]))),
    ("index_sample", lambda: paddle.index_sample(x, paddle.to_tensor([[7], [0], [0]]))),
    ("take", lambda: paddle.take(x, far * 9)),
])  # fmt: skip
def test_a_bad_index_is_a_value_error_first(name, call):
    with pytest.raises(ValueError, match="(?s)out of range|not in") as e:
        call().numpy()
    assert first_builtin(e.value) is ValueError and isinstance(e.value, IndexError), name


@pytest.mark.parametrize("call", [
    lambda: paddle.gather(x, far),
    lambda: paddle.take_along_axis(x, far.reshape([1, 1]), 0),
    lambda: paddle.scatter_nd(far.reshape([1, 1]), paddle.ones([1, 4]), [3, 4]),
])  # fmt: skip
def test_a_bad_index_is_an_index_error_first(call):
    with pytest.raises(IndexError) as e:
        call().numpy()
    assert first_builtin(e.value) is IndexError


@pytest.mark.parametrize("kind, call", [
    (IndexError, lambda: paddle.gather(x, far, axis=5)),
    (IndexError, lambda: paddle.swapaxes(x, 0, 5)),
    (IndexError, lambda: paddle.diagonal(x, axis2=7)),
    (ValueError, lambda: paddle.transpose(x, [0, 5])),
    (ValueError, lambda: paddle.sum(x, axis=5)),
    (AssertionError, lambda: paddle.unflatten(x, 5, [1, 3])),
    (AssertionError, lambda: paddle.take_along_axis(x, far.reshape([1, 1]), 5)),
])  # fmt: skip
def test_a_bad_axis(kind, call):
    with pytest.raises(kind, match="no such axis"):
        call()


def test_a_negative_size_of_a_parameter():
    for call in (lambda: paddle.nn.Linear(2, -1), lambda: paddle.nn.Conv2D(-1, 2, 3), lambda: paddle.nn.PReLU(-1)):
        with pytest.raises(AssertionError, match="a size is negative"):
            call()
    assert paddle.nn.Linear(0, 1).weight.shape == [0, 1]
