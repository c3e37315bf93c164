"""The picture of kernels beside the machine's bounds."""

import numpy as np
import pytest

import paddle
from paddle.engine.cpu.peak import Peak
from paddle.profiler import roofline
from paddle.profiler.accounts import Kernel

PEAK = Peak(gflops=100.0, gbytes=10.0, cache_gbytes=50.0, launch_s=1e-6, threads=2)


def kernel(name="matmul", bound="compute", ns=1000, operations=50_000.0, nbytes=1000.0, off=2.0):
    k = Kernel(name, "float32[8, 8]", ("float32[8, 8]",), "compiled", ("train.py", 7), times=[ns] * 3)
    k.operations, k.nbytes, k.bound = 3 * operations, 3 * nbytes, bound
    k.least_s = 3 * ns / 1e9 / off
    return k


def discs(pixels, color):
    """Pixels that are tinted with a color in the field of the picture."""
    field = pixels[roofline._TOP : roofline._TOP + roofline._HEIGHT, roofline._LEFT : roofline._LEFT + roofline._WIDTH]
    want = 255 + (np.array(color) - 255) * 0.45
    return np.argwhere(np.abs(field - want).max(-1) < 2)


def test_a_kernel_lies_where_its_figures_say():
    k = kernel()
    pixels = roofline.draw([k], PEAK, "one")
    assert pixels.dtype == np.uint8 and pixels.ndim == 3
    axes = roofline._Axes([k], PEAK)
    x, y = axes.at(k)
    assert x == axes.x(50.0) and y == axes.y(50.0)
    assert axes.x(10.0) < x < axes.x(100.0) and axes.y(100.0) < y < axes.y(10.0)
    at = discs(pixels, roofline._COLORS["compute"])
    assert len(at) > 1000
    np.testing.assert_allclose(at.mean(0) + 0.5, [y - roofline._TOP, x - roofline._LEFT], atol=3)


def test_size_is_time_and_color_is_the_bound():
    long, short = kernel(ns=9000), kernel("add", "memory", ns=1000, operations=100.0)
    pixels = roofline.draw([short, long], PEAK)
    a, b = (len(discs(pixels, roofline._COLORS[w])) for w in ("compute", "memory"))
    assert 6 < a / b < 12


def test_one_slow_call_does_not_count():
    steady, disturbed = kernel(), kernel()
    disturbed.times[1] = 1_000_000
    np.testing.assert_array_equal(roofline.draw([steady], PEAK), roofline.draw([disturbed], PEAK))


def test_kernels_without_arithmetic_and_any_letters():
    copy, odd = kernel("cast", "memory", operations=0.0), kernel("größe " * 40)
    pixels = roofline.draw([copy, odd], PEAK, "ä title of 中文")
    assert not len(discs(pixels, roofline._COLORS["memory"])) and len(discs(pixels, roofline._COLORS["compute"]))
    assert roofline.draw([copy], PEAK).shape == roofline.draw([], PEAK).shape == pixels.shape


def test_a_recording_becomes_a_file(profiled, tmp_path, monkeypatch):
    monkeypatch.setattr(roofline, "measured_peak", lambda: PEAK)
    x = paddle.ones([64, 64])
    prof = profiled(lambda i: float(paddle.matmul(x, x).sum()), 2)
    roofline.save(prof.profiler_result, tmp_path / "a.png", "products")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_recorded():
    with pytest.raises(RuntimeError, match="no kernel ran"):
        roofline.save(None, "none.png")
