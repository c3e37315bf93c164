"""Attention and transformer layers."""

from __future__ import annotations

import collections
import copy
from typing import Any

from ...engine import errors
from ...engine.ops.attention import suits
from ...engine.ops.creation import Full
from ...framework.param import ParamAttr
from ...tensor.tensor import Tensor
from .. import functional as F
from ..functional.flash_attention import in_blocks
from .common import Dropout, Linear
from .container import LayerList
from .factory import activation_named
from .layers import Layer
from .norm import LayerNorm

__all__ = [
    "MultiHeadAttention",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

# Shape letters: B batch, S queries, T keys, D model width, H heads, K width of a head.


def _convert_param_attr_to_list(param_attr: Any, n: int) -> list[Any]:
    """One attribute per part: a list as it is, anything else n times (names with the part's number)."""
    if isinstance(param_attr, (list, tuple)):
        if len(param_attr) != n:
            raise errors.asserted(
                "Transformer: the list of attributes has the wrong length.",
                expected=f"{n} attributes, or one for all",
                received=f"{len(param_attr)} of them",
            )
        return [ParamAttr() if a is True else ParamAttr._to_attr(a) if a is not None else a for a in param_attr]
    if isinstance(param_attr, bool) or param_attr is None:
        return [param_attr if param_attr is False or param_attr is None else ParamAttr() for _ in range(n)]
    out = []
    for i in range(n):
        attr = copy.deepcopy(ParamAttr._to_attr(param_attr))
        if attr.name:
            attr.name = f"{attr.name}_{i}"
        out.append(attr)
    return out


def _convert_attention_mask(attn_mask: Tensor | None, dtype: Any) -> Tensor | None:
    """What is added to the scores: a bool or integer mask (0: not seen) as 0 and -1e9, a floating one as it is."""
    if attn_mask is not None and not attn_mask.dtype.is_floating:
        return (attn_mask.astype(dtype) - 1.0) * 1e9
    return attn_mask


class MultiHeadAttention(Layer):
    """Attention of several heads.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.

    Args:
        embed_dim (int): D, width of queries and of the result.
        num_heads (int): H, divides D.
        dropout (float): of the attention weights. Default: 0.0.
        kdim (int, optional): width of keys, D by default.
        vdim (int, optional): width of values, D by default.
        need_weights (bool): gives the weights too. Default: False.
        weight_attr (ParamAttr, optional): of the four weights.
        bias_attr (ParamAttr|bool, optional): of the four biases.

    Examples:
        >>> paddle.nn.MultiHeadAttention(8, 2)(paddle.ones([2, 3, 8])).shape
        paddle.Size([2, 3, 8])
    """

    Cache = collections.namedtuple("Cache", ["k", "v"])
    StaticCache = collections.namedtuple("StaticCache", ["k", "v"])

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise errors.asserted(
                "MultiHeadAttention: a size is not positive.",
                expected="embed_dim > 0 and num_heads > 0",
                received=f"embed_dim: {embed_dim}, num_heads: {num_heads}",
            )
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.need_weights = need_weights
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise errors.asserted(
                "MultiHeadAttention: num_heads does not divide embed_dim.",
                expected="embed_dim % num_heads == 0",
                received=f"embed_dim: {embed_dim}, num_heads: {num_heads}",
            )
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr=bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr=bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr=bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr=bias_attr)

    def _heads(self, x_BSD: Tensor) -> Tensor:
        """[B, S, D] -> [B, H, S, K]."""
        b, s = x_BSD.shape[:2]
        return x_BSD.reshape([b, s, self.num_heads, self.head_dim]).transpose([0, 2, 1, 3])

    def _prepare_qkv(self, query: Tensor, key: Tensor, value: Tensor, cache: Any = None) -> tuple[Any, ...]:
        from ...tensor import concat

        q = self._heads(self.q_proj(query))
        if isinstance(cache, self.StaticCache):
            k, v = cache.k, cache.v
        else:
            k, v = self.compute_kv(key, value)
        if isinstance(cache, self.Cache):
            k, v = concat([cache.k, k], axis=2), concat([cache.v, v], axis=2)
            cache = self.Cache(k, v)
        return (q, k, v) if cache is None else (q, k, v, cache)

    def compute_kv(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values by head, each [B, H, T, K]."""
        return self._heads(self.k_proj(key)), self._heads(self.v_proj(value))

    def gen_cache(self, key: Tensor, value: Tensor | None = None, type: Any = Cache) -> Any:
        """A cache for decoding step by step.

        Args:
            key (Tensor): [B, T, D]; of a Cache without value only the batch counts.
            value (Tensor, optional): [B, T, D].
            type: MultiHeadAttention.Cache, which grows, or StaticCache, which does not.
        """
        if type == MultiHeadAttention.StaticCache:
            return self.StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is None:
            shape = (key.shape[0], self.num_heads, 0, self.head_dim)
            return self.Cache(Full(shape, 0.0, key.dtype)(), Full(shape, 0.0, key.dtype)())
        return self.Cache(key, value)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        attn_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        key = query if key is None else key
        value = query if value is None else value
        if cache is None:
            q_BHSK, k_BHTK, v_BHTK = self._prepare_qkv(query, key, value)
        else:
            q_BHSK, k_BHTK, v_BHTK, cache = self._prepare_qkv(query, key, value, cache)
        weigh = self.need_weights or (self.dropout and self.training)
        out = None if weigh else self._in_blocks(q_BHSK, k_BHTK, v_BHTK, attn_mask)
        if out is None:
            out, weights_BHST = self._weighed(q_BHSK, k_BHTK, v_BHTK, attn_mask)
        out = self.out_proj(out.reshape([out.shape[0], out.shape[1], self.embed_dim]))
        outs = [out]
        if self.need_weights:
            outs.append(weights_BHST)
        if cache is not None:
            outs.append(cache)
        return out if len(outs) == 1 else tuple(outs)

    def _in_blocks(self, q_BHSK: Tensor, k_BHTK: Tensor, v_BHTK: Tensor, attn_mask: Tensor | None) -> Tensor | None:
        """The heads' results, [B, S, H, K], without their weights; None where these are as well be made."""
        if not suits(q_BHSK.shape[2], k_BHTK.shape[2], self.head_dim, q_BHSK.dtype):
            return None
        q, k, v = (t.transpose([0, 2, 1, 3]) for t in (q_BHSK, k_BHTK, v_BHTK))
        mask = None if attn_mask is None else _convert_attention_mask(attn_mask, q.dtype)
        return in_blocks(q, k, v, mask, False, self.head_dim**-0.5)

    def _weighed(
        self, q_BHSK: Tensor, k_BHTK: Tensor, v_BHTK: Tensor, attn_mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """The heads' results, [B, S, H, K], and their weights, [B, H, S, T]."""
        scores_BHST = (q_BHSK * self.head_dim**-0.5).matmul(k_BHTK, transpose_y=True)
        if attn_mask is not None:
            scores_BHST = scores_BHST + _convert_attention_mask(attn_mask, scores_BHST.dtype)
        weights_BHST = F.softmax(scores_BHST)
        if self.dropout:
            weights_BHST = F.dropout(weights_BHST, self.dropout, training=self.training, mode="upscale_in_train")
        return weights_BHST.matmul(v_BHTK).transpose([0, 2, 1, 3]), weights_BHST


class _TransformerLayer(Layer):
    """What encoder and decoder layers share."""

    def _check(self, **values: Any) -> None:
        for name, value in values.items():
            if value <= 0:
                raise errors.asserted(
                    f"{type(self).__name__}: {name} is not positive.",
                    expected=f"{name} > 0",
                    received=f"{name}: {value}",
                )

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _make(
        self,
        parts: int,
        d_model: int,
        dim_feedforward: int,
        dropout: float,
        activation: str,
        act_dropout: float,
        weight_attr: Any,
        bias_attr: Any,
        eps: float,
    ) -> None:
        self.linear1 = Linear(d_model, dim_feedforward, weight_attr, bias_attr)
        self.dropout = Dropout(act_dropout, mode="upscale_in_train")
        self.linear2 = Linear(dim_feedforward, d_model, weight_attr, bias_attr)
        for i in range(1, parts + 1):
            setattr(self, f"norm{i}", LayerNorm(d_model, eps))
        for i in range(1, parts + 1):
            setattr(self, f"dropout{i}", Dropout(dropout, mode="upscale_in_train"))
        self.activation = activation_named(activation, type(self).__name__)


_LAYER_ARGS = """
    Args:
        d_model (int): D, width.
        nhead (int): H, heads; divides D.
        dim_feedforward (int): width between the two products.
        dropout (float): of what is added. Default: 0.1.
        activation (str): a function of nn.functional. Default: "relu".
        attn_dropout (float, optional): of attention weights; dropout by default.
        act_dropout (float, optional): after the activation; dropout by default.
        normalize_before (bool): layer norm before each part rather than after. Default: False.
        weight_attr (ParamAttr|list, optional): of the weights; a list for {parts}.
        bias_attr (ParamAttr|list|bool, optional): of the biases; a list for {parts}.
        layer_norm_eps (float): Default: 1e-5.
    """


class TransformerEncoderLayer(_TransformerLayer):
    __doc__ = """Self attention and a feed forward part, each added to its input and normalized.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.1.
""" + _LAYER_ARGS.format(parts="attention and feed forward")

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        self._config = config
        self._check(d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        self.normalize_before = normalize_before
        weights, biases = _convert_param_attr_to_list(weight_attr, 2), _convert_param_attr_to_list(bias_attr, 2)
        self.self_attn = MultiHeadAttention(
            d_model, nhead, dropout=attn_dropout, weight_attr=weights[0], bias_attr=biases[0]
        )
        self._make(2, d_model, dim_feedforward, dropout, activation, act_dropout, weights[1], biases[1], layer_norm_eps)

    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Any:
        """One layer: src [B, S, D], src_mask broadcastable to [B, H, S, S]; with a cache, also the new cache."""
        x = self.norm1(src) if self.normalize_before else src
        if cache is None:
            out = self.self_attn(x, x, x, src_mask)
        else:
            out, cache = self.self_attn(x, x, x, src_mask, cache)
        src = src + self.dropout1(out)
        if not self.normalize_before:
            src = self.norm1(src)
        out = self._feed_forward(self.norm2(src) if self.normalize_before else src)
        src = src + self.dropout2(out)
        if not self.normalize_before:
            src = self.norm2(src)
        return src if cache is None else (src, cache)

    def gen_cache(self, src: Tensor) -> Any:
        """An empty cache of the self attention."""
        return self.self_attn.gen_cache(src, type=self.self_attn.Cache)


def _copies(layer: Any, n: int) -> LayerList:
    """The layer itself, and n - 1 of its kind with first values of their own."""
    return LayerList([layer if i == 0 else type(layer)(**layer._config) for i in range(n)])


class TransformerEncoder(Layer):
    """Encoder layers one after another.

    Args:
        encoder_layer (TransformerEncoderLayer): the first; others are made like it.
        num_layers (int): how many.
        norm (LayerNorm, optional): applied at the end.
    """

    def __init__(self, encoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Any:
        """All layers: src [B, S, D]; with a list of caches, also the new caches."""
        src_mask = _convert_attention_mask(src_mask, src.dtype)
        out, caches = src, []
        for i, layer in enumerate(self.layers):
            if cache is None:
                out = layer(out, src_mask=src_mask)
            else:
                out, new = layer(out, src_mask=src_mask, cache=cache[i])
                caches.append(new)
        if self.norm is not None:
            out = self.norm(out)
        return out if cache is None else (out, caches)

    def gen_cache(self, src: Tensor) -> list[Any]:
        """An empty cache per layer."""
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoderLayer(_TransformerLayer):
    __doc__ = """Self attention, attention to the encoder's output, and a feed forward part.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.1.
""" + _LAYER_ARGS.format(parts="self attention, cross attention and feed forward")

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        self._config = config
        self._check(d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        self.normalize_before = normalize_before
        weights, biases = _convert_param_attr_to_list(weight_attr, 3), _convert_param_attr_to_list(bias_attr, 3)
        self.self_attn = MultiHeadAttention(
            d_model, nhead, dropout=attn_dropout, weight_attr=weights[0], bias_attr=biases[0]
        )
        self.cross_attn = MultiHeadAttention(
            d_model, nhead, dropout=attn_dropout, weight_attr=weights[1], bias_attr=biases[1]
        )
        self._make(3, d_model, dim_feedforward, dropout, activation, act_dropout, weights[2], biases[2], layer_norm_eps)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        """One layer: tgt [B, S, D], memory [B, T, D]; with a cache, also the new cache."""
        before = self.normalize_before
        x = self.norm1(tgt) if before else tgt
        if cache is None:
            out = self.self_attn(x, x, x, tgt_mask, None)
        else:
            out, own = self.self_attn(x, x, x, tgt_mask, cache[0])
        tgt = tgt + self.dropout1(out)
        if not before:
            tgt = self.norm1(tgt)
        x = self.norm2(tgt) if before else tgt
        if cache is None:
            out = self.cross_attn(x, memory, memory, memory_mask, None)
        else:
            out, static = self.cross_attn(x, memory, memory, memory_mask, cache[1])
        tgt = tgt + self.dropout2(out)
        if not before:
            tgt = self.norm2(tgt)
        tgt = tgt + self.dropout3(self._feed_forward(self.norm3(tgt) if before else tgt))
        if not before:
            tgt = self.norm3(tgt)
        return tgt if cache is None else (tgt, (own, static))

    def gen_cache(self, memory: Tensor) -> tuple[Any, Any]:
        """An empty cache of the self attention, and keys and values of memory."""
        own = self.self_attn.gen_cache(memory, type=self.self_attn.Cache)
        static = self.cross_attn.gen_cache(memory, memory, type=self.cross_attn.StaticCache)
        return own, static


class TransformerDecoder(Layer):
    """Decoder layers one after another.

    Args:
        decoder_layer (TransformerDecoderLayer): the first; others are made like it.
        num_layers (int): how many.
        norm (LayerNorm, optional): applied at the end.
    """

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        """All layers: tgt [B, S, D], memory [B, T, D]; with a list of caches, also the new caches."""
        tgt_mask = _convert_attention_mask(tgt_mask, tgt.dtype)
        memory_mask = _convert_attention_mask(memory_mask, memory.dtype)
        out, caches = tgt, []
        for i, layer in enumerate(self.layers):
            if cache is None:
                out = layer(out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, cache=None)
            else:
                out, new = layer(out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, cache=cache[i])
                caches.append(new)
        if self.norm is not None:
            out = self.norm(out)
        return out if cache is None else (out, caches)

    def gen_cache(self, memory: Tensor, do_zip: bool = False) -> list[Any]:
        """A cache per layer; zipped, one list of self attention caches and one of the others."""
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches)) if do_zip else caches


class Transformer(Layer):
    """An encoder and a decoder.

    Source: Vaswani et al. 2017, arXiv:1706.03762.

    Args:
        d_model (int): width. Default: 512.
        nhead (int): heads. Default: 8.
        num_encoder_layers (int): Default: 6.
        num_decoder_layers (int): Default: 6.
        dim_feedforward (int): Default: 2048.
        dropout (float): Default: 0.1.
        activation (str): a function of nn.functional. Default: "relu".
        attn_dropout (float, optional): dropout by default.
        act_dropout (float, optional): dropout by default.
        normalize_before (bool): layer norm before each part rather than after. Default: False.
        weight_attr (ParamAttr|list, optional): of the weights.
        bias_attr (ParamAttr|list|bool, optional): of the biases.
        custom_encoder (Layer, optional): replaces the encoder.
        custom_decoder (Layer, optional): replaces the decoder.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
    ) -> None:
        super().__init__()
        for name, value in (("d_model", d_model), ("nhead", nhead), ("dim_feedforward", dim_feedforward)):
            if value <= 0:
                raise errors.asserted(
                    f"Transformer: {name} is not positive.", expected=f"{name} > 0", received=f"{name}: {value}"
                )

        def pick(attr: Any, decoder: bool) -> Any:
            """The attributes of one side: of a pair one each, of three those of its parts."""
            if not isinstance(attr, (list, tuple)):
                return attr
            if len(attr) == 1:
                return attr[0]
            if len(attr) == 2:
                return [attr[0], attr[0], attr[1]] if decoder else list(attr)
            if len(attr) == 3:
                return list(attr) if decoder else [attr[0], attr[2]]
            raise errors.asserted(
                "Transformer: the list of attributes has the wrong length.",
                expected="1, 2 or 3 attributes",
                received=f"{len(attr)} of them",
            )

        common = (dropout, activation, attn_dropout, act_dropout, normalize_before)
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            self.encoder = TransformerEncoder(
                TransformerEncoderLayer(
                    d_model, nhead, dim_feedforward, *common, pick(weight_attr, False), pick(bias_attr, False)
                ),
                num_encoder_layers,
                LayerNorm(d_model),
            )
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            self.decoder = TransformerDecoder(
                TransformerDecoderLayer(
                    d_model, nhead, dim_feedforward, *common, pick(weight_attr, True), pick(bias_attr, True)
                ),
                num_decoder_layers,
                LayerNorm(d_model),
            )
        self.d_model, self.nhead = d_model, nhead

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        memory = self.encoder(src, src_mask=src_mask)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask)

    def generate_square_subsequent_mask(self, length: int) -> Tensor:
        """[length, length] of 0 on and below the diagonal and -inf above it."""
        import numpy as np

        from ...engine.eager.trace import from_array

        if length < 0:
            raise errors.invalid_argument("generate_square_subsequent_mask: length is negative.", expected=">= 0",
                                          received=f"{length}")  # fmt: skip
        return from_array(np.triu(np.full((length, length), -np.inf, np.float32), 1))  # type: ignore[return-value]
