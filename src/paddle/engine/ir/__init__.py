"""Graphs: values, nodes, printer, verifier, saved form."""

from .graph import Graph, Node, Value

__all__ = ["Graph", "Node", "Value"]
