"""Arguments of wrong types raise what PaddlePaddle 3.3.1 raises: a table recorded by calling it."""

import pytest

import paddle
import paddle.nn.functional as F

NO_FLAGS = [1, 1.5, "a", [True], object()]
FLAGS = {
    "all": lambda x, v: x.all(keepdim=v),
    "any": lambda x, v: x.any(keepdim=v),
    "max": lambda x, v: x.max(keepdim=v),
    "min": lambda x, v: paddle.min(x, 0, v),
    "mean": lambda x, v: x.mean(keepdim=v),
    "norm": lambda x, v: paddle.norm(x, keepdim=v),
    "argmax": lambda x, v: x.argmax(keepdim=v),
    "argmax of an axis": lambda x, v: x.argmax(0, v),
    "matmul": lambda x, v: paddle.matmul(x, x, v),
    "matmul, second": lambda x, v: paddle.matmul(x, x, False, v),
    "argsort": lambda x, v: x.argsort(descending=v),
    "argsort, stable": lambda x, v: x.argsort(stable=v),
    "topk": lambda x, v: x.topk(1, largest=v),
    "topk, sorted": lambda x, v: x.topk(1, sorted=v),
    "allclose": lambda x, v: x.allclose(x, equal_nan=v),
    "stop_gradient": lambda x, v: setattr(x, "stop_gradient", v),
    "persistable": lambda x, v: setattr(x, "persistable", v),
    "clear_gradient": lambda x, v: x.detach().requires_grad_().clear_gradient(v),
    "backward": lambda x, v: x.detach().requires_grad_().sum().backward(retain_graph=v),
}


@pytest.mark.parametrize("name", list(FLAGS))
def test_a_flag_is_true_or_false_or_none(name):
    x = paddle.ones([4, 4])
    for v in NO_FLAGS:
        with pytest.raises(TypeError, match="is not True or False"):
            FLAGS[name](x, v)
    for v in (True, False):
        FLAGS[name](x.clone(), v)


WRONG = [
    (lambda x: x.max(axis=True), TypeError),
    (lambda x: x.sum(True), TypeError),
    (lambda x: x.unsqueeze(True), TypeError),
    (lambda x: x.squeeze(True), TypeError),
    (lambda x: x.tril(True), TypeError),
    (lambda x: x.tile(True), TypeError),
    (lambda x: x.expand(True), TypeError),
    (lambda x: x.reshape(True), TypeError),
    (lambda x: x.transpose(True), TypeError),
    (lambda x: x.flip(True), TypeError),
    (lambda x: x.index_select(paddle.to_tensor([0]), True), TypeError),
    (lambda x: paddle.zeros(True), TypeError),
    (lambda x: paddle.randint(True, 5), TypeError),
    (lambda x: x.expand(None), ValueError),
    (lambda x: paddle.broadcast_to(x, None), ValueError),
    (lambda x: x.flatten("a"), ValueError),
    (lambda x: x.flatten(None), ValueError),
    (lambda x: x.flatten(0, 1.5), ValueError),
    (lambda x: x.flatten(True), TypeError),
    (lambda x: paddle.roll(x, None), ValueError),
    (lambda x: paddle.roll(x, "a"), TypeError),
    (lambda x: paddle.stack(None), RuntimeError),
    (lambda x: paddle.concat(None), RuntimeError),
    (lambda x: paddle.add_n(None), RuntimeError),
    (lambda x: paddle.stack("ab"), ValueError),
    (lambda x: x.index_select(0), TypeError),
    (lambda x: paddle.gather(x, 1), TypeError),
    (lambda x: paddle.scatter(x, True, x), TypeError),
    (lambda x: paddle.gather(x, None), ValueError),
    (lambda x: x.repeat_interleave([1, 2]), TypeError),
    (lambda x: x.cumsum(0, dtype=3), TypeError),
    (lambda x: x.sum(dtype="float3"), ValueError),
    (lambda x: paddle.add(x, x, out=3), ValueError),
    (lambda x: paddle.gather(x, paddle.to_tensor([0]), out="a"), ValueError),
    (lambda x: paddle.assign(x, 3), ValueError),
    (lambda x: paddle.slice(x, "a", [0], [1]), ValueError),
    (lambda x: paddle.slice(x, None, [0], [1]), ValueError),
    (lambda x: paddle.slice(x, [0], ["a"], [1]), TypeError),
    (lambda x: paddle.take_along_axis(3, x, 0), AttributeError),
    (lambda x: paddle.take_along_axis(x, None, 0), AttributeError),
    (lambda x: F.one_hot(x, None), TypeError),
    (lambda x: F.gelu(x, 1), TypeError),
    (lambda x: F.gelu(x, "a"), ValueError),
    (lambda x: x @ 3, ValueError),
    (lambda x: 3 @ x, ValueError),
    (lambda x: x @ None, TypeError),
    (lambda x: x + None, TypeError),
    (lambda x: setattr(x, "name", 3), TypeError),
    (lambda x: x.copy_(3), ValueError),
    (lambda x: x.to(), TypeError),
    (lambda x: x.diff(n=0), ValueError),
]


@pytest.mark.parametrize("at", range(len(WRONG)))
def test_kinds_of_errors(at):
    call, kind = WRONG[at]
    with pytest.raises(kind) as caught:
        call(paddle.ones([4, 4]))
    assert {c for c in caught.type.__mro__ if c in (TypeError, ValueError, RuntimeError, AttributeError)} == {kind}


def test_what_upstream_takes_for_granted():
    x = paddle.ones([4, 4])
    assert paddle.zeros(None).shape == [] and x.unsqueeze(None).shape == [4, 4]
    assert x.cumsum(True).tolist() == x.cumsum(1).tolist() and x.argmax(False).shape == [4]
    assert [t.shape for t in x.split(2, True)] == [[4, 2]] * 2 and x.topk(True)[0].shape == [4, 1]
    assert x.max(keepdim=None).shape == [] and F.gelu(x, None).shape == [4, 4]
