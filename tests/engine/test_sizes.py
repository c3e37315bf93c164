"""Rules by which things follow from sizes, learnt from samples."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle.engine import types
from paddle.engine.ops.number import Number
from paddle.engine.ops.shape import Reshape
from paddle.engine.sizes import Fixed, Unexplained, explained, polynomial, read, windows
from paddle.engine.types import TensorType

ONE = [(17,), (30,), (41,), (64,)]
TWO = [(17, 5), (30, 9), (41, 7), (64, 20)]


@pytest.mark.parametrize("f", [
    lambda n: n, lambda n: 3 * n + 2, lambda n: 100 - n, lambda n: n * n * 8, lambda n: float(n), lambda n: 1.0 / n,
    lambda n: 1.0 / (256 * n), lambda n: (2, n, "x", None, (n, 3 * n)), lambda n: [n, True],
    lambda n: slice(1, n - 1, None),
    lambda n: TensorType((2, n, 4), types.float32), lambda n: Number(1.0 / (3 * n), types.float32),
    lambda n: Number(n, types.int64), lambda n: Reshape((n, 2 * n)),
])  # fmt: skip
def test_what_follows_from_one_size(f):
    rule = explained([f(n) for (n,) in ONE], ONE)
    for n in (18, 23, 40, 63):
        assert rule((n,)) == f(n)


def test_one_over_zero_is_not_asked_for():
    for make in (lambda x: x, lambda x: Number(x, types.float32)):
        rule = explained([make(1.0 / (n - 40)) for (n,) in ONE], ONE)
        assert rule((50,)) == make(0.1)
        with pytest.raises(Unexplained):
            rule((40,))


def test_two_sizes():
    for f in (
        lambda a, b: a,
        lambda a, b: 2 * b + 1,
        lambda a, b: 8 * a * b,
        lambda a, b: a * a * b,
        lambda a, b: 1 / (a * b),
    ):
        rule = explained([f(*s) for s in TWO], TWO)
        assert rule((20, 11)) == f(20, 11)


def test_what_stays_is_fixed():
    same = Reshape((2, 3))
    for x in (5, "a", (1, None, 2.5), same, TensorType((2,), types.int8), np.arange(3), Number(2.0, types.float32)):
        rule = explained([x] * 4, ONE)
        assert isinstance(rule, Fixed) and rule((1,)) is x
    assert isinstance(explained([np.arange(3) for _ in ONE], ONE), Fixed)


@pytest.mark.parametrize("f", [
    lambda n: min(n, 35), lambda n: max(n, 30), lambda n: n // 3, lambda n: -(-n // 16), lambda n: n % 7,
    lambda n: n**3 + 1, lambda n: "short" if n < 20 else "long", lambda n: (1,) * (n // 10), lambda n: 0.1 * n,
    lambda n: n if n < 40 else 0.5, lambda n: n + 0.5, lambda n: n * 5e-324, lambda n: [float("nan"), 2.5][n % 2],
    lambda n: [float("inf"), 2.5][n % 2], lambda n: Number(n + 0.5, types.float32),
    lambda n: Number([float("nan"), 2.5][n % 2], types.float32), lambda n: Number(n * 5e-324, types.float64),
    lambda n: np.arange(n), lambda n: object(), lambda n: TensorType((2,), types.int8 if n < 20 else types.int16),
])  # fmt: skip
def test_what_does_not_follow(f):
    with pytest.raises(Unexplained):
        explained([f(n) for (n,) in ONE], ONE)


def test_a_fraction_is_no_number():
    odd = [(17,), (31,), (41,), (65,)]
    rule = explained([n // 2 for (n,) in odd], odd)
    assert rule((19,)) == 9
    with pytest.raises(Unexplained):
        rule((20,))  # the rule is of odd sizes


@given(st.integers(-50, 50), st.integers(-100, 100), st.integers(17, 64))
def test_a_kink_between_the_samples_is_noticed(slope, start, kink):
    """A continuous function of two straight pieces is either one piece or is not explained."""
    f = lambda n: slope * n + start + max(0, n - kink) * 3
    try:
        rule = explained([f(n) for (n,) in ONE], ONE)
    except Unexplained:
        return
    assert all(rule((n,)) == f(n) for n in range(17, 65))


def test_polynomials():
    five = [(17,), (30,), (41,), (50,), (64,)]
    for f in (lambda n: 3 * n * n - 2 * n + 7, lambda n: (n + 2) * (n - 1) * 4, lambda n: n, lambda n: 9):
        rule = polynomial([f(n) for (n,) in five], five)
        assert [rule((n,)) for n in range(17, 65)] == [f(n) for n in range(17, 65)]
    two = [(17, 5), (30, 9), (41, 7), (64, 20), (64, 21)]
    rule = polynomial([(a + 2) * (b + 3) * 8 for a, b in two], two)
    assert rule((20, 11)) == 22 * 14 * 8
    with pytest.raises(Unexplained):
        polynomial([a * b + max(a, 33) for a, b in two], two)
    with pytest.raises(Unexplained):
        polynomial([(a + 2) * (b + 3) for a, b in two[:4]], two[:4])  # any four numbers would do


def test_rules_have_a_form_in_json():
    for f in (
        lambda n: n,
        lambda n: {"a": [1, n, 3 * n + 2], "b": "x"},
        lambda n: [1.0 / (4 * n), float(n), None, True],
        lambda n: n * n * 8,
        lambda n: {"value": 1 / 3 / n, "dtype": {"d": "float64"}} if n == 0 else {"t": [n, 2]},
    ):
        rule = explained([f(n) for (n,) in ONE], ONE)
        again = read(json.loads(json.dumps(rule.form())), 1)
        for n in (1, 18, 63, 1000):
            assert again((n,)) == f(n) == rule((n,))


def test_broken_numbers_follow_where_that_is_asked_for():
    f = lambda n: [(n - 1) / 2, (3 * n + 1) / 7]
    rule = read(explained([f(n) for (n,) in ONE], ONE, True).form(), 1)
    for n in (1, 18, 1000):
        assert rule((n,)) == f(n)
    with pytest.raises(Unexplained):
        explained([0.1 * n * n for (n,) in ONE], ONE, True)


def test_a_constant_is_rounded_to_its_type():
    f = lambda n: {"value": Number(1.0 / (3 * n), types.float32).value, "dtype": {"d": "float32"}}
    rule = read(explained([f(n) for (n,) in ONE], ONE).form(), 1)
    assert rule((7,)) == f(7)


def test_polynomials_have_a_form():
    f = lambda n: 3 * n * n + 2 * n
    rule = read(polynomial([f(n) for (n,) in ONE], ONE).form(), 1)
    assert rule((9,)) == f(9)


def test_how_often_a_window_fits():
    sizes = [(64,), (97,), (75,), (130,), (159,), (191,)]
    for f in (lambda n: (n - 1) // 2 + 1, lambda n: (n - 3) // 2 + 1, lambda n: n // 3):
        rule = read(windows([f(n) for (n,) in sizes], sizes).form(), 1)
        for n in (5, 64, 65, 66, 67, 333):
            assert rule((n,)) == f(n)
    even = [(64,), (96,), (160,), (222,)]
    halves = windows([n // 2 for (n,) in even], even)  # rounded up or down: unknown
    with pytest.raises(Unexplained):
        halves((65,))
    with pytest.raises(Unexplained):
        windows([min(n, 100) for (n,) in sizes], sizes)


@pytest.mark.parametrize("form", [
    {"$n": [1, 1, 0, 1]}, {"$n": [0, 1, 0, 0]}, {"$n": [0, 1, 0]}, {"$n": [0, 1.5, 0, 1]}, {"$n": [-1, 1, 0, 1]},
    {"$n": 3},
    {"$p": [[0, 1], 1, 1]}, {"$p": [[], 1, 1]}, {"$p": [[0] * 5, 1, 1]}, {"$s": [[[1, [9]]], 1]},
    {"$s": [[[1, []]], 1]},
    {"$float": 3}, {"$over": {"$over": {"$n": [0, 1, 0, 1]}}}, {"$round": [{"$n": [0, 1, 0, 1]}, "no"]}, {"$eval": "1"},
    {"$floor": [0, 1, 0, -1]}, [{"$n": [0, True, 0, 1]}],
])  # fmt: skip
def test_what_is_no_rule_is_refused(form):
    with pytest.raises((ValueError, TypeError)):
        read(form, 1)
