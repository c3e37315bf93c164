"""The saved form of a graph: JSON that names operators and attributes, and holds no code.

    {"format": "openpaddle-graph", "version": 1, "name": ...,
     "inputs": [{"shape": [...], "dtype": ..., "name": ...}, ...],
     "nodes": [{"op": ..., "attrs": {...}, "in": [value, ...], "out": [{"shape", "dtype"}, ...],
                "graphs": [...], "line": [file, number]}, ...],
     "outputs": [value, ...]}

Values are numbered: inputs first, then results in order. An attribute is a JSON number, string, true, false or null,
or {"t": [...]} for a tuple, {"d": name} for an element type, {"f": "inf" | "-inf" | "nan"}, {"c": [re, im]},
{"g": graph}.
Reading looks operators up by name, checks attribute names and types, infers every type anew, and compares.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ..errors import invalid_argument
from ..types import DType, TensorType, dtype_of
from .body import Body
from .graph import Graph, Value

VERSION = 1
MAX_NODES = 1_000_000


def to_dict(graph: Graph) -> dict[str, Any]:
    """The graph as JSON-ready data."""
    number: dict[Value, int] = {}
    for v in graph.values():
        number[v] = len(number)
    return {
        "format": "openpaddle-graph",
        "version": VERSION,
        "name": graph.name,
        "inputs": [{**type_form(v.type), "name": v.name} for v in graph.inputs],
        "nodes": [
            {
                "op": n.op.name,
                "attrs": {k: encode(a) for k, a in n.op.attributes().items()},
                "in": [number[v] for v in n.inputs],
                "out": [type_form(v.type) for v in n.outputs],
                **({"graphs": [to_dict(g) for g in n.graphs]} if n.graphs else {}),
                **({"line": list(n.line)} if n.line else {}),
            }
            for n in graph.nodes
        ],
        "outputs": [number[v] for v in graph.outputs],
    }


def dumps(graph: Graph) -> str:
    return json.dumps(to_dict(graph), separators=(",", ":"))


def loads(text: str | bytes, registry: Mapping[str, Any]) -> Graph:
    """Reads a graph. `registry` maps operator names to classes.

    Raises:
        ValueError: the text is not a graph of this version, or names what does not exist or does not fit.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise _bad("the text is not JSON", str(e)) from None
    return from_dict(data, registry)


def from_dict(data: Any, registry: Mapping[str, Any]) -> Graph:
    if not isinstance(data, dict) or data.get("format") != "openpaddle-graph":
        raise _bad("the data is not a saved graph", repr(data)[:80])
    if data.get("version") != VERSION:
        raise _bad("the version is not known", f"version {data.get('version')!r}, this reads {VERSION}")
    graph = Graph(str(data.get("name", "graph")))
    values: list[Value] = []
    for t in list_in(data, "inputs"):
        values.append(graph.input(_read_type(t), str(t.get("name", ""))))
    nodes = list_in(data, "nodes")
    if len(nodes) > MAX_NODES:
        raise _bad("too many nodes", str(len(nodes)))
    for n in nodes:
        if not isinstance(n, dict):
            raise _bad("a node is not an object", repr(n)[:80])
        cls = registry.get(n.get("op", ""))
        if cls is None:
            raise _bad("an operator is not known", repr(n.get("op")))
        op = operator_of(cls, n.get("attrs", {}))
        inputs = [_value(values, i) for i in list_in(n, "in")]
        types = tuple(_read_type(t) for t in list_in(n, "out"))
        inferred = op.infer_types(*(v.type for v in inputs)) if op.infer else types
        if inferred != types:
            raise _bad(f"the types of {op!r} do not agree", f"stored {types}, inferred {inferred}")
        line = n.get("line")
        line = (str(line[0]), int(line[1])) if isinstance(line, list) and len(line) == 2 else None
        values.extend(graph.add(op, inputs, line, types))
        graph.nodes[-1].graphs = tuple(from_dict(g, registry) for g in n.get("graphs", ()))
    graph.outputs = [_value(values, i) for i in list_in(data, "outputs")]
    return graph


def encode(a: Any) -> Any:
    if isinstance(a, DType):
        return {"d": a.name}
    if isinstance(a, tuple):
        return {"t": [encode(x) for x in a]}
    if isinstance(a, float) and not math.isfinite(a):
        return {"f": repr(a)}
    if isinstance(a, complex):
        return {"c": [encode(a.real), encode(a.imag)]}
    if isinstance(a, Body):
        return {"g": a.data}
    if a is None or isinstance(a, (bool, int, float, str)):
        return a
    raise invalid_argument(f"save: an attribute of type {type(a).__name__} has no saved form.", received=repr(a))


def decode(a: Any) -> Any:
    if isinstance(a, dict) and len(a) == 1:
        ((kind, x),) = a.items()
        if kind == "d" and isinstance(x, str):
            return dtype_of(x)
        if kind == "t" and isinstance(x, list):
            return tuple(decode(y) for y in x)
        if kind == "f" and x in ("inf", "-inf", "nan"):
            return float(x)
        if kind == "c" and isinstance(x, list) and len(x) == 2:
            return complex(decode(x[0]), decode(x[1]))
        if kind == "g" and isinstance(x, dict):
            return Body(x)
    if a is None or isinstance(a, (bool, int, float, str)):
        return a
    raise _bad("an attribute has no known form", repr(a)[:80])


def operator_of(cls: Any, attrs: Any) -> Any:
    names = set(cls.fields)
    if not isinstance(attrs, dict) or not set(attrs) <= names:
        raise _bad(f"the attributes of {cls.name} do not fit", f"{attrs!r}, known: {sorted(names)}")
    try:
        return cls(**{k: decode(a) for k, a in attrs.items()})
    except TypeError as e:
        raise _bad(f"the attributes of {cls.name} do not fit", str(e)) from None


def type_form(t: TensorType) -> dict[str, Any]:
    return {"shape": list(t.shape), "dtype": t.dtype.name}


def _read_type(t: Any) -> TensorType:
    shape = t.get("shape") if isinstance(t, dict) else None
    if not isinstance(shape, list) or not all(type(n) is int and 0 <= n < 1 << 48 for n in shape):
        raise _bad("a type is malformed", repr(t)[:80])
    return TensorType(tuple(shape), dtype_of(str(t.get("dtype"))))


def list_in(data: dict[str, Any], key: str) -> list[Any]:
    found = data.get(key)
    if not isinstance(found, list):
        raise _bad(f"{key!r} is not a list", repr(found)[:80])
    return found


def _value(values: list[Value], i: Any) -> Value:
    if type(i) is not int or not 0 <= i < len(values):
        raise _bad("a value is used before it is made", repr(i))
    return values[i]


def _bad(fact: str, received: str) -> Exception:
    return invalid_argument(f"load: {fact}.", expected="a graph saved by this project", received=received)
