"""What a profiler has recorded, as it is kept, saved and read."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from ..engine import errors
from . import chrome, protobuf
from .recorder import Event, Recording

__all__ = ["EventNode", "ProfilerResult", "read"]


@dataclass
class EventNode:
    """An event with those inside it, under the names that upstream's nodes have.

    Attributes:
        name (str), type (TracerEventType), start_ns, end_ns, process_id, thread_id (int): the event.
        children_node (list): of EventNodes, in order. event (Event): None for the root of a thread.
        input_shapes, dtypes (dict), callstack (str): of a kernel: what it reads, and the user's line.
        runtime_node, device_node, mem_node (list): for other devices; empty.
    """

    name: str
    type: Any
    start_ns: int
    end_ns: int
    process_id: int
    thread_id: int
    event: Event | None = None
    children_node: list[EventNode] = field(default_factory=list)
    input_shapes: dict[str, list[list[int]]] = field(default_factory=dict)
    dtypes: dict[str, list[str]] = field(default_factory=dict)
    callstack: str = ""
    runtime_node: list[Any] = field(default_factory=list)
    device_node: list[Any] = field(default_factory=list)
    mem_node: list[Any] = field(default_factory=list)


class ProfilerResult:
    """All events of a recording.

    Attributes:
        events (list of Event): by their beginnings; kinds, names, times in ns, threads, details.
        recording (Recording): the same with the whole time, names of threads, and the machine.

    Examples:
        >>> with paddle.profiler.Profiler(on_trace_ready=lambda prof: None) as prof:
        ...     total = float(paddle.ones([3]).sum())
        >>> (root,) = prof.profiler_result.get_data().values()
        >>> [node.name for node in root.children_node]
        ['ProfileStep#0']
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    @property
    def events(self) -> list[Event]:
        """All events, by their beginnings."""
        return self.recording.events

    def get_data(self) -> dict[int, EventNode]:
        """Per thread, the events inside one another.

        Returns:
            dict: A root EventNode by the thread's identity.
        """
        return {thread: self._tree(thread) for thread in self.recording.threads}

    def _tree(self, thread: int) -> EventNode:
        from .utils import TracerEventType

        pid = self.recording.about["pid"]
        root = EventNode("root node", TracerEventType.UserDefined, 0, 2**64 - 1, 0, 0)
        stack = [root]
        for e in self.events:
            if e.thread != thread:
                continue
            node = EventNode(e.name, event_type(e), e.start, e.end, pid, thread, e)
            shapes = e.detail.get("shapes", [])[:-1]
            if shapes:
                node.input_shapes = {"X": [json.loads(s[s.index("[") :]) for s in shapes]}
                node.dtypes = {"X": [s[: s.index("[")] for s in shapes]}
            if e.detail.get("line"):
                node.callstack = errors.describe_line(*e.detail["line"])
            while e.start >= stack[-1].end_ns or e.end > stack[-1].end_ns:
                stack.pop()
            stack[-1].children_node.append(node)
            stack.append(node)
        return root

    def get_extra_info(self) -> dict[str, str]:
        """Names of the threads by their identity, and the use of the processor: 1 is one core.

        Returns:
            dict: From text to text.
        """
        r, about = self.recording, self.recording.about
        used = about["cpu_ns"] / max(1, r.end - r.start)
        return {**{str(t): name for t, name in r.threads.items()}, "Process Cpu Utilization": f"{used:.6f}"}

    def save(self, path: str, format: str = "json") -> None:
        """Writes a file.

        Args:
            path (str): Of the file; its folder must exist.
            format (str): "json" for a trace as browsers show it (chrome://tracing, ui.perfetto.dev), "pb" for protobuf
                as upstream writes it. Default: "json".

        Raises:
            ValueError: The format is another.
        """
        if format not in _WRITERS:
            raise errors.invalid_argument(
                "Profiler.export: there is no such format.", expected="'json' or 'pb'", received=repr(format)
            )
        data = _WRITERS[format](self)
        with open(path, "wb") as file:
            file.write(data)


_WRITERS = {"json": lambda r: chrome.write(r.recording), "pb": lambda r: protobuf.write(r)}


def event_type(e: Event) -> Any:
    """The kind of an event, in upstream's words."""
    from .utils import TracerEventType

    named = e.detail.get("type", "")
    if e.kind in ("step", "user") and named in TracerEventType.__members__:
        return TracerEventType[named]
    words = {"data": "Dataloader", "kernel": "Operator", "host": "Operator", "reference": "Operator"}
    return TracerEventType[words.get(e.kind, "UserDefined")]


def read(filename: str) -> ProfilerResult:
    """The result in a file that `save` has written."""
    with open(filename, "rb") as file:
        data = file.read()
    recording = chrome.read(data) if data.lstrip()[:1] in (b"{", b"[") else protobuf.read(data)
    if recording is None:
        raise errors.invalid_argument(
            "load_profiler_result: the file holds no result of a profiler.",
            expected="what Profiler.export has written",
            received=filename,
        )
    return ProfilerResult(recording)
