"""Contractions in index notation, written as transposes and matrix products."""

from __future__ import annotations

import math
import string
from typing import Any

import numpy as np

from ..errors import asserted, invalid_argument
from .linalg import MatMul
from .reduction import sum_
from .shape import broadcast_to, reshape, slice_axis, transpose


def parse(equation: str, ndims: list[int]) -> tuple[list[str], str]:
    """Letters of each operand and of the result; an ellipsis becomes letters of its own, an implicit result explicit.

    Raises:
        AssertionError: the equation does not fit the operands.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    _letters_only(equation, [*terms, right])
    if len(terms) != len(ndims):
        raise asserted(
            "einsum: there are not as many operands as terms.",
            expected=f"{len(terms)} operands, one for each of {', '.join(map(repr, terms))}",
            received=f"{len(ndims)} operands",
        )
    free = [c for c in string.ascii_letters if c not in equation]
    counts = [n - len(t.replace("...", "")) for t, n in zip(terms, ndims)]
    wide = max((c for c, t in zip(counts, terms) if "..." in t), default=0)
    dots = "".join(free[: max(wide, 0)])
    out = []
    for i, (t, n, count) in enumerate(zip(terms, ndims, counts)):
        if count < 0 or (count and "..." not in t) or wide > len(free):
            letters = len(t.replace("...", ""))
            raise asserted(
                f"einsum: the term {t!r} does not fit its operand.",
                expected=f"{'at least ' if '...' in t else ''}{letters} axes",
                received=f"operand {i} with {n} axes, in {equation!r}",
                hint="" if "..." in t or count < 0 else "'...' stands for axes without letters.",
            )
        out.append(t.replace("...", dots[wide - count :]))
    if arrow:
        result = right.replace("...", dots)
        every = "".join(out)
        twice = [c for c in result if result.count(c) > 1]
        if twice:
            raise asserted(
                f"einsum: {twice[0]!r} comes twice in the result.", expected="each letter once", received=repr(equation)
            )
        unknown = [c for c in result if c not in every]
        if unknown:
            raise invalid_argument(
                f"einsum: {unknown[0]!r} is in the result and in no operand.",
                expected=f"letters among {''.join(dict.fromkeys(every))!r}",
                received=repr(equation),
            )
    else:
        every = "".join(out)
        result = dots + "".join(sorted(c for c in set(every) if every.count(c) == 1 and c not in dots))
    return out, result


def _letters_only(equation: str, terms: list[str]) -> None:
    for t in terms:
        bad = [c for c in t.replace("...", "", 1) if c not in string.ascii_letters]
        if bad:
            fact = "a '.' outside an ellipsis" if bad[0] == "." else f"{bad[0]!r}, which is no letter"
            raise asserted(
                f"einsum: the equation holds {fact}.",
                expected="letters, ',' between operands, at most one '->', '...' once in a term",
                received=repr(equation),
            )


def einsum(equation: str, *operands: Any) -> Any:
    """The contraction of Tensors that the equation names. Raises AssertionError where it does not fit."""
    terms, result = parse(equation, [len(x.shape) for x in operands])
    sizes: dict[str, int] = {}
    for t, x in zip(terms, operands):
        for c, n in zip(t, x.shape):
            if sizes.get(c, 1) not in (1, n) and n != 1:
                shapes = ", ".join(f"{t}: {list(x.shape)}" for t, x in zip(terms, operands))
                raise invalid_argument(
                    f"einsum: the sizes of {c!r} differ.",
                    expected=f"one size, or 1, wherever {c!r} stands",
                    received=f"{sizes[c]} and {n}, in {shapes}",
                )
            sizes[c] = max(sizes.get(c, 1), n) if sizes.get(c, 1) and n else 0
    todo = [_without_repeats(x, t) for x, t in zip(operands, terms)]
    for step in _order(terms, result, sizes):
        picked = [todo[i] for i in step]
        todo = [t for i, t in enumerate(todo) if i not in step]
        x, t = picked[0]
        for i, (y, u) in enumerate(picked[1:], 2):
            later = set(result).union(*(v for _, v in todo), *(v for _, v in picked[i:]))
            x, t = _contract(x, t, y, u, later)
        todo.append((x, t))
    (x, t) = todo[0]
    drop = tuple(i for i, c in enumerate(t) if c not in result)
    x, t = sum_(x, drop), "".join(c for c in t if c in result)
    perm = tuple(t.index(c) for c in result)
    x = transpose(x, perm) if perm != tuple(range(len(perm))) else x
    want = tuple(sizes[c] for c in result)
    if tuple(x.shape) != want:
        x = broadcast_to(x, want)
    return x


def _order(terms: list[str], result: str, sizes: dict[str, int]) -> list[tuple[int, ...]]:
    """Which operands to contract, step by step: numpy's choice where it matters."""
    if len(terms) < 3:
        return [tuple(range(len(terms)))]
    shapes = [np.empty(tuple(sizes[c] for c in dict.fromkeys(t)), np.bool_) for t in terms]
    plain = ",".join("".join(dict.fromkeys(t)) for t in terms)
    path, _ = np.einsum_path(f"{plain}->{result}", *shapes, optimize="greedy")
    return [tuple(step) for step in path[1:]]


def _without_repeats(x: Any, term: str) -> tuple[Any, str]:
    """The diagonal over axes with one letter."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            i = term.index(c)
            j = term.index(c, i + 1)
            x = _diagonal(x, i, j)
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + c
    return x, term


def _diagonal(x: Any, i: int, j: int) -> Any:
    """The diagonal over two axes, along a new last axis."""
    outer = [a for a in range(len(x.shape)) if a not in (i, j)]
    n = x.shape[i]
    moved = transpose(x, (*outer, i, j))
    shape = tuple(x.shape[a] for a in outer)
    return slice_axis(reshape(moved, (*shape, n * n)), len(outer), 0, n * n, n + 1)


def _contract(x: Any, s: str, y: Any, t: str, later: set[str]) -> tuple[Any, str]:
    """One matrix product: letters of both that stay are batch, letters that go are summed."""
    only = lambda a, b: tuple(i for i, c in enumerate(a) if c not in b and c not in later)  # noqa: E731
    gone = only(s, t)
    x, s = sum_(x, gone), "".join(c for i, c in enumerate(s) if i not in gone)
    gone = only(t, s)
    y, t = sum_(y, gone), "".join(c for i, c in enumerate(t) if i not in gone)
    # an axis of size 1 that the other has longer is broadcast: as if it were not there
    for c in set(s) & set(t):
        n, m = x.shape[s.index(c)], y.shape[t.index(c)]
        if n != m:
            if n == 1:
                x, s = sum_(x, (s.index(c),)), s.replace(c, "")
            else:
                y, t = sum_(y, (t.index(c),)), t.replace(c, "")
    batch = [c for c in s if c in t and c in later]
    inner = [c for c in s if c in t and c not in later]
    rows = [c for c in s if c not in t]
    columns = [c for c in t if c not in s]
    gone_rows = [c for c in rows if c not in later]
    if gone_rows:
        drop = tuple(s.index(c) for c in gone_rows)
        x, s = sum_(x, drop), "".join(c for c in s if c not in gone_rows)
        rows = [c for c in rows if c not in gone_rows]
    gone_columns = [c for c in columns if c not in later]
    if gone_columns:
        drop = tuple(t.index(c) for c in gone_columns)
        y, t = sum_(y, drop), "".join(c for c in t if c not in gone_columns)
        columns = [c for c in columns if c not in gone_columns]
    size = lambda v, term, cs: tuple(v.shape[term.index(c)] for c in cs)  # noqa: E731
    b, m, k, n = size(x, s, batch), size(x, s, rows), size(x, s, inner), size(y, t, columns)
    a = _arranged(x, s, [*batch, *rows, *inner], (*b, math.prod(m), math.prod(k)))
    c = _arranged(y, t, [*batch, *inner, *columns], (*b, math.prod(k), math.prod(n)))
    out = reshape(MatMul(False, False)(a, c), (*b, *m, *n))
    return out, "".join([*batch, *rows, *columns])


def _arranged(x: Any, term: str, letters: list[str], shape: tuple[int, ...]) -> Any:
    perm = tuple(term.index(c) for c in letters)
    return reshape(transpose(x, perm) if perm != tuple(range(len(perm))) else x, shape)
