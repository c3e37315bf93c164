"""Every sharding rule: the operator on slices, put together, against the operator on the whole."""

import numpy as np
import pytest

from paddle.engine import types
from paddle.engine.ops.registry import registry

from .cases import check, describe, meaning, operators, samples


def letters(pattern: str, ndim: int) -> list[str]:
    """One name per axis; the axes of "..." are named from the right, as broadcasting pairs them."""
    pattern = pattern.strip()
    if "..." not in pattern:
        assert len(pattern) == ndim, f"{pattern!r} for {ndim} axes"
        return list(pattern)
    before, after = pattern.split("...")
    n = ndim - len(before) - len(after)
    assert n >= 0, f"{pattern!r} for {ndim} axes"
    return [*before, *(f"_{n - 1 - i}" for i in range(n)), *after]


def rule_of(op, arrays):
    return op.spmd(*(types.TensorType(a.shape, types.dtype_of(a.dtype)) for a in arrays))


def axes_of(rule, arrays, results):
    left, right = rule.split("->")
    inputs = left.split(",") if left.strip() or arrays else []
    outputs = right.split(",")
    assert len(inputs) == len(arrays) and len(outputs) == len(results), rule
    return [letters(p, a.ndim) for p, a in zip(inputs, arrays)], [letters(p, r.ndim) for p, r in zip(outputs, results)]


def halves(sizes: set[int]) -> bool:
    """Whether axes of these sizes can be cut in two alike."""
    return len(sizes) == 1 and min(sizes) > 1 or bool(sizes) and all(n > 1 and n % 2 == 0 for n in sizes)


@pytest.mark.parametrize("name", [n for n in operators() if registry[n].spmd])
def test_slices_make_the_whole(name):
    for op, arrays in samples(name):
        results = meaning(op, arrays)
        rule = rule_of(op, arrays)
        inputs, outputs = axes_of(rule, arrays, results)
        sizes: dict[str, set[int]] = {}
        for names, a in zip(inputs + outputs, [*arrays, *results]):
            for letter, n in zip(names, a.shape):
                sizes.setdefault(letter, set())
                if n != 1:
                    sizes[letter].add(n)
        for letter, found in sizes.items():
            if letter.isupper() or not halves(found):
                continue
            parts = []
            for first in (True, False):
                piece = lambda n, first=first: slice(0, n // 2) if first else slice(n // 2, n)  # noqa: E731
                cut = lambda names, shape: tuple(  # noqa: E731
                    piece(n) if x == letter and n in found else slice(None)  # noqa: B023
                    for x, n in zip(names, shape)
                )
                local = [r[cut(names, r.shape)].shape for names, r in zip(outputs, results)]
                args = tuple(a[cut(names, a.shape)] for names, a in zip(inputs, arrays))
                parts.append(meaning(op.sized(*local), args))
            what = f"{describe(op, arrays)}, rule {rule!r}, letter {letter!r}"
            for j, (names, whole) in enumerate(zip(outputs, results)):
                pieces = [np.asarray(p[j]) for p in parts]
                if letter in names:
                    got = np.concatenate(pieces, names.index(letter))
                else:
                    got = pieces[0] + pieces[1]
                check(got.astype(whole.dtype), whole, what, scale=10)


@pytest.mark.parametrize("name", ["reshape", "slice", "broadcast_to", "gather", "concat", "sum", "matmul"])
def test_rules_let_something_be_cut(name):
    """A rule that keeps everything whole would pass the test above."""
    assert any(c.islower() for op, arrays in samples(name) for c in rule_of(op, arrays).replace("...", "x"))
