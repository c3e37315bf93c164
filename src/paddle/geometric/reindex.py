"""Nodes of drawn neighbourhoods numbered anew, from 0 on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.trace import from_array
from ..tensor.families import need_tensor
from ..tensor.tensor import Tensor

__all__: list[str] = []


def _arrays(fn: str, like: Any = None, **given: Any) -> list[np.ndarray]:
    """Vectors of node numbers, all of one type."""
    found = []
    for label, v in given.items():
        need_tensor(v, fn, label)
        like = like or v.dtype
        if v.dtype.name not in ("int32", "int64") or v.dtype is not like:
            raise errors.invalid_argument(
                f"{fn}: {label} holds other numbers.", expected="int32 or int64, the same for all",
                received=f"{label}: {v.type}",
            )  # fmt: skip
        found.append(v.array().reshape(-1))
    return found


def _counts(count: Any, nodes: np.ndarray, neighbors: np.ndarray, fn: str) -> np.ndarray:
    need_tensor(count, fn, "count")
    if count.dtype.name != "int32":
        raise errors.invalid_argument(f"{fn}: count holds other numbers.", expected="int32",
                                      received=f"count: {count.type}")  # fmt: skip
    c = count.array().reshape(-1)
    if c.size != nodes.size or c.sum() != neighbors.size:
        raise errors.invalid_argument(
            f"{fn}: the counts do not fit.", expected=f"{nodes.size} counts whose sum is {neighbors.size}",
            received=f"{c.size} counts whose sum is {int(c.sum())}",
        )  # fmt: skip
    return c


def _numbered(x: np.ndarray, neighbors: list[np.ndarray], counts: list[np.ndarray]) -> tuple[Any, Any, Any]:
    """Sources, destinations and the nodes: those of x first, then the others as they come up."""
    place = {int(v): i for i, v in enumerate(x)}
    nodes = [int(v) for v in x]
    sources = []
    for v in np.concatenate(neighbors).tolist() if neighbors else ():
        at = place.get(v)
        if at is None:
            at = place[v] = len(nodes)
            nodes.append(v)
        sources.append(at)
    own = np.array([place[int(v)] for v in x], x.dtype)
    ends = np.concatenate([np.repeat(own, c) for c in counts]) if counts else own[:0]
    make = lambda a: from_array(np.ascontiguousarray(np.asarray(a, x.dtype)))  # noqa: E731
    return make(sources), make(ends), make(nodes)


def reindex_graph(
    x: Tensor, neighbors: Tensor, count: Tensor, value_buffer: Any = None, index_buffer: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Edges between nodes, and the nodes, with numbers from 0 on.

    Args:
        x (Tensor): int32 or int64 [n], nodes, each once.
        neighbors (Tensor): [E], the neighbours of the first node, of the second, and so on.
        count (Tensor): int32 [n], how many each has.
        value_buffer, index_buffer (Tensor, optional): For graphics cards; not looked at here.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        tuple[Tensor]: the new numbers of the neighbours [E]; those of the nodes that they are neighbours of [E]; the
        old numbers of all nodes, those of x first.

    Raises:
        ValueError: types or counts do not fit.

    Examples:
        >>> x, neighbors = paddle.to_tensor([5, 7]), paddle.to_tensor([7, 9, 5])
        >>> count = paddle.to_tensor([2, 1], dtype="int32")
        >>> [t.tolist() for t in paddle.geometric.reindex_graph(x, neighbors, count)]
        [[1, 2, 0], [0, 0, 1], [5, 7, 9]]
    """
    nodes, others = _arrays("reindex_graph", x=x, neighbors=neighbors)
    return _numbered(nodes, [others], [_counts(count, nodes, others, "reindex_graph")])


def reindex_heter_graph(
    x: Tensor, neighbors: Sequence[Tensor], count: Sequence[Tensor], value_buffer: Any = None, index_buffer: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """`reindex_graph` for several kinds of edges between the same nodes.

    Args:
        x (Tensor): [n], nodes.
        neighbors (Sequence[Tensor]): For each kind of edges. count (Sequence[Tensor]): Likewise.
        value_buffer, index_buffer (Tensor, optional): For graphics cards; not looked at here.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        tuple[Tensor]: as `reindex_graph`, the kinds one after another.

    Examples:
        >>> x, one = paddle.to_tensor([5, 7]), paddle.to_tensor([1, 1], dtype="int32")
        >>> kinds = [paddle.to_tensor([7, 9]), paddle.to_tensor([9, 5])]
        >>> [t.tolist() for t in paddle.geometric.reindex_heter_graph(x, kinds, [one, one])]
        [[1, 2, 2, 0], [0, 1, 0, 1], [5, 7, 9]]
    """
    fn = "reindex_heter_graph"
    (nodes,) = _arrays(fn, x=x)
    others = [_arrays(fn, x.dtype, neighbors=n)[0] for n in neighbors]
    return _numbered(nodes, others, [_counts(c, nodes, o, fn) for c, o in zip(count, others)])
