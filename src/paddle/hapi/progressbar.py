"""A progress bar for terminals, notebooks and plain logs.

In a terminal or a notebook the line is drawn over and over; in a log file each line is written once, and rarely.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

_WIDTH = 24  # columns of the bar
_PAUSE_S = 0.1  # between two drawings
_LOG_STEPS = 4  # lines per pass in a plain log


def is_live(stream: Any) -> bool:
    """Whether a line written to `stream` can be drawn over: a terminal or a notebook."""
    return bool(getattr(stream, "isatty", lambda: False)()) or type(stream).__module__.startswith("ipykernel")


def show(value: Any) -> str:
    """A value in a few digits."""
    import numpy as np

    if isinstance(value, (list, tuple, np.ndarray)):
        return " ".join(show(v) for v in np.ravel(value))
    if isinstance(value, (float, np.floating)):
        return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e6 else f"{value:.3e}"
    return str(value)


def duration(seconds: float) -> str:
    """Seconds as 0:07, 12:34 or 1:02:03."""
    m, s = divmod(int(seconds + 0.5), 60)
    return f"{m // 60}:{m % 60:02d}:{s:02d}" if m >= 60 else f"{m}:{s:02d}"


class ProgressBar:
    """One pass over `total` steps.

    Args:
        total (int, optional): Steps; None if that is not known.
        title (str): Stands in front.
        live (bool, optional): Draw over the line. Default: as the stream can.
        stream (TextIO, optional): Default: sys.stdout.

    Examples:
        >>> from paddle.hapi.progressbar import ProgressBar
        >>> bar = ProgressBar(2, "epoch 1/1", live=False)
        >>> bar.finish(2, {"loss": 0.25})  # doctest: +ELLIPSIS
        epoch 1/1  2/2  loss 0.2500  ...
    """

    def __init__(self, total: int | None, title: str = "", live: bool | None = None, stream: TextIO | None = None):
        self.total, self.title, self.stream = total, title, stream or sys.stdout
        self.live = is_live(self.stream) if live is None else live
        self.start = self.drawn_at = time.perf_counter()
        self.logged = 0
        self.width = 0  # of the line on the screen

    def wants(self, step: int) -> bool:
        """Whether a drawing after `step` steps would be seen; spares reading values that nobody sees."""
        if self.live:
            return time.perf_counter() - self.drawn_at >= _PAUSE_S
        stride = max(1, (self.total or 1000) // _LOG_STEPS)
        near_the_end = self.total is not None and step + stride // 2 >= self.total  # `finish` follows soon
        return step >= self.logged + stride and not near_the_end

    def update(self, step: int, values: dict[str, Any] | None = None) -> None:
        """Shows that `step` steps are done."""
        self._write(self.line(step, values), "")
        self.logged = step

    def finish(self, step: int, values: dict[str, Any] | None = None) -> None:
        """Shows the last state and ends the line."""
        self._write(self.line(step, values, done=True), "\n")

    def line(self, step: int, values: dict[str, Any] | None, done: bool = False) -> str:
        """The text after `step` steps."""
        spent = time.perf_counter() - self.start
        each = spent / step if step else 0.0
        parts = [self.title] if self.title else []
        if self.live and self.total:
            filled = min(_WIDTH, _WIDTH * step // self.total)
            parts.append("━" * filled + ("╸" + "·" * (_WIDTH - filled - 1) if filled < _WIDTH else ""))
        parts.append(f"{step:>{len(str(self.total))}}/{self.total}" if self.total else str(step))
        parts += [f"{name} {show(value)}" for name, value in (values or {}).items()]
        parts.append(f"{each * 1e3:.3g} ms/step" if each < 1 else f"{each:.3g} s/step")
        if done or not self.total:
            parts.append(duration(spent))
        elif step:
            parts.append(f"{duration(each * (self.total - step))} left")
        return "  ".join(parts)

    def _write(self, line: str, end: str) -> None:
        if not self.live:
            self.stream.write(line + "\n")
        else:
            columns = shutil.get_terminal_size().columns - 1
            line = line if len(line) <= columns else line[: columns - 1] + "…"
            self.stream.write("\r" + self._printable(line.ljust(self.width)) + end)
            self.width = len(line)
        self.stream.flush()
        self.drawn_at = time.perf_counter()

    def _printable(self, line: str) -> str:
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        try:
            line.encode(encoding)
        except UnicodeEncodeError:
            return line.translate(str.maketrans("━╸·…", "=>. ")).encode(encoding, "replace").decode(encoding)
        return line


def track(steps: Iterable[Any], title: str = "", total: int | None = None, values: Any = None) -> Iterator[Any]:
    """Goes through `steps` and shows how far it is.

    Args:
        steps: What is gone through.
        title (str): Stands in front.
        total (int, optional): Default: len(steps) if there is one.
        values (callable, optional): Gives a dict of values to show, asked only when a drawing is due.
    """
    if total is None and hasattr(steps, "__len__"):
        total = len(steps)  # type: ignore[arg-type]
    bar = ProgressBar(total, title)
    done = 0
    for item in steps:
        yield item
        done += 1
        if bar.wants(done):
            bar.update(done, values() if values else None)
    bar.finish(done, values() if values else None)
