import numpy as np
import pytest

import paddle
from paddle import geometric as G

T = paddle.to_tensor
X = T([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]])
SRC, DST = T([0, 1, 2, 0]), T([1, 2, 1, 0])


def by_hand(rows, at, count, how):
    out = np.zeros((count, *rows.shape[1:]), rows.dtype)
    for k in range(count):
        found = rows[at == k]
        if len(found):
            out[k] = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}[how](found, axis=0)
    return out


@pytest.mark.parametrize("how", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32"])
def test_segments(how, dtype):
    ids = T([0, 0, 2], dtype="int32")
    got = getattr(G, f"segment_{how}")(X.astype(dtype), ids)
    assert got.dtype == X.astype(dtype).dtype
    np.testing.assert_allclose(got.numpy(), by_hand(X.numpy().astype(dtype), ids.numpy(), 3, how))
    assert getattr(G, f"segment_{how}")(paddle.zeros([0, 2]), paddle.zeros([0], "int64")).shape == [0, 2]


@pytest.mark.parametrize("how", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize("message", ["add", "sub", "mul", "div"])
def test_messages(how, message):
    y = T([[1.0], [2.0], [4.0], [8.0]])
    op = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[message]
    sent = op(X.numpy()[SRC.numpy()], y.numpy())
    got = G.send_ue_recv(X, y, SRC, DST, message, how, out_size=4)
    np.testing.assert_allclose(got.numpy(), by_hand(sent, DST.numpy(), 4, how), rtol=1e-6)
    np.testing.assert_array_equal(got.numpy(), G.send_ue_recv(X, y[:, 0], SRC, DST, message, how, T(4)).numpy())
    both = op(X.numpy()[SRC.numpy()], X.numpy()[DST.numpy()] + 1)
    np.testing.assert_allclose(G.send_uv(X, X + 1, SRC, DST, message).numpy(), both, rtol=1e-6)
    plain = by_hand(X.numpy()[SRC.numpy()], DST.numpy(), 3, how)
    np.testing.assert_allclose(G.send_u_recv(X, SRC, DST, how).numpy(), plain, rtol=1e-6)


def test_gradients():
    g = T([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for how, want in (
        ("sum", [[4.0, 6.0], [5.0, 6.0], [3.0, 4.0]]),
        ("mean", [[2.5, 4.0], [5.0, 6.0], [1.5, 2.0]]),
        ("max", [[1.0, 6.0], [5.0, 6.0], [3.0, 0.0]]),
        ("min", [[4.0, 2.0], [5.0, 6.0], [0.0, 4.0]]),
    ):
        x = T(X.numpy(), stop_gradient=False)
        (G.send_u_recv(x, SRC, DST, how) * g).sum().backward()
        assert x.grad.tolist() == want, how
    ties = T([[1.0], [1.0], [0.0]], stop_gradient=False)
    G.segment_max(ties, T([0, 0, 0])).sum().backward()
    assert ties.grad.tolist() == [[1.0], [1.0], [0.0]]


def test_numbered_anew():
    x, neighbors, count = T([0, 1, 2]), T([8, 9, 0, 4, 7, 6, 7]), T([2, 3, 2], dtype="int32")
    src, dst, nodes = G.reindex_graph(x, neighbors, count)
    assert src.tolist() == [3, 4, 0, 5, 6, 7, 6] and dst.tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert nodes.tolist() == [0, 1, 2, 8, 9, 4, 7, 6]
    src, dst, nodes = G.reindex_heter_graph(x, [neighbors, T([0, 2, 3])], [count, T([1, 1, 1], dtype="int32")])
    assert src.tolist()[7:] == [0, 2, 8] and dst.tolist()[7:] == [0, 1, 2] and nodes.tolist()[-1] == 3


def test_neighbours():
    row, colptr = T([3, 7, 0, 9, 1, 4, 2]), T([0, 2, 4, 5, 6, 7])
    everyone, count = G.sample_neighbors(row, colptr, T([1, 0]))
    assert everyone.tolist() == [0, 9, 3, 7] and count.tolist() == [2, 2] and count.dtype == paddle.int32
    paddle.seed(1)
    drawn, count, edges = G.sample_neighbors(row, colptr, T([0, 2]), 1, T([10, 11, 12, 13, 14, 15, 16]), True)
    assert (
        count.tolist() == [1, 1] and drawn.tolist()[0] in (3, 7) and edges.tolist() == [10 + [3, 7].index(drawn[0]), 14]
    )
    weights = paddle.ones([7])
    weights[0] = 0.0
    assert {G.weighted_sample_neighbors(row, colptr, weights, T([0]), 1)[0].item() for _ in range(5)} == {7}


@pytest.mark.parametrize("kind, call", [
    (ValueError, lambda: G.segment_sum(X, T([2, 0, 1]))),
    (ValueError, lambda: G.segment_sum(X, T([0, 1]))),
    (ValueError, lambda: G.segment_sum(X, T([0.0, 1.0, 2.0]))),
    (IndexError, lambda: G.segment_max(X, T([-1, 0, 1]))),
    (ValueError, lambda: G.send_u_recv(X, SRC, DST, "pow")),
    (ValueError, lambda: G.send_u_recv(X, SRC, DST[:2])),
    (ValueError, lambda: G.send_u_recv(X, SRC.astype("int32"), DST)),
    (IndexError, lambda: G.send_u_recv(X, T([9]), T([0])).numpy()),
    (IndexError, lambda: G.send_u_recv(X, SRC, DST, "max", out_size=2).numpy()),
    (ValueError, lambda: G.send_ue_recv(X, paddle.ones([3, 1]), SRC, DST)),
    (ValueError, lambda: G.send_uv(X.astype("int64"), X.astype("int64"), SRC, DST, "div")),
    (ValueError, lambda: G.reindex_graph(T([0, 1]), T([1, 0]), T([1, 1]))),
    (ValueError, lambda: G.reindex_graph(T([0, 1]), T([1, 0]), T([1, 9], dtype="int32"))),
    (ValueError, lambda: G.sample_neighbors(T([0]), T([0, 1]), T([0]), return_eids=True)),
    (IndexError, lambda: G.sample_neighbors(T([0]), T([0, 1]), T([1]))),
])  # fmt: skip
def test_bad_arguments(kind, call):
    with pytest.raises(kind):
        call()
