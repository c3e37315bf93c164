"""Control flow in graphs: what is refused, the user's line, gradients of any graph, and gradients of gradients."""

import numpy as np
import pytest

from paddle.engine import flags, types
from paddle.engine.cpu import nested
from paddle.engine.cpu.executor import Executor
from paddle.engine.eager import walk
from paddle.engine.eager.materialize import Reference
from paddle.engine.eager.trace import from_array
from paddle.engine.ir.body import Body
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.control import Cond, While, body_of, gradient, gradient_of_while
from paddle.engine.ops.elementwise import Cast, less_than, minimum, multiply
from paddle.engine.ops.indexing import Gather
from paddle.engine.ops.number import Constant
from paddle.engine.ops.reduction import sum_
from paddle.engine.ops.registry import registry
from paddle.engine.types import TensorType

F = TensorType((3,), types.float64)
INDEX = TensorType((2,), types.int64)
TRUE = np.array(True)


def test_branches_of_different_types_are_refused():
    op = Cond(body_of([F], lambda x: (x,)), body_of([F], lambda x: (sum_(x, (0,)),)))
    with pytest.raises(
        ValueError, match=r"branches differ in their results(?s:.)*true: float64\[3\]; false: float64\[\]"
    ):
        op(from_array(TRUE), from_array(np.ones(3)))


def test_pred_is_one_bool():
    op = Cond(body_of([F], lambda x: (x,)), body_of([F], lambda x: (x,)))
    for bad in (np.array([True, False]), np.array(1)):
        with pytest.raises(ValueError, match="pred is not one bool"):
            op(from_array(bad), from_array(np.ones(3)))


def test_a_loop_variable_keeps_its_type():
    op = While(body_of([F], lambda x: (less_than(sum_(x, (0,)), 3),)), body_of([F], lambda x: (sum_(x, (0,)),)), 1)
    with pytest.raises(ValueError, match="changes the type of a loop variable"):
        op(from_array(np.ones(3)))
    op = While(body_of([F], lambda x: (less_than(x, 3),)), body_of([F], lambda x: (x,)), 1)
    with pytest.raises(ValueError, match="condition is not one bool"):
        op(from_array(np.ones(3)))


def picking(line):
    graph = Graph("body")
    x, i = graph.input(F), graph.input(INDEX)
    graph.outputs = list(graph.add(Gather(0), (x, i), line))
    return Body(graph)


@pytest.mark.parametrize("tier", ["never", "always"])
def test_an_index_out_of_range_inside_names_its_own_line(tier):
    body = picking(("train.py", 41))
    graph = Graph("outer")
    inputs = [graph.input(t) for t in (TensorType((), types.bool_), F, INDEX)]
    graph.outputs = list(graph.add(Cond(body, body), inputs, ("train.py", 7)))
    before = flags.get("FLAGS_eager_compile")
    flags.set_("FLAGS_eager_compile", tier)
    try:
        for run in (Executor(graph, (False,) * 3), Reference(graph)):
            arrays = [TRUE, np.ones(3), np.array([0, 1])]
            np.testing.assert_array_equal(run(arrays)[0], [1, 1])
            arrays[2] = np.array([0, 7])
            with pytest.raises(IndexError, match=r"\) gather: (?s:.)*at: train\.py:41") as told:
                run(arrays)
            assert "cond" not in str(told.value)
    finally:
        flags.set_("FLAGS_eager_compile", before)


def test_an_index_out_of_range_inside_is_found_at_a_flush():
    x, i = from_array(np.ones(3)), from_array(np.array([0, 7]))
    body = picking(("train.py", 41))
    y = Cond(body, body)(from_array(TRUE), x, i)
    with pytest.raises(IndexError, match=r"train\.py:41"):
        y.array()


def test_programs_inside_are_kept_up_to_a_number(monkeypatch):
    monkeypatch.setattr(nested, "MOST", 3)
    nested._forget(None)
    for c in range(6):
        body = body_of([F], lambda x, c=c: (x * float(c),))
        y = Cond(body, body)(from_array(TRUE), from_array(np.ones(3)))
        np.testing.assert_array_equal(y.array(), np.full(3, c))
    assert len(nested._programs) == 3


@pytest.mark.parametrize("tier", ["never", "always"])
def test_a_loop_is_the_same_however_it_runs(tier):
    """Odd and even numbers of steps, results that are arguments, and a fault in a late step."""
    count = TensorType((), types.int64)
    kinds = [count, F, F, INDEX]
    graph = Graph("step")
    i, x, y, at = (graph.input(t) for t in kinds)
    (one,) = graph.add(Constant(1, types.int64), ())
    (late,) = graph.add(Gather(0), (at, *graph.add(minimum, (i, one))))
    (picked,) = graph.add(Gather(0), (x, late), ("train.py", 41))
    graph.outputs = [i + 1, y, x * 0.5 + picked]
    op = While(body_of(kinds, lambda i, x, y, at: (less_than(i, x.shape[0] * 2),)), Body(graph), 3)
    before = flags.get("FLAGS_eager_compile")
    flags.set_("FLAGS_eager_compile", tier)
    try:
        whole = Graph("outer")
        whole.outputs = list(whole.add(op, [whole.input(t) for t in kinds]))
        run = Executor(whole, (False,) * 4)
        for start in (0, 1, 5, 6, 7):
            arrays = [np.array(start), np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0, -1.0]), np.array([2, 1])]
            kept = [a.copy() for a in arrays]
            for _ in range(2):
                for a, b in zip(run(arrays), Reference(whole)(arrays), strict=True):
                    np.testing.assert_array_equal(a, b)
                for a, b in zip(arrays, kept, strict=True):
                    np.testing.assert_array_equal(a, b)
        with pytest.raises(IndexError, match=r"gather(?s:.)*train\.py:41"):
            run([np.array(0), np.ones(3), np.ones(3), np.array([0, 9])])
    finally:
        flags.set_("FLAGS_eager_compile", before)


@pytest.mark.parametrize("tier", ["never", "auto", "always"])
def test_the_way_back_is_the_same_however_it_runs(tier):
    """Few and many steps: states are kept in blocks, and in the midst of a loop it may be compiled."""
    count, small = TensorType((), types.int64), TensorType((2, 3), types.float32)
    kinds = [count, F, small, F, count]
    cast = Cast(types.float32)
    step = lambda i, x, y, w, n: (i + 1, x * w + 0.01, y * 0.99 - cast(sum_(x, (0,))))
    op = While(body_of(kinds, lambda i, x, y, w, n: (less_than(i, n),)), body_of(kinds, step), 3)
    before = flags.get("FLAGS_eager_compile")
    flags.set_("FLAGS_eager_compile", tier)
    rng = np.random.default_rng(0)
    try:
        back = gradient_of_while(op, tuple(kinds))[2]
        whole = Graph("outer")
        given = [whole.input(t) for t in (*kinds, F, small)]
        whole.outputs = list(whole.add(back, given))
        run = Executor(whole, (False,) * len(given))
        for n in (0, 1, 64, 65, 150):
            arrays = [np.array(0), rng.normal(size=3), rng.normal(size=(2, 3)).astype("f"), rng.normal(size=3) * 0.3,
                      np.array(n), rng.normal(size=3), rng.normal(size=(2, 3)).astype("f")]  # fmt: skip
            for a, b in zip(run(arrays), Reference(whole)(arrays), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    finally:
        flags.set_("FLAGS_eager_compile", before)


def cubed(steps):
    count = TensorType((), types.int64)
    return While(
        body_of([count, F, F], lambda i, x, w: (less_than(i, steps),)),
        body_of([count, F, F], lambda i, x, w: (i + 1, multiply(multiply(x, x), w))),
        2,
    )


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_gradients_of_gradients_of_a_loop(steps):
    """x -> w x^2, n times, is w^(2^n - 1) x^(2^n)."""
    x, w = (from_array(np.array(v), sg=False) for v in ([1.1, -0.9, 0.7], [0.9, 1.2, -1.1]))
    y = cubed(steps)(from_array(np.array(0)), x, w)[1]
    dx, dw = walk.grad([y], [x, w], [None], retain=True, create_graph=True, allow_unused=True)
    n = 2**steps
    a, b = x.array(), w.array()
    np.testing.assert_allclose(dx.array(), n * a ** (n - 1) * b ** (n - 1), rtol=1e-12)
    np.testing.assert_allclose(dw.array(), (n - 1) * a**n * b ** np.maximum(n - 2, 0), rtol=1e-12)
    if steps:
        (mixed,) = walk.grad([dx], [w], [None], retain=True, create_graph=False, allow_unused=True)
        np.testing.assert_allclose(mixed.array(), n * (n - 1) * a ** (n - 1) * b ** (n - 2), rtol=1e-12)
        (twice,) = walk.grad([dx], [x], [None], retain=False, create_graph=False, allow_unused=True)
        np.testing.assert_allclose(twice.array(), n * (n - 1) * a ** (n - 2) * b ** (n - 1), rtol=1e-12)


def test_a_loop_of_integers_has_no_gradient():
    count = TensorType((), types.int64)
    op = While(body_of([count], lambda i: (less_than(i, 3),)), body_of([count], lambda i: (i + 1,)), 1)
    assert gradient_of_while(op, (count,))[2] is None


DIFFERENTIABLE = sorted(n for n, c in registry.items() if c.samples and (c.vjp or c.compose))


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_every_operator_can_stand_inside(name):
    """A body with this operator has a gradient, and it is what the tape gives."""
    op, arrays = next(iter(registry[name].samples(np.random.default_rng(0))))
    arrays = [np.asarray(a) for a in arrays]
    kinds = [TensorType(a.shape, types.dtype_of(a.dtype)) for a in arrays]
    graph = Graph("one")
    graph.outputs = list(graph.add(op, [graph.input(t) for t in kinds]))
    given = [v.dtype.is_differentiable for v in graph.outputs]
    back, found = gradient(graph, given)
    back.outputs = [v for v in found if v is not None]
    if not back.outputs:
        return
    rng = np.random.default_rng(1)
    seeds = [rng.normal(size=v.shape).astype(v.dtype.np) for v, g in zip(graph.outputs, given) if g]
    got = Reference(back)([*arrays, *seeds])
    tensors = [from_array(a.copy(), sg=not t.dtype.is_differentiable) for a, t in zip(arrays, kinds)]
    out = op(*tensors)
    outs = [t for t, g in zip(out if isinstance(out, tuple) else (out,), given) if g]
    inputs = [t for t in tensors if not t.sg]
    want = walk.grad(outs, inputs, list(map(from_array, seeds)), retain=False, create_graph=False, allow_unused=True)
    want = [w.array() for w in want if w is not None]
    assert len(got) == len(want)
    for a, b in zip(got, want):
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol=2e-2, atol=2e-2 if a.itemsize == 2 else 2e-4)
