"""How what is recorded of a program follows from the sizes of its input: learnt from programs that differ in them only.

Several samples of one thing (a number, a shape, an operator, a key) are compared. Where they are equal it is fixed;
where they are not, each number in it is explained as `(a * n + b) / c` for one size n, or as `a / c` times a product of
sizes. Samples outnumber the unknowns, and only sizes between those of the samples are asked for, so that a kink or a
step inside that range shows up as numbers that no such rule explains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from .ops.number import Constant, Number
from .ops.registry import Operator
from .types import DType, TensorType

Sizes = tuple[int, ...]
Rule = Callable[[Sizes], Any]


class Unexplained(Exception):
    """What differs between samples does not follow from the sizes by a rule of the known forms."""


class Fixed:
    """A rule that gives the same for all sizes."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __call__(self, sizes: Sizes) -> Any:
        return self.value


def explained(samples: Sequence[Any], sizes: Sequence[Sizes]) -> Rule:
    """The rule by which a thing follows from the sizes.

    Args:
        samples: the thing in each sample.
        sizes: the sizes of each sample.

    Returns:
        A function of sizes; a `Fixed` where they do not matter. It raises Unexplained for sizes that would give a
        fraction.

    Raises:
        Unexplained: there is no such rule.
    """
    first = samples[0]
    if all(x is first for x in samples):
        return Fixed(first)
    kind = type(first)
    if any(type(x) is not kind for x in samples):
        raise Unexplained
    if kind is int:
        return whole(samples, sizes)
    if kind is float:
        return fraction(samples, sizes)
    if kind is tuple or kind is list:
        if any(len(x) != len(first) for x in samples):
            raise Unexplained
        parts = [explained(x, sizes) for x in zip(*samples)]
        if all(type(p) is Fixed for p in parts):
            return Fixed(first)
        return lambda sizes: kind([p(sizes) for p in parts])
    if kind is TensorType:
        if any(x.dtype is not first.dtype for x in samples):
            raise Unexplained
        shape, dtype = explained([x.shape for x in samples], sizes), first.dtype
        return lambda sizes: TensorType(shape(sizes), dtype)
    if kind is Number:
        if any(x.dtype is not first.dtype for x in samples):
            raise Unexplained
        return number([x.value for x in samples], sizes, first.dtype)
    if isinstance(first, Constant):
        if any(x.dtype is not first.dtype for x in samples):
            raise Unexplained
        value = number([x.value for x in samples], sizes, first.dtype)
        return lambda sizes: Constant(value(sizes).value, first.dtype)
    if isinstance(first, Operator):
        rules = {}
        for name in kind.fields:
            rules[name] = explained([getattr(x, name) for x in samples], sizes)
        return lambda sizes: kind(**{name: rule(sizes) for name, rule in rules.items()})
    if kind is slice:
        start, stop, step = (explained([getattr(x, a) for x in samples], sizes) for a in ("start", "stop", "step"))
        return lambda sizes: slice(start(sizes), stop(sizes), step(sizes))
    if kind is np.ndarray:
        if all(x.dtype == first.dtype and np.array_equal(x, first) for x in samples):
            return Fixed(first)
        raise Unexplained
    if kind in _COMPARED and all(x == first for x in samples):
        return Fixed(first)
    raise Unexplained


_COMPARED = (str, bool, bytes, complex, frozenset, DType, type, range)


def whole(samples: Sequence[int], sizes: Sequence[Sizes]) -> Rule:
    """The rule for an integer."""
    if all(x == samples[0] for x in samples):
        return Fixed(samples[0])
    count = len(sizes[0])
    for j in range(count):
        xs = [s[j] for s in sizes]
        low, high = xs.index(min(xs)), xs.index(max(xs))
        if xs[low] == xs[high]:
            continue
        slope = Fraction(samples[high] - samples[low], xs[high] - xs[low])
        start = samples[low] - slope * xs[low]
        if all(slope * x + start == y for x, y in zip(xs, samples)):
            a, b, c = _over_one(slope, start)
            return lambda sizes: _exact(a * sizes[j] + b, c)
    for degree in (2, 3, 4):
        for places in combinations_with_replacement(range(count), degree):
            products = [_product(s, places) for s in sizes]
            factor = Fraction(samples[0], products[0])
            if all(factor * x == y for x, y in zip(products, samples)):
                a, c = factor.numerator, factor.denominator
                return lambda sizes: _exact(a * _product(sizes, places), c)
    raise Unexplained


def polynomial(samples: Sequence[int], sizes: Sequence[Sizes]) -> Rule:
    """The rule for an integer that is a polynomial in the sizes, such as an offset: of degree 2, or linear in each.

    A kink could pass for one. So this is for what is known to have none.
    """
    try:
        return whole(samples, sizes)
    except Unexplained:
        pass
    count = len(sizes[0])
    powers = [(0,), (1,), (2,)] if count == 1 else list(product((0, 1), repeat=count))
    rows = [
        [Fraction(math.prod(n**e for n, e in zip(s, p))) for p in powers] + [Fraction(y)]
        for s, y in zip(sizes, samples)
    ]
    if len(rows) <= len(powers):
        raise Unexplained
    factors = _solved(rows, len(powers))
    c = math.lcm(*(f.denominator for f in factors))
    terms = [(int(f * c), p) for f, p in zip(factors, powers) if f]
    return lambda sizes: _exact(sum(a * math.prod(n**e for n, e in zip(sizes, p)) for a, p in terms), c)


def _solved(rows: list[list[Fraction]], unknowns: int) -> list[Fraction]:
    """The numbers that satisfy all equations; a row holds factors and a result. Unexplained if there are none."""
    for i in range(unknowns):
        pivot = next((r for r in range(i, len(rows)) if rows[r][i]), None)
        if pivot is None:
            raise Unexplained
        rows[i], rows[pivot] = rows[pivot], rows[i]
        head = rows[i][i]
        rows[i] = [x / head for x in rows[i]]
        for r in range(len(rows)):
            if r != i and rows[r][i]:
                by = rows[r][i]
                rows[r] = [x - by * y for x, y in zip(rows[r], rows[i])]
    if any(row[-1] for row in rows[unknowns:]):
        raise Unexplained
    return [rows[i][-1] for i in range(unknowns)]


def _over_one(slope: Fraction, start: Fraction) -> tuple[int, int, int]:
    c = math.lcm(slope.denominator, start.denominator)
    return int(slope * c), int(start * c), c


def _product(sizes: Sizes, places: Sequence[int]) -> int:
    return math.prod([sizes[p] for p in places])


def _exact(a: int, c: int) -> int:
    if c == 1:
        return a
    q, r = divmod(a, c)
    if r:
        raise Unexplained
    return q


def fraction(samples: Sequence[float], sizes: Sequence[Sizes]) -> Rule:
    """The rule for a float: an integer's, or one over an integer's."""
    if all(repr(x) == repr(samples[0]) for x in samples):
        return Fixed(samples[0])
    if all(x.is_integer() for x in samples):
        rule = whole([int(x) for x in samples], sizes)
        return lambda sizes: float(rule(sizes))
    below = [_below(x) for x in samples]
    if any(n == 0 or 1.0 / n != x for n, x in zip(below, samples)):
        raise Unexplained
    rule = whole(below, sizes)
    return lambda sizes: _one_over(rule(sizes))


def _below(x: float) -> int:
    """The integer n for which x is about 1 / n; 0 if there is none."""
    n = 1.0 / x if x else 0.0
    return round(n) if abs(n) < 2**53 else 0  # infinite for the smallest of numbers, nan for nan


def _one_over(n: int) -> float:
    if n == 0:
        raise Unexplained
    return 1.0 / n


def number(samples: Sequence[Any], sizes: Sequence[Sizes], dtype: DType) -> Rule:
    """The rule for a Number of this type; what it stands for was rounded to the type."""
    if all(repr(x) == repr(samples[0]) for x in samples):
        return Fixed(Number(samples[0], dtype))
    if all(type(x) is float for x in samples) and not all(x.is_integer() for x in samples):
        below = [_below(x) for x in samples]
        if any(n == 0 or Number(1.0 / n, dtype).value != x for n, x in zip(below, samples)):
            raise Unexplained
        rule = whole(below, sizes)
        return lambda sizes: Number(_one_over(rule(sizes)), dtype)
    rule = explained(samples, sizes)
    return lambda sizes: Number(rule(sizes), dtype)
