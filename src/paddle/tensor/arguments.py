"""Reading the arguments that functions of tensors share: tensors, integers, shapes, axes, results to fill."""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.eager.trace import Tensor
from ..engine.types import DType, dtype_of

# Upstream reads the shape or the element type of these functions' arguments before it asks what they are; of the
# second ones it asks at once.
_READ_AT_ONCE = frozenset(
    """
    addmm atan2 binomial.prob bucketize.sorted_sequence cdist chunk clip cond copysign crop cumsum deg2rad diagflat
    diagonal_scatter diff dsplit eigh eigvals gammainc gammaincc gather_nd.index gcd histogram_bin_edges histogramdd
    hsplit index_fill inner lcm masked_fill masked_scatter.value masked_scatter.x matrix_rank moveaxis multigammaln
    nanmean narrow outer rad2deg rank renorm repeat_interleave reshape slice slice_scatter split t take tensor_split
    tolist unbind unique unique_consecutive unstack vecdot.x put_along_axis take_along_axis view_as.other vsplit
    """.split()
)
_ASKED_AT_ONCE = frozenset(
    """
    binomial.count cast cross dist is_empty kthvalue lerp matrix_exp matrix_power numel reduce_as shape topk
    """.split()
)


def tensor_argument(x: Any, name: str, label: str = "x") -> Tensor:
    """x, which has to be a Tensor. Raises ValueError, as upstream's functions in C++ do; for some AttributeError."""
    if not isinstance(x, Tensor):
        raise not_a_tensor(x, name, label)
    return x


def not_a_tensor(x: Any, name: str, label: str, kind: type[Exception] = ValueError) -> Exception:
    """The error for x; kind: what upstream raises in the functions that are not listed above."""
    from ..utils.explain import describe

    if {name, f"{name}.{label}"} & _READ_AT_ONCE:
        kind = ValueError if hasattr(x, "shape") else AttributeError
    elif {name, f"{name}.{label}"} & _ASKED_AT_ONCE:
        kind = ValueError
    fact, received = f"{name}: {label} is not a Tensor.", f"{label}: {describe(x)}"
    return kind(errors.message("InvalidArgument", fact, "a Tensor", received, errors.tensor_hint(x, label)))


def tensor_list(x: Any, name: str, label: str = "x") -> list[Tensor]:
    """A list of Tensors from a list, a tuple, or one Tensor (its rows)."""
    if isinstance(x, Tensor):
        x = list(x)  # type: ignore[call-overload]
    if x is None:
        raise errors.precondition(
            f"{name}: {label} is None.", expected="a list or tuple of at least one Tensor", received=f"{label}: None"
        )
    if not isinstance(x, (list, tuple)) or not x or not all(isinstance(t, Tensor) for t in x):
        raise errors.invalid_argument(
            f"{name}: {label} is not a list of Tensors.",
            expected="a list or tuple of at least one Tensor",
            received=f"{label}: {'an empty list' if isinstance(x, (list, tuple)) and not x else type(x).__name__}",
        )
    return list(x)


# Functions where what is no integer is a ValueError, and arguments that may be a bool, as upstream has it.
_INT_IS_VALUE = frozenset(("flatten",))
_BOOL_IS_INT = frozenset(
    "argmax.axis argmin.axis chunk.axis cumsum.axis eye.num_columns eye.num_rows gather.axis split.axis topk.k".split()
)


def _not_int(name: str, label: str, v: Any) -> NoReturn:
    made = errors.invalid_argument if name in _INT_IS_VALUE and not isinstance(v, bool) else errors.invalid_type
    raise made(f"{name}: {label} is not an integer.", expected="int", received=f"{label}: {type(v).__name__}")


def int_argument(v: Any, name: str, label: str = "axis") -> int:
    """An int from an int, a numpy integer, or a Tensor of one element.

    Raises:
        TypeError: anything else.
    """
    if type(v) is int:
        return v
    if isinstance(v, Tensor):
        if v.type.size == 1 and v.type.dtype.kind in "iub":
            return int(v.array().reshape(()))  # type: ignore[attr-defined]
        _not_int(name, label, v)
    if isinstance(v, np.ndarray) and v.size == 1 and v.dtype.kind in "iu":
        return int(v.reshape(()))
    if isinstance(v, bool) and f"{name}.{label}" not in _BOOL_IS_INT:
        _not_int(name, label, v)
    try:
        return operator.index(v)
    except TypeError:
        _not_int(name, label, v)


def ints_argument(v: Any, name: str, label: str) -> list[int]:
    """A list of int from an int, a list of what `int_argument` takes, or a Tensor.

    Raises:
        TypeError: anything else.
    """
    if isinstance(v, Tensor) or isinstance(v, np.ndarray):
        a = v.array() if isinstance(v, Tensor) else v  # type: ignore[attr-defined]
        if a.dtype.kind not in "iu":
            _not_int(name, label, v)
        return [int(n) for n in a.reshape(-1)]
    if isinstance(v, (list, tuple)):
        return [int_argument(n, name, f"{label}[{i}]") for i, n in enumerate(v)]
    return [int_argument(v, name, label)]


def shape_argument(shape: Any, name: str) -> tuple[int, ...]:
    """A shape of non-negative sizes; none for None, as upstream.

    Raises:
        TypeError: not integers. ValueError: a negative size.
    """
    if shape is None:
        return ()
    if not isinstance(shape, (list, tuple, int, np.integer, np.ndarray, Tensor)):
        raise errors.invalid_type(
            f"{name}: this is not a shape.",
            expected="a list or tuple of int, an int or a Tensor",
            received=f"shape: {type(shape).__name__}",
        )
    sizes = tuple(ints_argument(shape, name, "shape"))
    for n in sizes:
        if n < 0:
            raise errors.invalid_argument(
                f"{name}: a size is negative.", expected="sizes of 0 or more", received=f"shape: {list(sizes)}"
            )
    return sizes


# Functions in which a wrong axis is an IndexError, and where it is an AssertionError, as upstream has it.
_AXIS_IS_INDEX = frozenset(
    ("cross", "diff", "trapezoid", "cumulative_trapezoid", "diagonal", "diag_embed", "gather", "index_add",
     "index_select", "narrow", "repeat_interleave", "select_scatter", "swapaxes", "tensordot", "trace")
)  # fmt: skip
_AXIS_IS_ASSERTED = frozenset(("diagonal_scatter", "put_along_axis", "take_along_axis", "unflatten"))


def axis_argument(axis: Any, ndim: int, name: str, label: str = "axis", extra: int = 0) -> int:
    """A non-negative axis. extra: 1 where an axis may also be put after the last.

    Raises:
        ValueError: no such axis; in some functions it is an IndexError or AssertionError. TypeError: not an integer.
    """
    a = axis if type(axis) is int else int_argument(axis, name, label)
    n = ndim + extra
    if not -n <= a < n and not (ndim == 0 and extra == 0 and a in (0, -1)):
        kind = errors.out_of_range if name in _AXIS_IS_INDEX else errors.invalid_argument
        kind = errors.asserted if name in _AXIS_IS_ASSERTED else kind
        raise kind(f"{name}: x has no such axis.", expected=f"{label} in [{-n}, {n})", received=f"{label}: {a}")
    return a + n if a < 0 and n else max(a, 0)


def dtype_argument(dtype: Any, default: DType) -> DType:
    """The element type that an argument names, `default` for None. Raises TypeError for what names none."""
    return default if dtype is None else dtype_of(dtype)


def kernel_dtype(dtype: Any) -> DType:
    """The element type that an argument names; ValueError, as in upstream's C++, for what names none."""
    try:
        return dtype_of(dtype)
    except TypeError as e:
        raise ValueError(str(e).replace("(InvalidType)", "(InvalidArgument)", 1)) from None


def finish(t: Any, out: Any = None, requires_grad: bool = False, device: Any = None, name: str = "") -> Any:
    """What creating functions do last: put the result into `out`, make it a leaf that needs gradients."""
    if device is not None:
        from ..framework.place import place_of

        place_of(device, name)
    if out is not None:
        return fill_out(t, out)
    if requires_grad:
        t.stop_gradient = False
    return t


def fill_out(t: Any, out: Any) -> Any:
    """`out`, standing for the value of t from now on; t itself where no `out` is given."""
    if out is None:
        return t
    if not isinstance(out, Tensor):
        raise not_a_tensor(out, "out", "out")
    tracing.rebind(out, t)
    return out
