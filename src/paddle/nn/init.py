"""Initializers as functions that change a Tensor in place; they return another Tensor of the same values."""

from __future__ import annotations

from typing import Any

from ..tensor.tensor import Tensor
from . import initializer as init
from .initializer import calculate_gain

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]


def _fill(tensor: Tensor, start: Any) -> Tensor:
    start(tensor)
    return tensor.detach()


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Evenly spread over [a, b)."""
    return _fill(tensor, init.Uniform(a, b))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Normally distributed."""
    return _fill(tensor, init.Normal(mean, std))


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Tensor:
    """Normally distributed within [a, b]."""
    return _fill(tensor, init.TruncatedNormal(mean, std, a, b))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """All elements are val."""
    return _fill(tensor, init.Constant(val))


def ones_(tensor: Tensor) -> Tensor:
    """All elements are 1."""
    return _fill(tensor, init.Constant(1.0))


def zeros_(tensor: Tensor) -> Tensor:
    """All elements are 0."""
    return _fill(tensor, init.Constant(0.0))


def eye_(tensor: Tensor) -> Tensor:
    """Ones on the diagonal of a matrix, zeros elsewhere."""
    import numpy as np

    if tensor.ndim != 2:
        from ..engine import errors

        raise errors.asserted("eye_: this is no matrix.", expected="two axes", received=f"tensor: {tensor.type}")
    return _fill(tensor, init.Assign(np.eye(*tensor.shape)))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution weight that passes its input through; see nn.initializer.Dirac."""
    return _fill(tensor, init.Dirac(groups))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, fan_in: Any = None, fan_out: Any = None) -> Tensor:
    """See nn.initializer.XavierUniform."""
    return _fill(tensor, init.XavierUniform(fan_in, fan_out, gain))


def xavier_normal_(tensor: Tensor, gain: float = 1.0, fan_in: Any = None, fan_out: Any = None) -> Tensor:
    """See nn.initializer.XavierNormal."""
    return _fill(tensor, init.XavierNormal(fan_in, fan_out, gain))


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """See nn.initializer.KaimingUniform; a is the negative slope."""
    return _fill(tensor, init.KaimingUniform(None, a, nonlinearity, mode))


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """See nn.initializer.KaimingNormal; a is the negative slope."""
    return _fill(tensor, init.KaimingNormal(None, a, nonlinearity, mode))


def orthogonal_(tensor: Tensor, gain: float = 1) -> Tensor:
    """See nn.initializer.Orthogonal."""
    return _fill(tensor, init.Orthogonal(gain))
