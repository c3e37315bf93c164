"""Functions of indices: embeddings and one-hot vectors."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...engine.ops.elementwise import cast, not_equal
from ...engine.ops.embedding import OneHot
from ...engine.ops.indexing import IndexSelect
from ...engine.ops.rows import LookUp
from ...engine.ops.shape import reshape
from ...engine.types import default_dtype
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import floating, integer, no_kernel, tensor

__all__ = ["embedding", "embedding_renorm_", "one_hot"]


def check_range(x: Any, size: int, name: str) -> None:
    """Refuses indices outside [0, size) at the call where their values are known; else the run refuses them."""
    a = x.buffer
    if a is not None and a.size and (a.min() < 0 or a.max() >= size):
        bad = (a < 0) | (a >= size)
        raise errors.bad_index(f"{name}: " + errors.offending("an index is out of range", bad, a, f"[0, {size})", "x"))


@public(also={"x": "input"}, composed=True)
def embedding(x: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
              norm_type: float = 2.0, sparse: bool = False, scale_grad_by_freq: bool = False,
              name: str | None = None) -> Tensor:  # fmt: skip
    """Rows of weight by their numbers.

    Args:
        x (Tensor): int32 or int64, any shape, numbers in [0, N).
        weight (Tensor): [N, D], floating.
        padding_idx (int, optional): this number gives zeros and no gradient; from the end if negative. Default: None.
        max_norm (float, optional): rows that are read and longer than this are shortened to it, in weight itself.
            Default: None.
        norm_type (float, optional): the p of the norm for max_norm. Default: 2.0.
        sparse (bool, optional): the gradient of weight, if it is a leaf, holds only the rows that were read; with
            SGD, Adagrad, and Adam or AdamW in lazy mode, steps then cost the same however many rows weight has.
            With scale_grad_by_freq it is dense all the same. Default: False.
        scale_grad_by_freq (bool, optional): gradients of a row over how often it is read. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: x.shape + [D], in the dtype of weight.

    Raises:
        ValueError: weight is no matrix, padding_idx or a number in x is out of range. NotImplementedError: x is not
            of an index type.

    Examples:
        >>> w = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.nn.functional.embedding(paddle.to_tensor([1, 0]), w).tolist()
        [[3.0, 4.0], [1.0, 2.0]]
    """
    tensor(x, "embedding")
    floating(weight, "embedding", "weight")
    if x.dtype.name not in ("int32", "int64"):
        raise errors.unimplemented(
            "embedding: x is not of an index type.", expected="int32 or int64", received=f"x: {x.type}",
            hint="cast it, as in x.astype('int64').",
        )  # fmt: skip
    if weight.ndim != 2:
        raise errors.invalid_argument(
            "embedding: weight is no matrix.", expected="weight: [N, D]", received=f"weight: {weight.type}"
        )
    n = weight.shape[0]
    if padding_idx is not None:
        if not -n <= padding_idx < n:
            raise errors.invalid_argument(
                "embedding: padding_idx is out of range.", expected=f"[{-n}, {n})", received=f"{padding_idx}"
            )
        padding_idx %= n
    check_range(x, n, "embedding")
    if max_norm is not None:
        weight = embedding_renorm_(x, weight, max_norm, norm_type)
    rows = weight
    if scale_grad_by_freq:
        rows = _per_use(x, weight)
    by_rows = sparse and not scale_grad_by_freq
    out = LookUp()(rows, x) if by_rows else IndexSelect(0, False)(rows, x)
    if padding_idx is not None:
        kept = cast(not_equal(x, padding_idx), weight.dtype)
        out = out * reshape(kept, (*x.shape, 1))
    return out


def _per_use(x: Any, weight: Any) -> Any:
    """weight, with gradients divided by how often x reads each row."""
    from ...engine.ops.creation import Full
    from ...engine.ops.elementwise import Detach, maximum
    from ...engine.ops.indexing import ScatterAdd

    n = weight.shape[0]
    counts = ScatterAdd(0, (n,), False)(Full(tuple(x.shape), 1.0, weight.dtype)(), x)
    part = weight / reshape(maximum(counts, 1.0), (n, 1))
    return part + Detach()(weight - part)


@public(guarded=True)
def embedding_renorm_(x: Tensor, weight: Tensor, max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Shortens, in place, those rows of weight that x names and whose norm is above max_norm.

    Args:
        x (Tensor): int32 or int64, numbers of rows.
        weight (Tensor): [N, D].
        max_norm (float): greatest norm.
        norm_type (float, optional): the p of the norm. Default: 2.0.

    Returns:
        Tensor: weight.
    """
    import numpy as np

    from ...engine.eager.trace import from_array, rebind

    tensor(x, "embedding_renorm_")
    rows = np.unique(x.array())
    table = weight.array().copy()
    norms = np.linalg.norm(table[rows].astype("float64"), ord=norm_type, axis=1)
    long = norms > max_norm
    factor = max_norm / (norms[long] + 1e-7)
    table[rows[long]] = (table[rows[long]] * factor[:, None]).astype(table.dtype)
    sg, leaf, gnode = weight.sg, weight.leaf, weight.gnode
    rebind(weight, from_array(table))
    weight.sg, weight.leaf, weight.gnode = sg, leaf, gnode
    return weight


@public(also={"x": "input"})
def one_hot(x: Tensor, num_classes: int = -1, name: str | None = None) -> Tensor:
    """Vectors with 1 at the number that x holds and 0 elsewhere.

    Args:
        x (Tensor): int32 or int64, any shape, numbers in [0, num_classes).
        num_classes (int|Tensor, optional): length of the vectors; -1 for one more than the greatest. Default: -1.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: x.shape + [num_classes], in the default dtype.

    Raises:
        RuntimeError: x is not of an index type. ValueError: a number in x is out of range, or num_classes is -1 and x
            is empty.

    Examples:
        >>> paddle.nn.functional.one_hot(paddle.to_tensor([1, 0]), 3).tolist()
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    tensor(x, "one_hot")
    size = integer(num_classes, "one_hot", "num_classes")
    if x.dtype.name not in ("int32", "int64"):
        raise no_kernel("one_hot: x is not of an index type.", expected="int32 or int64", received=f"x: {x.type}",
                        hint="cast it, as in x.astype('int64').")  # fmt: skip
    if size == -1:
        if not x.size:
            raise errors.invalid_argument(
                "one_hot: x is empty and num_classes is not given.",
                expected="num_classes >= 0",
                received=f"x: {x.type}, num_classes: -1",
            )
        size = int(x.array().max()) + 1
    check_range(x, max(size, 0), "one_hot")
    return OneHot(max(size, 0), default_dtype())(x)
