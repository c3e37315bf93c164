"""Which results share memory with their source, as PaddlePaddle 3.3.1 has it, for changes in place on either side."""

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F

# Recorded with PaddlePaddle 3.3.1 on a CPU: the function is applied to a [3, 4] Tensor of 1..12, the result (or the
# source) is filled with 0, and the other one is looked at. Upstream gave the same answer for both directions, and
# with a source without gradients, a leaf (changed under no_grad) and a value that was computed.
SHARING = {
    "reshape": lambda x: x.reshape([4, 3]),
    "reshape to the same shape": lambda x: x.reshape([3, 4]),
    "paddle.reshape": lambda x: paddle.reshape(x, [-1]),
    "reshape of rows": lambda x: x[1:].reshape([8]),
    "reshape by a Tensor": lambda x: x.reshape(paddle.to_tensor([2, 6])),
    "reshape of columns, a new axis": lambda x: x[:, :2].reshape([3, 2, 1]),
    "reshape of a transposed one, an axis cut": lambda x: x.T.reshape([2, 2, 3]),
    "transpose": lambda x: x.transpose([1, 0]),
    "transpose to the same order": lambda x: x.transpose([0, 1]),
    "t": lambda x: x.t(),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "swapaxes": lambda x: paddle.swapaxes(x, 0, 1),
    "moveaxis": lambda x: paddle.moveaxis(x, 0, 1),
    "permute": lambda x: paddle.permute(x, [1, 0]),
    "matrix_transpose": lambda x: paddle.matrix_transpose(x),
    "flatten": lambda x: x.flatten(),
    "flatten of one axis": lambda x: x.flatten(1, 1),
    "ravel": lambda x: paddle.ravel(x),
    "squeeze": lambda x: x.reshape([1, 3, 4]).squeeze(0),
    "squeeze of nothing": lambda x: x.squeeze(),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "unsqueeze of a transposed one": lambda x: x.T.unsqueeze([0, 2]),
    "unflatten": lambda x: paddle.unflatten(x, 1, [2, 2]),
    "view": lambda x: x.view([2, 6]),
    "view as another type": lambda x: x.view("int32"),
    "view as a smaller type": lambda x: x.view("float16"),
    "view_as": lambda x: x.view_as(paddle.zeros([12])),
    "as_strided": lambda x: x.as_strided([2, 2], [4, 1]),
    "as_strided, overlapping": lambda x: paddle.as_strided(x, [3, 2], [1, 1]),
    "unfold": lambda x: x.unfold(0, 2, 1),
    "unfold of the last axis": lambda x: x.unfold(1, 2, 2),
    "unbind": lambda x: x.unbind()[1],
    "unbind of columns": lambda x: paddle.unbind(x, 1)[0],
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
    "Tensor": lambda x: paddle.Tensor(x),
    "Parameter": lambda x: paddle.nn.Parameter(x, requires_grad=False),
    "astype to the same type": lambda x: x.astype("float32"),
    "cpu": lambda x: x.cpu(),
    "contiguous": lambda x: x.contiguous(),
    "an integer": lambda x: x[1],
    "rows": lambda x: x[0:2],
    "a column": lambda x: x[:, 1],
    "steps": lambda x: x[::2],
    "steps back": lambda x: x[::-1],
    "a new axis": lambda x: x[None],
    "all": lambda x: x[...],
    "one element": lambda x: x[1, 2],
    "a slice of a slice": lambda x: x[1:][0],
    "a slice of a transposed one": lambda x: x.T[1],
    "a Tensor for an integer": lambda x: x[paddle.to_tensor(1)],
    "an iteration": lambda x: list(x)[1],
    "slice": lambda x: paddle.slice(x, [0], [1], [3]),
    "strided_slice": lambda x: paddle.strided_slice(x, [0], [0], [3], [2]),
    "narrow": lambda x: paddle.narrow(x, 0, 1, 2),
    "diagonal": lambda x: x.diagonal(),
    "diagonal, shifted": lambda x: paddle.diagonal(x, 1),
    "atleast_3d": lambda x: paddle.atleast_3d(x),
    "as_complex": lambda x: paddle.as_complex(x.reshape([3, 2, 2])),
    "Flatten": lambda x: paddle.nn.Flatten()(x),
    "Unflatten": lambda x: paddle.nn.Unflatten(1, [2, 2])(x),
    "reshape_ of a detached one": lambda x: x.detach().reshape_([12]),
    "transpose_ of a detached one": lambda x: x.detach().transpose_([1, 0]),
    "squeeze_": lambda x: x.unsqueeze(0).squeeze_(0),
    "dropout of nothing": lambda x: F.dropout(x, 0.0),
    "a view of a view of a view": lambda x: x.T[1:].unsqueeze(0)[0, :, 1],
}
COPYING = {
    "reshape of a transposed one": lambda x: x.T.reshape([12]),
    "reshape of columns": lambda x: x[:, :2].reshape([6]),
    "flatten of a transposed one": lambda x: x.T.flatten(),
    "contiguous of a transposed one": lambda x: x.T.contiguous(),
    "split": lambda x: x.split(3)[1],
    "chunk": lambda x: x.chunk(2, 1)[1],
    "chunk in one": lambda x: x.chunk(1, 1)[0],
    "unstack": lambda x: paddle.unstack(x)[0],
    "tensor_split": lambda x: paddle.tensor_split(x, 2)[0],
    "clone": lambda x: x.clone(),
    "assign": lambda x: paddle.assign(x),
    "to_tensor": lambda x: paddle.to_tensor(x),
    "cast to the same type": lambda x: x.cast("float32"),
    "to the same type": lambda x: x.to("float32"),
    "expand": lambda x: x.expand([2, 3, 4]),
    "expand to the same shape": lambda x: x.expand([3, 4]),
    "broadcast_to": lambda x: paddle.broadcast_to(x, [3, 4]),
    "tile": lambda x: paddle.tile(x, [1, 1]),
    "a list": lambda x: x[[0, 1]],
    "a mask": lambda x: x[x > 0],
    "a number and a list": lambda x: x[0, [0, 1]],
    "crop": lambda x: paddle.crop(x, [2, 2]),
    "index_select": lambda x: paddle.index_select(x, paddle.to_tensor([0])),
    "diag": lambda x: paddle.diag(x),
    "flip": lambda x: paddle.flip(x, [0]),
    "roll by nothing": lambda x: paddle.roll(x, 0),
    "concat of one": lambda x: paddle.concat([x]),
    "stack of one": lambda x: paddle.stack([x]),
    "meshgrid": lambda x: paddle.meshgrid(x[0])[0],
    "pad by nothing": lambda x: F.pad(x, [0, 0, 0, 0]),
    "interpolate to the same size": lambda x: F.interpolate(x.reshape([1, 1, 3, 4]), [3, 4]),
    "sum over an axis of one": lambda x: x.unsqueeze(0).sum(0),
    "scale by one": lambda x: paddle.scale(x, 1.0),
    "reduce_as": lambda x: paddle.reduce_as(x, x),
    "matrix_power of one": lambda x: paddle.linalg.matrix_power(x[:, :3], 1),
    "conj": lambda x: paddle.conj(x),
}
COMPLEX_SHARING = {
    "real": lambda x: x.real(),
    "imag": lambda x: x.imag(),
    "as_real": lambda x: paddle.as_real(x),
    "T": lambda x: x.T,
}


def source(mode, dtype="float32"):
    x = paddle.to_tensor(np.arange(1, 13).reshape(3, 4).astype(dtype) + (1j if dtype == "complex64" else 0))
    if mode != "plain":
        x.stop_gradient = False
    return x * 1.0 if mode == "computed" else x


def zero(t):
    with paddle.no_grad():
        t.fill_(0)


def reaches(f, mode, up, dtype="float32"):
    x = source(mode, dtype)
    y = f(x)
    changed, seen = (y, x) if up else (x, y)
    before = seen.numpy().copy()
    zero(changed)
    assert not changed.numpy().any()
    return bool((seen.numpy() != before).any())


@pytest.mark.parametrize("mode", ["plain", "leaf", "computed"])
@pytest.mark.parametrize("up", [True, False], ids=["of the result", "of the source"])
def test_what_shares_memory(mode, up):
    assert {n for n, f in SHARING.items() if not reaches(f, mode, up)} == set()
    assert {n for n, f in COMPLEX_SHARING.items() if not reaches(f, mode, up, "complex64")} == set()
    assert {n for n, f in COPYING.items() if reaches(f, mode, up)} == set()


CHANGES = {
    "add_": (lambda t: t.add_(paddle.full([], 1.0)), lambda a: a + 1),
    "scale_": (lambda t: t.scale_(3.0), lambda a: a * 3),
    "clip_": (lambda t: t.clip_(2, 5), lambda a: a.clip(2, 5)),
    "zero_": (lambda t: t.zero_(), lambda a: a * 0),
    "fill_": (lambda t: t.fill_(7), lambda a: a * 0 + 7),
    "[...] =": (lambda t: t.__setitem__(..., 5.0), lambda a: a * 0 + 5),
    "set_value": (lambda t: t.set_value(t.numpy() + 2), lambda a: a + 2),
    "copy_": (lambda t: t.copy_(t * 2), lambda a: a * 2),
    "out=": (lambda t: paddle.add(t, t, out=t), lambda a: a * 2),
    "assign": (lambda t: paddle.assign(t + 4, t), lambda a: a + 4),
    "get_tensor().set": (lambda t: t.get_tensor().set(t.numpy() - 1, paddle.CPUPlace()), lambda a: a - 1),
    "relu_": (lambda t: F.relu_(t), lambda a: a),
    "cumsum_": (lambda t: t.cumsum_(0), lambda a: a.cumsum(0)),
}
PARTS = {
    "reshape": (lambda x: x.reshape([4, 3]), lambda a: a.reshape(4, 3)),
    "T": (lambda x: x.T, lambda a: a.T),
    "column": (lambda x: x[:, 1], lambda a: a[:, 1]),
    "diagonal": (lambda x: x.diagonal(1), lambda a: np.diagonal(a, 1)),
    "unbind": (lambda x: x.unbind(1)[2], lambda a: a[:, 2]),
    "chain": (lambda x: x[1:].T.unsqueeze(1)[1:3], lambda a: a[1:].T[:, None][1:3]),
}


@pytest.mark.parametrize("how", list(CHANGES))
def test_every_change_in_place_reaches_all_that_share(how):
    change, meaning = CHANGES[how]
    for name, (part, of_array) in PARTS.items():
        x, a = source("plain"), np.arange(1, 13, dtype="float32").reshape(3, 4)
        y, other = part(x), x.T[1:]
        change(y)
        seen = np.array(of_array(a))
        at = of_array(np.arange(12).reshape(3, 4))
        a.reshape(-1)[at] = meaning(seen)
        for t, want in ((x, a), (y, of_array(a)), (other, a.T[1:])):
            np.testing.assert_allclose(t.numpy(), want, err_msg=f"{how} of {name}")
        change(x)
        a = meaning(a)
        for t, want in ((x, a), (y, of_array(a)), (other, a.T[1:])):
            np.testing.assert_allclose(t.numpy(), want, err_msg=f"{how} of the source of {name}")


@pytest.mark.parametrize("flush", [False, True])
def test_siblings_share_when_their_source_is_gone(flush):
    x = paddle.zeros([2, 3])
    y, z = x.reshape([6]), x.T
    parts = paddle.unbind(x)
    row = parts[0][1:]
    del x
    if flush:
        y.numpy()
    z.add_(paddle.ones([1]))
    assert y.tolist() == [1.0] * 6 and row.tolist() == [1.0, 1.0]
    del y, z
    row.fill_(3.0)
    assert [p.tolist() for p in parts] == [[1.0, 3.0, 3.0], [1.0, 1.0, 1.0]]
    parts[0].zero_()
    assert row.tolist() == [0.0, 0.0]


def test_a_view_of_a_view_that_is_gone():
    x = paddle.zeros([2, 3])
    x.T[1].fill_(5.0)
    x.reshape([-1])[5:].unsqueeze(0).add_(paddle.ones([1]))
    assert x.tolist() == [[0.0, 5.0, 0.0], [0.0, 5.0, 1.0]]


def test_changes_by_way_of_a_view_leave_the_history():
    """As upstream: gradients are those of the operations that were called on each Tensor."""
    w = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], stop_gradient=False)
    h = w * 1
    y = h[0]
    y.scale_(3.0)
    assert h.tolist() == [[3.0, 6.0, 9.0], [4.0, 5.0, 6.0]]
    (h * 2).sum().backward()
    assert w.grad.tolist() == [[2.0] * 3] * 2
    w.clear_grad()
    h = w * 1
    y = h.reshape([6])
    y.scale_(3.0)
    (y * 2).sum().backward()
    assert w.grad.tolist() == [[6.0] * 3] * 2
    w.clear_grad()
    h = w * 1
    y = h.T
    h.scale_(3.0)
    assert y.tolist() == [[3.0, 12.0], [6.0, 15.0], [9.0, 18.0]]
    (y * 2).sum().backward()
    assert w.grad.tolist() == [[2.0] * 3] * 2


def test_a_source_without_gradients_stays_so():
    h, w = paddle.zeros([2, 3]), paddle.ones([1])
    w.stop_gradient = False
    y = h[0]
    y.add_(w)
    assert h.stop_gradient and h.is_leaf and not y.stop_gradient
    assert h.tolist() == [[1.0] * 3, [0.0] * 3]


def test_views_of_parameters_follow_the_optimizer():
    for steps in (1, 4):  # a step that is known is taken by another way
        layer = paddle.nn.Linear(2, 3)
        views = [layer.weight.T, layer.weight[0], layer.weight.detach(), layer.weight.reshape([6])]
        optimizer = paddle.optimizer.Momentum(0.1, parameters=layer.parameters())
        for _ in range(steps):
            layer(paddle.ones([4, 2])).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
        w = layer.weight.numpy()
        for v, want in zip(views, (w.T, w[0], w, w.reshape(6))):
            np.testing.assert_array_equal(v.numpy(), want)


def test_views_of_parameters_follow_what_loads_them():
    layer = paddle.nn.Linear(2, 3)
    v = layer.weight.T
    layer.set_state_dict({"weight": paddle.ones([2, 3]), "bias": paddle.ones([3])})
    assert v.tolist() == [[1.0, 1.0]] * 3
    paddle.nn.initializer.Constant(4.0)(layer.weight)
    assert v.tolist() == [[4.0, 4.0]] * 3


def test_views_of_gradients_follow_their_sum():
    x = paddle.ones([2, 2])
    x.stop_gradient = False
    (x * 2).sum().backward()
    v = x.grad.T
    (x * 2).sum().backward()
    assert v.tolist() == [[4.0, 4.0], [4.0, 4.0]]
    v.scale_(10.0)
    assert x.grad.tolist() == [[40.0, 40.0], [40.0, 40.0]]


def test_gradients_may_be_asked_for_anew():
    w = paddle.ones([2, 2])
    w.stop_gradient = False
    y = w.detach()
    y.stop_gradient = False
    with paddle.no_grad():
        y.scale_(2.0)
    assert w.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    (w * w).sum().backward()
    assert w.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]
    h = w * 1
    v = h[0]
    h.stop_gradient = True
    v.scale_(2.0)
    assert h.tolist() == [[4.0, 4.0], [2.0, 2.0]]


def test_another_shape_in_place_goes_on_sharing():
    x = paddle.zeros([2, 3])
    y = x.T
    x.reshape_([3, 2])
    y.add_(paddle.ones([1]))
    assert x.tolist() == [[1.0, 1.0]] * 3 and y.shape == [3, 2]
    z = x[0]
    z.unsqueeze_(0).fill_(9.0)
    assert x.tolist() == [[9.0, 9.0], [1.0, 1.0], [1.0, 1.0]] and z.shape == [1, 2]
    for _ in range(50):
        x.unsqueeze_(0)
        x.squeeze_(0)
    x.zero_()
    assert z.tolist() == [[0.0, 0.0]] and y.tolist() == [[0.0, 0.0]] * 3


def test_another_type_in_place_ends_it():
    x = paddle.zeros([2])
    y = x.detach()
    y.cast_("int32")
    y.add_(paddle.ones([2], "int32"))
    assert x.tolist() == [0.0, 0.0] and y.tolist() == [1, 1]


def test_data_takes_the_memory_of_another():
    x, other = paddle.zeros([2]), paddle.ones([2])
    y = x.detach()
    x.data = other
    assert (x.tolist(), y.tolist()) == ([1.0, 1.0], [0.0, 0.0])
    other.fill_(3.0)
    assert (x.tolist(), y.tolist()) == ([3.0, 3.0], [0.0, 0.0])


def test_versions_are_counted_together():
    h = paddle.zeros([2, 3])
    y, z = h.reshape([6]), h[0]
    y.add_(paddle.ones([1]))
    assert (h.inplace_version, y.inplace_version, z.inplace_version) == (1, 1, 1)


def test_strides_are_those_of_the_source():
    """Recorded with PaddlePaddle 3.3.1."""
    x = paddle.arange(12, dtype="float32").reshape([3, 4])
    views = [
        x.T, x[:, :2], x[1:], x[:, 1], x.diagonal(), x.T[1], x[::2], x[::-1], x.unsqueeze(1).transpose([2, 1, 0]),
        x.T + 1, x.T.clone(), x.reshape([3, 1, 4]).transpose([1, 0, 2]), x.T.reshape([2, 2, 3]), x.T.contiguous()
    ]  # fmt: skip
    seen = [(v.strides, v.is_contiguous()) for v in views]
    assert seen == [
        ([1, 4], False), ([4, 1], False), ([4, 1], True), ([4], False), ([5], False), ([4], False), ([8, 1], False),
        ([-4, 1], False), ([1, 4, 4], False), ([3, 1], True), ([3, 1], True), ([4, 4, 1], False), ([2, 1, 4], False),
        ([3, 1], True)]  # fmt: skip


def test_view_refuses_what_would_need_a_copy():
    x = paddle.zeros([3, 4])
    with pytest.raises(ValueError, match="do not lie in the order"):
        x.T.view([12])
    assert x.T.contiguous().view([12]).shape == [12]


def test_the_dead_are_forgotten():
    x = paddle.zeros([4])
    kept = x[0:2]
    for _ in range(500):
        x[1:3]
        x.reshape([2, 2]).numpy()
    assert len(x.kin.family) < 100
    x.add_(paddle.ones([4]))
    assert len(x.kin.family) == 2 and kept.tolist() == [1.0, 1.0]


def test_a_number_in_another_shape_is_a_copy_where_upstream_copies():
    for f, shared in (
        (lambda x: x.reshape([1]), False),
        (lambda x: x.reshape([1, 1]), False),
        (lambda x: x.flatten(), False),
        (lambda x: x.reshape([]), True),
        (lambda x: x.unsqueeze(0), True),
        (lambda x: x.view([1]), True),
    ):
        for _ in range(2):
            x = paddle.to_tensor(3.0)
            f(x).add_(paddle.ones_like(f(x)))
            assert x.item() == (4.0 if shared else 3.0)
