"""Neighbours of nodes, drawn at random without replacement."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager.trace import from_array
from ...framework.random import next_key
from ...tensor.families import need_tensor
from ...tensor.tensor import Tensor

__all__: list[str] = []


def _drawn(
    fn: str, row: Any, colptr: Any, weights: Any, nodes: Any, size: int, eids: Any, return_eids: bool
) -> tuple[Tensor, ...]:
    arrays = []
    for label, v in (("row", row), ("colptr", colptr), ("input_nodes", nodes)):
        need_tensor(v, fn, label)
        if v.dtype.name not in ("int32", "int64") or v.dtype is not row.dtype:
            raise errors.invalid_argument(
                f"{fn}: {label} holds other numbers.", expected="int32 or int64, the same for all",
                received=f"{label}: {v.type}",
            )  # fmt: skip
        arrays.append(v.array().reshape(-1))
    if return_eids and eids is None:
        raise errors.invalid_argument(f"{fn}: return_eids needs eids.", expected="eids: [E]", received="eids: None")
    ends, start, wanted = arrays
    if wanted.size and (wanted.min() < 0 or wanted.max() + 1 >= start.size):
        raise errors.out_of_range(f"{fn}: there is no such node.", expected=f"numbers in [0, {start.size - 1})")
    w = None if weights is None else need_tensor(weights, fn, "edge_weight").array().reshape(-1)
    rng = np.random.default_rng(next_key().array().reshape(-1).tolist())
    parts = []
    for n in wanted.tolist():
        low, high = int(start[n]), int(start[n + 1])
        if size < 0 or high - low <= size:
            parts.append(np.arange(low, high))
        elif w is None:
            parts.append(low + rng.permutation(high - low)[:size])
        else:  # the first of exponential clocks that run at the weights: without replacement
            clocks = rng.exponential(size=high - low) / np.maximum(w[low:high], np.finfo(np.float64).tiny)
            parts.append(low + np.argsort(clocks)[:size])
    at = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    out = [from_array(ends[at]), from_array(np.array([p.size for p in parts], np.int32))]
    if return_eids:
        out.append(from_array(need_tensor(eids, fn, "eids").array().reshape(-1)[at]))
    return tuple(out)


def sample_neighbors(
    row: Tensor, colptr: Tensor, input_nodes: Tensor, sample_size: int = -1, eids: Tensor | None = None,
    return_eids: bool = False, perm_buffer: Any = None, name: str | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Neighbours of nodes, each as likely.

    Args:
        row (Tensor): int32 or int64 [E], where the edges that end in node 0 start, then those of node 1, and so on.
        colptr (Tensor): [N + 1], where in row each node begins.
        input_nodes (Tensor): [n], of which nodes.
        sample_size (int): At most so many of each node; -1 for all. Default: -1.
        eids (Tensor, optional): [E], numbers of edges.
        return_eids (bool): Also gives the numbers of the edges that were drawn. Default: False.
        perm_buffer (Tensor, optional): For graphics cards; not looked at here.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        tuple[Tensor]: the neighbours, node after node; int32 [n], how many each has; the numbers of the edges.

    Raises:
        ValueError: types do not fit, or return_eids without eids. IndexError: no such node.

    Examples:
        >>> row, colptr = paddle.to_tensor([1, 2, 0]), paddle.to_tensor([0, 2, 3, 3])
        >>> neighbors, count = paddle.geometric.sample_neighbors(row, colptr, paddle.to_tensor([1, 0]))
        >>> neighbors.tolist(), count.tolist()
        ([0, 1, 2], [1, 2])
    """
    return _drawn("sample_neighbors", row, colptr, None, input_nodes, sample_size, eids, return_eids)


def weighted_sample_neighbors(
    row: Tensor, colptr: Tensor, edge_weight: Tensor, input_nodes: Tensor, sample_size: int = -1,
    eids: Tensor | None = None, return_eids: bool = False, name: str | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Neighbours of nodes, more likely the heavier their edge.

    Args:
        edge_weight (Tensor): floating [E], positive. The others as `sample_neighbors`.

    Source: Efraimidis and Spirakis 2006, doi:10.1016/j.ipl.2005.11.003.

    Examples:
        >>> row, colptr = paddle.to_tensor([1, 2, 0]), paddle.to_tensor([0, 2, 3, 3])
        >>> weights = paddle.to_tensor([1.0, 0.0, 1.0])
        >>> drawn, _ = paddle.geometric.weighted_sample_neighbors(row, colptr, weights, paddle.to_tensor([0]), 1)
        >>> drawn.tolist()
        [1]
    """
    return _drawn("weighted_sample_neighbors", row, colptr, edge_weight, input_nodes, sample_size, eids, return_eids)
