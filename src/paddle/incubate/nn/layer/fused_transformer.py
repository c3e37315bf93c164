"""The parts of a transformer's layer, and a layer."""

from __future__ import annotations

from typing import Any

from ....engine import errors
from ....nn import Layer
from ....nn.initializer import Constant
from ....tensor.tensor import Tensor
from ..functional import fused_bias_dropout_residual_layer_norm, fused_feedforward, fused_multi_head_attention

__all__: list[str] = []


def _scale(layer: Layer, width: int, attr: Any) -> Any:
    return layer.create_parameter([width], attr=attr, default_initializer=Constant(1.0))


def _bias(layer: Layer, shape: list[int], attr: Any) -> Any:
    return layer.create_parameter(shape, attr=attr, is_bias=True)


class FusedBiasDropoutResidualLayerNorm(Layer):
    """layer_norm(residual + dropout(x + bias)).

    Args:
        embed_dim (int): The width.
        dropout_rate (float): Default: 0.5.
        weight_attr (ParamAttr, optional): of the normalization's scale. bias_attr (ParamAttr|bool, optional): of the
            biases.
        epsilon (float): Default: 1e-5.
        name (str, optional): Default: None.

    Examples:
        >>> x = paddle.ones([1, 2, 4])
        >>> paddle.incubate.nn.FusedBiasDropoutResidualLayerNorm(4)(x, x).shape
        paddle.Size([1, 2, 4])
    """

    def __init__(
        self, embed_dim: int, dropout_rate: float = 0.5, weight_attr: Any = None, bias_attr: Any = None,
        epsilon: float = 1e-5, name: str | None = None,
    ):  # fmt: skip
        super().__init__()
        if embed_dim <= 0:
            raise errors.asserted(
                "FusedBiasDropoutResidualLayerNorm: embed_dim is not positive.", received=f"{embed_dim}"
            )
        self.embed_dim, self.dropout_rate, self._epsilon, self.name = embed_dim, dropout_rate, epsilon, name
        self.linear_bias = _bias(self, [embed_dim], bias_attr)
        self.ln_scale = _scale(self, embed_dim, weight_attr)
        self.ln_bias = _bias(self, [embed_dim], bias_attr)

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        return fused_bias_dropout_residual_layer_norm(
            x, residual, self.linear_bias, self.ln_scale, self.ln_bias, self.dropout_rate, self._epsilon, self.training
        )


class FusedMultiHeadAttention(Layer):
    """Self-attention with its products, dropout, residual sum and normalization.

    Args:
        embed_dim (int): The width. num_heads (int): Heads.
        dropout_rate (float): of the result. attn_dropout_rate (float): of the weights. Default: 0.5.
        kdim, vdim (int, optional): only embed_dim.
        normalize_before (bool): Normalization comes first. Default: False.
        need_weights (bool): only False.
        qkv_weight_attr, qkv_bias_attr, linear_weight_attr, linear_bias_attr, pre_ln_scale_attr, pre_ln_bias_attr,
            ln_scale_attr, ln_bias_attr (ParamAttr|bool, optional): of the parameters.
        epsilon (float): Default: 1e-5. nranks (int): only 1. ring_id (int): only -1.
        transpose_qkv_wb (bool): The weight of queries, keys and values is [D, 3 D]. Default: False.
        name (str, optional): Default: None.

    Raises:
        AssertionError: a parameter out of range.

    Examples:
        >>> paddle.incubate.nn.FusedMultiHeadAttention(4, 2)(paddle.ones([1, 3, 4])).shape
        paddle.Size([1, 3, 4])
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout_rate: float = 0.5, attn_dropout_rate: float = 0.5,
        kdim: int | None = None, vdim: int | None = None, normalize_before: bool = False, need_weights: bool = False,
        qkv_weight_attr: Any = None, qkv_bias_attr: Any = None, linear_weight_attr: Any = None,
        linear_bias_attr: Any = None, pre_ln_scale_attr: Any = None, pre_ln_bias_attr: Any = None,
        ln_scale_attr: Any = None, ln_bias_attr: Any = None, epsilon: float = 1e-5, nranks: int = 1, ring_id: int = -1,
        transpose_qkv_wb: bool = False, name: str | None = None,
    ):  # fmt: skip
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise errors.asserted(
                "FusedMultiHeadAttention: num_heads does not divide embed_dim.", received=f"{num_heads}, {embed_dim}"
            )
        if need_weights or nranks != 1 or ring_id != -1:
            raise errors.asserted("FusedMultiHeadAttention: need_weights, nranks and ring_id have one value each.",
                                  expected="False, 1, -1", received=f"{need_weights}, {nranks}, {ring_id}")  # fmt: skip
        k = embed_dim // num_heads
        self.normalize_before, self._epsilon, self.transpose_qkv_wb = normalize_before, epsilon, transpose_qkv_wb
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, k
        self.dropout_rate, self.attn_dropout_rate, self.name = dropout_rate, attn_dropout_rate, name
        qkv = [embed_dim, 3 * embed_dim] if transpose_qkv_wb else [3, num_heads, k, embed_dim]
        self.qkv_weight = self.create_parameter(qkv, attr=qkv_weight_attr)
        self.qkv_bias = _bias(self, [3 * embed_dim] if transpose_qkv_wb else [3, num_heads, k], qkv_bias_attr)
        self.linear_weight = self.create_parameter([embed_dim, embed_dim], attr=linear_weight_attr)
        self.linear_bias = _bias(self, [embed_dim], linear_bias_attr)
        self.pre_ln_scale = self.pre_ln_bias = self.ln_scale = self.ln_bias = None
        if normalize_before:
            self.pre_ln_scale = _scale(self, embed_dim, pre_ln_scale_attr)
            self.pre_ln_bias = _bias(self, [embed_dim], pre_ln_bias_attr)
        else:
            self.ln_scale = _scale(self, embed_dim, ln_scale_attr)
            self.ln_bias = _bias(self, [embed_dim], ln_bias_attr)

    def forward(
        self, query: Tensor, key: Any = None, value: Any = None, attn_mask: Tensor | None = None,
        cache: Tensor | None = None,
    ) -> Any:  # fmt: skip
        """Attention of a sequence to itself.

        Args:
            query (Tensor): [B, S, D]. key, value: not looked at, as upstream.
            attn_mask (Tensor, optional): added to the scores. cache (Tensor, optional): [2, B, H, T, K].
        """
        return fused_multi_head_attention(
            query, self.qkv_weight, self.linear_weight, self.normalize_before, self.pre_ln_scale, self.pre_ln_bias,
            self.ln_scale, self.ln_bias, self._epsilon, self.qkv_bias, self.linear_bias, cache, attn_mask,
            self.dropout_rate, self.attn_dropout_rate, self._epsilon, self.training, num_heads=self.num_heads,
            transpose_qkv_wb=self.transpose_qkv_wb,
        )  # fmt: skip


class FusedFeedForward(Layer):
    """The two products of a transformer's layer, with dropout, residual sum and normalization.

    Args:
        d_model (int): The width. dim_feedforward (int): The width in between.
        dropout_rate (float): Default: 0.1. epsilon (float): Default: 1e-5. activation (str): Default: "relu".
        act_dropout_rate (float, optional): after the activation. Default: dropout_rate.
        normalize_before (bool): Normalization comes first. Default: False.
        linear1_weight_attr, linear1_bias_attr, linear2_weight_attr, linear2_bias_attr, ln1_scale_attr, ln1_bias_attr,
            ln2_scale_attr, ln2_bias_attr (ParamAttr|bool, optional): of the parameters.
        nranks (int): only 1. ring_id (int): only -1.
        name (str, optional): Default: None.

    Examples:
        >>> paddle.incubate.nn.FusedFeedForward(4, 8)(paddle.ones([1, 3, 4])).shape
        paddle.Size([1, 3, 4])
    """

    def __init__(
        self, d_model: int, dim_feedforward: int, dropout_rate: float = 0.1, epsilon: float = 1e-5,
        activation: str = "relu", act_dropout_rate: float | None = None, normalize_before: bool = False,
        linear1_weight_attr: Any = None, linear1_bias_attr: Any = None, linear2_weight_attr: Any = None,
        linear2_bias_attr: Any = None, ln1_scale_attr: Any = None, ln1_bias_attr: Any = None,
        ln2_scale_attr: Any = None, ln2_bias_attr: Any = None, nranks: int = 1, ring_id: int = -1,
        name: str | None = None,
    ):  # fmt: skip
        super().__init__()
        if d_model <= 0 or dim_feedforward <= 0:
            raise errors.asserted(
                "FusedFeedForward: a width is not positive.", received=f"{d_model}, {dim_feedforward}"
            )
        self._dropout_rate, self._epsilon, self._act_method = dropout_rate, epsilon, activation
        self._act_dropout_rate = dropout_rate if act_dropout_rate is None else act_dropout_rate
        self._normalize_before, self.name = normalize_before, name
        self._linear1_weight = self.create_parameter([d_model, dim_feedforward], attr=linear1_weight_attr)
        self._linear1_bias = _bias(self, [dim_feedforward], linear1_bias_attr)
        self._linear2_weight = self.create_parameter([dim_feedforward, d_model], attr=linear2_weight_attr)
        self._linear2_bias = _bias(self, [d_model], linear2_bias_attr)
        self._ln1_scale = self._ln1_bias = self._ln2_scale = self._ln2_bias = None
        if normalize_before:
            self._ln1_scale, self._ln1_bias = (
                _scale(self, d_model, ln1_scale_attr),
                _bias(self, [d_model], ln1_bias_attr),
            )
        else:
            self._ln2_scale, self._ln2_bias = (
                _scale(self, d_model, ln2_scale_attr),
                _bias(self, [d_model], ln2_bias_attr),
            )

    def forward(self, src: Tensor, cache: Any = None) -> Tensor:
        return fused_feedforward(
            src, self._linear1_weight, self._linear2_weight, self._linear1_bias, self._linear2_bias, self._ln1_scale,
            self._ln1_bias, self._ln2_scale, self._ln2_bias, self._act_dropout_rate, self._dropout_rate,
            self._act_method, self._epsilon, self._epsilon, self._normalize_before, self.training,
        )  # fmt: skip


class FusedTransformerEncoderLayer(Layer):
    """A layer of a transformer's encoder: attention, then the two products.

    Args:
        d_model (int): The width. nhead (int): Heads. dim_feedforward (int): The width in between.
        dropout_rate (float): Default: 0.1. activation (str): Default: "relu".
        attn_dropout_rate, act_dropout_rate (float, optional): Default: dropout_rate.
        normalize_before (bool): Normalization comes first. Default: False.
        weight_attr, bias_attr (ParamAttr|bool|list, optional): of the parameters, for both parts or one each.

    Examples:
        >>> paddle.incubate.nn.FusedTransformerEncoderLayer(4, 2, 8)(paddle.ones([1, 3, 4])).shape
        paddle.Size([1, 3, 4])
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int, dropout_rate: float = 0.1, activation: str = "relu",
        attn_dropout_rate: float | None = None, act_dropout_rate: float | None = None, normalize_before: bool = False,
        weight_attr: Any = None, bias_attr: Any = None,
    ):  # fmt: skip
        super().__init__()
        weights = list(weight_attr) if isinstance(weight_attr, (list, tuple)) else [weight_attr] * 2
        biases = list(bias_attr) if isinstance(bias_attr, (list, tuple)) else [bias_attr] * 2
        self.normalize_before = normalize_before
        self.fused_attn = FusedMultiHeadAttention(
            d_model, nhead, dropout_rate, dropout_rate if attn_dropout_rate is None else attn_dropout_rate,
            normalize_before=normalize_before, qkv_weight_attr=weights[0], qkv_bias_attr=biases[0],
            linear_weight_attr=weights[0], linear_bias_attr=biases[0],
        )  # fmt: skip
        self.ffn = FusedFeedForward(
            d_model, dim_feedforward, dropout_rate, activation=activation, act_dropout_rate=act_dropout_rate,
            normalize_before=normalize_before, linear1_weight_attr=weights[1], linear1_bias_attr=biases[1],
            linear2_weight_attr=weights[1], linear2_bias_attr=biases[1],
        )  # fmt: skip

    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Tensor | None = None) -> Any:
        """The layer.

        Args:
            src (Tensor): [B, S, D]. src_mask (Tensor, optional): added to the scores.
            cache (Tensor, optional): [2, B, H, T, K]; the longer one is given too then.
        """
        if cache is None:
            return self.ffn(self.fused_attn(src, attn_mask=src_mask))
        out, longer = self.fused_attn(src, attn_mask=src_mask, cache=cache)
        return self.ffn(out), longer
