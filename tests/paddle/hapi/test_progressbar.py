import io

import numpy as np
import pytest

from paddle.hapi import progressbar
from paddle.hapi.progressbar import ProgressBar, duration, show, track


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_a_log_gets_whole_lines():
    out = io.StringIO()
    bar = ProgressBar(100, "epoch 1/2", stream=out)
    for step in range(1, 101):
        if bar.wants(step):
            bar.update(step, {"loss": 0.5})
    bar.finish(100, {"loss": 0.25})
    lines = out.getvalue().splitlines()
    assert len(lines) == 4 and lines[0].startswith("epoch 1/2   25/100  loss 0.5000  ")
    assert lines[-1].startswith("epoch 1/2  100/100  loss 0.2500")


def test_a_terminal_gets_one_line_drawn_over(monkeypatch):
    out = Terminal()
    bar = ProgressBar(4, "x", stream=out)
    assert not bar.wants(1)  # too soon after the last drawing
    bar.update(1)
    bar.finish(4, {"acc": np.float64(1)})
    text = out.getvalue()
    assert text.count("\r") == 2 and text.endswith("\n") and "acc 1.0000" in text
    monkeypatch.setattr(progressbar, "_PAUSE_S", -1)
    assert bar.wants(4)


def test_a_narrow_terminal_cuts_the_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    out = Terminal()
    ProgressBar(4, "a very long title for thirty columns", stream=out).update(1)
    assert len(out.getvalue().lstrip("\r")) <= 29


def test_a_stream_that_knows_ascii_only():
    class Ascii(Terminal):
        encoding = "ascii"

    out = Ascii()
    ProgressBar(4, "x", stream=out).update(2)
    assert out.getvalue().isascii() and "===" in out.getvalue()


def test_track_asks_for_values_when_they_are_shown(capsys):
    asked = []
    assert list(track(range(100), "x", values=lambda: asked.append(1) or {})) == list(range(100))
    assert len(asked) == 4 and "100/100" in capsys.readouterr().out


def test_without_a_total():
    out = io.StringIO()
    ProgressBar(None, stream=out).finish(7)
    assert out.getvalue().startswith("7  ")


@pytest.mark.parametrize(
    "value, text",
    [(0.5, "0.5000"), (1e-7, "1.000e-07"), ([0.5, 2.0], "0.5000 2.0000"), (3, "3"), (np.float32(0), "0.0000")],
)
def test_show(value, text):
    assert show(value) == text


def test_duration():
    assert [duration(s) for s in (7, 754, 3722)] == ["0:07", "12:34", "1:02:02"]


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(progressbar.time, "perf_counter", lambda: self.now)


class Cell(io.StringIO):
    """What sys.stdout is in a notebook."""


Cell.__module__ = "ipykernel.iostream"


def run(stream, clock, total, steps=None, first_s=2.0, step_s=0.05, **how):
    bar = ProgressBar(total, "epoch 1/1", stream=stream, **how)
    for step in range(1, (steps or total) + 1):
        clock.now += first_s if step == 1 else step_s
        if bar.wants(step):
            bar.update(step, {"loss": 1 / step})
    bar.finish(steps or total, {"loss": 0.0})
    return stream.getvalue()


def test_a_notebook_gets_one_line_drawn_over_and_never_cut(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    text = run(Cell(), Clock(monkeypatch), 40)
    drawings = text.split("\r")[1:]
    assert text.count("\n") == 1 and text.endswith("\n") and 15 <= len(drawings) <= 25
    assert "…" not in text and "loss 0.0000" in drawings[-1]
    widths = [len(d) for d in drawings]
    assert all(b >= len(a.rstrip()) for a, b in zip(drawings, widths[1:]))  # each covers the one before


def test_times_leave_out_the_step_that_compiles(monkeypatch):
    text = run(Terminal(), Clock(monkeypatch), 41)
    drawings = text.split("\r")[1:]
    assert "2 s/step" in drawings[0] and "50 ms/step" in drawings[1] and "0:02 left" in drawings[1]
    assert drawings[-1].rstrip().endswith("50 ms/step  0:04")  # all of the time that was spent


def test_a_log_gets_a_line_a_minute_of_slow_steps(monkeypatch):
    lines = run(io.StringIO(), Clock(monkeypatch), 1000, steps=40, first_s=5.0, step_s=10.0).splitlines()
    assert len(lines) == 7 and lines[0].startswith("epoch 1/1     7/1000")


def test_of_unknown_length(monkeypatch):
    clock = Clock(monkeypatch)
    text = run(Terminal(), clock, None, steps=10)
    assert text.count("\n") == 1 and "left" not in text and "epoch 1/1  10  loss 0.0000  50 ms/step  0:02" in text
    lines = run(io.StringIO(), clock, None, steps=600).splitlines()
    assert [line.split()[2] for line in lines] == ["250", "500", "600"]


def test_a_terminal_that_cannot_draw_over(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    text = run(Terminal(), Clock(monkeypatch), 40)
    assert "\r" not in text and text.count("\n") == 4


def test_no_steps_at_all(monkeypatch):
    for total in (0, None, 5):
        out = Terminal()
        ProgressBar(total, "x", stream=out).finish(0)
        assert out.getvalue().endswith("\n")


def test_a_loop_that_is_left_ends_the_line(monkeypatch, capsys):
    clock = Clock(monkeypatch)
    monkeypatch.setattr(progressbar, "is_live", lambda stream: True)
    for _ in track(range(10), "x"):
        clock.now += 1
        if _ == 5:
            break
    del _
    import gc

    gc.collect()
    assert capsys.readouterr().out.endswith("\n")
    bar = ProgressBar(3, live=True, stream=(out := Terminal()))
    bar.update(1)
    bar.close()
    bar.close()
    assert out.getvalue().count("\n") == 1
