"""Penalties on the size of parameters, as a term of their gradients."""

from __future__ import annotations

from typing import Any

from .engine import errors
from .engine.ops.elementwise import cast, greater_than, less_than

__all__ = ["L1Decay", "L2Decay"]


class WeightDecayRegularizer:
    """Base of penalties.

    Attributes:
        coeff (float): weight of the penalty.
    """

    coeff: float

    def __init__(self, coeff: float = 0.0) -> None:
        if coeff is None:
            raise errors.asserted(
                f"{type(self).__name__}: there is no coeff.", expected="a float", received="coeff: None"
            )
        self.coeff = coeff

    @property
    def _coeff(self) -> float:
        return self.coeff

    def term(self, p: Any) -> Any:
        """The gradient of the penalty for a parameter."""
        raise errors.unimplemented(
            f"{type(self).__name__}: it has no term.",
            expected="a subclass with `def term(self, p)`, such as L2Decay",
            received="a call of WeightDecayRegularizer.term",
        )

    def __call__(self, param: Any, grad: Any = None, block: Any = None) -> Any:
        return self.term(param)


class L1Decay(WeightDecayRegularizer):
    r"""Adds `coeff * sum(|p|)` to the loss: its gradient is `coeff * sign(p)`.

    Args:
        coeff (float): Default: 0.0.

    Examples:
        >>> paddle.regularizer.L1Decay(0.1)
        L1Decay, coeff=0.100000
    """

    def term(self, p: Any) -> Any:
        return (cast(greater_than(p, 0.0), p.dtype) - cast(less_than(p, 0.0), p.dtype)) * self.coeff

    def __repr__(self) -> str:
        return f"L1Decay, coeff={self.coeff:f}"


class L2Decay(WeightDecayRegularizer):
    r"""Adds `coeff / 2 * sum(p ** 2)` to the loss: its gradient is `coeff * p`.

    Args:
        coeff (float): Default: 0.0.

    Examples:
        >>> paddle.regularizer.L2Decay(0.1)
        L2Decay, coeff=0.100000
    """

    def term(self, p: Any) -> Any:
        return p * self.coeff

    def __repr__(self) -> str:
        return f"L2Decay, coeff={self.coeff:f}"
