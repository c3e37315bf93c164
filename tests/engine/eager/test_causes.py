"""Why a program is new."""

import pytest

import paddle
import paddle.nn.functional as F
from paddle.engine.eager import causes, materialize
from paddle.engine.eager.trace import trie


class Watcher:
    def __init__(self):
        self.causes = []

    def begin(self):
        return None

    def made(self, program):
        self.causes.append(causes.cause_of(program))

    def run(self, program, arrays):
        return program.run(arrays)

    def end(self, began):
        return None


@pytest.fixture
def new(monkeypatch):
    """Gives the causes of the programs that a call made."""
    paddle.ones([1]).numpy()
    trie.clear()
    watcher = Watcher()
    monkeypatch.setattr(materialize, "watcher", watcher)

    def call(f, *args):
        watcher.causes = []
        f(*args)
        return [(c.kind, c.text) for c in watcher.causes]

    call.watcher = watcher
    yield call
    monkeypatch.undo()
    trie.clear()


def inputs(*args, **kwargs):
    x = paddle.ones(*args, **kwargs)
    x.numpy()
    return x


def test_the_first_program_and_one_that_is_known(new):
    x = inputs([2, 3])

    def program():
        return float((x * 2).sum())

    assert new(program) == [("first", "a program seen for the first time")]
    line = new.watcher.causes[0].line
    assert line[0] == __file__ and line[1] == program.__code__.co_firstlineno + 1
    assert new(program) == []


def test_another_shape_dtype_and_gradient(new):
    a, b, c, d, e = (inputs(s, dtype=t) for s, t in [([2, 3], "float32"), ([5, 3], "float32"), ([2], "float32"),
                                                     ([2, 3], "float64"), ([2, 3], "float32")])  # fmt: skip
    e.stop_gradient = False
    program = lambda x: float((x * 2).sum())
    new(program, a)
    assert new(program, b) == [("shape", "a Tensor float32[5, 3], before float32[2, 3]")]
    assert new(program, c)[0][0] == "shape"
    assert new(program, d)[0] in [
        ("dtype", "a Tensor float64[2, 3], before float32[2, 3]"),
        ("dtype", "a Tensor float64[2, 3], before float32[5, 3]"),
    ]
    assert new(program, e) == [("gradients", "a Tensor float32[2, 3] that takes gradients, which it did not before")]


def test_another_attribute_number_and_operator(new):
    x = inputs([2, 3])

    def program(act=F.relu, axis=1, k=0.5):
        return float((F.softmax(act(x), axis=axis) * k).sum())

    new(program)
    assert new(program, F.tanh) == [("branch", "tanh, where before came relu")]
    assert new(program, F.relu, 0) == [("argument", "softmax: axis=0, before 1")]
    assert new(program, F.relu, 1, 0.25) == [("argument", "multiply: the number 0.25, before 0.5")]
    ((kind, text),) = new(program, F.relu, 1, 0.125)
    assert kind == "argument" and text.startswith("the third number here")
    assert new(program, F.relu, 1, 0.0625) == []


def test_a_branch_names_the_line_of_the_other_one(new):
    x = inputs([2])

    def program(big):
        y = x * 2
        if big:
            y = F.relu(y)
        else:
            y = F.tanh(y)
        return float(y.sum())

    new(program, True)
    other = program.__code__.co_firstlineno + 3
    assert new(program, False) == [("branch", f"tanh, where before came relu (line {other})")]
    assert new.watcher.causes[0].line[1] == other + 2


def test_gradient_mode_and_auto_cast(new):
    layer = paddle.nn.Linear(3, 2)
    float(layer.weight.sum())
    x = inputs([2, 3])

    def program(grad, cast):
        with paddle.set_grad_enabled(grad), paddle.amp.auto_cast(enable=cast, level="O1", dtype="bfloat16"):
            return float((x @ layer.weight).sum())

    new(program, True, False)
    assert new(program, False, False) == [("gradients", "gradients are not recorded here")]
    assert new(program, True, True) == [("amp", "auto_cast is in force in another way")]


def test_results_that_are_kept_and_values_that_are_read(new):
    x = inputs([2, 3])
    kept = []

    def program(keep, early=False):
        y = x * 3 + 1
        if early:
            float(y[0, 0])
        z = (y * 2).sum()
        if keep:
            kept.append(y)
        del y
        return float(z)

    new(program, False)
    line = program.__code__.co_firstlineno + 1
    assert new(program, True) == [
        ("held", "the result of add float32[2, 3] is still in use, which it was not before"),
    ]
    assert new.watcher.causes[0].line == (__file__, line)
    assert "branch" in {kind for kind, _ in new(program, False, True)}


def test_a_program_that_ends_sooner_or_goes_on(new):
    x = inputs([2])

    def program(longer):
        y = x * 3
        if longer:
            y = y + 1
        return y.tolist()

    new(program, False)
    assert new(program, True) == [("reads", "the program goes on, where values were read before")]
    trie.clear()
    new(program, True)
    assert new(program, False) == [("reads", "values are read here, where the program went on before")]
