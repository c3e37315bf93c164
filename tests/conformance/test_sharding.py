"""Every sharding rule: the operator on slices, put together, against the operator on the whole."""

import numpy as np
import pytest

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
    return [*before, *(f"_{n - 1 - i}" for i in range(n)), *after]


def axes_of(op, arrays, results):
    left, right = op.spmd().split("->")
    inputs = left.split(",") if left.strip() or arrays else []
    outputs = right.split(",")
    assert len(inputs) == len(arrays) and len(outputs) == len(results), f"{op!r}: {op.spmd()!r}"
    return [letters(p, a.ndim) for p, a in zip(inputs, arrays)], [letters(p, r.ndim) for p, r in zip(outputs, results)]


@pytest.mark.parametrize("name", [n for n in operators() if registry[n].spmd])
def test_slices_make_the_whole(name):
    for op, arrays in samples(name):
        if not arrays:
            continue
        results = meaning(op, arrays)
        inputs, outputs = axes_of(op, arrays, results)
        sizes: dict[str, int] = {}
        for names, a in zip(inputs, arrays):
            for letter, n in zip(names, a.shape):
                sizes[letter] = max(sizes.get(letter, 1), n)
        for letter, n in sizes.items():
            if n < 2 or letter.isupper():
                continue
            parts = []
            for piece in (slice(0, n // 2), slice(n // 2, n)):
                cut = [
                    a[tuple(piece if x == letter and a.shape[i] == n else slice(None) for i, x in enumerate(names))]
                    for names, a in zip(inputs, arrays)
                ]
                parts.append(meaning(op, tuple(cut)))
            what = f"{describe(op, arrays)}, rule {op.spmd()!r}, letter {letter!r}"
            for j, (names, whole) in enumerate(zip(outputs, results)):
                pieces = [np.asarray(p[j]) for p in parts]
                if letter in names:
                    got = np.concatenate(pieces, names.index(letter))
                else:
                    got = pieces[0] + pieces[1]
                check(got.astype(whole.dtype), whole, what, scale=10)
