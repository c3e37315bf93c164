"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...engine.ops.elementwise import cast
from ...engine.ops.shape import reshape
from ...framework.grad_mode import no_grad
from ...tensor.tensor import Tensor
from ...utils.public import public

__all__ = ["parameters_to_vector", "vector_to_parameters"]


@public(guarded=True)
def parameters_to_vector(parameters: Iterable[Any], name: str | None = None) -> Tensor:
    """All elements of parameters, one after another.

    Args:
        parameters (Iterable[Tensor]): in order.
        name (str, optional): not used.

    Returns:
        Tensor: a vector.

    Examples:
        >>> paddle.nn.utils.parameters_to_vector(paddle.nn.Linear(2, 3).parameters()).shape
        paddle.Size([9])
    """
    from ...tensor import concat

    return concat([reshape(p, (p.size,)) for p in parameters], axis=0)


@public(guarded=True)
@no_grad()
def vector_to_parameters(vec: Tensor, parameters: Iterable[Any], name: str | None = None) -> None:
    """Gives parameters the elements of a vector, in order.

    Args:
        vec (Tensor): as many elements as the parameters have together.
        parameters (Iterable[Tensor]): are changed.
        name (str, optional): not used.
    """
    from ...engine.eager.trace import rebind

    at = 0
    for p in parameters:
        rebind(p, cast(reshape(vec[at : at + p.size], p.type.shape), p.type.dtype))
        at += p.size
