"""Where the time goes: recording, launches, compilation, data; and what to do about it."""

from . import roofline, timer, utils
from .profiler import (
    Profiler,
    ProfilerState,
    ProfilerTarget,
    SummaryView,
    export_chrome_tracing,
    export_protobuf,
    make_scheduler,
)
from .profiler_statistic import SortedKeys
from .utils import RecordEvent, TracerEventType, load_profiler_result

__all__ = [
    "Profiler",
    "ProfilerState",
    "ProfilerTarget",
    "RecordEvent",
    "SortedKeys",
    "SummaryView",
    "export_chrome_tracing",
    "export_protobuf",
    "load_profiler_result",
    "make_scheduler",
]
