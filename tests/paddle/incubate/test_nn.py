"""Fused functions and layers against their parts."""

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from paddle.incubate import nn as fused

N = fused.functional
T = paddle.to_tensor
rng = np.random.default_rng(0)


def t(*shape):
    return T(rng.normal(size=shape).astype("float32"))


def same(a, b, tolerance=1e-5):
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=tolerance, atol=tolerance)


def test_products():
    x, w, b = t(2, 3), t(3, 4), t(4)
    same(N.fused_linear(x, w, b), F.linear(x, w, b))
    same(N.fused_linear(x, w.t(), b, transpose_weight=True), F.linear(x, w, b))
    same(N.fused_matmul_bias(x.t(), w, b, transpose_x=True), F.linear(x, w, b))
    same(N.fused_linear_activation(x, w, b, activation="gelu"), F.gelu(F.linear(x, w, b)))
    with pytest.raises(ValueError, match="no such activation"):
        N.fused_linear_activation(x, w, b, activation="tanh")
    with pytest.raises(ValueError, match="no matrix"):
        N.fused_linear(x, b)


def test_normalization():
    x, w, b, r = t(2, 3, 4), t(4), t(4), t(2, 3, 4)
    out, rest = N.fused_rms_norm(x, w, None, 1e-5, 2)
    same(out, F.rms_norm(x, [4], w, 1e-5))
    assert rest.shape == [0]
    out, rest = N.fused_rms_norm(x, w, b, 1e-5, 2, bias=b, residual=r)
    same(rest, x + b + r)
    same(out, F.rms_norm(x + b + r, [4], w, 1e-5) + b)
    same(N.fused_rms_norm_ext(x, w)[0], F.rms_norm(x, [4], w, 1e-5))
    out, rest, mean, inverse = N.fused_layer_norm(x, w, b, 1e-5, 2.0, 2, residual=r)
    same(out, F.layer_norm(x + 2 * r, [4], w, b))
    same(mean, (x + 2 * r).mean(-1).reshape([-1]))
    same(N.fast_ln(x, w, b)[0], F.layer_norm(x, [4], w, b))
    out = N.fused_rms_norm(x, T(rng.normal(size=12).astype("float32")), None, 1e-5, 1)[0]
    same((out / out).mean(), paddle.ones([]))
    with pytest.raises(NotImplementedError):
        N.fused_rms_norm(x, w, None, 1e-5, 2, quant_scale=0.1)
    with pytest.raises(ValueError, match="no such axis"):
        N.fused_rms_norm(x, w, None, 1e-5, 3)


def test_dropout_and_activations():
    x, y = t(2, 4), t(2, 4)
    same(N.fused_dropout_add(x, y, 0.5, training=False), x + y)
    same(N.fused_dropout_add(x, y, 0.5, training=False, mode="downscale_in_infer"), x * 0.5 + y)
    assert fused.FusedDropoutAdd(0.3).extra_repr() == "p=0.3, mode=upscale_in_train"
    same(N.fused_bias_act(x, y[0], act_method="swiglu"), F.swiglu(x + y[0]))
    a, b = paddle.split(x, 2, -1)
    same(N.fused_bias_act(x, act_method="geglu"), F.gelu(a) * b)
    with pytest.raises(ValueError):
        N.fused_bias_act(x, act_method="x")


@pytest.mark.parametrize("neighbours", [True, False])
def test_rotations(neighbours):
    q = t(2, 5, 3, 4)
    out, none, _ = N.fused_rotary_position_embedding(q, use_neox_rotary_style=neighbours)
    assert none is None
    pairs = lambda x: x.reshape(2, 5, 3, 2, 2) if neighbours else x.reshape(2, 5, 3, 2, 2).swapaxes(-1, -2)  # noqa: E731
    z, w = (pairs(v.numpy()) for v in (q, out))
    turned = (z[..., 0] + 1j * z[..., 1]) * np.exp(1j * np.arange(5)[:, None, None] * np.array([1.0, 0.01]))
    np.testing.assert_allclose(w[..., 0] + 1j * w[..., 1], turned, atol=1e-5)
    at = T(np.array([[4, 3, 2, 1, 0]] * 2))
    back, _, _ = N.fused_rotary_position_embedding(q.flip([1]), position_ids=at, use_neox_rotary_style=neighbours)
    same(back.flip([1]), out)
    major, _, _ = N.fused_rotary_position_embedding(
        q.transpose([1, 0, 2, 3]), use_neox_rotary_style=neighbours, time_major=True
    )
    same(major.transpose([1, 0, 2, 3]), out)
    with pytest.raises(ValueError):
        N.fused_rotary_position_embedding(t(1, 2, 1, 3))


@pytest.mark.parametrize("before", [True, False])
def test_the_encoder_layer_is_that_of_paddle_nn(before):
    paddle.seed(0)
    layer = fused.FusedTransformerEncoderLayer(8, 2, 16, 0.0, normalize_before=before)
    plain = paddle.nn.TransformerEncoderLayer(8, 2, 16, 0.0, normalize_before=before)
    attention, ffn = layer.fused_attn, layer.ffn
    for i, name in enumerate(("q_proj", "k_proj", "v_proj")):
        part = getattr(plain.self_attn, name)
        part.weight.set_value(attention.qkv_weight[i].reshape([8, 8]).t())
        part.bias.set_value(attention.qkv_bias[i].reshape([8]))
    plain.self_attn.out_proj.weight.set_value(attention.linear_weight)
    plain.linear1.weight.set_value(ffn._linear1_weight)
    plain.linear2.weight.set_value(ffn._linear2_weight)
    x = t(2, 3, 8)
    same(layer(x), plain(x), 1e-4)


def test_attention():
    q, k, v = t(2, 3, 2, 4), t(2, 5, 2, 4), t(2, 5, 2, 4)
    want = F.scaled_dot_product_attention(q, k, v)
    same(fused.memory_efficient_attention.memory_efficient_attention(q, k, v), want)
    swap = [0, 2, 1, 3]
    lens, kv_lens = T([3, 2], dtype="int32"), T([5, 3], dtype="int32")
    got = N.variable_length_memory_efficient_attention(*(x.transpose(swap) for x in (q, k, v)), lens, kv_lens)
    same(got.transpose(swap)[0], want[0])
    same(got.transpose(swap)[1, :2], F.scaled_dot_product_attention(q[1:, :2], k[1:, :3], v[1:, :3])[0])
    assert got.transpose(swap)[1, 2].abs().sum().item() == 0
    cache = paddle.zeros([2, 1, 2, 3, 4])
    out, longer = fused.FusedMultiHeadAttention(8, 2)(t(1, 1, 8), cache=cache)
    assert out.shape == [1, 1, 8] and longer.shape == [2, 1, 2, 4, 4]


def test_masks_and_counts():
    x, mask = t(1, 2, 3, 3), T(np.where(np.tri(3), 0, -1e9).astype("float32")).reshape([1, 1, 3, 3])
    same(paddle.incubate.softmax_mask_fuse(x, mask), F.softmax(x + mask, -1))
    same(paddle.incubate.softmax_mask_fuse_upper_triangle(x), F.softmax(x + mask, -1))
    assert N.int_bincount(T([0, 5, 5, 9]), 5, 8, "int32").tolist() == [2, 0, 0]
    assert paddle.incubate.identity_loss(x, 0).item() == x.sum().item()
    with pytest.raises(TypeError):
        paddle.incubate.identity_loss(x, "max")
