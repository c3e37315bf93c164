"""Attention against numpy, masks, caches, encoder and decoder."""

import numpy as np
import pytest

import paddle
from paddle import nn

RNG = np.random.default_rng(4)


def tensor(*shape):
    return paddle.to_tensor(RNG.normal(size=shape).astype("float32"))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(layer, q, k, v, mask=None):
    def project(p, x):
        y = x.numpy() @ p.weight.numpy() + p.bias.numpy()
        return y.reshape(*y.shape[:2], layer.num_heads, -1).transpose(0, 2, 1, 3)

    q, k, v = project(layer.q_proj, q), project(layer.k_proj, k), project(layer.v_proj, v)
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e9) if mask.dtype == bool else scores + mask
    w = softmax(scores)
    out = (w @ v).transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1)
    return out @ layer.out_proj.weight.numpy() + layer.out_proj.bias.numpy(), w


@pytest.mark.parametrize("mask", [None, "bool", "float", "int"])
def test_attention(mask):
    layer = nn.MultiHeadAttention(8, 2, kdim=6, vdim=4, need_weights=True)
    q, k, v = tensor(2, 3, 8), tensor(2, 5, 6), tensor(2, 5, 4)
    m = None if mask is None else RNG.random((2, 1, 3, 5)) < 0.7
    if m is not None:
        m[..., 0] = True
    given = {None: None, "bool": m, "float": None if m is None else np.where(m, 0.0, -1e9).astype("float32"),
             "int": None if m is None else m.astype("int64")}[mask]  # fmt: skip
    out, w = layer(q, k, v, None if given is None else paddle.to_tensor(given))
    expected, weights = attention(layer, q, k, v, m)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(w.numpy(), weights, rtol=1e-4, atol=1e-5)


def test_a_cache_gives_what_a_mask_gives():
    layer = nn.MultiHeadAttention(8, 2)
    x = tensor(2, 4, 8)
    causal = paddle.to_tensor(np.tril(np.ones((4, 4), bool)))
    whole = layer(x, x, x, causal).numpy()
    cache = layer.gen_cache(x)
    for t in range(4):
        step = x[:, t : t + 1]
        out, cache = layer(step, step, step, cache=cache)
        np.testing.assert_allclose(out.numpy()[:, 0], whole[:, t], rtol=1e-4, atol=1e-5)
    assert cache.k.shape == [2, 2, 4, 4]


@pytest.mark.parametrize("before", [False, True])
def test_an_encoder_layer_is_its_parts(before):
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, normalize_before=before, activation="gelu")
    x = tensor(2, 3, 8)

    def feed(y):
        return layer.linear2(nn.functional.gelu(layer.linear1(y)))

    if before:
        y = x + layer.self_attn(layer.norm1(x))
        y = y + feed(layer.norm2(y))
    else:
        y = layer.norm1(x + layer.self_attn(x))
        y = layer.norm2(y + feed(y))
    np.testing.assert_allclose(layer(x).numpy(), y.numpy(), rtol=1e-5, atol=1e-6)


def test_copies_of_a_layer_have_values_of_their_own():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, nn.LayerNorm(8))
    a, b = encoder.layers[0].linear1.weight, encoder.layers[1].linear1.weight
    assert a is not b and not np.array_equal(a.numpy(), b.numpy())


def test_decoding_step_by_step():
    net = nn.Transformer(8, 2, 1, 2, 16, dropout=0.0)
    net.eval()
    src, tgt = tensor(2, 3, 8), tensor(2, 4, 8)
    mask = net.generate_square_subsequent_mask(4)
    assert mask.numpy()[0, 1] == -np.inf and mask.numpy()[1, 0] == 0.0
    memory = net.encoder(src)
    whole = net.decoder(tgt, memory, tgt_mask=mask).numpy()
    np.testing.assert_allclose(net(src, tgt, tgt_mask=mask).numpy(), whole, rtol=1e-5, atol=1e-6)
    cache = net.decoder.gen_cache(memory)
    for t in range(4):
        out, cache = net.decoder(tgt[:, t : t + 1], memory, cache=cache)
        np.testing.assert_allclose(out.numpy()[:, 0], whole[:, t], rtol=1e-4, atol=1e-5)
    own, static = net.decoder.gen_cache(memory, do_zip=True)
    assert len(own) == len(static) == 2


def test_an_encoder_with_caches():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), 2)
    out, caches = encoder(tensor(2, 1, 8), cache=encoder.gen_cache(tensor(2, 1, 8)))
    assert out.shape == [2, 1, 8] and len(caches) == 2


def test_attributes_for_parts():
    attr = paddle.ParamAttr(initializer=nn.initializer.Constant(0.5))
    layer = nn.TransformerDecoderLayer(8, 2, 16, weight_attr=[attr, None, None], bias_attr=False)
    assert (layer.self_attn.q_proj.weight.numpy() == 0.5).all() and layer.linear1.bias is None
    assert not (layer.cross_attn.q_proj.weight.numpy() == 0.5).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: nn.MultiHeadAttention(8, 3),
        lambda: nn.MultiHeadAttention(0, 1),
        lambda: nn.TransformerEncoderLayer(8, 2, 0),
        lambda: nn.TransformerEncoderLayer(8, 2, 4, weight_attr=[None]),
    ],
)
def test_bad_arguments(call):
    with pytest.raises(AssertionError):
        call()
