"""Cases made from the registry: every sample of every operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from paddle.engine import types
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.registry import Operator, all_samples, registry, run_numpy

# Tolerances by element type: relative, absolute. The absolute one scales with the values that are summed.
TOLERANCE = {
    "float64": (1e-10, 1e-12),
    "float32": (2e-5, 1e-6),
    "float16": (4e-3, 1e-3),
    "bfloat16": (2e-2, 1e-2),
    "complex64": (2e-5, 1e-6),
    "complex128": (1e-10, 1e-12),
}


def operators() -> list[str]:
    return sorted(name for name, cls in registry.items() if cls.samples)


def samples(name: str) -> Iterator[tuple[Operator, tuple[np.ndarray, ...]]]:
    for op, arrays in all_samples(registry[name]):
        yield op, tuple(np.asarray(a) for a in arrays)


def graph_of(op: Operator, arrays: tuple[np.ndarray, ...]) -> Graph:
    graph = Graph(op.name)
    inputs = [graph.input(types.TensorType(a.shape, types.dtype_of(a.dtype))) for a in arrays]
    graph.outputs = list(graph.add(op, inputs))
    return graph


def describe(op: Operator, arrays: tuple[np.ndarray, ...]) -> str:
    return f"{op!r} of {', '.join(f'{a.dtype}{list(a.shape)}' for a in arrays)}"


def check(got: Any, want: np.ndarray, what: str, scale: float = 1.0) -> None:
    """Equal within the tolerance of the element type; integers and bool exactly."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    assert got.dtype == want.dtype, f"{what}: dtype {got.dtype}, expected {want.dtype}"
    name = want.dtype.name
    if name not in TOLERANCE:
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    relative, absolute = TOLERANCE[name]
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    finite = np.abs(want.astype(wide)[np.isfinite(want.astype(wide))])
    absolute *= scale * max(1.0, float(finite.max()) if finite.size else 1.0)
    np.testing.assert_allclose(got.astype(wide), want.astype(wide), relative, absolute, err_msg=what)


def meaning(op: Operator, arrays: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(r) for r in run_numpy(op, *arrays))
