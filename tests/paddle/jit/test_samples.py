"""Which open sizes are one, and what is said where a program depends on one."""

import pytest

import paddle
from paddle.engine import types
from paddle.engine.eager.capture import ValueNeeded
from paddle.engine.eager.materialize import Reference
from paddle.engine.ops.tables import Table
from paddle.jit.export import Exporter
from paddle.jit.files import settled
from paddle.jit.samples import groupings, opened

F32 = types.float32


def of(f, *shapes):
    def make(given):
        return Exporter({}).graph(f, given, [True] * len(given))

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
    program = of(lambda x: x[:40] * 2, (-1,))  # all samples are longer
    with pytest.raises(ValueError, match="slice"):
        program.graph((20,))  # refused, not guessed
    for longest in (300, 1000):
        with pytest.raises(ValueError, match="depends on an open size"):
            of(lambda x, n=longest: x[:n] * 2, (-1,))
    with pytest.raises(ValueError, match="depends on an open size"):
        of(lambda x: x * 2 if x.shape[0] < 30 else x + 1, (-1,))
    with pytest.raises(ValueError, match="not those of the same operations"):
        of(lambda x: paddle.exp(x) if x.shape[0] < 30 else paddle.sin(x), (-1,))


def test_another_way_to_write_the_same_at_a_short_axis_is_no_dependence():
    f = lambda x: x.sum(0) if x.shape[0] != 2 else x[0] + x[1]
    assert of(f, (-1, 4)).graph((2,)).outputs[0].shape == (4,)


def test_arrays_that_follow_from_sizes():
    """Masks, positions, interpolations: what is computed beside Tensors is computed anew for other sizes."""
    F = paddle.nn.functional

    def f(x):
        y = F.interpolate(F.avg_pool2d(x, 2), size=x.shape[2:], mode="bilinear") + F.adaptive_avg_pool2d(x, [1, 1])
        z = F.adaptive_avg_pool2d(x, [2, 3]).sum() * paddle.shape(x)[2].astype("float32")
        lengths = paddle.full([x.shape[0]], 2, "int64")
        mask = F.sequence_mask(lengths, x.shape[2], "float32").reshape([x.shape[0], 1, x.shape[2], 1])
        return (y * mask).sum() + z

    program = of(f, (-1, 1, -1, -1))
    assert program.count == 3 and {n["op"] for n in program.data["nodes"]} >= {"table", "taps"}
    for shape in ((1, 1, 4, 5), (2, 1, 9, 16), (1, 1, 2, 3)):
        x = paddle.rand(shape)
        graph, arrays = settled(program.graph((shape[0], *shape[2:])))
        found = Reference(graph)([x.numpy(), *arrays])[0]
        assert float(f(x)) == pytest.approx(float(found), rel=1e-5)


def test_tables_of_strangers_are_bounded():
    with pytest.raises(ValueError, match="too large"):
        Table("positions", (1 << 40, "int64")).infer()
    for name, args in (("nope", ()), ("positions", (1,)), ("positions", ("a", "int64")), ("positions", (-1, "int64"))):
        with pytest.raises(ValueError, match="table"):
            Table(name, args).infer()
    with pytest.raises(ValueError, match="fewer arrays"):
        Table("positions", (3, "int64"), 1).infer()


def test_rows_of_a_buffer_are_read_when_it_runs(tmp_path):
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", paddle.arange(400.0))

        def forward(self, x):
            return self.table[: x.shape[0]] + x + self.table[1]

    net = Net()
    for f in (net, paddle.jit.to_static(Net(), full_graph=True)):
        assert f(paddle.zeros([2])).tolist() == [1.0, 2.0]
        f.table.set_value(paddle.arange(400.0) * 10)
        assert f(paddle.zeros([2])).tolist() == [10.0, 20.0]
    paddle.jit.save(net, str(tmp_path / "m"), [paddle.static.InputSpec([None])])
    loaded = paddle.jit.load(str(tmp_path / "m"))
    assert loaded(paddle.zeros([3])).tolist() == [10.0, 20.0, 30.0] and list(loaded.state_dict()) == ["table"]
