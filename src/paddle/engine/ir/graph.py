"""The intermediate representation: graphs of operators in static single assignment form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..types import TensorType


class Value:
    """One tensor of a graph, made once by a node or given as a graph input.

    Attributes:
        type: shape and element type.
        node: the node that makes it, None for a graph input.
        index (int): which output of the node, or which graph input.
        name: shown in print, may be empty.
    """

    __slots__ = ("type", "node", "index", "name", "graph")

    def __init__(self, graph: "Graph", type: TensorType, node: "Node | None", index: int, name: str = ""):
        self.graph, self.type, self.node, self.index, self.name = graph, type, node, index, name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.type.shape

    @property
    def dtype(self) -> Any:
        return self.type.dtype

    @property
    def ndim(self) -> int:
        return len(self.type.shape)

    def __repr__(self) -> str:
        return f"<{self.name or 'value'}: {self.type}>"


class Node:
    """One use of an operator.

    Attributes:
        op: the operator with its attributes.
        inputs, outputs: values.
        graphs: nested graphs, for control flow.
        line: the user's file and line number, None if not known.
    """

    __slots__ = ("op", "inputs", "outputs", "graphs", "line")

    def __init__(
        self, op: Any, inputs: tuple[Value, ...], line: tuple[str, int] | None = None, graphs: tuple["Graph", ...] = ()
    ):
        self.op, self.inputs, self.line, self.graphs = op, inputs, line, graphs
        self.outputs: tuple[Value, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.op!r}({', '.join(map(repr, self.inputs))})>"


class Graph:
    """A function from inputs to outputs.

    Attributes:
        inputs, outputs: values.
        nodes: in an order in which every value is made before it is used.
    """

    def __init__(self, name: str = "graph"):
        self.name = name
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self.outputs: list[Value] = []

    def input(self, type: TensorType, name: str = "") -> Value:
        value = Value(self, type, None, len(self.inputs), name)
        self.inputs.append(value)
        return value

    def add(
        self,
        op: Any,
        inputs: Iterable[Value],
        line: tuple[str, int] | None = None,
        types: tuple[TensorType, ...] | None = None,
    ) -> tuple[Value, ...]:
        """Appends a node. Types come from the operator's `infer` unless they are given."""
        node = Node(op, tuple(inputs), line)
        if types is None:
            types = op.infer_types(*(v.type for v in node.inputs))
        node.outputs = tuple(Value(self, t, node, i) for i, t in enumerate(types))
        self.nodes.append(node)
        return node.outputs

    def users(self) -> dict[Value, list[Node]]:
        """The nodes that read each value."""
        found: dict[Value, list[Node]] = {}
        for node in self.nodes:
            for value in dict.fromkeys(node.inputs):
                found.setdefault(value, []).append(node)
        return found

    def values(self) -> Iterator[Value]:
        yield from self.inputs
        for node in self.nodes:
            yield from node.outputs

    def rebuild(self, visit: Callable[["Graph", Node, tuple[Value, ...]], tuple[Value, ...] | None]) -> "Graph":
        """A new graph: `visit(new, node, inputs)` appends what replaces a node and returns its outputs.

        None from `visit` copies the node. Nodes that nothing needs are dropped.
        """
        new = Graph(self.name)
        env: dict[Value, Value] = {v: new.input(v.type, v.name) for v in self.inputs}
        for node in self.nodes:
            inputs = tuple(env[v] for v in node.inputs)
            outputs = visit(new, node, inputs)
            if outputs is None:
                outputs = new.add(node.op, inputs, node.line, tuple(v.type for v in node.outputs))
                new.nodes[-1].graphs = node.graphs
            env.update(zip(node.outputs, outputs))
        new.outputs = [env[v] for v in self.outputs]
        new.drop_unused()
        return new

    def drop_unused(self) -> None:
        """Removes nodes whose results reach no output and that have no effect of their own."""
        needed = set(self.outputs)
        kept = []
        for node in reversed(self.nodes):
            if node.op.effect or any(v in needed for v in node.outputs):
                needed.update(node.inputs)
                kept.append(node)
        self.nodes = kept[::-1]

    def dispose(self) -> None:
        """Empties a graph that nobody needs any more. Nodes and values refer to each other: so nothing is left to the
        garbage collector."""
        for node in self.nodes:
            node.inputs = node.outputs = ()
        self.nodes, self.inputs, self.outputs = [], [], []

    def __str__(self) -> str:
        from .printer import text

        return text(self)
