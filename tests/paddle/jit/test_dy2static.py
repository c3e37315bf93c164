"""Control flow of Python on Tensors: converted functions against the same functions as written."""

import copy
import functools
import inspect
import re
import textwrap
import traceback
import types

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.jit import to_static
from paddle.jit.dy2static import convert, convert_function

from . import plain_programs
from .control_programs import PROGRAMS

W = [2.0, -1.0, 0.5]
INPUTS = [
    ([1.0, 2.0, -0.5], 3),
    ([-1.0, 0.5, -2.0], 1),
    ([0.5, 0.2, 0.1], 0),
    ([-0.1, -0.2, 0.4], 2),
    ([3.0, 1.0, 2.0], 5),
]


def outcome(f, v, n):
    x, w = (paddle.to_tensor(a, stop_gradient=False) for a in (v, W))
    out = f(x, w, paddle.to_tensor(n))
    (out * out).sum().backward()
    zero = np.zeros(3, "float32")
    return [out.numpy(), *(zero if t.grad is None else t.grad.numpy() for t in (x, w))]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_recorded_is_as_written(f):
    program = to_static(f, full_graph=True)
    made = convert_function(f)
    assert made is not f
    for v, n in INPUTS:
        want = outcome(f, v, n)
        for got in (outcome(made, v, n), outcome(program, v, n)):
            for a, b in zip(got, want, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
    assert len(program.concrete_programs) == 1


def happened(f, n):
    """What a function returns or raises, with the line that raised it in its file, and what it has logged."""
    log = []
    try:
        result = "returned", f(n, log)
    except Exception as e:
        frames = traceback.extract_tb(e.__traceback__)
        lines = [x.lineno for x in frames if x.filename == plain_programs.__file__]
        result = type(e), str(e), lines[-1]
    return repr(result), repr(log)


@pytest.mark.parametrize("f", plain_programs.PROGRAMS, ids=lambda f: f.__name__)
def test_plain_python_is_unchanged(f):
    made = convert_function(f)
    assert made is not f and made.__code__ is not f.__code__
    addresses = re.compile(r" at 0x\w+")
    for n in range(6):
        want, got = happened(f, n), happened(made, n)
        assert [addresses.sub("", x) for x in want] == [addresses.sub("", x) for x in got], n


def test_what_a_function_is_stays():
    cell = [2.0]

    def f(x, k=3, *, scale=cell[0], **more):
        """Doc."""
        return x * k * scale if x.sum() > 0 else x

    f.mark = 1
    made = convert_function(f)
    assert inspect.signature(made) == inspect.signature(f)
    assert (made.__name__, made.__qualname__, made.__doc__, made.mark) == (f.__name__, f.__qualname__, "Doc.", 1)
    assert made.__code__.co_firstlineno == f.__code__.co_firstlineno
    assert convert_function(made) is made


def test_what_is_left_as_it_is():
    from paddle.jit import not_to_static

    @not_to_static
    def marked(x):
        return x if x.sum() > 0 else -x

    scope = {}
    exec("def unseen(x):\n    return x if x.sum() > 0 else -x", scope)

    def generator(x):
        yield x

    for f in (marked, scope["unseen"], generator, len, paddle.nn.functional.relu, lambda x: x, textwrap.dedent, list):
        assert convert_function(f) is f
    with pytest.raises(RuntimeError, match=r"A value was asked for(?s:.)*test_dy2static.py"):
        to_static(lambda x: marked(x), full_graph=True)(paddle.ones([2]))


def test_modules_that_are_ignored():
    module = types.ModuleType("some_library")
    f = types.FunctionType(PROGRAMS[0].__code__, {"__name__": "some_library.part"}, "branch")
    assert convert_function(f) is not f
    paddle.jit.ignore_module([module])
    try:
        assert convert_function(f) is f
    finally:
        convert._ignored.discard("some_library")
    with pytest.raises(TypeError, match="not a module"):
        paddle.jit.ignore_module(["numpy"])


class Gate(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.__scale = 2.0
        self.last = None

    def forward(self, x):
        if x.sum() > 0:
            h = self.fc(x) * self.__scale
            self.last = h.sum()
        else:
            h = x
            self.last = x.sum()
        return h * self.last


class Twice(Gate):
    def forward(self, x):
        y = super().forward(x)
        if y.sum() > 0:
            return super().forward(y)
        return y


@pytest.mark.parametrize("make", [Gate, Twice, lambda: nn.Sequential(nn.Linear(3, 3), Gate(), Twice())])
def test_layers(make):
    paddle.seed(1)
    eager = make()
    program = to_static(copy.deepcopy(eager), full_graph=True)
    for v in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [0.1, -0.5, 0.3]):
        x, y = (paddle.to_tensor(v, stop_gradient=False) for _ in range(2))
        a, b = eager(x), program(y)
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5)
        a.sum().backward()
        b.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-5)
        for p, q in zip(eager.parameters(), program.parameters(), strict=True):
            zero = np.zeros(p.shape, "float32")
            g, h = (zero if t.grad is None else t.grad.numpy() for t in (p, q))
            np.testing.assert_allclose(g, h, rtol=1e-5, atol=1e-6)
    inside = [m for m in program.sublayers(include_self=True) if m is not program]
    assert not any("forward" in m.__dict__ for m in inside)


def test_decorators_are_part_of_the_function():
    def clipped(fn):
        @functools.wraps(fn)
        def inner(x):
            y = fn(x)
            if y.sum() > 5:
                return y * 0
            return y

        return inner

    @clipped
    def f(x):
        if x[0] > 0:
            return x + 1
        return x

    program = to_static(f, full_graph=True)
    for v in ([1.0, 2.0], [-1.0, 2.0], [10.0, 2.0]):
        x = paddle.to_tensor(v)
        assert program(x).tolist() == f(x).tolist()


def signed(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def test_functions_that_are_handed_on_are_converted():
    part = to_static(signed)

    def f(x, w):
        y = paddle.static.nn.cond(x[0] > w[0], lambda: signed(x), lambda: signed(w))
        y = y + paddle.static.nn.case([(y[0] > 2, signed_x), (y[1] > 0, signed_x)], default=signed_x)
        u, v = map(signed, [x, y])
        return functools.partial(signed, u)() + part(v)

    def signed_x():
        return signed(paddle.to_tensor([0.5, -1.0]))

    program = to_static(f, full_graph=True)
    for v in ([1.0, 2.0], [-3.0, 1.0], [3.0, -9.0]):
        x, w = paddle.to_tensor(v), paddle.to_tensor([0.5, 1.0])
        assert program(x, w).tolist() == f(x, w).tolist()


def test_a_layer_of_to_static_inside_is_a_part_of_the_program():
    class Outer(nn.Layer):
        def __init__(self):
            super().__init__()
            self.inner = to_static(Gate())

        def forward(self, x):
            return self.inner(x) if x[0] > 0 else self.inner(x * 2)

    paddle.seed(2)
    outer = Outer()
    forward = outer.inner.__dict__["forward"]
    xs = [paddle.to_tensor(v) for v in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [1.0, -2.0, -3.0])]
    want = [outer(x).numpy() for x in xs]
    program = to_static(outer, full_graph=True)
    for x, y in zip(xs, want, strict=True):
        np.testing.assert_allclose(program(x).numpy(), y, rtol=1e-6)
    assert outer.inner.__dict__["forward"] is forward


def test_under_mixed_precision_the_sides_may_differ_in_precision():
    layer = nn.Linear(3, 3)

    def f(x, n):
        if x.sum() > 0:
            h = layer(x)
        else:
            h = x * 2
        for _ in range(n):
            h = layer(h)
        return h

    program = to_static(f, full_graph=True)
    for v in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]):
        grads = []
        for g in (f, program):
            x = paddle.to_tensor([v], stop_gradient=False)
            with paddle.amp.auto_cast(True, dtype="bfloat16"):
                y = g(x, paddle.to_tensor(2))
            y.astype("float32").sum().backward()
            grads += [y.astype("float32").numpy(), x.grad.numpy()]
        np.testing.assert_array_equal(grads[0], grads[2])
        np.testing.assert_array_equal(grads[1], grads[3])


def no_value(x, n):
    if x.sum() > 0:
        y = x
    return y * 2  # here


def two_types(x, n):
    if x.sum() > 0:
        y = x
    else:
        y = x.sum()
    return y * 2  # here


def no_return(x, n):
    if x.sum() > 0:  # here
        return x


def growing_list(x, n):
    out = []
    for _ in range(n):  # here
        out.append(x)
    return out


def list_of_one_branch(x, n):
    out = []
    if x.sum() > 0:  # here
        out.append(x)
    return out


def growing_tensor(x, n):
    for _ in range(n):  # here
        x = paddle.concat([x, x])
    return x


def item(x, n):
    if n > 0:
        x = x * x.sum().item()  # here
    return x


def list_index(x, n):
    return [x, x * 2][n]  # here


def several_elements(x, n):
    if x > 0:  # here
        return x
    return -x


def endless(x, n):
    if x.sum() > 100:  # here
        return x
    return endless(x * 2, n)  # here


def assertion(x, n):
    assert x.sum() > 0, "positive"  # here
    return x


def bad_operation(x, n):
    if x.sum() > 0:
        while n > 0:
            x = paddle.matmul(x, paddle.ones([3, 3]))  # here
    return x


def float_range(x, n):
    for i in range(x.sum()):  # here
        x = x + i
    return x


def text_of_one_branch(x, n):
    mode = "a"
    if x.sum() > 0:
        mode = "b"
    return x if mode == "a" else -x  # here


def comprehension_over_range(x, n):
    return sum(x * i for i in range(n))  # here


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (no_value, "y is used, but it has no value where the condition of if is false"),
        (two_types, r"y is used, but it is float32\[2\] where the condition of if is true, else float32\[\]"),
        (no_return, "the returned value differs between the two branches"),
        (growing_list, "a step makes out another structure"),
        (list_of_one_branch, "different structures"),
        (growing_tensor, "x changes its type in a step"),
        (item, "A value was asked for"),
        (list_index, "A value was asked for"),
        (several_elements, "several elements"),
        (endless, "the recursion has no end"),
        (assertion, "the value of a Tensor is not known"),
        (bad_operation, "the inner sizes differ"),
        (float_range, "a bound is not one integer"),
        (text_of_one_branch, "mode is used, but it is 'b' where"),
        (comprehension_over_range, "its length is known when the program runs only"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_cannot_be_recorded_names_the_line(f, words):
    with pytest.raises((ValueError, RuntimeError, NotImplementedError, TypeError), match=words) as told:
        to_static(f, full_graph=True)(paddle.ones([2]), paddle.to_tensor(3))
    assert re.search(r"at: test_dy2static\.py:\d+, .*# here", str(told.value)), str(told.value)


def test_a_failed_capture_leaves_everything_as_it_was():
    class Holder:
        value = 1

    holder, out = Holder(), []

    def f(x):
        if x.sum() > 0:
            out.append(x)
            holder.value = x
            paddle.matmul(x, paddle.ones([3, 3]))
        return x

    program = to_static(f, full_graph=True)
    for _ in range(2):
        with pytest.raises(ValueError, match="inner sizes"):
            program(paddle.ones([2]))
        assert out == [] and holder.value == 1


def test_errors_at_run_time_name_the_line_in_the_branch():
    def f(x, i):
        if x.sum() > 0:
            for _ in range(i[0]):
                x = x + paddle.gather(x, i)  # here
        return x

    program = to_static(f, full_graph=True)
    x = paddle.ones([2])
    assert program(x, paddle.to_tensor([1, 0])).tolist() == [2.0, 2.0]
    with pytest.raises((IndexError, ValueError), match=r"gather(?s:.)*test_dy2static.py:\d+, .*# here"):
        program(x, paddle.to_tensor([1, 7])).numpy()


def test_print_shows_what_is_known(capsys):
    def f(x):
        print("rank", x.ndim, x)
        return x

    to_static(f, full_graph=True)(paddle.ones([2]))
    assert capsys.readouterr().out == "rank 1 <float32[2], computed when the program runs>\n"
