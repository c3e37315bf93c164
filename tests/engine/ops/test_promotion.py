"""Element types of results, as upstream has them."""

import inspect
import itertools
import re

import numpy as np
import pytest

import paddle
import paddle.engine.ops  # noqa: F401  (defines them all)
from paddle.engine.ops.registry import absent, registry

F32, F64, I32, I64, BOOL = "float32", "float64", "int32", "int64", "bool"


def of(shape, dtype):
    return paddle.ones(shape, dtype)


def name(t):
    return str(t.dtype).removeprefix("paddle.")


@pytest.mark.parametrize("x, y, want", [
    (F32, F64, F64), ("float16", F32, F32), ("float16", "bfloat16", F32), (I64, "complex64", "complex64"),
    (F64, "complex64", "complex128"), (BOOL, "complex128", "complex128"), (I32, I32, I32),
])  # fmt: skip
def test_tensors_that_mix(x, y, want):
    assert name(of([2], x) + of([2], y)) == want
    assert name(of([2], y) * of([2], x)) == want


@pytest.mark.parametrize("x, y", [(I32, I64), (BOOL, I64), (I64, F32), ("int8", "float16"), ("uint8", "int8")])
@pytest.mark.parametrize("op", ["__add__", "__sub__", "__mul__", "__lt__", "__eq__", "__pow__", "__floordiv__"])
def test_tensors_that_do_not_mix(x, y, op):
    with pytest.raises(TypeError, match="not promoted"):
        getattr(of([2], x), op)(of([2], y))


@pytest.mark.parametrize("tensor, number, want", [
    (F32, 2, F32), (F32, 2.5, F32), ("float16", 2.5, "float16"), (I64, 2, I64), (I32, True, I32), (I32, 2.5, F32),
    (BOOL, 2, I64), (BOOL, 2.5, F32), (BOOL, True, BOOL), (F32, 2j, "complex64"), (F64, 2j, "complex128"),
    (I64, np.float64(2.5), F32), (I64, np.float32(2.5), I64), (F32, np.int64(2), F32),
])  # fmt: skip
def test_numbers_beside_tensors(tensor, number, want):
    assert name(of([2], tensor) + number) == want
    assert name(number + of([2], tensor)) == want


@pytest.mark.parametrize("x, scalar, want", [
    (F32, F64, F32), (F32, I64, F32), (I64, F32, F32), ("int8", I64, "int8"), (BOOL, I64, I64), (I64, F64, F64),
    (F64, "complex64", "complex128"),
])  # fmt: skip
def test_a_0d_tensor_counts_as_a_number(x, scalar, want):
    assert name(of([2], x) + of([], scalar)) == want


def test_division_of_integers_is_floating():
    assert name(of([2], I32) / of([2], I32)) == F32
    assert name(of([2], I64) / 2) == F32
    assert name(of([2], I64) // 2) == I64


def test_the_default_type_does_not_change_integers_beside_floats():
    paddle.set_default_dtype("float64")
    try:
        assert name(of([2], I64) + 1.5) == F32
    finally:
        paddle.set_default_dtype("float32")


# Operators that the package alone makes, from values of one type.
INTERNAL = {"cond", "recurrence", "softmax_cross_entropy_grad", "while", "while_gradient"}


@pytest.mark.parametrize("to", ["float64", "int64"])
def test_operators_refuse_types_that_they_do_not_mix_when_they_are_called(to):
    """Else the mistake would come to light in the compiler, when somebody reads the result."""
    rng, tried = np.random.default_rng(0), 0
    for name, cls in sorted(registry.items()):
        if isinstance(inspect.getattr_static(cls, "samples"), absent) or name in INTERNAL:
            continue
        for op, arrays, *_ in itertools.islice(cls.samples(rng), 4):
            floats = [i for i, a in enumerate(arrays) if getattr(a, "dtype", None) == np.float32]
            for odd in floats if len(floats) > 1 else ():
                with np.errstate(invalid="ignore"):
                    args = [a.astype(to) if i == odd else a for i, a in enumerate(arrays)]
                args = [paddle.to_tensor(a) if isinstance(a, np.ndarray) else a for a in args]
                try:
                    made = op(*args)
                except (ValueError, TypeError, RuntimeError) as e:
                    assert re.match(r"\(\w+\) ", str(e)), f"{op}: {e}"
                    continue
                tried += 1
                try:
                    for t in made if isinstance(made, (list, tuple)) else [made]:
                        t.numpy()
                except (ValueError, IndexError) as e:  # the numbers do not suit it
                    assert re.match(r"\(\w+\) ", str(e)), f"{op}: {e}"
    assert tried > 30
