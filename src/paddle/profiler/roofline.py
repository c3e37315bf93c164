"""A picture of what kernels reach beside what the machine allows: the roofline.

A kernel is a disc: from left to right its operations per byte, from bottom to top its speed, its size its time. The
roof is what was measured of this machine: bytes per second from memory and from the cores' caches, which rise with the
operations that each byte brings, and multiply-adds, which are flat.

Source: Williams, Waterman and Patterson 2009, Communications of the ACM 52(4):65-76.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.cpu.peak import Peak, measured_peak
from ..utils import font, png
from ..utils.canvas import Canvas, Color
from .accounts import Kernel, kernels

__all__ = ["draw", "save"]

_INK, _SOFT, _LINE = (32, 36, 48), (118, 124, 138), (226, 229, 236)
_COLORS = {"compute": (38, 98, 196), "memory": (214, 96, 36), "dispatch": (128, 134, 148)}
_LEFT, _TOP, _WIDTH, _HEIGHT = 76, 84, 700, 560
_LIST, _NAMED = 820, 12
_SIZE = (1300, 720)


def save(result: Any, path: str | os.PathLike[str], title: str = "") -> None:
    """Writes the roofline of what a profiler has recorded as a PNG file.

    Args:
        result (ProfilerResult): `prof.profiler_result`.
        path (str): Of the file.
        title (str): Above the picture. Default: "".

    Raises:
        RuntimeError: nothing was recorded.

    Examples:
        >>> x = paddle.ones([64, 64])
        >>> with paddle.profiler.Profiler(on_trace_ready=lambda prof: None) as prof:
        ...     total = float(paddle.matmul(x, x).sum())
        >>> paddle.profiler.roofline.save(prof.profiler_result, "roofline.png", "a product")
    """
    rows = [] if result is None else result.events
    if not any(e.kind == "kernel" for e in rows):
        raise errors.precondition(
            "roofline: no kernel ran while the profiler recorded.",
            hint="call it after stop(), with prof.profiler_result.",
        )
    peak = measured_peak()
    png.write(path, draw(kernels(rows, peak), peak, title))


def draw(rows: list[Kernel], peak: Peak, title: str = "") -> np.ndarray:
    """The picture of kernels, as `accounts.kernels` gives them; those of numpy are left out.

    Returns:
        array: uint8 [H, W, 3].
    """
    rows = sorted((_typical(k) for k in rows if k.tier != "host" and k.ns), key=lambda k: -k.ns)
    shown = [k for k in rows if k.operations and k.nbytes]
    axes = _Axes(shown, peak)
    c = Canvas(*_SIZE)
    c.text(_LEFT, 40, _plain(title or "roofline"), 16, _INK, weight=2.2)
    c.text(
        _LEFT, 64, f"{peak.threads} threads: {peak.gflops:.0f} GFLOP/s, {peak.gbytes:.0f} GB/s from memory, "
        f"{peak.cache_gbytes:.0f} GB/s from the caches of cores", 9, _SOFT, weight=1.2,
    )  # fmt: skip
    axes.draw(c)
    axes.roof(c, peak.cache_gbytes, peak.gflops, (176, 182, 196), "caches")
    axes.roof(c, peak.gbytes, peak.gflops, _INK, "memory")
    whole = sum(k.ns for k in rows) or 1
    for k in shown:  # the small ones above the large
        x, y = axes.at(k)
        c.disc(x, y, max(2.5, 60 * (k.ns / whole) ** 0.5), _COLORS[k.bound], 0.45)
    for i, k in enumerate(shown[:_NAMED], 1):
        x, y = axes.at(k)
        c.text(x, y + 4, str(i), 9, _INK, "center", 1.5)
    _list(c, rows, shown, whole)
    return c.bytes()


def _typical(k: Kernel) -> Kernel:
    """The kernel with the time that most calls take, as others may have had the cores during some."""
    return dataclasses.replace(k, times=[int(np.median(k.times))] * len(k.times))


class _Axes:
    """Operations per byte and GFLOP/s, both by powers of ten, to pixels."""

    def __init__(self, shown: list[Kernel], peak: Peak) -> None:
        xs = [k.operations / k.nbytes for k in shown if k.operations] + [peak.gflops / peak.gbytes]
        ys = [k.gflops or 1.0 for k in shown] + [peak.gflops]
        self.x0, self.x1 = np.floor(np.log10(min(xs)) - 0.1), np.ceil(np.log10(max(xs)) + 0.1)
        self.y0, self.y1 = np.floor(np.log10(min(ys)) - 0.1), np.log10(max(*ys, peak.gflops)) + 0.15

    def x(self, value: float) -> float:
        return _LEFT + _WIDTH * (np.log10(value) - self.x0) / (self.x1 - self.x0)

    def y(self, value: float) -> float:
        return _TOP + _HEIGHT * (self.y1 - np.log10(value)) / (self.y1 - self.y0)

    def at(self, k: Kernel) -> tuple[float, float]:
        assert k.operations and k.gflops
        return self.x(k.operations / k.nbytes), self.y(k.gflops)

    def draw(self, c: Canvas) -> None:
        for power in range(int(self.x0), int(self.x1) + 1):
            x = round(self.x(10.0**power))
            c.rect(x, _TOP, 1, _HEIGHT, _LINE)
            c.text(x, _TOP + _HEIGHT + 18, f"{10.0**power:g}", 9, _SOFT, "center", 1.2)
        for power in range(int(self.y0), int(self.y1) + 1):
            y = round(self.y(10.0**power))
            c.rect(_LEFT, y, _WIDTH, 1, _LINE)
            c.text(_LEFT - 8, y + 4, f"{10.0**power:g}", 9, _SOFT, "right", 1.2)
        c.text(_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 42, "operations per byte", 10, _SOFT, "center", 1.3)
        c.text(_LEFT - 56, _TOP - 8, "GFLOP/s", 10, _SOFT, weight=1.3)

    def roof(self, c: Canvas, gbytes: float, gflops: float, color: Color, words: str) -> None:
        first = max(10.0**self.x0, 10.0**self.y0 / gbytes)
        points = [(first, first * gbytes), (gflops / gbytes, gflops), (10.0**self.x1, gflops)]
        c.curve(np.array([self.x(x) for x, _ in points]), np.array([self.y(y) for _, y in points]), color, 1.8)
        middle = (first * gflops / gbytes) ** 0.5
        c.text(self.x(middle) - 8, self.y(middle * gbytes) - 6, words, 9, color, "right", 1.3)


def _list(c: Canvas, rows: list[Kernel], shown: list[Kernel], whole: int) -> None:
    """The largest kernels by name, and what the colors mean."""
    x, y = _LIST, _TOP + 8
    for word, told in (("compute", "bound by arithmetic"), ("memory", "bound by bytes"), ("dispatch", "very small")):
        c.disc(x + 6, y - 4, 6, _COLORS[word], 0.6)
        c.text(x + 18, y, told, 9, _SOFT, weight=1.2)
        x += 24 + int(font.width_of(told, 9)) + 16
    x, y = _LIST, y + 34
    for i, k in enumerate(shown[:_NAMED], 1):
        c.text(x + 16, y, str(i), 10, _COLORS[k.bound], "right", 1.6)
        c.text(x + 26, y, _fitting(f"{k.name} {k.shape}", 10, _SIZE[0] - x - 40), 10, _INK, weight=1.3)
        at = f"  {os.path.basename(k.line[0])}:{k.line[1]}" if k.line else ""
        told = (
            f"{k.ns / whole:.1%} of the time, {k.gflops:.0f} GFLOP/s, {1 / k.off:.0%} of its roof{at}" if k.off else ""
        )
        c.text(x + 26, y + 17, _fitting(told, 9, _SIZE[0] - x - 40), 9, _SOFT, weight=1.2)
        y += 42
    named, others = {id(k) for k in shown[:_NAMED]}, [k for k in rows if k not in shown]
    rest = [k for k in shown if id(k) not in named]
    if rest:
        c.text(x + 26, y, f"{len(rest)} more kernels: {sum(k.ns for k in rest) / whole:.1%}", 9, _SOFT, weight=1.2)
    if others:
        told = f"without arithmetic, not shown: {len(others)} kernels, {sum(k.ns for k in others) / whole:.1%}"
        c.text(x + 26, y + 18, told, 9, _SOFT, weight=1.2)


def _plain(text: str) -> str:
    """With the letters that there are."""
    return "".join(a if a in font.GLYPHS else "-" for a in text)


def _fitting(text: str, size: float, width: float) -> str:
    text = _plain(text)
    if font.width_of(text, size) <= width:
        return text
    while font.width_of(text + "...", size) > width:
        text = text[:-1]
    return text + "..."
