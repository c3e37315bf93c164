"""The time of a step, of reading its data, and samples per second: what `Profiler(timer_only=True)` shows."""

from __future__ import annotations

import time
from typing import Any

from ..engine import errors
from ..io import reader

__all__ = ["Benchmark", "benchmark"]

_SKIPPED = 10  # steps at the beginning that the closing summary leaves out: they compile and fill caches


class _Figures:
    """Least, greatest and total of a series.

    Attributes:
        count, total, least, most: of the values so far.
    """

    __slots__ = ("count", "total", "least", "most")

    def __init__(self) -> None:
        self.count, self.total, self.least, self.most = 0, 0.0, float("inf"), 0.0

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        self.least, self.most = min(self.least, value), max(self.most, value)

    @property
    def average(self) -> float:
        return self.total / self.count if self.count else 0.0


class _Timing:
    """From one `begin` to its `end`.

    Attributes:
        recent_reader, recent_batch: since the last `step_info`. reader, batch, speed: without the first steps.
        recent_samples, samples: the same, in samples; None where a step did not say.
        loader: the DataLoader whose batches are the steps. paused: another one is being read.
    """

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.steps = 0
        self.unit = "samples"
        self.reader, self.batch, self.speed = _Figures(), _Figures(), _Figures()
        self.samples: int | None = 0
        self.loader: Any = None
        self.paused = False
        self.reset()

    def reset(self) -> None:
        self.recent_reader, self.recent_batch = _Figures(), _Figures()
        self.recent_samples: int | None = 0

    def read(self, loader: Any, began: int, ended: int) -> None:
        if self.loader is None:
            self.loader = loader.dataset
        if loader.dataset is not self.loader:  # such as an evaluation in the middle of training
            self.paused = True
            return
        if self.paused:
            self.paused = False
            self.start = began / 1e9
        seconds = (ended - began) / 1e9
        self.recent_reader.add(seconds)
        if self.steps >= _SKIPPED:
            self.reader.add(seconds)

    def step(self, samples: int | None) -> None:
        if self.paused:
            return
        now = time.perf_counter()
        seconds = max(now - self.start, 1e-9)
        self.start = now
        self.steps += 1
        self.recent_batch.add(seconds)
        self.recent_samples = _sum(self.recent_samples, samples)
        if self.steps > _SKIPPED:
            self.batch.add(seconds)
            self.speed.add((1 if samples is None else samples) / seconds)
            self.samples = _sum(self.samples, samples)

    def info(self) -> str:
        words = ""
        if self.recent_reader.count:
            words += f" reader_cost: {self.recent_reader.average:.5f} s"
        batch = self.recent_batch
        if batch.count:
            count = batch.count if self.recent_samples is None else self.recent_samples
            words += f" batch_cost: {batch.average:.5f} s ips: {count / batch.total:.3f} {self.speed_unit}"
        return words

    @property
    def speed_unit(self) -> str:
        return "steps/s" if self.recent_samples is None or self.samples is None else f"{self.unit}/s"

    def summary(self) -> str:
        """A table over all steps but the first, "" where there are no others."""
        if not self.batch.count:
            return ""
        lines = ["Perf Summary".center(100, "=")]
        if self.reader.count:
            lines.append(f"Reader Ratio: {100 * self.reader.total / self.batch.total:.3f}%")
        lines.append(f"Time Unit: s, IPS Unit: {self.speed_unit}")
        row = lambda *cells: "| " + " | ".join(c.center(15) for c in cells) + " |"
        lines.append(row("", "avg", "max", "min"))
        count = self.batch.count if self.samples is None else self.samples
        table = [("batch_cost", self.batch, self.batch.average), ("ips", self.speed, count / self.batch.total)]
        if self.reader.count:
            table.insert(0, ("reader_cost", self.reader, self.reader.total / self.batch.count))
        lines += [row(name, f"{mean:.5f}", f"{f.most:.5f}", f"{f.least:.5f}") for name, f, mean in table]
        return "\n".join(lines)


def _sum(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more


class Benchmark:
    """Times the steps of a loop. `begin` and `end` may be nested: an evaluation in training has a timing of its own.

    Examples:
        >>> timer = paddle.profiler.timer.benchmark()
        >>> timer.begin()
        >>> for _ in range(3):
        ...     timer.step(num_samples=8)
        >>> "ips" in timer.step_info("images")
        True
        >>> timer.end()
    """

    def __init__(self) -> None:
        self._timings: list[_Timing] = []

    def begin(self) -> None:
        """Starts a timing."""
        self._timings.append(_Timing())
        if self._read not in reader.watchers:
            reader.watchers.append(self._read)

    def step(self, num_samples: int | None = None) -> None:
        """Ends a step, the next one begins. Without a timing nothing happens.

        Args:
            num_samples (int, optional): Samples of this step. Default: None, speed is in steps.
        """
        if self._timings:
            self._timings[-1].step(num_samples)

    def step_info(self, unit: str | None = None) -> str:
        """The averages since the last call: reader_cost and batch_cost in seconds, ips in `unit` per second.

        Args:
            unit (str, optional): What a sample is, "samples" if it is not said. Without num_samples it is steps.

        Returns:
            str: As " reader_cost: 0.00010 s batch_cost: 0.00405 s ips: 1086.424 images/s", without what there was not.

        Raises:
            RuntimeError: No timing has begun.
        """
        if not self._timings:
            raise errors.precondition("Benchmark.step_info: no timing has begun.", hint="call begin() first.")
        timing = self._timings[-1]
        timing.unit = unit or "samples"
        words = timing.info()
        timing.reset()
        return words

    def end(self) -> None:
        """Ends the timing begun last, and prints its summary where it had more than 10 steps."""
        if not self._timings:
            return
        text = self._timings.pop().summary()
        if text:
            print(text)
        if self._timings:
            self._timings[-1].start = time.perf_counter()
        elif self._read in reader.watchers:
            reader.watchers.remove(self._read)

    def _read(self, loader: Any, began: int, ended: int) -> None:
        if self._timings:
            self._timings[-1].read(loader, began, ended)


_benchmark = Benchmark()


def benchmark() -> Benchmark:
    """The timer that profilers use; there is one in a process.

    Returns:
        Benchmark: the same object at every call.

    Examples:
        >>> paddle.profiler.timer.benchmark() is paddle.profiler.timer.benchmark()
        True
    """
    return _benchmark
