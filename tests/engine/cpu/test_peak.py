import time

import numpy as np
import pytest

import paddle
from paddle.engine import flags
from paddle.engine.cpu import peak


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    """A cache folder of its own, and short measurements."""
    before = flags.get("FLAGS_cache_dir")
    flags.set_("FLAGS_cache_dir", str(tmp_path))
    monkeypatch.setattr(peak, "_PATIENCE_S", 0.005)
    monkeypatch.setattr(peak, "_MEMORY_BYTES", 8 << 20)
    peak._best.cache_clear()
    yield
    peak._best.cache_clear()
    flags.set_("FLAGS_cache_dir", before)


def test_a_product_stays_below_the_peak():
    found = peak.measured_peak()
    a = paddle.ones([512, 512])
    best = float("inf")
    for _ in range(20):
        began = time.perf_counter()
        float((a @ a)[0, 0])
        best = min(best, time.perf_counter() - began)
    # other processes may have had the cores while the peak was measured
    assert 2 * 512**3 / best / 1e9 < 3 * found.gflops
    assert 0 < found.gbytes <= found.cache_gbytes
    assert 0 < found.launch_s < 1


def test_it_is_measured_once_for_each_number_of_threads(monkeypatch):
    first = peak.measured_peak()
    monkeypatch.setattr(peak, "_measure", lambda threads: pytest.fail("measured again"))
    assert peak.measured_peak() is first
    monkeypatch.setattr(peak, "_measure", lambda threads: (1.0, 1.0, 1.0, 1.0))
    flags.set_("FLAGS_cpu_threads", 3)
    try:
        assert peak.measured_peak() == peak.Peak(1.0, 1.0, 1.0, 1.0, 3)
    finally:
        flags.set_("FLAGS_cpu_threads", 0)


def test_the_best_of_all_processes_is_kept(monkeypatch):
    for now, best in [
        ((5.0, 4.0, 9.0, 2.0), (5.0, 4.0, 9.0, 2.0)),
        ((4.0, 6.0, 8.0, 3.0), (5.0, 6.0, 9.0, 2.0)),  # a busy machine, but for its memory
        ((1.0, 1.0, 1.0, 1.0), (5.0, 6.0, 9.0, 1.0)),
        ((1.0, 1.0, 1.0, 9.0), (5.0, 6.0, 9.0, 1.0)),
    ]:
        monkeypatch.setattr(peak, "_measure", lambda threads, now=now: now)
        peak._best.cache_clear()
        found = peak.measured_peak()
        assert (found.gflops, found.gbytes, found.cache_gbytes, found.launch_s) == best


@pytest.mark.parametrize("lanes, sums", [(4, 12), (4, 24), (8, 12), (16, 24)])
def test_the_text_is_accepted_for_every_width(lanes, sums):
    from paddle.engine.cpu import jit

    assert jit.compile_object(peak._text(lanes, sums), optimize=False)


def test_read_adds_what_it_should(monkeypatch):
    """The kernel that measures memory reads each byte of its blocks once."""
    from paddle.engine.cpu import jit

    lanes = jit.vector_bytes() // 4
    code = jit.load(jit.compile_object(peak._text(lanes, 12), optimize=False), ["read"])
    words = np.ones(lanes * 8 * 5, np.float32)
    made = peak._Launches(words, 1)
    made.best(code.addresses["read"], 1, [1, 5, 0])
    assert made.out[:lanes].sum() == words.sum()
