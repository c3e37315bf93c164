"""Recordings in the protobuf format that upstream has for them (its message `NodeTreesProto`), without a library.

What upstream's messages have no place for goes into the map of further information, under a name of ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .recorder import Event, Recording

if TYPE_CHECKING:
    from .result import EventNode, ProfilerResult

__all__ = ["read", "write"]

_OURS = "openpaddle"
_TYPES = 15  # upstream's messages know the kinds of events below this number
_USER_DEFINED = 7
_KINDS = {0: "kernel", 1: "data", 2: "step"}  # of upstream's events; others are the user's


# ---- the wire format: a message is a list of (number of a field, int or bytes) -----------------
def _varint(n: int) -> bytes:
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def _message(*fields: tuple[int, int | str | bytes]) -> bytes:
    out = []
    for number, value in fields:
        if isinstance(value, int):
            out += [_varint(number << 3), _varint(value)]
        else:
            data = value.encode() if isinstance(value, str) else value
            out += [_varint(number << 3 | 2), _varint(len(data)), data]
    return b"".join(out)


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0

    def varint() -> int:
        nonlocal at
        n = shift = 0
        while True:
            b = data[at]
            at += 1
            n |= (b & 127) << shift
            shift += 7
            if b < 128:
                return n

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(key & 7) or varint()
        if key & 7 not in (1, 2, 5) or at + size > len(data):
            raise ValueError("not a message")
        yield key >> 3, data[at : at + size]
        at += size


def _one(data: bytes) -> dict[int, Any]:
    """The last value of each field."""
    return dict(_fields(data))


# ---- upstream's messages ----------------------------------------------------------------------
def write(result: ProfilerResult) -> bytes:
    """The message for a result."""
    r = result.recording
    details: dict[int, int] = {}
    known: list[Any] = []
    order: list[list[Any]] = []  # kind and detail of each event, in the order of the nodes
    trees = []
    for thread, root in result.get_data().items():
        nodes = []
        for number, parent, node in _numbered(root):
            nodes.append((2, _host_node(number, parent, node)))
            if node.event is not None:
                d = node.event.detail
                if id(d) not in details:
                    details[id(d)] = len(known)
                    known.append(d)
                order.append([node.event.kind, details[id(d)]])
        trees.append((3, _message((1, thread), *nodes)))
    ours = {"start_ns": r.start, "end_ns": r.end, "thread": r.thread, "about": r.about,
            "threads": {str(t): n for t, n in r.threads.items()}, "details": known, "events": order}  # fmt: skip
    extra = {**result.get_extra_info(), "System Cpu Utilization": "0.000000", _OURS: json.dumps(ours)}
    return _message(
        (1, "1.0.2"), (2, 0), *trees, *((4, _message((1, key), (2, value))) for key, value in extra.items())
    )


def _numbered(root: EventNode) -> Iterator[tuple[int, int, EventNode]]:
    """Nodes with their numbers and those of their parents, parents first."""
    todo, count = [(-1, root)], 0
    while todo:
        parent, node = todo.pop()
        yield count, parent, node
        todo += [(count, child) for child in reversed(node.children_node)]
        count += 1


def _host_node(number: int, parent: int, node: EventNode) -> bytes:
    kind = node.type.value if node.type.value < _TYPES else _USER_DEFINED
    event = _message(
        (1, node.name), (2, kind), (3, node.start_ns), (4, node.end_ns), (5, node.process_id), (6, node.thread_id)
    )
    fields: list[tuple[int, Any]] = [(1, number), (2, parent), (3, event)]
    if node.event is not None and node.event.kind in ("kernel", "host"):
        fields.append((6, _message((1, _supplement(node)))))
    return _message(*fields)


def _supplement(node: EventNode) -> bytes:
    """What an operator reads, and where it stands in the user's code."""
    shapes = [(1, key) for key in node.input_shapes]
    vectors = [
        (2, b"".join(_message((1, _message(*((1, n) for n in shape)))) for shape in found))
        for found in node.input_shapes.values()
    ]
    dtypes = [(1, key) for key in node.dtypes]
    names = [(2, _message(*((1, d) for d in found))) for found in node.dtypes.values()]
    return _message(
        (1, node.start_ns), (2, node.name), (3, node.process_id), (4, node.thread_id),
        (5, _message(*shapes, *vectors)), (6, _message(*dtypes, *names)), (7, node.callstack), (8, 0),
    )  # fmt: skip


def read(data: bytes) -> Recording | None:
    """A recording from such a message, by us or by upstream; None if it is something else."""
    try:
        fields = list(_fields(data))
        extra = {m[1].decode(): m[2].decode() for m in (_one(v) for k, v in fields if k == 4)}
        nodes = []
        for tree in (v for k, v in fields if k == 3):
            for node in (_one(v) for k, v in _fields(tree) if k == 2):
                event = _one(node[3])
                if node[2] != (1 << 64) - 1:  # not the root of a thread
                    nodes.append((event[1].decode(), event[2], event[3], event[4], event[5], event[6]))
        if not any(k == 1 and isinstance(v, bytes) for k, v in fields):  # the version
            return None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return None
    return _ours(nodes, json.loads(extra[_OURS])) if _OURS in extra else _theirs(nodes, extra)


def _ours(nodes: list[Any], whole: dict[str, Any]) -> Recording:
    details = whole["details"]
    events = [
        Event(kind, name, start, end, thread, details[d])
        for (name, _, start, end, _, thread), (kind, d) in zip(nodes, whole["events"])
    ]
    events.sort(key=lambda e: (e.start, -e.end))
    threads = {int(t): n for t, n in whole["threads"].items()}
    return Recording(events, whole["start_ns"], whole["end_ns"], whole["thread"], threads, whole["about"])


def _theirs(nodes: list[Any], extra: dict[str, str]) -> Recording:
    from .utils import TracerEventType

    events = [
        Event(_KINDS.get(kind, "user"), name, start, end, thread, {"type": TracerEventType(kind).name})
        for name, kind, start, end, _, thread in nodes
    ]
    events.sort(key=lambda e: (e.start, -e.end))
    threads = {e.thread: extra.get(str(e.thread), f"thread {e.thread}") for e in events}
    start = min((e.start for e in events), default=0)
    end = max((e.end for e in events), default=0)
    main = next((t for t, name in threads.items() if name == "MainThread"), next(iter(threads), 0))
    about: dict[str, Any] = {
        "cpu_ns": round(float(extra.get("Process Cpu Utilization", 0)) * (end - start)),
        "cores": 1, "threads": 1, "call_ns": 0, "pid": nodes[0][4] if nodes else 0, "flags": {},
    }  # fmt: skip
    return Recording(events, start, end, main, threads, about)
