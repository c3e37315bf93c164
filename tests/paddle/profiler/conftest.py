"""What the tests of the profiler share."""

import re

import pytest

import paddle
from paddle.engine import flags
from paddle.engine.cpu.peak import Peak
from paddle.profiler import Profiler, profiler_statistic


@pytest.fixture(autouse=True)
def peak(monkeypatch):
    """Figures of a machine, as measuring takes time."""
    found = Peak(gflops=100.0, gbytes=10.0, cache_gbytes=50.0, launch_s=1e-6, threads=2)
    monkeypatch.setattr(profiler_statistic, "measured_peak", lambda: found)
    return found


@pytest.fixture
def flag():
    before = {}

    def set_(name, value):
        before.setdefault(name, flags.get(name))
        flags.set_(name, value)

    yield set_
    for name, value in before.items():
        flags.set_(name, value)


@pytest.fixture
def profiled():
    """Runs a function under a profiler, that many times as steps; gives the profiler."""

    def run(step, times=1):
        paddle.ones([1]).numpy()
        prof = Profiler(on_trace_ready=lambda prof: None)
        with prof:
            for i in range(times):
                step(i)
                prof.step()
        return prof

    return run


@pytest.fixture
def said(capsys):
    """The summary of a profiler: the tables, and the advice as one line."""

    def text(prof, **options):
        capsys.readouterr()
        prof.summary(**options)
        out = capsys.readouterr().out
        tables, _, words = out.rstrip().rpartition("\n\n")
        return tables, " ".join(words.split())

    return text


@pytest.fixture
def told(profiled, said):
    """Checks that the advice on a program says something; gives all of it.

    The program may be run several times (the number of the attempt goes to `make`, which gives the step): where another
    process takes the cores away meanwhile, the time goes elsewhere, and the advice says so.
    """

    def check(make, pattern, times=1):
        for attempt in range(6):
            words = said(profiled(make(attempt), times))[1]
            if re.search(pattern, words):
                return words
        pytest.fail(f"not said: {pattern}\n{words}")

    return check
