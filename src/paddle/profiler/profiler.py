"""`paddle.profiler.Profiler`: when to record, and what is done with the result."""

from __future__ import annotations

import datetime
import enum
import os
import socket
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from ..engine import errors
from .profiler_statistic import SortedKeys, tables
from .recorder import Recorder
from .result import ProfilerResult
from .timer import benchmark
from .utils import RecordEvent, TracerEventType

__all__ = [
    "Profiler",
    "ProfilerState",
    "ProfilerTarget",
    "SummaryView",
    "export_chrome_tracing",
    "export_protobuf",
    "make_scheduler",
]


class SummaryView(enum.Enum):
    """Parts of `Profiler.summary`: see there.

    Examples:
        >>> paddle.profiler.SummaryView.KernelView.value
        4
    """

    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


class ProfilerState(enum.Enum):
    """What a profiler does in a step: nothing (CLOSED), get ready, record, or record and hand over the result.

    Examples:
        >>> paddle.profiler.make_scheduler(closed=1, ready=1, record=1)(1)
        <ProfilerState.READY: 1>
    """

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3


class ProfilerTarget(enum.Enum):
    """Devices.

    Examples:
        >>> paddle.profiler.ProfilerTarget.CPU.value
        0
    """

    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM_DEVICE = 3


def make_scheduler(
    *, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerState]:
    """A schedule: after `skip_first` steps, again and again `closed` steps, `ready` steps, `record` steps.

    Args:
        closed (int): Steps without profiling, 0 or more.
        ready (int): Steps to get ready, 0 or more; without any, what is recorded first holds some costs of starting.
        record (int): Steps that are recorded, 1 or more; the last of them hands over the result.
        repeat (int): How often; 0 for without end. Default: 0.
        skip_first (int): Steps before that, which are left out. Default: 0.

    Returns:
        callable: From the number of a step (from 0) to its ProfilerState.

    Raises:
        AssertionError: A number is out of its range; of the result: the step is negative.

    Examples:
        >>> schedule = paddle.profiler.make_scheduler(closed=1, ready=1, record=2, repeat=1)
        >>> [schedule(i).name for i in range(5)]
        ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN', 'CLOSED']
    """
    given = f"closed={closed}, ready={ready}, record={record}, repeat={repeat}, skip_first={skip_first}"
    if min(closed, ready, repeat, skip_first) < 0 or record <= 0:
        raise AssertionError(
            errors.message(
                "InvalidArgument", "make_scheduler: Invalid profiler scheduler arguments.",
                expected="record of 1 or more, the others 0 or more", received=given,
            )
        )  # fmt: skip
    if ready == 0:
        warnings.warn(
            "make_scheduler: without a ready step, what is recorded first holds some costs of starting.", stacklevel=2
        )
    period = closed + ready + record

    def schedule(step: int) -> ProfilerState:
        if step < 0:
            raise AssertionError(
                errors.message("InvalidArgument", "scheduler: the step is negative.", received=str(step))
            )
        turn, at = divmod(step - skip_first, period)
        if step < skip_first or (repeat and turn >= repeat) or at < closed:
            return ProfilerState.CLOSED
        if at < closed + ready:
            return ProfilerState.READY
        return ProfilerState.RECORD if at < period - 1 else ProfilerState.RECORD_AND_RETURN

    return schedule


def _always(step: int) -> ProfilerState:
    return ProfilerState.RECORD


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable[[Profiler], None]:
    """For `on_trace_ready`: writes each result as a JSON trace, for chrome://tracing or ui.perfetto.dev.

    Args:
        dir_name (str): Folder, made if it is not there.
        worker_name (str, optional): How the files begin. Default: None, from the names of host and process.

    Returns:
        callable: Takes the Profiler and writes `{worker_name}_time_{date}.paddle_trace.json`.

    Raises:
        RuntimeError: The folder cannot be made.

    Examples:
        >>> handler = paddle.profiler.export_chrome_tracing("traces", "worker")
        >>> with paddle.profiler.Profiler(on_trace_ready=handler):
        ...     total = float(paddle.ones([3]).sum())
        >>> import os
        >>> [name.startswith("worker_time_") for name in os.listdir("traces")]
        [True]
    """
    return _writer(dir_name, worker_name, "json", "json")


def export_protobuf(dir_name: str, worker_name: str | None = None) -> Callable[[Profiler], None]:
    """For `on_trace_ready`: writes each result as protobuf, for `load_profiler_result`, ours or upstream's.

    Args:
        dir_name (str): Folder, made if it is not there.
        worker_name (str, optional): How the files begin. Default: None, from the names of host and process.

    Returns:
        callable: Takes the Profiler and writes `{worker_name}_time_{date}.paddle_trace.pb`.

    Raises:
        RuntimeError: The folder cannot be made.

    Examples:
        >>> handler = paddle.profiler.export_protobuf("traces")
        >>> with paddle.profiler.Profiler(on_trace_ready=handler):
        ...     total = float(paddle.ones([3]).sum())
        >>> import os
        >>> len(os.listdir("traces"))
        1
    """
    return _writer(dir_name, worker_name, "pb", "pb")


def _writer(dir_name: str, worker_name: str | None, format: str, ending: str) -> Callable[[Profiler], None]:
    try:
        os.makedirs(dir_name, exist_ok=True)
    except OSError as e:
        raise RuntimeError(
            errors.message("Unavailable", f"Can not create directory '{dir_name}' for saving profiling results.",
                           received=str(e))
        ) from None  # fmt: skip

    def write(prof: Profiler) -> None:
        name = worker_name or f"host_{socket.gethostname()}pid_{os.getpid()}"
        now = datetime.datetime.now().strftime("%Y_%m_%d_%H_%M_%S_%f")
        prof.export(os.path.join(dir_name, f"{name}_time_{now}.paddle_trace.{ending}"), format)

    return write


class Profiler:
    """Records where the time of a program goes: as a context manager, or with `start` and `stop`.

    While it records, programs run launch by launch, so that each kernel has its time; that costs about a microsecond
    per launch, which the summary shows for itself. While it does not record, nothing is slower.

    Args:
        targets (Iterable[ProfilerTarget], optional): Devices; those that are not here are left out with a warning.
            Default: None, all that there are.
        scheduler (callable|tuple, optional): From the number of a step to its ProfilerState, as `make_scheduler` gives
            it, or (first, end): the steps first <= i < end are recorded. Default: None, from start to stop.
        on_trace_ready (callable, optional): Called with the profiler whenever a result is there. Default: None, a JSON
            trace is written into the folder ./profiler_log.
        record_shapes (bool): The summary shows what each kernel reads. Default: False.
        profile_memory (bool): The summary shows what each kernel reads and writes in bytes. Default: False.
        timer_only (bool): Only the time of steps, of reading data, and samples per second. Default: False.
        emit_nvtx (bool), custom_device_types (list): Have no effect, there is no such device; they warn.
        with_flops (bool): The summary shows floating-point operations by operator. Default: False.

    Attributes:
        profiler_result (ProfilerResult): The last one, or None.
        step_num (int): Steps so far.
        current_state, previous_state (ProfilerState): In this step, and in the one before.

    Raises:
        AssertionError: The scheduler is a pair that names no step.

    Examples:
        >>> layer = paddle.nn.Linear(8, 4)
        >>> x = paddle.ones([2, 8])
        >>> prof = paddle.profiler.Profiler(scheduler=(2, 4), on_trace_ready=lambda prof: None)
        >>> with prof:
        ...     for _ in range(6):
        ...         loss = float(layer(x).sum())
        ...         prof.step()
        >>> [e.name for e in prof.profiler_result.events if e.kind == "step"]
        ['ProfileStep#2', 'ProfileStep#3']
        >>> prof.summary()  # doctest: +ELLIPSIS
        ---...
    """

    def __init__(
        self,
        *,
        targets: Iterable[ProfilerTarget] | None = None,
        scheduler: Callable[[int], ProfilerState] | tuple[int, int] | None = None,
        on_trace_ready: Callable[[Profiler], None] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        timer_only: bool = False,
        emit_nvtx: bool = False,
        custom_device_types: list[str] = [],  # noqa: B006  (upstream's signature; it is not changed)
        with_flops: bool = False,
    ) -> None:
        self.targets = _supported(targets)
        for name, value in (("emit_nvtx", emit_nvtx), ("custom_device_types", custom_device_types)):
            if value:
                warnings.warn(f"Profiler: {name} has no effect: there is no such device here.", stacklevel=2)
        self.scheduler = _scheduler(scheduler)
        self.on_trace_ready = on_trace_ready or _default_handler
        self.record_shapes, self.profile_memory, self.with_flops = record_shapes, profile_memory, with_flops
        self.timer_only, self.emit_nvtx = timer_only, emit_nvtx
        self.step_num = 0
        self.previous_state = ProfilerState.CLOSED
        self.current_state = self.scheduler(0)
        self.profiler_result: ProfilerResult | None = None
        self._recorder: Recorder | None = None
        self._mark: RecordEvent | None = None
        self._noted = 0  # events when the step began

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: types.TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Starts with the first step.

        Raises:
            RuntimeError: Another profiler is recording.

        Examples:
            >>> prof = paddle.profiler.Profiler(timer_only=True)
            >>> prof.start()
            >>> prof.stop()
        """
        if not self.timer_only and _records(self.current_state):
            self._begin()
        benchmark().begin()
        self._open_step()

    def stop(self) -> None:
        """Ends. If something was recorded that has not been handed over, `on_trace_ready` gets it now.

        Examples:
            >>> prof = paddle.profiler.Profiler(on_trace_ready=lambda prof: print("ready"))
            >>> prof.start()
            >>> prof.stop()
            ready
        """
        benchmark().end()
        if self._recorder is not None:
            self._recorder.settle()
            if self.step_num and len(self._recorder.raw) == self._noted:
                self._mark = None  # a last step() began this step, in which nothing happened
        self._close_step()
        if self.timer_only:
            return
        if self.current_state is ProfilerState.READY:
            warnings.warn("Profiler: it stops in state READY; nothing was recorded since.", stacklevel=2)
        if self._recorder is not None:
            self._finish()
            self.on_trace_ready(self)

    def step(self, num_samples: int | None = None) -> None:
        """Tells that a step has ended and the next one begins.

        Args:
            num_samples (int, optional): Samples of the step that has ended, for the speed that `step_info` gives.
                Default: None, it is given in steps.

        Examples:
            >>> with paddle.profiler.Profiler(timer_only=True) as prof:
            ...     for _ in range(2):
            ...         prof.step(num_samples=4)
        """
        benchmark().step(num_samples)
        if self.timer_only:
            return
        if self._recorder is not None and self.current_state is ProfilerState.RECORD_AND_RETURN:
            self._recorder.settle()
        self._close_step()
        self.step_num += 1
        self.previous_state, self.current_state = self.current_state, self.scheduler(self.step_num)
        self._change(self.previous_state, self.current_state)
        self._open_step()

    def step_info(self, unit: str | None = None) -> str:
        """The averages since the last call: the time of reading data, of a step, and samples or steps per second.

        Args:
            unit (str, optional): What a sample is. Default: None, "samples".

        Returns:
            str: As " reader_cost: 0.00010 s batch_cost: 0.00405 s ips: 1086.424 images/s".

        Examples:
            >>> with paddle.profiler.Profiler(timer_only=True) as prof:
            ...     prof.step(num_samples=4)
            ...     info = prof.step_info("images")
            >>> info.endswith("images/s")
            True
        """
        return benchmark().step_info(unit)

    def _open_step(self) -> None:
        if not self.timer_only:
            self._mark = RecordEvent(f"ProfileStep#{self.step_num}", TracerEventType.ProfileStep)
            self._mark.begin()
            self._noted = len(self._recorder.raw) if self._recorder is not None else 0

    def _close_step(self) -> None:
        if self._mark is not None:
            self._mark.end()
            self._mark = None

    def _change(self, before: ProfilerState, now: ProfilerState) -> None:
        """Begins and ends recordings between two steps."""
        if before is ProfilerState.RECORD_AND_RETURN:
            self._finish()
            self.on_trace_ready(self)
        elif before is ProfilerState.RECORD and not _records(now):
            warnings.warn(f"Profiler: from RECORD to {now.name}: what was recorded is thrown away.", stacklevel=3)
            recorder, self._recorder = self._recorder, None
            if recorder is not None:
                recorder.detach()
        elif before is ProfilerState.READY and now is ProfilerState.CLOSED:
            warnings.warn("Profiler: from READY to CLOSED: nothing was recorded.", stacklevel=3)
        if _records(now) and self._recorder is None:
            self._begin()

    def _begin(self) -> None:
        recorder = Recorder()
        recorder.start()
        self._recorder = recorder

    def _finish(self) -> None:
        recorder, self._recorder = self._recorder, None
        assert recorder is not None
        self.profiler_result = ProfilerResult(recorder.stop())

    def export(self, path: str = "", format: str = "json") -> None:
        """Writes the result to a file.

        Args:
            path (str): Of the file.
            format (str): "json" for a trace that chrome://tracing and ui.perfetto.dev show, or "pb" for protobuf.
                Default: "json".

        Raises:
            ValueError: The format is another. RuntimeError: Nothing has been recorded.

        Examples:
            >>> with paddle.profiler.Profiler(on_trace_ready=lambda prof: None) as prof:
            ...     total = float(paddle.ones([3]).sum())
            >>> prof.export("trace.json")
            >>> len(paddle.profiler.load_profiler_result("trace.json").events) > 0
            True
        """
        if self.profiler_result is None:
            raise errors.precondition(
                "Profiler.export: nothing has been recorded.",
                hint="call it after stop(), and let the scheduler reach a state of recording.",
            )
        self.profiler_result.save(path, format)

    def summary(
        self,
        sorted_by: SortedKeys = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: str = "ms",
        views: SummaryView | list[SummaryView] | None = None,
    ) -> None:
        """Prints where the time went, what each kernel does beside what the machine can do, and what to do about it.

        The views: DeviceView, how busy the processor was; OverView, where the time went: the rows add up to it;
        ModelView, the steps; KernelView, for each kernel its tier ("first": operator by operator), calls, time, speed
        and the share of the machine's measured peak, what bounds it and how far it is from that bound; OperatorView,
        the same by operator; MemoryView, bytes by operator (with profile_memory); UDFView, what RecordEvent marks.
        DistributedView and MemoryManipulationView have nothing to show on a CPU.

        Args:
            sorted_by (SortedKeys): The order of rows. There is no GPU: keys of it are taken for those of the CPU.
                Default: CPUTotal.
            op_detail (bool): OperatorView lists the kernels of each operator. Default: True.
            thread_sep (bool): Operators and marks by thread. Default: False.
            time_unit (str): "s", "ms", "us" or "ns". Default: "ms".
            views (SummaryView|list, optional): Those to print. Default: None, all.

        Raises:
            ValueError: The unit is another.

        Examples:
            >>> with paddle.profiler.Profiler(on_trace_ready=lambda prof: None) as prof:
            ...     total = float(paddle.ones([3]).sum())
            >>> prof.summary(views=paddle.profiler.SummaryView.OverView)  # doctest: +ELLIPSIS
            ---...
        """
        wanted = [views] if isinstance(views, SummaryView) else list(SummaryView if views is None else views)
        text = tables(
            self.profiler_result, sorted_by=sorted_by, op_detail=op_detail, thread_sep=thread_sep, time_unit=time_unit,
            views={v.name for v in wanted}, shapes=self.record_shapes, memory=self.profile_memory,
            flops=self.with_flops,
        )  # fmt: skip
        print(text)


def _records(state: ProfilerState) -> bool:
    return state in (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)


def _supported(targets: Iterable[ProfilerTarget] | None) -> Any:
    if not targets:
        return [ProfilerTarget.CPU]
    asked = set(targets)
    for target in asked - {ProfilerTarget.CPU}:
        warnings.warn(f"Profiler: {target} is not here; it is left out.", stacklevel=3)
    return asked & {ProfilerTarget.CPU}


def _scheduler(given: Any) -> Callable[[int], ProfilerState]:
    if callable(given):
        return given
    if given is None:
        return _always
    if not isinstance(given, (tuple, list)) or len(given) != 2 or given[1] <= given[0]:
        raise AssertionError(
            errors.message(
                "InvalidArgument", "Profiler: the scheduler names no steps.",
                expected="a function from step to ProfilerState, or (first, end), first < end", received=repr(given),
            )
        )  # fmt: skip
    first, end = max(given[0], 0), given[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a start without a ready step is what was asked for
        return make_scheduler(closed=max(first - 1, 0), ready=min(first, 1), record=end - first, repeat=1)


def _default_handler(prof: Profiler) -> None:
    export_chrome_tracing("./profiler_log/")(prof)
