"""Graphs with open sizes: one graph for all sizes of its inputs, learnt from graphs of some.

Its form in JSON is that of `ir/saved.py`, with rules of sizes (see sizes.py) in the attributes and in the shapes, and
without the types of results, which are inferred anew for each set of sizes:

    {"format": "openpaddle-open-graph", "version": 1, "name": ..., "sizes": how many,
     "inputs": [{"shape": [...], "dtype": ..., "name": ...}, ...],
     "nodes": [{"op": ..., "attrs": {...}, "in": [value, ...], "out": how many, "dims": [[value, axis], ...],
                "line": [file, number]}, ...],
     "outputs": [{"value": ..., "shape": [..., -1, ...], "dtype": ...}, ...]}

Each size n[j] is read from an axis of an input, whose shape has {"$n": [j, 1, 0, 1]} there. Where it stands in several
places, they have to agree. The attributes of a node may follow from `dims` too, axes of values made before it: in its
rules these come before the sizes. Files of lines are base names.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .errors import invalid_argument
from .ir import saved
from .ir.graph import Graph, Node, Value
from .ops.number import Constant
from .ops.registry import registry
from .sizes import Affine, Fixed, Rule, Sizes, Unexplained, explained, read
from .types import TensorType, dtype_of

FORMAT, VERSION = "openpaddle-open-graph", 1
MOST_SIZES, MOST_DIMS = 64, 16
Line = tuple[str, int] | None
_NUMBERS = {"f", "c", "$n", "$p", "$s", "$floor", "$ratio", "$float", "$over", "$round"}  # forms of numbers


class Depends(Unexplained):
    """Graphs of several sizes have no common one.

    Attributes:
        fact: in what they differ.
        line: the user's line where that is.
        rule: they do the same, and only the rule of an attribute is not known: there may be one for fewer sizes.
    """

    def __init__(self, fact: str, line: Line, rule: bool = False):
        super().__init__(fact)
        self.fact, self.line, self.rule = fact, line, rule


# ---- learning ---------------------------------------------------------------------------------
def learn(graphs: Sequence[Graph], sizes: Sequence[Sizes], names: Sequence[str] = ()) -> dict[str, Any]:
    """The form in JSON of a graph with open sizes.

    Args:
        graphs: the same program for several sizes; one where all sizes are fixed.
        sizes: of each graph.
        names: of the inputs.

    Raises:
        Depends: they do other things at other sizes, or an attribute does not follow from the sizes by a rule.
        ValueError: an attribute has no saved form.
    """
    plain = [unshared(g) for g in graphs]
    first = plain[0]
    inputs = []
    for i, vs in enumerate(zip(*(g.inputs for g in graphs))):
        name = names[i] if i < len(names) else vs[0].name
        inputs.append(
            {**_rule_of([saved.type_form(v.type) for v in vs], sizes, "the shape of an input", None), "name": name}
        )
    for a, b in _pairs(plain):
        for (n, at), (m, there) in zip(a[0], b[0]):
            if n.op.name != m.op.name or at != there:
                raise Depends(f"it computes {n.op.name} at one size and {m.op.name} at another", n.line or m.line)
        if len(a[0]) != len(b[0]):
            longer = max(a[0], b[0], key=len)
            node = longer[min(len(a[0]), len(b[0]))][0]
            raise Depends(f"it computes {node.op.name} at one size only", node.line)
        if a[1] != b[1]:
            raise Depends("its results are made in another way at another size", None)
    nodes = []
    shapes: dict[Sizes, list[int]] = {}
    made = 0
    for vs in zip(*(g.inputs for g in graphs)):
        _note(shapes, made, [v.type for v in vs])
        made += 1
    for i, (node, at) in enumerate(first[0]):
        assert not node.graphs, node
        each = [
            {k: _placed(saved.encode(x), os.path.basename) for k, x in g[0][i][0].op.attributes().items()}
            for g in plain
        ]
        form, dims = _rule_at(each, sizes, shapes, made, node)
        entry = {"op": node.op.name, "attrs": form, "in": at}
        if dims:
            entry["dims"] = dims
        entry["out"] = len(node.outputs)
        if node.line:
            entry["line"] = [os.path.basename(node.line[0]), node.line[1]]
        nodes.append(entry)
        for k in range(len(node.outputs)):
            _note(shapes, made, [g[0][i][0].outputs[k].type for g in plain])
            made += 1
    outputs = []
    for i, value in enumerate(first[1]):
        types = [g.outputs[i].type for g in graphs]
        if any(len(t.shape) != len(types[0].shape) for t in types):
            raise Depends("a result has more axes at one size than at another", None)
        shape = [axis[0] if len(set(axis)) == 1 else -1 for axis in zip(*(t.shape for t in types))]
        outputs.append({"value": value, "shape": shape, "dtype": types[0].dtype.name})
    return {
        "format": FORMAT, "version": VERSION, "name": graphs[0].name, "sizes": len(sizes[0]) if sizes else 0,
        "inputs": inputs, "nodes": nodes, "outputs": outputs,
    }  # fmt: skip


def _placed(form: Any, name: Any) -> Any:
    """An attribute's form with other file names in the lines of graphs inside."""
    if type(form) is list:
        return [_placed(x, name) for x in form]
    if type(form) is not dict:
        return form
    found = {k: _placed(x, name) for k, x in form.items()}
    line = found.get("line")
    if "op" in found and type(line) is list and len(line) == 2:
        found["line"] = [name(str(line[0])), line[1]]
    return found


def alike(a: Any, b: Any) -> bool:
    """Whether two operators are equal but for the names of files in the lines of graphs inside."""
    form = lambda op: {k: _placed(saved.encode(x), lambda name: "") for k, x in op.attributes().items()}  # noqa: E731
    return a is b or (a.name == b.name and form(a) == form(b))


def _no_file(name: str) -> str:
    """A name for messages that is no file's here, whoever wrote it: lines of its source are not looked for."""
    return f"<{os.path.basename(name)[:200]}>"


_Plain = tuple[list[tuple[Node, list[int]]], list[int]]  # nodes with the numbers of their arguments; of the results


def unshared(graph: Graph) -> _Plain:
    """The nodes and outputs of a graph. Each use of a number has its own: two may be equal at one size only."""
    number: dict[Value, int] = {v: i for i, v in enumerate(graph.inputs)}
    count = len(number)
    nodes: list[tuple[Node, list[int]]] = []

    def use(v: Value) -> int:
        nonlocal count
        if v in number:
            return number[v]
        assert v.node is not None
        nodes.append((v.node, []))
        count += 1
        return count - 1

    for node in graph.nodes:
        if isinstance(node.op, Constant):
            continue
        at = [use(v) for v in node.inputs]
        nodes.append((node, at))
        for v in node.outputs:
            number[v] = count
            count += 1
    return nodes, [use(v) for v in graph.outputs]


def _pairs(plain: Sequence[_Plain]) -> Any:
    return ((plain[0], other) for other in plain[1:])


def _note(shapes: dict[Sizes, list[int]], value: int, types: list[TensorType]) -> None:
    """Notes axes of a value that differ between samples: for sizes in all samples, where they stand last."""
    if all(len(t.shape) == len(types[0].shape) for t in types):
        for axis, ns in enumerate(zip(*(t.shape for t in types))):
            if len(set(ns)) > 1:
                shapes.pop(ns, None)
                shapes[ns] = [value, axis]


def _rule_at(
    samples: list[Any], sizes: Sequence[Sizes], shapes: dict[Sizes, list[int]], made: int, node: Node
) -> tuple[Any, list[list[int]]]:
    """The rule for the attributes of a node, and which axes of earlier values it reads beside the sizes."""
    try:
        return explained(samples, sizes).form(), []
    except Unexplained:
        latest = list(shapes.items())[-MOST_DIMS:][::-1]
        wide = [(*(ns[i] for ns, _ in latest), *s) for i, s in enumerate(sizes)]
        return _rule_of(samples, wide, node.op.name, node.line, True), [place for _, place in latest]


def _rule_of(samples: list[Any], sizes: Sequence[Sizes], what: str, line: Line, further: bool = False) -> Any:
    try:
        return explained(samples, sizes, further).form()
    except Unexplained:
        raise Depends(f"{what} depends on a size by no rule: {_differing(samples)}", line, True) from None


def _differing(samples: list[Any]) -> str:
    """The first two samples, where they differ, briefly."""
    a, b = samples[0], next((x for x in samples if x != samples[0]), samples[-1])
    if isinstance(a, dict) and isinstance(b, dict):
        for k in a:
            if a[k] != b.get(k):
                return f"{k} is {str(a[k])[:40]} and {str(b.get(k))[:40]}"
    return f"{str(a)[:40]} and {str(b)[:40]}"


# ---- use --------------------------------------------------------------------------------------
class OpenGraph:
    """A graph with open sizes.

    Args:
        data: the form in JSON, from whomever.

    Attributes:
        names, inputs: of the inputs, the rules of their shapes and their element types.
        outputs: value, shape with -1 where it is open, and element type of each.

    Raises:
        ValueError: the data is no such form.
    """

    def __init__(self, data: Any):
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise _bad("the data is not a graph with open sizes", repr(data)[:80])
        if data.get("version") != VERSION:
            raise _bad("the version is not known", f"version {data.get('version')!r}, this reads {VERSION}")
        self.data = data
        self.name = str(data.get("name", "program"))
        count = data.get("sizes")
        if type(count) is not int or not 0 <= count <= MOST_SIZES:
            raise _bad("the number of sizes is none", repr(count)[:80])
        self.count: int = count
        self.names: list[str] = []
        self.inputs: list[tuple[tuple[Rule, ...], Any]] = []
        for t in saved.list_in(data, "inputs"):
            self.inputs.append(self._open_type(t))
            self.names.append(str(t.get("name", "")))
        known = {r.j for shape, _ in self.inputs for r in shape if type(r) is Affine and _is_size(r)}
        if known != set(range(self.count)):
            raise _bad("a size stands at no axis of an input", f"{sorted(known)} of {self.count}")
        self.nodes: list[Any] = []
        nodes = saved.list_in(data, "nodes")
        if len(nodes) > saved.MAX_NODES:
            raise _bad("too many nodes", str(len(nodes)))
        made = len(self.inputs)
        for n in nodes:
            made = self._read_node(n, made)
        self.outputs: list[tuple[int, tuple[int, ...], Any]] = []
        for o in saved.list_in(data, "outputs"):
            shape = o.get("shape") if isinstance(o, dict) else None
            if not isinstance(shape, list) or not all(type(n) is int and -1 <= n < 1 << 48 for n in shape):
                raise _bad("an output is malformed", repr(o)[:80])
            self.outputs.append((_number(o.get("value"), made), tuple(shape), dtype_of(str(o.get("dtype")))))

    def _open_type(self, t: Any) -> tuple[tuple[Rule, ...], Any]:
        shape = t.get("shape") if isinstance(t, dict) else None
        if not isinstance(shape, list) or len(shape) > 64:
            raise _bad("a type is malformed", repr(t)[:80])
        rules = tuple(read(n, self.count) for n in shape)
        for r in rules:
            if not (
                type(r) is Affine
                and _is_size(r)
                or type(r) is Fixed
                and type(r.value) is int
                and 0 <= r.value < 1 << 48
            ):
                raise _bad("a type is malformed", repr(t)[:80])
        return rules, dtype_of(str(t.get("dtype")))

    def _read_node(self, n: Any, made: int) -> int:
        cls = registry.get(n.get("op", "")) if isinstance(n, dict) and isinstance(n.get("op"), str) else None
        if cls is None:
            raise _bad("an operator is not known", repr(n)[:80])
        attrs = n.get("attrs", {})
        if not isinstance(attrs, dict):
            raise _bad(f"the attributes of {cls.name} do not fit", repr(attrs)[:80])
        attrs = _placed(attrs, _no_file)
        dims = []
        for d in n.get("dims", ()):
            if not (type(d) is list and len(d) == 2 and type(d[1]) is int and 0 <= d[1] < 64):
                raise _bad("an axis is malformed", repr(d)[:80])
            dims.append((_number(d[0], made), d[1]))
        rules = read(attrs, self.count + len(dims))
        op = saved.operator_of(cls, attrs) if type(rules) is Fixed else None
        value = attrs.get("value", 0) if cls is Constant else 0
        if not isinstance(value, (bool, int, float)) and not (isinstance(value, dict) and not value.keys() - _NUMBERS):
            raise _bad("a constant is no number", repr(value)[:80])
        if op is None and not set(attrs) <= set(cls.fields):
            raise _bad(f"the attributes of {cls.name} do not fit", repr(sorted(attrs))[:80])
        inputs = [_number(i, made) for i in saved.list_in(n, "in")]
        out = n.get("out")
        if type(out) is not int or not 0 <= out <= 4096:
            raise _bad("a node has no number of results", repr(out)[:80])
        line = n.get("line")
        known = isinstance(line, list) and len(line) == 2 and type(line[0]) is str and type(line[1]) is int
        place = (_no_file(line[0]), line[1]) if known else None
        self.nodes.append((cls, op, rules, inputs, out, place, dims))
        return made + out

    def shape(self, i: int) -> tuple[int, ...]:
        """Of an input; -1 where it is open."""
        return tuple(r.value if type(r) is Fixed else -1 for r in self.inputs[i][0])

    def sizes_of(self, types: Sequence[TensorType], labels: Sequence[str] = ()) -> Sizes:
        """The sizes that inputs of these types have.

        Raises:
            ValueError: a type does not fit. labels: names to call the inputs by, instead of their own.
        """
        found: list[tuple[int, int, int] | None] = [None] * self.count
        for i, ((shape, dtype), t) in enumerate(zip(self.inputs, types)):
            fits = t.dtype is dtype and len(t.shape) == len(shape)
            for axis, (r, n) in enumerate(zip(shape, t.shape)) if fits else ():
                if type(r) is Fixed:
                    fits = fits and r.value == n
                    continue
                before = found[r.j]  # type: ignore[attr-defined]
                if before is None:
                    found[r.j] = (n, i, axis)  # type: ignore[attr-defined]
                elif before[0] != n:
                    raise invalid_argument(
                        "program: two sizes differ that are one in the program.",
                        expected=f"axis {axis} of {self._label(i, labels)} as long as axis {before[2]} of"
                        f" {self._label(before[1], labels)}",
                        received=f"{n} and {before[0]}",
                    )
            if not fits:
                raise invalid_argument(
                    f"program: the type of {self._label(i, labels)} does not fit.",
                    expected=f"{dtype.name}{list(self.shape(i))}", received=repr(t),
                    hint="" if t.dtype is dtype else f"cast it, as in x.astype('{dtype.name}').",
                )  # fmt: skip
        if len(types) != len(self.inputs):
            raise invalid_argument(
                "program: the number of inputs is another.", expected=str(len(self.inputs)), received=str(len(types))
            )
        return tuple(f[0] for f in found if f is not None)

    def _label(self, i: int, labels: Sequence[str]) -> str:
        name = labels[i] if i < len(labels) else self.names[i]
        return name or f"input {i}"

    def types(self, sizes: Sizes) -> list[TensorType]:
        """The types of the inputs."""
        return [TensorType(tuple(r(sizes) for r in shape), dtype) for shape, dtype in self.inputs]

    def graph(self, sizes: Sizes) -> Graph:
        """The graph at these sizes, its types inferred.

        Raises:
            ValueError: there is none: a rule gives a fraction, or an operator refuses what it gets.
        """
        graph = Graph(self.name)
        values = [graph.input(t, name) for t, name in zip(self.types(sizes), self.names)]
        cls, line = None, None
        try:
            for cls, op, rules, inputs, out, line, dims in self.nodes:
                if op is None:
                    here = (*(values[i].type.shape[axis] for i, axis in dims), *sizes) if dims else sizes
                    op = saved.operator_of(cls, rules(here))
                made = graph.add(op, [values[i] for i in inputs], line)
                if len(made) != out:
                    raise _bad(f"{cls.name} has another number of results", f"{out}, which are {len(made)}")
                values.extend(made)
        except Unexplained:
            raise invalid_argument(
                f"program: {cls.name} cannot have these sizes." if cls else "program: not at these sizes.",
                expected="sizes by which all others are whole numbers", received=_told(self, sizes),
                hint="save the program with this size fixed, or for sizes like those it is used with.",
                at=f"{line[0][1:-1]}:{line[1]}" if line else "",
            ) from None  # fmt: skip
        except ValueError:
            raise
        except Exception as e:  # operators of a file from strangers may fail in any way
            name = cls.name if cls else "program"
            raise _bad(f"{name} does not fit its arguments", f"{type(e).__name__}: {str(e)[:200]}") from None
        graph.outputs = [values[i] for i, _, _ in self.outputs]
        for v, (_, shape, dtype) in zip(graph.outputs, self.outputs):
            if (
                v.dtype is not dtype
                or len(v.shape) != len(shape)
                or any(a not in (-1, b) for a, b in zip(shape, v.shape))
            ):
                raise _bad("a result has another type than the file says", f"{v.type}, said {dtype}{list(shape)}")
        return graph

    def __str__(self) -> str:
        open_ = lambda shape: ", ".join("-1" if type(r) is not Fixed else str(r.value) for r in shape)
        lines = [f"%{i}: {dtype.name}[{open_(shape)}]  # {name}" for i, ((shape, dtype), name) in
                 enumerate(zip(self.inputs, self.names))]  # fmt: skip
        at = len(lines)
        for cls, op, rules, inputs, out, *_ in self.nodes:
            made = ", ".join(f"%{at + i}" for i in range(out))
            attrs = (
                repr(op) if op is not None else f"{cls.name}({', '.join(f'{k}={v}' for k, v in rules.form().items())})"
            )
            lines.append(f"{made} = {attrs} <- {', '.join(f'%{i}' for i in inputs)}")
            at += out
        lines.append("return " + ", ".join(f"%{i}" for i, _, _ in self.outputs))
        return f"{self.name} {{\n" + "\n".join(f"  {x}" for x in lines) + "\n}"


def pruned(program: OpenGraph, wanted: Sequence[int], kept_inputs: Sequence[int]) -> tuple[OpenGraph, list[int]]:
    """The program that gives some of the outputs, and which of its inputs are left: the needed, and `kept_inputs`."""
    data = program.data
    outputs = [data["outputs"][i] for i in wanted]
    needed = {o["value"] for o in outputs}
    first, starts = len(program.inputs), []
    at = first
    for n in data["nodes"]:
        starts.append(at)
        at += n["out"]
    kept = []
    for n, start in zip(reversed(data["nodes"]), reversed(starts)):
        if registry[n["op"]].effect or needed.intersection(range(start, start + n["out"])):
            needed.update(n["in"])
            needed.update(i for i, _ in n.get("dims", ()))
            kept.append((start, n))
    left = [i for i in range(first) if i in needed or i in kept_inputs]
    number = {i: k for k, i in enumerate(left)}
    nodes = []
    for start, n in reversed(kept):
        dims = {"dims": [[number[i], axis] for i, axis in n["dims"]]} if "dims" in n else {}
        nodes.append({**n, "in": [number[i] for i in n["in"]], **dims})
        for i in range(n["out"]):
            number[start + i] = len(number)
    return OpenGraph({
        **data, "inputs": [data["inputs"][i] for i in left], "nodes": nodes,
        "outputs": [{**o, "value": number[o["value"]]} for o in outputs],
    }), left  # fmt: skip


def _told(program: OpenGraph, sizes: Sizes) -> str:
    types = program.types(sizes)
    shown = [i for i, (shape, _) in enumerate(program.inputs) if any(type(r) is not Fixed for r in shape)]
    return ", ".join(f"{program._label(i, ())}: {types[i]}" for i in shown)


def _is_size(r: Affine) -> bool:
    return (r.a, r.b, r.c) == (1, 0, 1)


def _number(i: Any, made: int) -> int:
    if type(i) is not int or not 0 <= i < made:
        raise _bad("a value is used before it is made", repr(i)[:80])
    return i


def _bad(fact: str, received: str) -> Exception:
    return invalid_argument(f"load: {fact}.", expected="a program saved by this project", received=received)
