import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from paddle.nn.functional import flash_attention as fa

RNG = np.random.default_rng(0)


def T(a):
    return paddle.to_tensor(a)


def attended(q, k, v, seen=None, added=0.0, scale=None):
    """Plain attention, [B, S, H, K]."""
    q, k, v = (t.transpose(0, 2, 1, 3) for t in (q, k, v))
    k, v = (t.repeat(q.shape[1] // t.shape[1], 1) for t in (k, v))
    s = q @ k.swapaxes(2, 3) * (scale or q.shape[-1] ** -0.5) + added
    s = s if seen is None else np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3)


def make(s=4, t=5, heads=4, groups=4):
    return RNG.normal(size=(2, s, heads, 3)), RNG.normal(size=(2, t, groups, 3)), RNG.normal(size=(2, t, groups, 3))


def test_values_and_gradients(gradients_hold):
    q, k, v = make()
    call = F.scaled_dot_product_attention
    np.testing.assert_allclose(call(*map(T, (q, k, v))).numpy(), attended(q, k, v))
    np.testing.assert_allclose(call(*map(T, (q, k, v)), scale=0.3).numpy(), attended(q, k, v, scale=0.3))
    gradients_hold(call, q, k, v)
    single = call(*(T(t[0]) for t in (q, k, v)))
    np.testing.assert_allclose(single.numpy(), attended(q, k, v)[0])


def test_masks(gradients_hold):
    q, k, v = make()
    added, seen = RNG.normal(size=(2, 1, 4, 5)), RNG.uniform(size=(2, 4, 4, 5)) > 0.3
    seen[..., 0] = True
    call = F.scaled_dot_product_attention
    np.testing.assert_allclose(call(*map(T, (q, k, v)), T(added)).numpy(), attended(q, k, v, added=added))
    np.testing.assert_allclose(call(*map(T, (q, k, v)), T(seen)).numpy(), attended(q, k, v, seen))
    gradients_hold(lambda a, b, c, m: call(a, b, c, m), q, k, v, added)


@pytest.mark.parametrize("groups", [1, 2])
def test_causal_and_grouped(groups):
    q, k, v = make(4, 4, 4, groups)
    want = attended(q, k, v, np.tril(np.ones((4, 4), bool)))
    for got in (
        F.scaled_dot_product_attention(*map(T, (q, k, v)), is_causal=True),
        fa.flash_attention(*map(T, (q, k, v)), causal=True)[0],
        F.flashmask_attention(*map(T, (q, k, v)), causal=True),
    ):
        np.testing.assert_allclose(got.numpy(), want)


def test_flashmask_ranges():
    q, k, v = make(5, 5)
    row = np.arange(5)[:, None]
    start = np.array([5, 3, 5, 4, 5])
    seen = (np.arange(5) <= row) & (row < start)
    bounds = T(np.tile(start.astype("int32").reshape(1, 1, 5, 1), (2, 1, 1, 1)))
    out, lse = F.flashmask_attention(*map(T, (q, k, v)), bounds, causal=True, return_softmax_lse=True)
    np.testing.assert_allclose(out.numpy(), attended(q, k, v, seen))
    assert lse.shape == [2, 4, 5]
    low, high = np.array([4, 5, 5, 5, 5]), np.array([0, 0, 0, 1, 2])
    seen = (row < low) & (row >= high)
    pair = T(np.tile(np.stack([low, high], 1).astype("int32").reshape(1, 1, 5, 2), (2, 1, 1, 1)))
    np.testing.assert_allclose(F.flashmask_attention(*map(T, (q, k, v)), pair).numpy(), attended(q, k, v, seen))
    window = F.flashmask_attention(*map(T, (q, k, v)), causal=True, window_size=1).numpy()
    np.testing.assert_allclose(window, attended(q, k, v, (np.arange(5) <= row) & (np.arange(5) >= row - 1)))
    none = T(np.zeros((2, 1, 5, 1), "int32"))
    assert (F.flashmask_attention(*map(T, (q, k, v)), none, causal=True).numpy() == 0).all()


def test_ragged_and_packed():
    q, k, v = make(6, 6)
    edges = T(np.array([0, 2, 6], "int32"))
    flat = [T(t[0]) for t in (q, k, v)]
    out, _ = fa.flash_attn_unpadded(*flat, edges, edges, 4, 4, 3**-0.5, causal=True)
    for a, b in ((0, 2), (2, 6)):
        want = attended(*(t[:1, a:b] for t in (q, k, v)), np.tril(np.ones((b - a, b - a), bool)))
        np.testing.assert_allclose(out.numpy()[a:b], want[0])
    packed = np.concatenate([q.reshape(2, 6, 2, 2, 3), RNG.normal(size=(2, 6, 2, 2, 3))], 2)
    got, _ = F.flash_attn_qkvpacked(T(packed))
    np.testing.assert_allclose(got.numpy(), attended(q, packed[:, :, 2], packed[:, :, 3]))
    with pytest.raises(ValueError, match="list of edges"):
        fa.flash_attn_unpadded(*flat, T([0, 5, 3]), edges, 4, 4, 1.0)


def test_sparse_attention():
    q, k, v = (RNG.normal(size=(1, 1, 3, 2)) for _ in range(3))
    offset, columns = np.array([[[0, 1, 3, 4]]], "int32"), np.array([[[0, 0, 1, 2]]], "int32")
    seen = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]], bool)
    want = attended(*(t.transpose(0, 2, 1, 3) for t in (q, k, v)), seen).transpose(0, 2, 1, 3)
    np.testing.assert_allclose(F.sparse_attention(*map(T, (q, k, v, offset, columns))).numpy(), want)


def test_dropout_of_weights():
    paddle.seed(0)
    q = paddle.ones([1, 8, 2, 4])
    assert (F.scaled_dot_product_attention(q, q, q, dropout_p=0.5, training=False).numpy() == 1).all()
    assert np.std(F.scaled_dot_product_attention(q, q, q, dropout_p=0.5).numpy()) > 0


def test_rejects():
    q = paddle.ones([1, 2, 4, 3])
    for bad in (paddle.ones([1, 2, 3, 3]), paddle.ones([2, 2, 4, 3]), paddle.ones([1, 2, 4, 5])):
        with pytest.raises(ValueError, match="do not fit"):
            F.scaled_dot_product_attention(q, bad, bad)
    with pytest.raises(ValueError, match="no kernel is left"):
        with F.sdp_kernel(False, False, False):
            pass
