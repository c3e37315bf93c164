"""A progress bar for terminals, notebooks and plain logs.

In a terminal or a notebook the line is drawn over and over; in a log file each line is written once, and rarely. Times
per step leave the first step out as soon as there are others: it compiles what the others run.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

_WIDTH = 24  # columns of the bar
_PAUSE_S = 0.1  # between two drawings
_LOG_STEPS = 4  # lines per pass in a plain log
_LOG_PAUSE_S = 60.0  # after which a plain log gets a line all the same


def is_notebook(stream: Any) -> bool:
    """Whether `stream` leads to the cell of a notebook."""
    return type(stream).__module__.startswith("ipykernel")


def is_live(stream: Any) -> bool:
    """Whether a line written to `stream` can be drawn over: a terminal or a notebook."""
    if is_notebook(stream):
        return True
    return bool(getattr(stream, "isatty", lambda: False)()) and os.environ.get("TERM") != "dumb"


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
        self.first: tuple[int, float] | None = None  # the first steps that were told of: how many, and when
        self.logged = 0
        self.width = 0  # of the line on the screen
        self.open = False  # the line on the screen has not been ended

    def wants(self, step: int) -> bool:
        """Whether a drawing after `step` steps would be seen; spares reading values that nobody sees.

        Asking after each step also tells the bar how long a step takes.
        """
        now = time.perf_counter()
        if self.first is None and step:
            self.first = (step, now)
        if self.live:
            return now - self.drawn_at >= _PAUSE_S
        if now - self.drawn_at >= _LOG_PAUSE_S:
            return True
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

    def close(self) -> None:
        """Ends the line that is on the screen, if `finish` has not."""
        if self.open:
            self.stream.write("\n")
            self.stream.flush()
            self.open = False

    def seconds_per_step(self, step: int) -> float:
        """After `step` steps."""
        now = time.perf_counter()
        if self.first is not None and step > self.first[0]:
            return (now - self.first[1]) / (step - self.first[0])
        return (now - self.start) / step if step else 0.0

    def line(self, step: int, values: dict[str, Any] | None, done: bool = False) -> str:
        """The text after `step` steps."""
        spent, each = time.perf_counter() - self.start, self.seconds_per_step(step)
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
            columns = 1000 if is_notebook(self.stream) else max(shutil.get_terminal_size().columns - 1, 1)
            line = line if len(line) <= columns else line[: columns - 1] + "…"
            self.stream.write("\r" + self._printable(line.ljust(self.width)) + end)
            self.width, self.open = len(line), not end
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
    try:
        for item in steps:
            yield item
            done += 1
            if bar.wants(done):
                bar.update(done, values() if values else None)
    except BaseException:
        bar.close()
        raise
    bar.finish(done, values() if values else None)
