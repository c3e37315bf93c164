"""Matrix products with a bias, and an activation."""

from __future__ import annotations

from ....engine import errors
from ....nn.functional import gelu, relu
from ....tensor import matmul, t
from ....tensor.tensor import Tensor

__all__: list[str] = []


def fused_matmul_bias(
    x: Tensor, y: Tensor, bias: Tensor | None = None, transpose_x: bool = False, transpose_y: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """x @ y + bias.

    Args:
        x, y (Tensor): matrices, or stacks of them. bias (Tensor, optional): [columns]. Default: None.
        transpose_x, transpose_y (bool): The last two axes of x, of y, change places first. Default: False.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: the products.

    Examples:
        >>> paddle.incubate.nn.functional.fused_matmul_bias(paddle.ones([1, 2]), paddle.ones([2, 1])).tolist()
        [[2.0]]
    """
    out = matmul(x, y, transpose_x, transpose_y)
    return out if bias is None else out + bias


def fused_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, transpose_weight: bool = False, name: str | None = None
) -> Tensor:
    """x @ weight + bias; the weight is transposed first if it is stored as [out, in].

    Args:
        x (Tensor): [..., in]. weight (Tensor): [in, out]. bias (Tensor, optional): [out]. Default: None.
        transpose_weight (bool): weight is [out, in]. Default: False.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [..., out].

    Examples:
        >>> x, w = paddle.ones([1, 2]), paddle.ones([3, 2])
        >>> paddle.incubate.nn.functional.fused_linear(x, w, transpose_weight=True).tolist()
        [[2.0, 2.0, 2.0]]
    """
    if weight.ndim != 2:
        raise errors.invalid_argument("fused_linear: weight is no matrix.", received=f"weight: {weight.type}")
    return fused_matmul_bias(x, t(weight) if transpose_weight else weight, bias)


def fused_linear_activation(
    x: Tensor, y: Tensor, bias: Tensor, trans_x: bool = False, trans_y: bool = False, activation: str | None = None
) -> Tensor:
    """activation(x @ y + bias).

    Args:
        x, y (Tensor): matrices, or stacks of them. bias (Tensor): [columns].
        trans_x, trans_y (bool): The last two axes of x, of y, change places first. Default: False.
        activation (str, optional): "gelu", "relu" or "none". Default: None.

    Returns:
        Tensor: the activations.

    Raises:
        ValueError: no such activation.

    Examples:
        >>> x, y, b = paddle.ones([1, 2]), paddle.ones([2, 1]), paddle.to_tensor([-3.0])
        >>> paddle.incubate.nn.functional.fused_linear_activation(x, y, b, activation="relu").tolist()
        [[0.0]]
    """
    chosen = {None: lambda v: v, "none": lambda v: v, "gelu": gelu, "relu": relu}.get(activation)
    if chosen is None:
        raise errors.invalid_argument(
            "fused_linear_activation: there is no such activation.", expected="'gelu', 'relu' or 'none'",
            received=f"{activation!r}",
        )  # fmt: skip
    return chosen(fused_matmul_bias(x, y, bias, trans_x, trans_y))
