"""Stretches that users mark, and results read back from files."""

from __future__ import annotations

import contextlib
import enum
import threading
import time
import types
import warnings

from .recorder import Recorder
from .result import ProfilerResult, read

__all__ = ["RecordEvent", "TracerEventType", "in_profiler_mode", "load_profiler_result"]


class TracerEventType(enum.Enum):
    """Kinds of events, as upstream numbers them.

    Examples:
        >>> paddle.profiler.TracerEventType.Forward.value
        9
    """

    Operator = 0
    Dataloader = 1
    ProfileStep = 2
    CudaRuntime = 3
    Kernel = 4
    Memcpy = 5
    Memset = 6
    UserDefined = 7
    OperatorInner = 8
    Forward = 9
    Backward = 10
    Optimization = 11
    Communication = 12
    PythonOp = 13
    PythonUserDefined = 14
    DygraphKernelLaunch = 15
    StaticKernelLaunch = 16

    def __int__(self) -> int:
        return self.value


_MARKED = frozenset(TracerEventType[n] for n in (
    "Dataloader", "ProfileStep", "Forward", "Backward", "Optimization", "PythonOp", "PythonUserDefined",
))  # fmt: skip


class RecordEvent(contextlib.ContextDecorator):
    """Marks a stretch of time with a name: `with`, a decorator, or `begin` and `end`. Marks may be nested.

    It costs next to nothing while no profiler records.

    Args:
        name (str): Shown in the summary and in traces.
        event_type (TracerEventType): Its kind. Default: PythonUserDefined.

    Examples:
        >>> prof = paddle.profiler.Profiler(on_trace_ready=lambda prof: None)
        >>> with prof:
        ...     with paddle.profiler.RecordEvent("both"):
        ...         event = paddle.profiler.RecordEvent("the sum")
        ...         event.begin()
        ...         total = float(paddle.ones([3]).sum())
        ...         event.end()
        >>> [e.name for e in prof.profiler_result.events if e.kind == "user"]
        ['both', 'the sum']
    """

    def __init__(self, name: str, event_type: TracerEventType = TracerEventType.PythonUserDefined) -> None:
        self.name, self.event_type = name, event_type
        self._open: list[tuple[Recorder, int, int]] = []  # several where a decorated function calls itself

    def __enter__(self) -> RecordEvent:
        self.begin()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        self.end()

    def begin(self) -> None:
        """The stretch begins now. What begins while no profiler records is not noted."""
        recorder = Recorder.active
        if recorder is None:
            return
        if self.event_type not in _MARKED:
            kinds = ", ".join(t.name for t in TracerEventType if t in _MARKED)
            warnings.warn(f"RecordEvent: {self.event_type} is not noted; those that are: {kinds}.", stacklevel=2)
            return
        self._open.append((recorder, time.perf_counter_ns(), threading.get_ident()))

    def end(self) -> None:
        """The stretch ends now. Without a begin, or if the profiler has stopped since, nothing happens."""
        if not self._open:
            return
        here = threading.get_ident()
        mine = [i for i, (_, _, thread) in enumerate(self._open) if thread == here]
        recorder, began, thread = self._open.pop(mine[-1] if mine else -1)
        if recorder is Recorder.active:
            kind = "step" if self.event_type is TracerEventType.ProfileStep else "user"
            recorder.marked(kind, self.name, began, thread, self.event_type.name)


def in_profiler_mode() -> bool:
    """Whether a profiler records at present.

    Examples:
        >>> paddle.profiler.utils.in_profiler_mode()
        False
    """
    return Recorder.active is not None


def load_profiler_result(filename: str) -> ProfilerResult:
    """Reads what `Profiler.export` or `export_chrome_tracing` or `export_protobuf` has written.

    Args:
        filename (str): A JSON trace or a protobuf file. Protobuf files of upstream are read too.

    Returns:
        ProfilerResult: With `events`, `get_data()`, `get_extra_info()` and `save(path, format)`.

    Raises:
        FileNotFoundError: There is no such file. ValueError: It holds something else.

    Examples:
        >>> with paddle.profiler.Profiler(on_trace_ready=lambda prof: None) as prof:
        ...     total = float(paddle.ones([3]).sum())
        >>> prof.export("trace.json")
        >>> loaded = paddle.profiler.load_profiler_result("trace.json")
        >>> [e.kind for e in loaded.events] == [e.kind for e in prof.profiler_result.events]
        True
    """
    return read(filename)
