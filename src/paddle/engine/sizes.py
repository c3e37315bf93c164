"""How what is recorded of a program follows from the sizes of its input: learnt from programs that differ in them only.

Several samples of one thing (a number, a shape, an operator, a key) are compared. Where they are equal it is fixed;
where they are not, each number in it is explained as `(a * n + b) / c` for one size n, or as `a / c` times a product of
sizes. Samples outnumber the unknowns, and only sizes between those of the samples are asked for, so that a kink or a
step inside that range shows up as numbers that no such rule explains.

Rules are objects. Those for numbers, texts, lists and tables of these have a form in JSON, which is the thing itself
with a table of one entry in each place that follows from the sizes n[0], n[1], ...:

    {"$n": [j, a, b, c]}       (a * n[j] + b) / c, where it is whole
    {"$p": [[j, ...], a, c]}   a / c times the product of n[j], ..., where it is whole
    {"$s": [[[a, [e, ...]], ...], c]}  the sum of a * n[0]**e * ..., over c
    {"$floor": [j, a, b, c]}   (a * n[j] + b) / c, rounded down
    {"$ratio": [j, a, b, c]}   (a * n[j] + b) / c, as a float
    {"$float": rule}           an integer as a float
    {"$over": rule}            one over an integer
    {"$round": [rule, dtype]}  a number as this element type holds it
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from .errors import invalid_argument
from .ops.number import Constant, Number
from .ops.registry import Operator
from .types import DType, TensorType, dtype_of

Sizes = tuple[int, ...]


class Unexplained(Exception):
    """What differs between samples does not follow from the sizes by a rule of the known forms."""


class Rule:
    """How a thing follows from the sizes: called with them, it gives the thing, or raises Unexplained."""

    __slots__ = ()

    def __call__(self, sizes: Sizes) -> Any:
        raise NotImplementedError

    def form(self) -> Any:
        """The rule in JSON. Only rules for what JSON can hold have one."""
        raise TypeError(f"a rule of the kind {type(self).__name__} has no form in JSON")


class Fixed(Rule):
    """The same for all sizes."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __call__(self, sizes: Sizes) -> Any:
        return self.value

    def form(self) -> Any:
        return self.value


class Affine(Rule):
    """(a * sizes[j] + b) / c."""

    __slots__ = ("j", "a", "b", "c")

    def __init__(self, j: int, a: int, b: int, c: int):
        self.j, self.a, self.b, self.c = j, a, b, c

    def __call__(self, sizes: Sizes) -> int:
        x = self.a * sizes[self.j] + self.b
        return x if self.c == 1 else _exact(x, self.c)

    def form(self) -> Any:
        return {"$n": [self.j, self.a, self.b, self.c]}


class Floor(Affine):
    """(a * sizes[j] + b) / c, rounded down: how often a window fits."""

    __slots__ = ()

    def __call__(self, sizes: Sizes) -> int:
        return (self.a * sizes[self.j] + self.b) // self.c

    def form(self) -> Any:
        return {"$floor": [self.j, self.a, self.b, self.c]}


class Ratio(Affine):
    """(a * sizes[j] + b) / c, as a float."""

    __slots__ = ()

    def __call__(self, sizes: Sizes) -> float:  # type: ignore[override]
        return (self.a * sizes[self.j] + self.b) / self.c

    def form(self) -> Any:
        return {"$ratio": [self.j, self.a, self.b, self.c]}


class Product(Rule):
    """a / c times a product of sizes."""

    __slots__ = ("places", "a", "c")

    def __init__(self, places: tuple[int, ...], a: int, c: int):
        self.places, self.a, self.c = places, a, c

    def __call__(self, sizes: Sizes) -> int:
        return _exact(self.a * _product(sizes, self.places), self.c)

    def form(self) -> Any:
        return {"$p": [list(self.places), self.a, self.c]}


class Sum(Rule):
    """A sum of products of powers, over c. terms: factor and powers of each."""

    __slots__ = ("terms", "c")

    def __init__(self, terms: list[tuple[int, tuple[int, ...]]], c: int):
        self.terms, self.c = terms, c

    def __call__(self, sizes: Sizes) -> int:
        return _exact(sum(a * math.prod(n**e for n, e in zip(sizes, p)) for a, p in self.terms), self.c)

    def form(self) -> Any:
        return {"$s": [[[a, list(p)] for a, p in self.terms], self.c]}


class AsFloat(Rule):
    """An integer, as a float."""

    __slots__ = ("rule",)

    def __init__(self, rule: Rule):
        self.rule = rule

    def __call__(self, sizes: Sizes) -> float:
        return float(self.rule(sizes))

    def form(self) -> Any:
        return {"$float": self.rule.form()}


class OneOver(Rule):
    """One over an integer."""

    __slots__ = ("rule",)

    def __init__(self, rule: Rule):
        self.rule = rule

    def __call__(self, sizes: Sizes) -> float:
        n = self.rule(sizes)
        if n == 0:
            raise Unexplained
        return 1.0 / n

    def form(self) -> Any:
        return {"$over": self.rule.form()}


class NumberOf(Rule):
    """A Number of an element type."""

    __slots__ = ("rule", "dtype")

    def __init__(self, rule: Rule, dtype: DType):
        self.rule, self.dtype = rule, dtype

    def __call__(self, sizes: Sizes) -> Number:
        return Number(self.rule(sizes), self.dtype)


class Rounded(NumberOf):
    """The value of a Number."""

    __slots__ = ()

    def __call__(self, sizes: Sizes) -> Any:
        return Number(self.rule(sizes), self.dtype).value

    def form(self) -> Any:
        return {"$round": [self.rule.form(), self.dtype.name]}


class Parts(Rule):
    """A tuple or a list, part by part."""

    __slots__ = ("kind", "usual", "changing", "rules")

    def __init__(self, kind: type, rules: Sequence[Rule]):
        self.kind, self.rules = kind, rules
        self.usual = [r.value if type(r) is Fixed else None for r in rules]
        self.changing = [(i, r) for i, r in enumerate(rules) if type(r) is not Fixed]

    def __call__(self, sizes: Sizes) -> Any:
        parts = self.usual.copy()
        for i, rule in self.changing:
            parts[i] = rule(sizes)
        return parts if self.kind is list else tuple(parts)

    def form(self) -> Any:
        if self.kind is not list:
            return super().form()
        return [r.form() for r in self.rules]


class Entries(Rule):
    """A table, entry by entry."""

    __slots__ = ("usual", "changing", "rules")

    def __init__(self, rules: dict[str, Rule]):
        self.rules = rules
        self.usual = {k: r.value if type(r) is Fixed else None for k, r in rules.items()}
        self.changing = [(k, r) for k, r in rules.items() if type(r) is not Fixed]

    def __call__(self, sizes: Sizes) -> dict[str, Any]:
        entries = self.usual.copy()
        for k, rule in self.changing:
            entries[k] = rule(sizes)
        return entries

    def form(self) -> Any:
        return {k: r.form() for k, r in self.rules.items()}


class Made(Rule):
    """What a function makes of parts: an operator of its attributes, a type of its shape."""

    __slots__ = ("make", "parts")

    def __init__(self, make: Any, parts: Entries):
        self.make, self.parts = make, parts

    def __call__(self, sizes: Sizes) -> Any:
        return self.make(**self.parts(sizes))


class TypeOf(Rule):
    """A TensorType of an element type."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: Rule, dtype: DType):
        self.shape, self.dtype = shape, dtype

    def __call__(self, sizes: Sizes) -> TensorType:
        return TensorType(self.shape(sizes), self.dtype)


class SliceOf(Rule):
    """A slice. parts: its start, stop and step."""

    __slots__ = ("parts",)

    def __init__(self, parts: Parts):
        self.parts = parts

    def __call__(self, sizes: Sizes) -> slice:
        return slice(*self.parts(sizes))


def explained(samples: Sequence[Any], sizes: Sequence[Sizes], further: bool = False) -> Rule:
    """The rule by which a thing follows from the sizes.

    Args:
        samples: the thing in each sample.
        sizes: the sizes of each sample.
        further: also by rules that take more samples: how often a window fits, and broken numbers.

    Returns:
        The rule; a `Fixed` where sizes do not matter. It raises Unexplained for sizes that would give a fraction.

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
        return windows(samples, sizes) if further else whole(samples, sizes)
    if kind is float:
        return fraction(samples, sizes, further)
    if kind is tuple or kind is list:
        if any(len(x) != len(first) for x in samples):
            raise Unexplained
        parts = [explained(x, sizes, further) for x in zip(*samples)]
        if all(type(p) is Fixed for p in parts):
            return Fixed(first)
        return Parts(kind, parts)
    if kind is dict:
        return _table(samples, sizes, further)
    if kind is TensorType:
        if any(x.dtype is not first.dtype for x in samples):
            raise Unexplained
        return TypeOf(explained([x.shape for x in samples], sizes), first.dtype)
    if kind is Number:
        if any(x.dtype is not first.dtype for x in samples):
            raise Unexplained
        return number([x.value for x in samples], sizes, first.dtype)
    if isinstance(first, Constant):
        if any(x.dtype is not first.dtype for x in samples):
            raise Unexplained
        value = _value([x.value for x in samples], sizes, first.dtype)
        return Made(Constant, Entries({"value": value, "dtype": Fixed(first.dtype)}))
    if isinstance(first, Operator):
        rules = {name: explained([getattr(x, name) for x in samples], sizes) for name in kind.fields}
        return Made(kind, Entries(rules))
    if kind is slice:
        return SliceOf(
            Parts(tuple, [explained([getattr(x, a) for x in samples], sizes) for a in ("start", "stop", "step")])
        )
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
        line = _line(samples, [s[j] for s in sizes])
        if line is not None:
            return Affine(j, *line)
    for degree in (2, 3, 4):
        for places in combinations_with_replacement(range(count), degree):
            products = [_product(s, places) for s in sizes]
            factor = Fraction(samples[0], products[0])
            if all(factor * x == y for x, y in zip(products, samples)):
                return Product(places, factor.numerator, factor.denominator)
    raise Unexplained


def windows(samples: Sequence[int], sizes: Sequence[Sizes]) -> Rule:
    """The rule for an integer, also where it tells how often a window fits, with a stride of up to 32.

    Only where the samples leave one such rule: that takes sizes of many remainders.
    """
    try:
        return whole(samples, sizes)
    except Unexplained:
        pass
    for c in range(2, 33) if len(set(samples)) > 3 else ():  # fewer would fit by chance
        for j in range(len(sizes[0])):
            low = max(c * y - s[j] for y, s in zip(samples, sizes))
            if low == min(c * y - s[j] + c - 1 for y, s in zip(samples, sizes)):
                return Floor(j, 1, low, c)
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
    return Sum(terms, c)


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


def fraction(samples: Sequence[float], sizes: Sequence[Sizes], further: bool = False) -> Rule:
    """The rule for a float: an integer's, or one over an integer's."""
    if all(repr(x) == repr(samples[0]) for x in samples):
        return Fixed(samples[0])
    if all(x.is_integer() for x in samples):
        return AsFloat(whole([int(x) for x in samples], sizes))
    return _broken(samples, sizes, float, further)


def _broken(samples: Sequence[float], sizes: Sequence[Sizes], rounded: Callable[[float], Any], further: bool) -> Rule:
    """The rule for floats that are one over integers, or of a small denominator. rounded: as samples were."""
    below = [_below(x) for x in samples]
    if all(n and rounded(1.0 / n) == x for n, x in zip(below, samples)):
        return OneOver(whole(below, sizes))
    if not further or not all(math.isfinite(x) for x in samples):
        raise Unexplained
    parts = [Fraction(x).limit_denominator(1 << 12) for x in samples]
    for j in range(len(sizes[0])):
        line = _line(parts, [s[j] for s in sizes])
        if line is not None:
            rule = Ratio(j, *line)
            if all(rounded(rule(s)) == x for s, x in zip(sizes, samples)):
                return rule
    raise Unexplained


def _line(ys: Sequence[Any], xs: Sequence[int]) -> tuple[int, int, int] | None:
    """a, b and c, for which every y is (a * x + b) / c; None if there are none."""
    low, high = xs.index(min(xs)), xs.index(max(xs))
    if xs[low] == xs[high]:
        return None
    slope = Fraction(ys[high] - ys[low]) / (xs[high] - xs[low])
    start = ys[low] - slope * xs[low]
    return _over_one(slope, start) if all(slope * x + start == y for x, y in zip(xs, ys)) else None


def _below(x: float) -> int:
    """The integer n for which x is about 1 / n; 0 if there is none."""
    n = 1.0 / x if x else 0.0
    return round(n) if abs(n) < 2**53 else 0  # infinite for the smallest of numbers, nan for nan


def number(samples: Sequence[Any], sizes: Sequence[Sizes], dtype: DType) -> Rule:
    """The rule for a Number of this type; what it stands for was rounded to the type."""
    if all(repr(x) == repr(samples[0]) for x in samples):
        return Fixed(Number(samples[0], dtype))
    return NumberOf(_before_rounding(samples, sizes, dtype, False), dtype)


def _value(samples: Sequence[Any], sizes: Sequence[Sizes], dtype: DType, further: bool = False) -> Rule:
    """The rule for the value of a Number of this type."""
    if all(repr(x) == repr(samples[0]) for x in samples):
        return Fixed(samples[0])
    return Rounded(_before_rounding(samples, sizes, dtype, further), dtype)


def _before_rounding(samples: Sequence[Any], sizes: Sequence[Sizes], dtype: DType, further: bool) -> Rule:
    if all(type(x) is float for x in samples) and not all(x.is_integer() for x in samples):
        return _broken(samples, sizes, lambda x: Number(x, dtype).value, further)
    return explained(samples, sizes)


def _table(samples: Sequence[dict[str, Any]], sizes: Sequence[Sizes], further: bool) -> Rule:
    """The rule for a table with the same names in each sample; that of a constant has a rounded number."""
    first = samples[0]
    if any(x.keys() != first.keys() for x in samples):
        raise Unexplained
    rules = {}
    dtype = first.get("dtype")
    if isinstance(dtype, dict) and set(dtype) == {"d"} and set(first) == {"value", "dtype"}:
        rules["value"] = _value([x["value"] for x in samples], sizes, dtype_of(dtype["d"]), further)
    for name in first:
        if name not in rules:
            rules[name] = explained([x[name] for x in samples], sizes, further)
    rules = {name: rules[name] for name in first}
    return Fixed(first) if all(type(r) is Fixed for r in rules.values()) else Entries(rules)


# ---- the form in JSON -------------------------------------------------------------------------
def read(form: Any, count: int) -> Rule:
    """The rule of a form in JSON.

    Args:
        form: as `Rule.form` gives it; whatever it holds.
        count: how many sizes there are.

    Raises:
        ValueError: it holds what is no rule of such sizes.
    """
    if type(form) is list:
        parts = [read(x, count) for x in form]
        return Fixed(form) if all(type(p) is Fixed for p in parts) else Parts(list, parts)
    if type(form) is not dict:
        return Fixed(form)
    if len(form) == 1:
        ((kind, x),) = form.items()
        if kind[:1] == "$":
            return _read_rule(kind, x, count)
    rules = {k: read(x, count) for k, x in form.items()}
    return Fixed(form) if all(type(r) is Fixed for r in rules.values()) else Entries(rules)


def _read_rule(kind: str, x: Any, count: int) -> Rule:
    if kind == "$n" and _ints(x, 4) and x[0] in range(count) and x[3] > 0:
        return Affine(*x)
    if kind == "$floor" and _ints(x, 4) and x[0] in range(count) and x[3] > 0:
        return Floor(*x)
    if kind == "$ratio" and _ints(x, 4) and x[0] in range(count) and x[3] > 0:
        return Ratio(*x)
    if kind == "$p" and type(x) is list and len(x) == 3 and _ints(x[1:], 2) and x[2] > 0 and _ints(x[0]):
        if x[0] and len(x[0]) <= 4 and all(j in range(count) for j in x[0]):
            return Product(tuple(x[0]), x[1], x[2])
    if kind == "$s" and type(x) is list and len(x) == 2 and _ints(x[1:], 1) and x[1] > 0 and type(x[0]) is list:
        terms = [t for t in x[0] if type(t) is list and len(t) == 2 and _ints(t[:1]) and _ints(t[1], count)]
        if len(terms) == len(x[0]) and all(0 <= e <= 4 for _, p in terms for e in p):
            return Sum([(a, tuple(p)) for a, p in terms], x[1])
    if kind in ("$float", "$over"):
        rule = read(x, count)
        if type(rule) in (Affine, Floor, Product, Sum):
            return AsFloat(rule) if kind == "$float" else OneOver(rule)
    if kind == "$round" and type(x) is list and len(x) == 2 and type(x[1]) is str:
        rule = read(x[0], count)
        if type(rule) in (Affine, Floor, Ratio, Product, Sum, AsFloat, OneOver):
            return Rounded(rule, dtype_of(x[1]))
    raise invalid_argument("load: a rule of sizes is malformed.", received=repr({kind: x})[:80])


def _ints(x: Any, count: int | None = None) -> bool:
    return type(x) is list and (count is None or len(x) == count) and all(type(n) is int for n in x)
