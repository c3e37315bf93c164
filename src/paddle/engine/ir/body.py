"""The graph inside an operator that runs it many times, as an attribute: compared by content, saved as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..errors import invalid_argument
from ..types import TensorType
from .graph import Graph, Value


class Body:
    """A graph that does not change. Two of equal content are equal.

    Args:
        graph: the graph, or its saved form as `saved.to_dict` gives it (checked when it is first used).
    """

    __slots__ = ("data", "graphs", "name")

    def __init__(self, graph: Graph | dict[str, Any]) -> None:
        from .saved import to_dict

        self.data: dict[str, Any] = to_dict(graph) if isinstance(graph, Graph) else graph
        text = json.dumps(self.data, separators=(",", ":"), sort_keys=True)
        self.name = hashlib.sha256(text.encode()).hexdigest()[:32]
        self.graphs: dict[tuple[TensorType, ...], Graph] = {}
        if isinstance(graph, Graph):
            self.graphs[tuple(v.type for v in graph.inputs)] = graph

    def graph(self, types: tuple[TensorType, ...], registry: Mapping[str, Any]) -> Graph:
        """The graph for arguments of these types. It is shared: do not change it.

        Raises:
            ValueError: its operators refuse these types, or the saved form is not a graph.
        """
        found = self.graphs.get(types)
        if found is None:
            found = self.graphs[types] = self._typed(types, registry)
        return found

    def _typed(self, types: tuple[TensorType, ...], registry: Mapping[str, Any]) -> Graph:
        from .saved import from_dict

        try:
            graph = from_dict(self.data, registry)
        except RecursionError:
            raise invalid_argument("load: graphs are nested too deeply.", expected="a few levels") from None
        if len(graph.inputs) != len(types):
            raise invalid_argument(
                "scan: the number of arguments is not that of the graph.", expected=f"{len(graph.inputs)}",
                received=f"{len(types)}",
            )  # fmt: skip
        if tuple(v.type for v in graph.inputs) == types:
            return graph
        new = Graph(graph.name)
        env: dict[Value, Value] = {v: new.input(t, v.name) for v, t in zip(graph.inputs, types)}
        for node in graph.nodes:
            env.update(zip(node.outputs, new.add(node.op, (env[v] for v in node.inputs), node.line)))
        new.outputs = [env[v] for v in graph.outputs]
        return new

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Body) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"body_{self.name}"
