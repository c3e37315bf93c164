"""Masks and matrices made of numbers."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...engine.ops import elementwise as ew
from ...engine.ops.shape import reshape
from ...engine.types import dtype_of
from ...framework.tables import positions
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import integer, tensor

__all__ = ["gather_tree", "sequence_mask"]


@public(guarded=True)
def sequence_mask(x: Tensor, maxlen: Any = None, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """1 at the first x places of a row and 0 after.

    Args:
        x (Tensor): lengths, any shape.
        maxlen (int|Tensor, optional): length of the rows; the greatest of x if None. Default: None.
        dtype (str|dtype, optional): of the result. Default: "int64".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: x.shape + [maxlen].

    Raises:
        ValueError: x is not a Tensor, or maxlen is negative.

    Examples:
        >>> paddle.nn.functional.sequence_mask(paddle.to_tensor([1, 3])).tolist()
        [[1, 0, 0], [1, 1, 1]]
    """
    tensor(x, "sequence_mask")
    if maxlen is None:
        n = int(x.array().max()) if x.size else 0
    else:
        n = integer(maxlen, "sequence_mask", "maxlen")
    if n < 0:
        raise errors.invalid_argument("sequence_mask: maxlen is negative.", expected="maxlen >= 0", received=f"{n}")
    places = positions(n, x.dtype)
    return ew.cast(ew.less_than(places, reshape(x, (*x.shape, 1))), dtype_of(dtype))


@public(guarded=True)
def gather_tree(ids: Tensor, parents: Tensor) -> Tensor:
    """Full sequences of a beam search, from what each step chose and which beam it came from.

    Args:
        ids (Tensor): int32 or int64, [time, batch, beam].
        parents (Tensor): shape and dtype of ids, numbers of beams.

    Returns:
        Tensor: shape and dtype of ids.

    Raises:
        ValueError: the shapes differ or have not 3 axes.
    """
    tensor(ids, "gather_tree", "ids")
    tensor(parents, "gather_tree", "parents")
    if ids.ndim != 3 or tuple(ids.shape) != tuple(parents.shape):
        raise errors.invalid_argument(
            "gather_tree: ids and parents do not fit.",
            expected="[time, batch, beam] each",
            received=f"ids: {ids.type}, parents: {parents.type}",
        )
    from ...engine.ops.along import TakeAlong
    from ...engine.ops.join import concat
    from ...engine.ops.shape import slice_axis

    steps = ids.shape[0]
    if not steps:
        return ids
    found, beam = [], None
    for t in range(steps - 1, -1, -1):
        step, parent = slice_axis(ids, 0, t, t + 1), slice_axis(parents, 0, t, t + 1)
        found.append(step if beam is None else TakeAlong(2)(step, beam))
        beam = parent if beam is None else TakeAlong(2)(parent, beam)
    return concat(found[::-1], 0)
