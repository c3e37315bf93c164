"""Which open sizes are one, and what is said where a program depends on one."""

import pytest

import paddle
from paddle.engine import types
from paddle.engine.eager.capture import ValueNeeded, capture
from paddle.jit.samples import groupings, opened

F32 = types.float32


def of(f, *shapes):
    def make(given):
        made = capture(f, given)
        return made.graph([made.result.slot])[0], None

    return opened(make, [(s, F32) for s in shapes], ["x", "y"])[0]


def sizes(program):
    return [program.shape(i) for i in range(len(program.inputs))], program.count


def test_sizes_are_independent_where_they_can_be():
    assert sizes(of(lambda x, y: x.mean() + y.mean(), (-1, 3), (-1, -1))) == ([(-1, 3), (-1, -1)], 3)
    assert sizes(of(lambda x, y: x + y, (-1, -1), (-1, -1)))[1] == 2
    assert sizes(of(lambda x, y: paddle.matmul(x, y), (-1, -1), (-1, -1)))[1] == 3
    attention = lambda q, k: paddle.matmul(paddle.nn.functional.softmax(paddle.matmul(q, k.mT)), k)
    assert sizes(of(attention, (-1, -1, 8), (-1, -1, 8)))[1] == 3


def test_groupings_begin_with_the_finest():
    places = [(0, 0), (0, 1), (1, 0)]
    found = list(groupings(places))
    assert found[0] == (0, 1, 2) and found[1] == (0, 1, 0) and len(found) == len(set(found)) == 5
    assert list(groupings([])) == [()]
    many = list(groupings([(i, a) for i in range(4) for a in range(2)]))
    assert many[0] == tuple(range(8)) and many[1] == (0, 1, 0, 2, 0, 3, 0, 4) and many[-1] == (0,) * 8


def test_other_sizes_are_tried_where_some_are_refused():
    def f(x):
        assert x.shape[0] % 8 == 0 and x.shape[0] < 200
        return x.reshape([x.shape[0] // 8, 8])

    assert of(f, (-1,)).graph((24,)).outputs[0].shape == (3, 8)

    def short(x):
        return paddle.ones([20])[: x.shape[0]] + x

    assert of(short, (-1,)).graph((3,)).outputs[0].shape == (3,)


def test_a_program_of_no_size():
    def f(x):
        raise ValueError("never")

    with pytest.raises(ValueError, match="works at none of the sizes.*\n.*\n.*float32.-1, 3.\n.*never"):
        of(f, (-1, 3))
    with pytest.raises(ValueError, match="^never$"):
        of(f, (2, 3))


def test_dependence_on_a_size_is_told_with_the_line():
    def f(x):
        return x * 2 if x.shape[0] > 100 else x + 1

    with pytest.raises(ValueError, match="depends on an open size: it computes add at one size and multiply") as e:
        of(f, (-1,))
    assert "at: test_samples.py" in str(e.value) and "return x * 2" in str(e.value)


def test_values_are_not_known():
    with pytest.raises(ValueNeeded, match="one program"):
        of(lambda x: x if float(x.sum()) > 0 else -x, (-1,))


def test_a_dependence_below_or_above_the_samples_is_found():
    with pytest.raises(ValueError, match="depends on an open size"):
        of(lambda x: x[:40] * 2, (-1,))  # all samples are longer
    with pytest.raises(ValueError, match="depends on an open size"):
        of(lambda x: x * 2 if x.shape[0] < 30 else x + 1, (-1,))
    with pytest.raises(ValueError, match="not those of the same operations"):
        of(lambda x: paddle.exp(x) if x.shape[0] < 30 else paddle.sin(x), (-1,))


def test_another_way_to_write_the_same_at_a_short_axis_is_no_dependence():
    f = lambda x: x.sum(0) if x.shape[0] != 2 else x[0] + x[1]
    assert of(f, (-1, 4)).graph((2,)).outputs[0].shape == (4,)
