"""PairwiseDistance."""

from __future__ import annotations

from ...tensor.tensor import Tensor
from .. import functional as F
from .layers import Layer

__all__ = ["PairwiseDistance"]


class PairwiseDistance(Layer):
    """Norm of the difference of vectors along the last axis.

    Args:
        p (float): of the norm. Default: 2.0.
        epsilon (float): added to the difference. Default: 1e-6.
        keepdim (bool): keeps the axis. Default: False.
        name (str, optional): for printing.
    """

    def __init__(self, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None) -> None:
        super().__init__()
        self.p, self.epsilon, self.keepdim, self.name = p, epsilon, keepdim, name

    norm = property(lambda self: self.p)
    eps = property(lambda self: self.epsilon)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return F.pairwise_distance(x, y, self.p, self.epsilon, self.keepdim)

    def extra_repr(self) -> str:
        text = f"p={self.p}"
        if self.epsilon != 1e-6:
            text += f", epsilon={self.epsilon}"
        if self.keepdim:
            text += f", keepdim={self.keepdim}"
        return text + (f", name={self.name}" if self.name is not None else "")
