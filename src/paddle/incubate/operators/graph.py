"""Functions of graphs under older names; `paddle.geometric` has the new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.eager.trace import from_array
from ...geometric import reindex_graph, sample_neighbors, send_u_recv
from ...tensor import concat
from ...tensor.tensor import Tensor

__all__: list[str] = []


def graph_send_recv(
    x: Tensor, src_index: Tensor, dst_index: Tensor, pool_type: str = "sum", out_size: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`paddle.geometric.send_u_recv`.

    Examples:
        >>> x, i = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([1, 0])
        >>> paddle.incubate.graph_send_recv(x, paddle.to_tensor([0, 1]), i).tolist()
        [[2.0], [1.0]]
    """
    return send_u_recv(x, src_index, dst_index, pool_type, out_size)


def graph_reindex(
    x: Tensor, neighbors: Tensor, count: Tensor, value_buffer: Any = None, index_buffer: Any = None,
    flag_buffer_hashtable: bool = False, name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """`paddle.geometric.reindex_graph`."""
    return reindex_graph(x, neighbors, count, value_buffer, index_buffer)


def graph_sample_neighbors(
    row: Tensor, colptr: Tensor, input_nodes: Tensor, eids: Tensor | None = None, perm_buffer: Any = None,
    sample_size: int = -1, return_eids: bool = False, flag_perm_buffer: bool = False, name: str | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """`paddle.geometric.sample_neighbors`."""
    return sample_neighbors(row, colptr, input_nodes, sample_size, eids, return_eids, perm_buffer)


def graph_khop_sampler(
    row: Tensor, colptr: Tensor, input_nodes: Tensor, sample_sizes: Sequence[int], sorted_eids: Tensor | None = None,
    return_eids: bool = False, name: str | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Neighbours of nodes, of these, and so on, as edges between nodes with numbers from 0 on.

    Args:
        row (Tensor): [E], colptr (Tensor): [N + 1], the graph as `paddle.geometric.sample_neighbors` takes it.
        input_nodes (Tensor): [n], where to begin.
        sample_sizes (Sequence[int]): At most so many neighbours of a node, step by step.
        sorted_eids (Tensor, optional): [E], numbers of edges. return_eids (bool): Gives those of the edges drawn.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        tuple[Tensor]: where edges start [e, 1], where they end [e, 1], the old numbers of all nodes, the places of
        input_nodes among them, and the numbers of the edges if asked for.

    Examples:
        >>> row, colptr = paddle.to_tensor([1, 2, 0]), paddle.to_tensor([0, 2, 3, 3])
        >>> src, dst, nodes, at = paddle.incubate.graph_khop_sampler(row, colptr, paddle.to_tensor([1]), [2, 2])
        >>> nodes.tolist(), at.tolist()
        ([1, 0, 2], [0])
    """
    frontier = input_nodes.reshape([-1])
    visited = {int(v) for v in frontier.array()}
    asked, neighbors, counts, edges = [], [], [], []
    for size in sample_sizes:
        found = sample_neighbors(row, colptr, frontier, size, sorted_eids, return_eids)
        asked.append(frontier)
        neighbors.append(found[0])
        counts.append(found[1])
        edges += found[2:]
        new = [v for v in dict.fromkeys(found[0].array().tolist()) if v not in visited]
        visited.update(new)
        frontier = from_array(np.array(new, row.dtype.np))
    src, dst, nodes = reindex_graph(concat(asked), concat(neighbors), concat(counts))
    first = from_array(np.arange(input_nodes.size, dtype=row.dtype.np))
    return (src.reshape([-1, 1]), dst.reshape([-1, 1]), nodes, first, *([concat(edges)] if return_eids else []))
