"""Every gradient rule against finite differences in float64, and differentiated once more."""

import numpy as np
import pytest

from paddle.engine import flags
from paddle.engine.eager import walk
from paddle.engine.eager.trace import Tensor, apply_operator, current, from_array
from paddle.engine.ops.elementwise import multiply
from paddle.engine.ops.reduction import sum_
from paddle.engine.ops.registry import registry

from .cases import describe, meaning, operators, samples

STEP = 1e-6


@pytest.fixture(autouse=True)
def by_meaning():
    before = flags.get("FLAGS_reference")
    flags.set_("FLAGS_reference", True)
    yield
    current().flush()
    flags.set_("FLAGS_reference", before)


def differentiable():
    for name in operators():
        op = registry[name]
        if op.vjp or op.compose:
            yield name


def double(a: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "f" or a.dtype.name == "bfloat16":
        return a.astype(np.float64)
    return a.astype(np.complex128) if a.dtype.kind == "c" else a


def smooth(arrays) -> bool:
    return all(np.isfinite(a).all() and np.abs(a).max(initial=0) < 1e3 for a in arrays if a.dtype.kind in "fc")


def loss(op, tensors, weights):
    """A number made from all differentiable results."""
    out = apply_operator(op, tuple(tensors))
    total = None
    for t, w in zip(out if isinstance(out, tuple) else (out,), weights):
        if w is not None and not t.sg:
            part = sum_(multiply(t, from_array(w)), tuple(range(w.ndim)))
            total = part if total is None else total + part
    return total


def cases(name):
    rng = np.random.default_rng(5)
    for op, arrays in samples(name):
        arrays = tuple(double(a) for a in arrays)
        which = [i for i, a in enumerate(arrays) if a.dtype.kind == "f" and a.size]
        if not which or not smooth(arrays):
            continue
        try:
            out = meaning(op, arrays)
        except (TypeError, AssertionError, ValueError):
            continue
        if any(o.dtype not in (np.float64,) for o in out if o.dtype.kind in "fc"):
            continue
        weights = [rng.normal(size=o.shape) if o.dtype.kind == "f" else None for o in out]
        if any(w is not None and not np.isfinite(o).all() for o, w in zip(out, weights)):
            continue
        yield op, arrays, which, weights, rng


def value(op, arrays, weights):
    out = meaning(op, arrays)
    return sum(float((o * w).sum()) for o, w in zip(out, weights) if w is not None)


@pytest.mark.parametrize("name", list(differentiable()))
def test_first_order(name):
    for op, arrays, which, weights, rng in cases(name):
        tensors = [from_array(a.copy(), sg=i not in which) for i, a in enumerate(arrays)]
        total = loss(op, tensors, weights)
        if total is None:
            continue
        inputs = [tensors[i] for i in which]
        got = walk.grad([total], inputs, [None], retain=False, create_graph=False, allow_unused=True)
        for i, g in zip(which, got):
            if g is None:
                continue
            assert isinstance(g, Tensor) and g.type.shape == arrays[i].shape, describe(op, arrays)
            direction = rng.normal(size=arrays[i].shape)
            up, down = list(arrays), list(arrays)
            up[i], down[i] = arrays[i] + STEP * direction, arrays[i] - STEP * direction
            want = (value(op, up, weights) - value(op, down, weights)) / (2 * STEP)
            g.array()
            have = float((g.array() * direction).sum())
            scale = 1 + abs(want) + np.abs(g.array() * direction).sum()
            assert abs(have - want) < 2e-6 * scale, f"{describe(op, arrays)}, argument {i}: {have}, expected {want}"


@pytest.mark.parametrize("name", list(differentiable()))
def test_second_order(name):
    """The gradient of the rule's own result, against finite differences of the rule."""
    for op, arrays, which, weights, rng in list(cases(name))[:3]:
        directions = {i: rng.normal(size=arrays[i].shape) for i in which}

        def slope(values, graph=True):
            tensors = [from_array(a.copy(), sg=i not in which) for i, a in enumerate(values)]  # noqa: B023
            total = loss(op, tensors, weights)  # noqa: B023
            if total is None:
                return None, None
            inputs = [tensors[i] for i in which]  # noqa: B023
            first = walk.grad([total], inputs, [None], retain=True, create_graph=graph, allow_unused=True)
            parts = [sum_(multiply(g, from_array(directions[i].copy())), tuple(range(g.type.ndim)))  # noqa: B023
                     for i, g in zip(which, first) if g is not None]  # noqa: B023  # fmt: skip
            return inputs, sum(parts[1:], parts[0]) if parts else None

        inputs, directional = slope(arrays)
        if directional is None or directional.sg:
            continue
        second = walk.grad([directional], inputs, [None], retain=False, create_graph=False, allow_unused=True)
        move = {i: rng.normal(size=arrays[i].shape) for i in which}
        up = [a + STEP * move[i] if i in move else a for i, a in enumerate(arrays)]
        down = [a - STEP * move[i] if i in move else a for i, a in enumerate(arrays)]
        high, low = slope(up, False)[1], slope(down, False)[1]
        want = float((high.array() - low.array()) / (2 * STEP))
        terms = [g.array() * move[i] for i, g in zip(which, second) if g is not None]
        have = float(sum(t.sum() for t in terms))
        scale = 1 + abs(want) + sum(np.abs(t).sum() for t in terms)
        assert abs(have - want) < 1e-4 * scale, f"{describe(op, arrays)}: {have}, expected {want}"
