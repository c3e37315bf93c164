"""Dropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine import errors
from ...engine.eager.capture import otherwise
from ...engine.eager.trace import local as _local
from ...engine.ops.random import keep_mask
from ...framework.random import next_key
from ...tensor.creation import copy_of
from ...tensor.tensor import Tensor
from ...utils.public import check_inplace, public, replace
from ._check import choice, floating, tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]


def _probability(p: Any, name: str) -> float:
    if isinstance(p, Tensor):
        p = p.item()
    if not isinstance(p, (int, float)):
        raise errors.invalid_type(f"{name}: p is not a number.", expected="a float", received=f"p: {p!r}")
    if not 0 <= p <= 1:
        raise errors.invalid_argument(f"{name}: p is out of range.", expected="0 <= p <= 1", received=f"p: {p}")
    return float(p)


@public(also={"x": "input"})
def dropout(x: Tensor, p: float = 0.5, axis: int | Sequence[int] | None = None, training: bool = True,
            inplace: bool = False, mode: str = "upscale_in_train", name: str | None = None) -> Tensor:  # fmt: skip
    """Each element becomes 0 with probability p.

    Source: Srivastava et al. 2014, JMLR 15:1929-1958.

    Args:
        x (Tensor): any floating dtype.
        p (float|Tensor, optional): probability of 0. Default: 0.5.
        axis (int|list, optional): elements that differ on other axes only share their fate. Default: None, each has
            its own.
        training (bool, optional): whether to drop. Default: True.
        inplace (bool, optional): x takes the result's value. Default: False.
        mode (str, optional): "upscale_in_train" divides what stays by 1 - p in training; "downscale_in_infer"
            multiplies by 1 - p otherwise. Default: "upscale_in_train".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        TypeError: p or axis is of another type. ValueError: p, axis or mode is out of range.

    Examples:
        >>> paddle.nn.functional.dropout(paddle.ones([2]), 0.5, training=False).tolist()
        [1.0, 1.0]
    """
    tensor(x, "dropout")
    p = _probability(p, "dropout")
    choice(mode, ("upscale_in_train", "downscale_in_infer"), "dropout", "mode")
    out = _dropped(x, p, _mask_shape(x, axis), training, mode == "upscale_in_train")
    if inplace and out is not x:
        check_inplace("dropout", x)
        return replace(x, out)
    return out


def _mask_shape(x: Any, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(x.shape)
    if not isinstance(axis, (int, list, tuple)):
        raise errors.invalid_type("dropout: axis is not an axis.", expected="an int or a list", received=f"{axis!r}")
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for a in axes:
        if not 0 <= a < x.ndim:
            raise errors.invalid_argument(
                "dropout: x has no such axis.", expected=f"axes in [0, {x.ndim})", received=f"axis: {a}"
            )
    return tuple(n if i in axes else 1 for i, n in enumerate(x.shape))


def _dropped(x: Any, p: float, shape: tuple[int, ...], training: bool, upscale: bool) -> Any:
    if p == 0.0:
        return x
    if not training:
        return copy_of(x) if upscale else x * (1.0 - p)
    floating(x, "dropout")
    if p == 1.0:
        return x * 0.0
    kept = keep_mask(next_key(), shape, p, x.dtype)
    out = x * kept * (1.0 / (1.0 - p)) if upscale else x * kept
    return otherwise(out, lambda: _dropped(x, p, shape, False, upscale)) if _local.trace.abstract else out


@public(guarded=True)
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each channel, as a whole, becomes 0 with probability p.

    Args:
        input (Tensor): [N, C, L] or [C, L].
        p (float, optional): probability of 0. Default: 0.5.
        training (bool, optional): whether to drop. Default: True.
        inplace (bool, optional): input takes the result's value. Default: False.

    Returns:
        Tensor: shape and dtype of input.

    Raises:
        ValueError: p is out of range. RuntimeError: input has another number of axes.
    """
    tensor(input, "dropout1d", "input")
    p = _probability(p, "dropout1d")
    if input.ndim not in (2, 3):
        raise errors.precondition(
            "dropout1d: input has the wrong number of axes.", expected="2 or 3 axes", received=f"{input.type}"
        )
    out = _dropped(input, p, (*input.shape[:-1], 1), training, True)
    if inplace and out is not input:
        check_inplace("dropout1d", input)
        return replace(input, out)
    return out


def _dropout_nd(name: str, x: Any, p: Any, training: bool, data_format: str, formats: tuple[str, str]) -> Any:
    tensor(x, name)
    p = _probability(p, name)
    if x.ndim != len(formats[0]):
        raise errors.invalid_argument(
            f"{name}: x has the wrong number of axes.", expected=f"{len(formats[0])} axes", received=f"x: {x.type}"
        )
    choice(data_format, formats, name, "data_format")
    axes = (0, 1) if data_format == formats[0] else (0, x.ndim - 1)
    return _dropped(x, p, tuple(n if i in axes else 1 for i, n in enumerate(x.shape)), training, True)


@public(guarded=True)
def dropout2d(x: Tensor, p: float = 0.5, training: bool = True, data_format: str = "NCHW",
              name: str | None = None) -> Tensor:  # fmt: skip
    """Each channel, as a whole, becomes 0 with probability p.

    Args:
        x (Tensor): [N, C, H, W], or [N, H, W, C] as data_format says.
        p (float, optional): probability of 0. Default: 0.5.
        training (bool, optional): whether to drop. Default: True.
        data_format (str, optional): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: p is out of range, x has not 4 axes, or the format is not known.
    """
    return _dropout_nd("dropout2d", x, p, training, data_format, ("NCHW", "NHWC"))


@public(guarded=True)
def dropout3d(x: Tensor, p: float = 0.5, training: bool = True, data_format: str = "NCDHW",
              name: str | None = None) -> Tensor:  # fmt: skip
    """Each channel, as a whole, becomes 0 with probability p.

    Args:
        x (Tensor): [N, C, D, H, W], or [N, D, H, W, C] as data_format says.
        p (float, optional): probability of 0. Default: 0.5.
        training (bool, optional): whether to drop. Default: True.
        data_format (str, optional): "NCDHW" or "NDHWC". Default: "NCDHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: p is out of range, x has not 5 axes, or the format is not known.
    """
    return _dropout_nd("dropout3d", x, p, training, data_format, ("NCDHW", "NDHWC"))


def _alpha_dropped(x: Any, p: float, shape: tuple[int, ...]) -> Any:
    """Dropout toward selu's lower limit that keeps mean and variance of normal inputs."""
    if p == 1.0:
        return x * 0.0
    floor = -1.0507009873554805 * 1.6732632423543772
    scale = ((1 - p) * (1 + p * floor**2)) ** -0.5
    kept = keep_mask(next_key(), shape, p, x.dtype)
    out = (x * kept + (1.0 - kept) * floor) * scale + (-scale * floor * p)
    return otherwise(out, lambda: copy_of(x)) if _local.trace.abstract else out


@public(guarded=True)
def alpha_dropout(x: Tensor, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """Dropout for selu networks: mean and variance of normal inputs are kept.

    Source: Klambauer et al. 2017, arXiv:1706.02515, section 2.

    Args:
        x (Tensor): any floating dtype.
        p (float, optional): probability of dropping. Default: 0.5.
        training (bool, optional): whether to drop. Default: True.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: p is out of range.
    """
    tensor(x, "alpha_dropout")
    p = _probability(p, "alpha_dropout")
    return _alpha_dropped(x, p, tuple(x.shape)) if training and p else copy_of(x)


@public(guarded=True)
def feature_alpha_dropout(x: Tensor, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """`alpha_dropout` of whole channels.

    Args:
        x (Tensor): [N, C, ...].
        p (float, optional): probability of dropping. Default: 0.5.
        training (bool, optional): whether to drop. Default: True.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        ValueError: p is out of range, or x has fewer than 2 axes.
    """
    tensor(x, "feature_alpha_dropout")
    p = _probability(p, "feature_alpha_dropout")
    if x.ndim < 2:
        raise errors.invalid_argument(
            "feature_alpha_dropout: x has no channels.", expected="2 axes or more", received=f"x: {x.type}"
        )
    return _alpha_dropped(x, p, (*x.shape[:2], *[1] * (x.ndim - 2))) if training and p else copy_of(x)
