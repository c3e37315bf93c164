"""A product with a weight, and a bias."""

from __future__ import annotations

from typing import Any

from ....nn import Layer
from ....tensor.tensor import Tensor
from ..functional import fused_linear

__all__: list[str] = []


class FusedLinear(Layer):
    """x @ weight + bias.

    Args:
        in_features, out_features (int): Widths.
        weight_attr, bias_attr (ParamAttr|bool, optional): False for no bias. Default: None.
        transpose_weight (bool): The weight is stored as [out, in]. Default: False.
        name (str, optional): Default: None.

    Examples:
        >>> paddle.incubate.nn.FusedLinear(4, 2)(paddle.ones([3, 4])).shape
        paddle.Size([3, 2])
    """

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, bias_attr: Any = None,
        transpose_weight: bool = False, name: str | None = None,
    ):  # fmt: skip
        super().__init__()
        shape = [out_features, in_features] if transpose_weight else [in_features, out_features]
        self.weight = self.create_parameter(shape, attr=weight_attr)
        self.bias = self.create_parameter([out_features], attr=bias_attr, is_bias=True)
        self.transpose_weight, self.name = transpose_weight, name

    def forward(self, input: Tensor) -> Tensor:
        return fused_linear(input, self.weight, self.bias, self.transpose_weight)
