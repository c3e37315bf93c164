"""Dropout and a sum."""

from __future__ import annotations

from ....nn.functional import dropout
from ....tensor.tensor import Tensor

__all__: list[str] = []


def fused_dropout_add(
    x: Tensor, y: Tensor, p: float = 0.5, training: bool = True, mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """dropout(x) + y.

    Args:
        x, y (Tensor): floating, of one shape.
        p, training, mode: as `paddle.nn.functional.dropout` takes them.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: the shape of x.

    Examples:
        >>> x = paddle.ones([2])
        >>> paddle.incubate.nn.functional.fused_dropout_add(x, x, p=0.0).tolist()
        [2.0, 2.0]
    """
    return dropout(x, p, training=training, mode=mode) + y
