"""`static.nn.cond`, `while_loop`, `case`, `switch_case`: eager and recorded alike, gradients included; bad input."""

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.jit import to_static
from paddle.static.nn import case, cond, switch_case, while_loop

W = [2.0, -3.0]


def branch(x, w):
    return cond(x.sum() > 0, lambda: (x * w, {"a": x + 1}), lambda: (x - w, {"a": w}))


def one_side(x, w):
    return cond(x.sum() > 0, lambda: x * x, lambda: w)


def numbers(x, w):
    y, n, kept = cond(x.sum() > 0, lambda: (x * w, 2, "same"), lambda: (w, 3, "same"))
    assert kept == "same"
    return y * n


def nested(x, w):
    inner = lambda: cond(x[0] > 1, lambda: x * w, lambda: x / w)
    return cond(x.sum() > 0, inner, lambda: w * 2)


def stopped(x, w):
    def off():
        with paddle.no_grad():
            return x * w

    return cond(x.sum() > 0, lambda: x.detach() * w, lambda: off() + x)


def counted(x, w):
    return while_loop(lambda i, a: i < 3, lambda i, a: [i + 1, a * w + x], [paddle.to_tensor(0), x])


def by_value(x, w):
    return while_loop(lambda a: a.abs().sum() < 50, lambda a: [a * w - 1], [x])


def nested_vars(x, w):
    return while_loop(
        lambda i, d: i < 2,
        lambda i, d: (i + 1, {"a": d["b"] * w, "b": d["a"]}),
        (paddle.to_tensor(0), {"a": x, "b": w}),
    )


def cond_in_while(x, w):
    step = lambda i, a: [i + 1, cond(a.sum() > 0, lambda: a * w, lambda: a - w)]
    return while_loop(lambda i, a: i < 3, step, [paddle.to_tensor(0), x])


def while_in_cond(x, w):
    return cond(x.sum() > 0, lambda: counted(x, w)[1], lambda: x * w)


def while_in_while(x, w):
    inner = lambda a: while_loop(lambda j, b: j < 2, lambda j, b: [j + 1, b * w], [paddle.to_tensor(0), a])[1]
    return while_loop(lambda i, a: i < 2, lambda i, a: [i + 1, inner(a) + x], [paddle.to_tensor(0), x])


def cases(x, w):
    s = x.sum()
    return case([(s > 2, lambda: x * w), (s > 0, lambda: x + w), (s > -2, lambda: w - x)], lambda: x)


def last_case(x, w):
    return case([(x.sum() > 0, lambda: x * w), (x.sum() > -1, lambda: x + w)])


def switch(x, w):
    i = x[0].astype("int64")
    return switch_case(i, {1: lambda: x * w, 2: lambda: x * x, -1: lambda: w + 0}, lambda: x)


def switch_list(x, w):
    return switch_case(x[0].astype("int32"), [lambda: x, lambda: x * w, lambda: x * 3])


PROGRAMS = [branch, one_side, numbers, nested, stopped, counted, by_value, nested_vars, cond_in_while, while_in_cond,
            while_in_while, cases, last_case, switch, switch_list]  # fmt: skip


def tensors(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors(v)]
    return [value]


def outcome(f, v):
    x, w = (paddle.to_tensor(a, stop_gradient=False) for a in (v, W))
    out = tensors(f(x, w))
    loss = sum((t * t).sum() for t in out if t.dtype == paddle.float32)
    loss.backward()
    zero = np.zeros(2, "float32")
    return [t.numpy() for t in out], [zero if g is None else g.numpy() for g in (x.grad, w.grad)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_recorded_is_as_eager(f):
    program = to_static(f, full_graph=True)
    for v in ([2.0, 1.0], [1.0, 0.5], [1.0, -2.0], [-1.0, -2.0]):
        want, got = outcome(f, v), outcome(program, v)
        for a, b in zip((*want[0], *want[1]), (*got[0], *got[1]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
    assert len(program.concrete_programs) == 1


def test_state_changes_in_the_branch_that_runs():
    layer = nn.BatchNorm1D(2)
    program = to_static(lambda x: cond(x.mean() > 0, lambda: layer(x), lambda: x), full_graph=True)
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 5.0]])
    program(-x)
    assert layer._mean.tolist() == [0.0, 0.0]
    program(x)
    np.testing.assert_allclose(layer._mean.numpy(), [0.2, 0.35], rtol=1e-6)


def test_state_changes_in_every_step():
    count = paddle.zeros([])

    def step(i, a):
        count.add_(paddle.ones([]))
        return [i + 1, a + count]

    program = to_static(lambda n: while_loop(lambda i, a: i < n, step, [0, paddle.zeros([])]), full_graph=True)
    assert [int(t) for t in program(paddle.to_tensor(3))] == [3, 6]
    assert count.item() == 3
    assert [int(t) for t in program(paddle.to_tensor(2))] == [2, 9]


def test_each_step_draws_new_numbers():
    def step(i, a, b):
        return [i + 1, b, paddle.rand([4])]

    start = [0, paddle.zeros([4]), paddle.zeros([4])]
    program = to_static(lambda n: while_loop(lambda i, a, b: i < n, step, start)[1:], full_graph=True)
    found = [t.tolist() for _ in range(2) for t in program(paddle.to_tensor(2))]
    assert len(set(map(tuple, found))) == 4


def test_python_numbers_stay_what_they_are():
    seen = []

    def step(i, k):
        seen.append(k)
        return [i + k, k]

    program = to_static(lambda n: while_loop(lambda i, k: i < n, step, [0, 2]), full_graph=True)
    i, k = program(paddle.to_tensor(5))
    assert int(i) == 6 and k == 2 and set(seen) == {2}


def operators(program):
    (made,) = program.concrete_programs
    return {s.op.name for s in made.captured.steps if s.op is not None}


def test_light_branches_are_both_computed():
    def f(x, w):
        y, n = cond(x.sum() > 0, lambda: (x + w / 2, 1), lambda: (w - 3 * x, 2))
        low, high = cond(y.sum() > n, lambda: (y, w), lambda: (w, y))
        return cond(y[1] < n, lambda: cond(x[0] > 1, lambda: low - high, lambda: high), lambda: low) * y

    program = to_static(f, full_graph=True)
    for v in ([2.0, 1.0], [1.0, 0.5], [1.0, -2.0], [-1.0, -2.0]):
        want, got = outcome(f, v), outcome(program, v)
        for a, b in zip((*want[0], *want[1]), (*got[0], *got[1]), strict=True):
            np.testing.assert_array_equal(a, b)
    assert "select" in operators(program) and "cond" not in operators(program)


def test_what_the_other_side_holds_does_not_reach_gradients():
    """At 0 the root has an infinite slope, and an infinite factor makes NaN of a gradient of zero."""
    f = lambda x, w: cond(x.sum() > 0, lambda: x.sqrt() * (1 / w), lambda: x + 1)
    program = to_static(f, full_graph=True)
    x = paddle.zeros([2])
    x.stop_gradient = False
    program(x, paddle.zeros([2])).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert "cond" in operators(program)


def test_large_or_long_branches_are_branches():
    def long(x):
        for _ in range(40):
            x = x + 1
        return x

    for size, f in ((5000, lambda x: x + 1), (2, long)):
        program = to_static(lambda x, f=f: cond(x.sum() > 0, lambda: f(x), lambda: x), full_graph=True)
        assert program(paddle.ones([size]))[0].item() in (2.0, 41.0)
        assert program(-paddle.ones([size]))[0].item() == -1.0
        assert "cond" in operators(program)


X = [1.0, 2.0]


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: cond(x.sum() > 0, lambda: x, lambda: (x, x)), "different structures"),
        (lambda x: cond(x.sum() > 0, lambda: x, lambda: x.sum()), r"differs(?s:.)*float32\[2\]; false: float32\[\]"),
        (lambda x: cond(x.sum() > 0, lambda: x, lambda: None), "result differs"),
        (lambda x: cond(x.sum() > 0, lambda: [x, "a"], lambda: [x, "b"]), r"result\[1\] differs"),
        (lambda x: cond(x.sum() > 0, lambda: (x, x * 2), lambda: (x, 1.5), return_names=["u", "v"]), "v differs"),
        (lambda x: while_loop(lambda a: a.sum() > 0, lambda a: [a, a], [x]), "another structure"),
        (lambda x: while_loop(lambda a: a.sum() > 0, lambda a: [a.sum()], [x]), "changes its type in a step"),
        (lambda x: while_loop(lambda a: a > 0, lambda a: [a + 1], [x]), "not one bool"),
        (lambda x: cond(x.sum() > 0, lambda: x.sum().backward(), lambda: None), "calls backward"),
    ],
)  # fmt: skip
def test_what_a_program_cannot_hold_is_refused(f, words):
    x = paddle.to_tensor(X, stop_gradient=False)
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=words) as told:
        to_static(f, full_graph=True)(x)
    assert "test_control_flow.py" in str(told.value)


def test_an_index_out_of_range_names_the_line_inside():
    def f(x, i):
        return cond(x.sum() > 0, lambda: paddle.gather(x, i), lambda: x[:1])  # here

    program = to_static(f, full_graph=True)
    x = paddle.to_tensor(X)
    assert program(x, paddle.to_tensor([1])).tolist() == [2.0]
    with pytest.raises((IndexError, ValueError), match=r"gather(?s:.)*test_control_flow.py.*# here"):
        program(x, paddle.to_tensor([7])).numpy()


t, one = paddle.to_tensor, lambda: 1


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda: cond(t(True), 3, None), TypeError),
        (lambda: cond(True, one, one), AssertionError),
        (lambda: cond(t([True, False]), one, one), AssertionError),
        (lambda: while_loop(3, one, [t(1)]), TypeError),
        (lambda: while_loop(one, 3, [t(1)]), TypeError),
        (lambda: while_loop(lambda i: i < 3, lambda i: i + 1, []), ValueError),
        (lambda: while_loop(lambda i: i < 3, lambda i: i + 1, 3), TypeError),
        (lambda: while_loop(lambda i: i < 3, lambda i: i + 1, [t([1, 2])]), TypeError),
        (lambda: while_loop(lambda i, j: i < 3, lambda i, j: (i + 1,), [t(1), t(2)]), ValueError),
        (lambda: case(3), TypeError),
        (lambda: case([]), IndexError),
        (lambda: case([3]), TypeError),
        (lambda: case([(1, 2, 3)]), TypeError),
        (lambda: case([(1, one)]), TypeError),
        (lambda: case([(t(False), 3)]), TypeError),
        (lambda: case([(t(False), one)], 3), TypeError),
        (lambda: switch_case(1, {1: one}), TypeError),
        (lambda: switch_case(t(1.0), {1: one}), TypeError),
        (lambda: switch_case(t([1, 2]), {1: one}), AssertionError),
        (lambda: switch_case(t(1), 3), TypeError),
        (lambda: switch_case(t(1), {}), IndexError),
        (lambda: switch_case(t(1), [(1, one), (1, one)]), ValueError),
        (lambda: switch_case(t(1), [(1, 2, 3)]), TypeError),
        (lambda: switch_case(t(1), [(1.0, one)]), TypeError),
        (lambda: switch_case(t(1), [(1, 2)]), TypeError),
        (lambda: switch_case(t(1), [(2, one)], 7), TypeError),
    ],
)  # fmt: skip
def test_bad_arguments(f, error):
    with pytest.raises(error):
        f()


def test_eager_results_are_what_the_functions_return():
    assert cond(t(True), None, one) is None
    assert cond(t(False), None, one) == 1
    assert case([(t(False), one), (t(False), lambda: 3)]) == 3
    assert switch_case(t(9), [lambda: 2, lambda: 3]) == 3
    assert isinstance(while_loop(lambda i: i < 3, lambda i: i + 1, (t(1),)), tuple)
