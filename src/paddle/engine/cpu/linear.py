"""Index expressions as linear forms."""

from __future__ import annotations

from .expr import Expr, Operand, Var

Linear = tuple[dict[Var, int], int]


def linear(e: Expr) -> Linear | None:
    """`e` as sum of coefficient * variable, plus a constant; None where it is not of that form."""
    if e.op == "const":
        return {}, e.attr
    if e.op == "var":
        return {e.attr: 1}, 0
    if e.op in ("add", "sub"):
        a, b = linear(e.args[0]), linear(e.args[1])
        if a is None or b is None:
            return None
        sign = 1 if e.op == "add" else -1
        out = dict(a[0])
        for v, c in b[0].items():
            out[v] = out.get(v, 0) + sign * c
        return {v: c for v, c in out.items() if c}, a[1] + sign * b[1]
    if e.op == "mul":
        a, b = linear(e.args[0]), linear(e.args[1])
        if a is None or b is None:
            return None
        if not a[0]:
            a, b = b, a
        if b[0]:
            return None
        return {v: c * b[1] for v, c in a[0].items() if b[1]}, a[1] * b[1]
    if e.op == "neg":
        a = linear(e.args[0])
        return None if a is None else ({v: -c for v, c in a[0].items()}, -a[1])
    return None


def offset_of(x: Operand, at: tuple[Expr, ...]) -> Linear | None:
    """Position of an element in its buffer, in elements."""
    coefficients: dict[Var, int] = {}
    constant = 0
    stride = 1
    for axis in reversed(x.order):
        i, n = at[axis], x.shape[axis]
        form = linear(i)
        if form is None:
            return None
        for v, c in form[0].items():
            coefficients[v] = coefficients.get(v, 0) + c * stride
        constant += form[1] * stride
        stride *= n
    return {v: c for v, c in coefficients.items() if c}, constant
