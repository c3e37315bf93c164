"""A loss as it is."""

from __future__ import annotations

from ...engine import errors
from ...tensor.tensor import Tensor

__all__: list[str] = []

_REDUCTIONS = {"sum": 0, "mean": 1, "none": 2}


def identity_loss(x: Tensor, reduction: str | int = "none") -> Tensor:
    """Marks a Tensor as the loss.

    Args:
        x (Tensor): The losses.
        reduction (str|int): "sum" or 0, "mean" or 1, "none" or 2. Default: "none".

    Returns:
        Tensor: the sum, the mean, or x.

    Raises:
        TypeError: no such reduction.

    Examples:
        >>> paddle.incubate.identity_loss(paddle.to_tensor([1.0, 3.0]), "mean").item()
        2.0
    """
    number = _REDUCTIONS.get(reduction, reduction) if isinstance(reduction, str) else reduction
    if number not in (0, 1, 2):
        raise errors.invalid_type(
            "identity_loss: there is no such reduction.", expected="'sum', 'mean' or 'none'", received=f"{reduction!r}"
        )
    return x.sum() if number == 0 else x.mean() if number == 1 else x
