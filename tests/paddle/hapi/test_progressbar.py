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
