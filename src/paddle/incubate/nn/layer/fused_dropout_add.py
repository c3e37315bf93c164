"""Dropout, and dropout with a sum, as layers."""

from __future__ import annotations

from typing import Any

from ....nn import Layer
from ....nn.functional import dropout
from ....tensor.tensor import Tensor
from ..functional import fused_dropout_add

__all__: list[str] = []


class FusedDropoutAdd(Layer):
    """dropout(x) + y.

    Args:
        p (float): The probability that an element is dropped. Default: 0.5.
        mode (str): "upscale_in_train" or "downscale_in_infer". Default: "upscale_in_train".
        name (str, optional): Default: None.

    Examples:
        >>> x = paddle.ones([2])
        >>> paddle.incubate.nn.FusedDropoutAdd(0.0)(x, x).tolist()
        [2.0, 2.0]
    """

    def __init__(self, p: float = 0.5, mode: str = "upscale_in_train", name: str | None = None):
        super().__init__()
        self.p, self.mode, self.name = p, mode, name

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return fused_dropout_add(x, y, self.p, self.training, self.mode)

    def extra_repr(self) -> str:
        return f"p={self.p}, mode={self.mode}"


class FusedDropout(Layer):
    """`paddle.nn.Dropout` under another name.

    Args:
        p (float): The probability that an element is dropped. Default: 0.5.
        axis (int|list[int], optional): As `paddle.nn.Dropout` takes it. Default: None.
        mode (str): "upscale_in_train" or "downscale_in_infer". Default: "upscale_in_train".
        name (str, optional): Default: None.

    Examples:
        >>> paddle.incubate.nn.FusedDropout(0.0)(paddle.ones([2])).tolist()
        [1.0, 1.0]
    """

    def __init__(self, p: float = 0.5, axis: Any = None, mode: str = "upscale_in_train", name: str | None = None):
        super().__init__()
        self.p, self.axis, self.mode, self.name = p, axis, mode, name

    def forward(self, input: Tensor) -> Tensor:
        return dropout(input, self.p, self.axis, self.training, self.mode)
