"""Graphs with open sizes."""

import copy
import json

import pytest

import paddle
from paddle.engine import types
from paddle.engine.eager.capture import capture
from paddle.engine.opened import Depends, OpenGraph, learn, pruned
from paddle.engine.types import TensorType

SIZES = [(64, 5), (97, 8), (75, 11), (130, 14), (159, 19)]


def graph(f, *shapes):
    made = capture(f, [TensorType(s, types.float32) for s in shapes])
    out = made.result if isinstance(made.result, tuple) else (made.result,)
    return made.graph([t.slot for t in out])[0]


def learnt(f, shape, sizes=SIZES):
    data = learn([graph(f, shape(*s)) for s in sizes], sizes, ["x"])
    return OpenGraph(json.loads(json.dumps(data)))


def same(f, shape, *at):
    program = learnt(f, shape)
    for s in at:
        found, wanted = program.graph(s), graph(f, shape(*s))
        assert [v.type for v in found.outputs] == [v.type for v in wanted.outputs]
        assert [n.op for n in found.nodes if n.op.name != "constant"] == [
            n.op for n in wanted.nodes if n.op.name != "constant"
        ]
    return program


def test_attributes_follow_the_sizes():
    f = lambda x: (x.reshape([x.shape[1], -1]).mean() / x.shape[0], (x * 3).flatten(), paddle.arange(x.shape[1]) + 1)
    program = same(f, lambda a, b: (a, b, 4), (2, 3), (1, 1), (64, 5), (1000, 999))
    assert program.shape(0) == (-1, -1, 4)
    assert [shape for _, shape, _ in program.outputs] == [(), (-1,), (-1,)]
    assert "float32[-1, -1, 4]  # x" in str(program)


def test_attributes_follow_axes_of_values_between():
    """Convolutions and poolings round: what follows from their results does not follow from the inputs alone."""

    def f(x):
        y = paddle.nn.functional.max_pool2d(x, 3, 2, 1)
        y = paddle.nn.functional.avg_pool2d(y, 2, 2)
        return y.reshape([y.shape[0], 1, y.shape[2] * y.shape[3]])

    sizes = [(64, 97), (97, 75), (75, 130), (130, 64), (159, 222), (222, 159)]
    program = learnt(f, lambda a, b: (2, 1, a, b), sizes)
    for s in ((7, 9), (8, 8), (33, 100)):
        assert program.graph(s).outputs[0].type == graph(f, (2, 1, *s)).outputs[0].type


def test_equal_numbers_are_told_apart():
    """5 is a size in one sample and a number in all: each use has a constant of its own."""
    f = lambda x: (x * 5.0).sum(1) * float(x.shape[1])
    program = same(f, lambda a, b: (a, b), (3, 2))
    values = [n.op.value for n in program.graph((3, 7)).nodes if n.op.name == "constant"]
    assert values == [5.0, 7.0]


def test_other_operations_at_another_size_are_named():
    def f(x):
        if x.shape[0] > 100:
            return paddle.exp(x)
        return paddle.sin(x)

    with pytest.raises(Depends, match="sin at one size and exp at another") as e:
        learnt(f, lambda a, b: (a, b))
    assert e.value.line[0].endswith("test_opened.py")
    with pytest.raises(Depends, match="shape is"):
        learnt(lambda x: x.reshape([x.shape[0] // (2 if x.shape[0] == 64 else 1), -1]), lambda a, b: (a, 2 * b))
    with pytest.raises(Depends, match="shape is"):
        learnt(lambda x: x.reshape([-1] if x.shape[0] > 100 else [-1, 1]), lambda a, b: (a, b))


def test_types_that_do_not_fit_are_refused():
    program = learnt(lambda x: x + 1, lambda a, b: (a, b, 4))
    fits = TensorType((2, 3, 4), types.float32)
    assert program.sizes_of([fits]) == (2, 3)
    for t in ((2, 3, 5), (2, 3), (2, 3, 4, 1)):
        with pytest.raises(ValueError, match="type of x does not fit"):
            program.sizes_of([TensorType(t, types.float32)])
    with pytest.raises(ValueError, match=r"x.astype\('float32'\)"):
        program.sizes_of([TensorType((2, 3, 4), types.int64)])
    with pytest.raises(ValueError, match="number of inputs"):
        program.sizes_of([fits, fits])


def test_one_size_at_two_places_has_to_agree():
    sizes = [(64,), (97,), (75,), (130,), (159,)]
    program = OpenGraph(learn([graph(lambda x, y: x + y, s, s) for s in sizes], sizes, ["x", "y"]))
    x, y = (TensorType((n,), types.float32) for n in (2, 3))
    with pytest.raises(ValueError, match="axis 0 of y as long as axis 0 of x"):
        program.sizes_of([x, y])


def test_sizes_that_give_fractions_are_refused():
    sizes = [(64,), (96,), (160,), (224,)]
    program = learnt(lambda x: x.reshape([x.shape[0] // 32, 32]), lambda a: (a,), sizes)
    assert program.graph((320,)).outputs[0].shape == (10, 32)
    with pytest.raises(ValueError, match="reshape cannot have these sizes"):
        program.graph((33,))


def test_parts_of_a_program():
    program = learnt(lambda x: (x.reshape([-1]), (x + 1).reshape([x.shape[1], -1]), x * 2), lambda a, b: (a, b))
    part, kept = pruned(program, [1], [])
    assert kept == [0] and len(part.nodes) < len(program.nodes)
    assert part.graph((3, 2)).outputs[0].type == program.graph((3, 2)).outputs[1].type


def test_names_of_files_stay_here():
    program = learnt(lambda x: x + 1, lambda a, b: (a, b))
    lines = [n["line"][0] for n in program.data["nodes"] if "line" in n]
    assert lines == ["test_opened.py"]
    program.data["nodes"][-1]["line"] = ["/dev/zero", 1]
    assert program.graph((2, 2)) and OpenGraph(program.data).nodes[-1][5] == ("<zero>", 1)


def broken(data):
    changes = [
        *({key: value} for key, value in (("format", "other"), ("version", 2), ("sizes", 3), ("sizes", "x"))),
        *({key: value} for key in ("inputs", "nodes", "outputs") for value in (None, 3, [3], [{}])),
    ]
    for change in changes:
        yield {**data, **change}
    for place, index, change in (
        ("inputs", 0, {"shape": [-1]}), ("inputs", 0, {"dtype": "no"}), ("inputs", 0, {"shape": [2, 3]}),
        ("inputs", 0, {"shape": [{"$n": [0, 2, 0, 1]}, {"$n": [1, 1, 0, 1]}]}), ("nodes", 0, {"op": "no_such_op"}),
        ("nodes", 0, {"op": [1]}), ("nodes", 1, {"in": [99]}), ("nodes", 1, {"in": [True]}), ("nodes", 0, {"out": -1}),
        ("nodes", 0, {"attrs": []}), ("nodes", 0, {"attrs": {"no": 1}}), ("nodes", 0, {"dims": [[0]]}),
        ("nodes", 0, {"dims": [[99, 0]]}), ("nodes", 0, {"dims": 3}), ("outputs", 0, {"value": 99}),
        ("outputs", 0, {"shape": [-2]}),
    ):  # fmt: skip
        changed = copy.deepcopy(data)
        changed[place][index].update(change)
        yield changed


def test_broken_data_is_refused():
    data = learnt(lambda x: (x + 1).reshape([-1]), lambda a, b: (a, b)).data
    for changed in broken(data):
        with pytest.raises((ValueError, TypeError)):
            OpenGraph(changed)


def test_constants_are_numbers():
    data = learnt(lambda x: x * 2.5 / x.shape[0], lambda a, b: (a, b)).data
    at = next(i for i, n in enumerate(data["nodes"]) if n["op"] == "constant")
    for value in ("x", None, [1], {"g": {}}, {"t": [1]}, {"d": "int8"}):
        changed = copy.deepcopy(data)
        changed["nodes"][at]["attrs"]["value"] = value
        with pytest.raises(ValueError, match="a constant is no number|no known form"):
            OpenGraph(changed)


def test_attributes_of_wrong_kinds_are_refused_when_types_are_inferred():
    data = learnt(lambda x: (x + 1).reshape([-1]), lambda a, b: (a, b)).data
    at = next(i for i, n in enumerate(data["nodes"]) if n["op"] == "reshape")
    for attrs in ({"shape": 3}, {"shape": {"t": ["a"]}}, {"shape": None}, {"shape": {"t": [{"d": "float32"}]}}, {}):
        changed = copy.deepcopy(data)
        changed["nodes"][at]["attrs"] = attrs
        with pytest.raises(ValueError, match="load|reshape|shape"):
            OpenGraph(changed).graph((2, 3))
    changed = copy.deepcopy(data)
    changed["outputs"][0]["shape"] = [7]
    with pytest.raises(ValueError, match="another type than the file says"):
        OpenGraph(changed).graph((2, 3))
