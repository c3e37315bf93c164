"""Checks that functions of this package share, and small ways around shapes."""

from __future__ import annotations

import numbers as abstract
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager.trace import Tensor as EngineTensor
from ...engine.ir.graph import Value
from ...engine.ops.reduction import mean_, sum_
from ...tensor.tensor import open_sizes
from ...utils.public import check_inplace, replace

no_kernel = errors._maker("NotFound", RuntimeError)
# Upstream reads the shape or the element type of these functions' arguments before it asks what they are.
_READ_AT_ONCE = frozenset(
    """
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_log_softmax_with_loss adaptive_max_pool1d
    adaptive_max_pool2d adaptive_max_pool3d alpha_dropout avg_pool1d batch_norm binary_cross_entropy_with_logits
    channel_shuffle class_center_sample conv1d conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose
    cosine_embedding_loss cosine_similarity cross_entropy dice_loss dropout1d dropout2d dropout3d embedding_renorm_
    feature_alpha_dropout flash_attn_qkvpacked fractional_max_pool2d fractional_max_pool3d gaussian_nll_loss glu
    hinge_embedding_loss interpolate kl_div layer_norm local_response_norm lp_pool1d lp_pool2d max_pool1d max_unpool1d
    max_unpool2d max_unpool3d multi_label_margin_loss multi_label_soft_margin_loss multi_margin_loss nll_loss normalize
    npair_loss one_hot pad pdist pixel_unshuffle poisson_nll_loss soft_margin_loss softmax_with_cross_entropy
    triplet_margin_loss triplet_margin_with_distance_loss unfold
    """.split()
)
_HANDED_ON = ("weight", "bias", "pos_weight", "running_mean", "running_var", "head_weight")  # but these it does not


def tensor(x: Any, name: str, label: str = "x") -> Any:
    """x; ValueError, or AttributeError as upstream, where it is not a Tensor."""
    if not isinstance(x, (EngineTensor, Value)):
        from ...utils.explain import describe

        at_once = name in _READ_AT_ONCE and (label not in _HANDED_ON or name.startswith(("conv", "cross_", "multi_m")))
        at_once = at_once or (name, label) == ("embedding", "weight")
        made = AttributeError if at_once and not hasattr(x, "shape") else ValueError
        raise made(
            errors.message(
                "InvalidArgument",
                f"{name}: {label} is not a Tensor.",
                "a Tensor",
                f"{label}: {describe(x)}",
                errors.tensor_hint(x, label),
            )
        )
    return x


def number(value: Any, name: str, label: str) -> float:
    """value as a float; TypeError where it is no number."""
    if value.__class__ is float:
        return value
    if isinstance(value, (abstract.Real, np.bool_)) or (isinstance(value, EngineTensor) and value.type.size == 1):
        return float(value)  # type: ignore[arg-type]
    from ...utils.explain import describe

    raise errors.invalid_type(
        f"{name}: {label} is not a number.", expected="a number", received=f"{label}: {describe(value)}"
    )


def floating(x: Any, name: str, label: str = "x") -> Any:
    """x; RuntimeError where its elements are not floating, as for a kernel that upstream does not have."""
    if not tensor(x, name, label).dtype.is_floating:
        raise no_kernel(
            f"{name}: there is no kernel for this element type.",
            expected="float16, bfloat16, float32 or float64",
            received=f"{label}: {x.type}",
            hint=f"cast it, as in {label}.astype('float32').",
        )
    return x


def axis_of(axis: Any, ndim: int, name: str) -> int:
    """A non-negative axis. TypeError if it is no integer, ValueError if there is no such axis."""
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        from ...utils.explain import describe

        raise errors.invalid_type(
            f"{name}: axis is not an integer.", expected="an int", received=f"axis: {describe(axis)}"
        )
    found = int(axis)
    if not -max(ndim, 1) <= found < max(ndim, 1):
        raise errors.invalid_argument(
            f"{name}: x has no such axis.",
            expected=f"an axis in [{-max(ndim, 1)}, {max(ndim, 1)})",
            received=f"axis: {found}",
        )
    return found % max(ndim, 1)


def choice(value: Any, among: Sequence[Any], name: str, label: str) -> Any:
    """value; ValueError where it is not one of `among`."""
    if value not in among:
        raise errors.invalid_argument(
            f"{name}: {label} is not known.", expected=f"one of {list(among)}", received=f"{label}: {value!r}"
        )
    return value


def reduced(x: Any, reduction: str) -> Any:
    """x, its sum or its mean, by the name of the reduction."""
    if reduction == "none":
        return x
    axes = tuple(range(len(x.shape)))
    return sum_(x, axes) if reduction == "sum" else mean_(x, axes)


def check_reduction(reduction: Any, name: str, among: Sequence[str] = ("none", "mean", "sum")) -> None:
    choice(reduction, among, name, "reduction")


def inplace_of(f: Callable[..., Any]) -> Callable[..., Any]:
    """The in-place form of a function of one tensor: the tensor takes the result's value and is returned."""
    import functools

    name = f.__name__ + "_"

    @functools.wraps(f)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(x, EngineTensor):
            check_inplace(name, x)
        return replace(x, f(x, *args, **kwargs))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"In-place form of `{f.__name__}`: the tensor takes the result's value and is returned."
    return call


def integer(value: Any, name: str, label: str) -> int:
    """value as an int; TypeError where it is no integer."""
    if hasattr(value, "__index__") and not (isinstance(value, EngineTensor) and value.type.size != 1):
        return value.__index__()
    from ...utils.explain import describe

    raise errors.invalid_type(
        f"{name}: {label} is not an integer.", expected="an int", received=f"{label}: {describe(value)}"
    )


def numbers(value: Any, n: int, name: str, label: str, kind: Any = errors.invalid_argument) -> tuple[int, ...]:
    """n integers from an integer (repeated), a list of n or of one, or a Tensor of them.

    kind: makes the error where it is none of these.
    """
    if isinstance(value, EngineTensor):
        value = value.numpy().reshape(-1).tolist()
    if isinstance(value, (list, tuple)):
        found = tuple(v if v.__class__ is int else integer(v, name, f"{label}[{i}]") for i, v in enumerate(value))
        if len(found) == 1:
            found *= n
    elif hasattr(value, "__index__"):
        found = (int(value),) * n
    else:
        raise kind(
            f"{name}: {label} is neither an integer nor a list of integers.",
            expected=f"an int, or {n} of them",
            received=f"{label}: {value!r:.60}",
        )
    if len(found) != n:
        raise errors.invalid_argument(
            f"{name}: {label} has the wrong length.", expected=f"an int, or {n} of them", received=f"{label}: {value!r}"
        )
    return found


def need_fixed(size: int, what: str) -> None:
    """Refuses a size that is open in a static program, where what is done depends on more than a formula in it."""
    if open_sizes:
        from ...static.sizes import show

        if show(size) == -1:
            raise errors.precondition(
                f"{what}: the size of the axis is open.",
                expected="a size that is known while the program is recorded",
                received="-1",
                hint="give static.data a size in place of None.",
            )
