import pytest

import paddle
from paddle.engine.eager import materialize


class Watcher:
    def __init__(self):
        self.seen = []

    def begin(self):
        self.seen.append("begin")
        return len(self.seen)

    def made(self, program):
        self.seen.append("made")
        self.program = program

    def run(self, program, arrays):
        self.seen.append("run")
        return program.run(arrays)

    def end(self, began):
        self.seen.append(f"end {began}")


@pytest.fixture
def watcher(monkeypatch):
    paddle.ones([1]).numpy()  # nothing is left over from before
    made = Watcher()
    monkeypatch.setattr(materialize, "watcher", made)
    return made


def program(x):
    return float((x * 3 + 1).sum())


def test_it_sees_each_flush_and_each_new_program(watcher):
    x = paddle.to_tensor([1.0, 2.0])
    for _ in range(2):
        assert program(x) == 11.0
    assert watcher.seen == ["begin", "made", "run", "end 1", "begin", "run", "end 5"]
    node, key = watcher.program.home
    assert node.programs[key] is watcher.program


def test_a_flush_that_fails_has_no_end(watcher):
    x = paddle.to_tensor([1.0, 2.0])
    y = x + 1
    z = paddle.gather(y, paddle.to_tensor([7]))
    with pytest.raises(ValueError, match="gather"):
        z.numpy()
    assert watcher.seen == ["begin", "made", "run"]
    assert y.tolist() == [2.0, 3.0]


def test_nobody_watches_by_default():
    assert materialize.watcher is None
