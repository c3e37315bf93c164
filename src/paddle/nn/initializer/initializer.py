"""What an initializer is, fans and gains."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager import trace as tracing
from ...engine.ops.elementwise import cast
from ...framework.param import adopt
from ...tensor.tensor import Tensor
from ...utils.public import guard_class

__all__ = ["Initializer", "calculate_gain"]


class Initializer:
    """Base of initializers: called with a parameter, it gives it its first values.

    A subclass writes `forward(param, block)`, which changes the parameter and returns it.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard_class(cls, "forward", "value")

    def __call__(self, param: Tensor, block: Any = None) -> Tensor:
        return self.forward(param, block)

    def forward(self, param: Tensor, block: Any = None) -> Tensor:
        """Changes the parameter and returns it. `block` belongs to static programs, and is None here."""
        raise errors.unimplemented(
            f"{type(self).__name__}: it has no forward.",
            expected="a subclass with `def forward(self, param, block)`",
            received="a call of Initializer.forward",
        )

    def __repr__(self) -> str:
        inside = ", ".join(f"{k.lstrip('_')}={v}" for k, v in vars(self).items())
        return f"{type(self).__name__}({inside})"


class Valued(Initializer):
    """Base of initializers that compute values from shape and element type: a subclass writes `value`."""

    def forward(self, var: Tensor, block: Any = None) -> Tensor:
        trace = tracing.current()
        before = trace.grad
        trace.set_grad(False)
        try:
            new = self.value(var.type.shape, var.type.dtype)
            if isinstance(new, np.ndarray):
                new = tracing.from_array(as_owned(new, var.type.dtype.np))
            else:
                new = cast(new, var.type.dtype)
            give(var, new)
        finally:
            trace.set_grad(before)
        trace.flush_before_next()  # each parameter is a small program, the same one for every parameter of its shape
        return var

    def value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """The values, as a Tensor or array of `shape`; the element type is set later."""
        raise errors.unimplemented(
            f"{type(self).__name__}: it has no value.",
            expected="a subclass with `def value(self, shape, dtype)`",
            received="a call of Valued.value",
        )


def as_owned(a: np.ndarray, dtype: Any) -> np.ndarray:
    return np.array(a, dtype, order="C")


def give(var: Tensor, new: Tensor) -> None:
    """var takes the value of new, without a record for gradients."""
    if var.buffer is None and var.epoch == 0:
        adopt(var, new)
    else:
        tracing.rebind(var, new)


def working(dtype: Any) -> Any:
    """The type that random values are made in: float64 for float64 and complex128, float32 for all else."""
    from ...engine import types

    return types.float64 if dtype.name in ("float64", "complex128") else types.float32


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Inputs and outputs per unit: of a matrix its sizes, of a convolution channels times window."""
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    if len(shape) == 2:
        return shape[0], shape[1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


_GAINS: dict[str, float] = {
    "sigmoid": 1,
    "linear": 1,
    "conv1d": 1,
    "conv2d": 1,
    "conv3d": 1,
    "conv1d_transpose": 1,
    "conv2d_transpose": 1,
    "conv3d_transpose": 1,
    "conv_transpose1d": 1,
    "conv_transpose2d": 1,
    "conv_transpose3d": 1,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: bool | float | None = None) -> float:
    """By what a layer's weights are scaled so that signals keep their size through a nonlinearity.

    Args:
        nonlinearity (str): as in "relu", "leaky_relu", "tanh", "linear", "conv2d".
        param (float, optional): the negative slope of leaky_relu. Default: 0.01.

    Returns:
        float: the gain.

    Raises:
        ValueError: an unknown nonlinearity.

    Examples:
        >>> paddle.nn.initializer.calculate_gain("leaky_relu", 1.0)
        1.0
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise errors.invalid_argument(
                "calculate_gain: the slope is not a number.", expected="a float", received=f"param: {param!r}"
            )
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    raise errors.invalid_argument(
        "calculate_gain: the nonlinearity is not known.",
        expected=f"one of {', '.join([*_GAINS, 'leaky_relu'])}",
        received=f"nonlinearity: {nonlinearity!r}",
    )
