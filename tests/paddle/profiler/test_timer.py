"""The time of steps and of reading."""

import re

import numpy as np
import pytest

import paddle
from paddle.io import DataLoader, Dataset, reader
from paddle.profiler import Profiler
from paddle.profiler import timer as timing
from paddle.profiler.timer import Benchmark, benchmark


class Rows(Dataset):
    def __init__(self, n):
        self.n = n

    def __getitem__(self, i):
        return np.array([i], "float32")

    def __len__(self):
        return self.n


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests move."""

    class Clock:
        now = 1.0

        def perf_counter(self):
            return self.now

    made = Clock()
    monkeypatch.setattr(timing, "time", made)
    return made


def test_averages_since_the_last_call(clock):
    b = Benchmark()
    b.begin()
    for seconds in (1.0, 3.0):
        clock.now += seconds
        b.step(num_samples=10)
    assert b.step_info("images") == " batch_cost: 2.00000 s ips: 5.000 images/s"
    clock.now += 0.5
    b.step(num_samples=10)
    assert b.step_info() == " batch_cost: 0.50000 s ips: 20.000 samples/s"
    clock.now += 0.25
    b.step()
    assert b.step_info("images") == " batch_cost: 0.25000 s ips: 4.000 steps/s"
    assert b.step_info() == ""
    b.end()


def test_reading_is_timed_and_an_evaluation_in_between_is_not(clock):
    b = Benchmark()
    b.begin()
    mine, other = (DataLoader(Rows(2)) for _ in range(2))
    b._read(mine, int(1.0e9), int(1.5e9))
    clock.now = 2.0
    b.step()
    b._read(other, int(2.0e9), int(5.0e9))
    clock.now = 7.0
    b.step()  # belongs to the other loader
    b._read(mine, int(8.0e9), int(8.1e9))
    clock.now = 8.5
    b.step()
    assert b.step_info() == " reader_cost: 0.30000 s batch_cost: 0.75000 s ips: 1.333 steps/s"
    b.end()


def test_the_closing_summary_leaves_out_the_first_ten_steps(clock, capsys):
    b = Benchmark()
    b.begin()
    loader = DataLoader(Rows(2))
    for i in range(14):
        began = clock.now
        clock.now += 5.0 if i < 10 else 1.0 + (i == 13)
        b._read(loader, int(began * 1e9), int((began + 0.25) * 1e9))
        b.step(num_samples=4)
    b.end()
    out = capsys.readouterr().out
    assert "Reader Ratio: 20.000%" in out and "IPS Unit: samples/s" in out
    rows = {c[0]: c[1:] for c in (re.findall(r"[\w.]+", line) for line in out.splitlines() if "|" in line) if c}
    assert rows == {
        "avg": ["max", "min"],
        "reader_cost": ["0.25000", "0.25000", "0.25000"],
        "batch_cost": ["1.25000", "2.00000", "1.00000"],
        "ips": ["3.20000", "4.00000", "2.00000"],
    }


def test_timings_may_be_nested(clock, capsys):
    b = Benchmark()
    b.begin()
    clock.now = 2.0
    b.step()
    b.begin()
    clock.now = 9.0
    b.step()
    b.end()
    clock.now = 9.5
    b.step()
    assert b.step_info() == " batch_cost: 0.75000 s ips: 1.333 steps/s"
    b.end()
    b.end()  # nothing is left: fine
    b.step()
    assert capsys.readouterr().out == ""


def test_step_info_needs_a_timing():
    with pytest.raises(RuntimeError, match="no timing has begun"):
        Profiler(timer_only=True).step_info()


def test_timer_only_watches_readers_and_records_nothing(capsys):
    before = list(reader.watchers)
    prof = Profiler(timer_only=True, on_trace_ready=lambda p: pytest.fail("there is no trace"))
    with prof:
        for (x,) in [(b,) for b in DataLoader(Rows(4), batch_size=2)]:
            float(x.sum())
            prof.step(num_samples=2)
        info = prof.step_info(unit="images")
    assert re.fullmatch(r" reader_cost: [\d.]+ s batch_cost: [\d.]+ s ips: [\d.]+ images/s", info)
    assert reader.watchers == before
    assert prof.profiler_result is None
    prof.summary()
    assert "recorded nothing" in capsys.readouterr().out


def test_there_is_one_timer():
    assert benchmark() is benchmark() is paddle.profiler.timer.benchmark()
