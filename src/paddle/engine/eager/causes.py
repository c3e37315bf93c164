"""Why a program is new: in what its steps differ from those of programs known before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..ops.registry import Operator
from ..types import TensorType
from .materialize import Program
from .trace import TrieNode, trie

Line = tuple[str, int] | None


@dataclass(frozen=True)
class Cause:
    """Why a program is new.

    Attributes:
        kind (str): "first" (nothing like it was seen), "shape", "dtype", "gradients", "amp", "argument", "branch",
            "reads" (values are read elsewhere than before), or "held" (other results are still in use).
        text (str): what came, and what had come before.
        line: file and line of the step that differs, or of where the program begins.
    """

    kind: str
    text: str
    line: Line


def cause_of(program: Program) -> Cause:
    """What tells a program from those made before it; ask right after it was made."""
    node, key = program.home
    others = [k for k in node.programs or () if k != key]
    if others:
        return _held(node, key, others)
    if any(_ends_below(c) for c in node.children.values()):
        return Cause("reads", "values are read here, where the program went on before", _line_up(node))
    path = {id(node)}
    at = node.parent
    while at is not None:
        ours: list[tuple[Any, TrieNode]] = []
        known: list[tuple[Any, TrieNode]] = []
        for k, child in at.children.items():
            (ours if id(child) in path or id(child.end) in path else known).append((k, child))
        known = [(k, c) for k, c in known if _ends_below(c)]
        if known:
            found = [_difference(a, b) for a in ours for b in known[-8:]]
            return max(found, key=lambda f: f[0])[1]
        if at.programs:
            return Cause("reads", "the program goes on, where values were read before", _line_down(node, at))
        path.add(id(at))
        at = at.parent
    return _root_cause(program)


def _ends_below(node: TrieNode) -> bool:
    """Whether a program ends at a node or behind it."""
    todo, seen = [node], set()
    while todo:
        n = todo.pop()
        if n.programs:
            return True
        if id(n) not in seen:
            seen.add(id(n))
            todo += (n.end,) if n.end is not n else n.children.values()
    return False


def _difference(a: tuple[Any, TrieNode], b: tuple[Any, TrieNode]) -> tuple[float, Cause]:
    """How like two steps are, and in what the first differs from the second."""
    (key, node), (other, before) = a, b
    line = node.line or _first_line(node.end)
    if _is_leaf(key) and _is_leaf(other):
        return _leaves(key, other, line)
    if _is_leaf(key) and node.parent is not None and max((node.parent.numbers or {}).values(), default=0) > 2:
        text = "the third number here: from now on it is an input, and others make no new program"
        return 3, Cause("argument", text, line)
    if isinstance(key, bool) and isinstance(other, bool):
        return 2, Cause("gradients", f"gradients are {'' if key else 'not '}recorded here", line)
    if type(key) is tuple and type(other) is tuple and key and other:
        if key[0] == "amp" or other[0] == "amp":
            return 1, Cause("amp", "auto_cast is in force in another way", line)
        if isinstance(key[0], Operator) and isinstance(other[0], Operator):
            return _operators(key, other, line, before.line or _first_line(before.end))
    return 0, Cause("branch", f"{_words(key)}, where before came {_words(other)}", line)


def _leaves(key: Any, other: Any, line: Line) -> tuple[float, Cause]:
    type_, before = key[0], other[0]
    if type_.dtype is not before.dtype:
        return 2, Cause("dtype", f"a Tensor {type_}, before {before}", line)
    if type_ is not before:
        same = len(type_.shape) == len(before.shape)
        return 4 if same else 3, Cause("shape", f"a Tensor {type_}, before {before}", line)
    stops = "stops gradients" if key[1] == 0 else "takes gradients" if key[1] == 1 else "depends on leaves"
    return 5, Cause("gradients", f"a Tensor {type_} that {stops}, which it did not before", line)


def _operators(key: Any, other: Any, line: Line, before: Line) -> tuple[float, Cause]:
    op, was = key[0], other[0]
    if type(op) is not type(was):
        return 0, Cause("branch", f"{op.name}, where before came {was.name}{_at(before, line)}", line)
    changed = [
        f"{k}={v!r}, before {was.attributes()[k]!r}" for k, v in op.attributes().items() if v != was.attributes()[k]
    ]
    if changed:
        return 3 - 0.1 * len(changed), Cause("argument", f"{op.name}: {'; '.join(changed[:3])}", line)
    numbers, before_ = (dict(_numbers(k)) for k in (key, other))
    changed = [f"{v}, before {before_[i]}" for i, v in numbers.items() if before_.get(i, v) != v]
    if changed:
        return 3, Cause("argument", f"{op.name}: the number {changed[0]}", line)
    return 1, Cause("branch", f"{op.name} of other Tensors than before", line)


def _numbers(key: tuple[Any, ...]) -> Iterator[tuple[int, str]]:
    """The numbers among the arguments in a key, which come as a type and a value (Tensors as a slot)."""
    parts = iter(key[1:])
    for i, part in enumerate(parts):
        if isinstance(part, type):
            value = next(parts)
            yield i, value if isinstance(value, str) else repr(getattr(value, "value", value))


def _is_leaf(key: Any) -> bool:
    return type(key) is tuple and len(key) == 2 and isinstance(key[0], TensorType)


def _words(key: Any) -> str:
    """What a step is, for people."""
    if _is_leaf(key):
        return f"a Tensor {key[0]} from outside"
    if isinstance(key, bool):
        return "a change of the gradient mode"
    first = key[0] if type(key) is tuple and key else key
    while type(first) is tuple and first:
        first = first[0]
    if isinstance(first, Operator):
        return first.name
    words = {"backward": "backward", "updated": "an update of parameters", "leaf": "a new leaf", "freed": "backward"}
    return words.get(first, f"a {first} step") if isinstance(first, str) else "an update of parameters"


def _held(node: TrieNode, key: Any, others: list[Any]) -> Cause:
    """The same steps, other results in use."""
    slots = set(key[0])
    before = min((set(k[0]) for k in others), key=lambda s: len(s ^ slots))
    made = {s: n for n in _path(node) for s in range(n.slot, n.slot + len(n.types))}

    def name(slot: int) -> str:
        n = made.get(slot)
        return f"{n.op.name} {n.types[slot - n.slot]}" if n is not None and n.op is not None else "a value"

    more, less = sorted(slots - before), sorted(before - slots)
    if not more and not less:
        return Cause("held", "other arguments are still in use after it", _line_up(node))
    first = (more or less)[-1]
    said = "is still in use, which it was not before" if more else "is not in use any more, which it was before"
    rest = len(more or less) - 1
    text = f"the result of {name(first)} {said}" + (f" (and {rest} more)" if rest else "")
    return Cause("held", text, made[first].line if first in made else _line_up(node))


def _root_cause(program: Program) -> Cause:
    root = program.home[0]
    while root.parent is not None:
        root = root.parent
    key = next((k for k, r in trie.roots.items() if r is root), None)
    if key is None:
        return Cause("first", "a program seen for the first time", _line_up(program.home[0]))
    for (grad, amp, place), r in trie.roots.items():
        if r is not root and place == key[2] and _ends_below(r):
            if grad != key[0]:
                return Cause("gradients", f"gradients are {'' if key[0] else 'not '}recorded here", place)
            if amp is not key[1]:
                return Cause("amp", "auto_cast is in force in another way", place)
    return Cause("first", "a program seen for the first time", key[2])


def _path(node: TrieNode | None) -> Iterator[TrieNode]:
    while node is not None:
        yield node
        node = node.parent


def _line_up(node: TrieNode) -> Line:
    return next((n.line for n in _path(node) if n.line), None)


def _line_down(node: TrieNode, above: TrieNode) -> Line:
    """The first line on the way from `above` down to `node`."""
    found = None
    for n in _path(node):
        if n is above:
            return found
        found = n.line or found
    return found


def _first_line(node: TrieNode) -> Line:
    """The line of the first step with one at a node or behind it."""
    todo, steps = [node], 0
    while todo and steps < 1000:
        n = todo.pop()
        steps += 1
        if n.line:
            return n.line
        todo += n.children.values()
    return None


def _at(before: Line, line: Line) -> str:
    return "" if before is None or before == line else f" (line {before[1]})"
