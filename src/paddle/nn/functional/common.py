"""Linear maps, padding, and rearranging of channels and patches."""

from __future__ import annotations

import math
from typing import Any

from ...engine import errors
from ...engine.ops.convolution import Fold, Unfold
from ...engine.ops.linalg import matmul
from ...engine.ops.shape import PadFrom, reshape, transpose
from ...engine.ops.shape import pad as pad_with
from ...tensor.creation import copy_of
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import choice, floating, integer, numbers, tensor

__all__ = [
    "bilinear", "channel_shuffle",
    "fold", "label_smooth", "linear", "pad", "pixel_shuffle", "pixel_unshuffle", "unfold",
    "zeropad2d",
]  # fmt: skip


@public(composed=True)
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, name: str | None = None) -> Tensor:
    """x @ weight + bias.

    Args:
        x (Tensor): [..., I].
        weight (Tensor): [I, O].
        bias (Tensor, optional): [O]. Default: None.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [..., O].

    Raises:
        ValueError: the inner sizes or the dtypes differ, or bias does not fit.

    Examples:
        >>> paddle.nn.functional.linear(paddle.ones([1, 2]), paddle.ones([2, 3]), paddle.ones([3])).tolist()
        [[3.0, 3.0, 3.0]]
    """
    tensor(x, "linear")
    tensor(weight, "linear", "weight")
    out = matmul(x, weight)
    if bias is None:
        return out
    tensor(bias, "linear", "bias")
    return out + bias


# ---- padding ----------------------------------------------------------------------------------
_PAD_FORMATS = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


@public(also={"x": "input"})
def pad(x: Tensor, pad: Any, mode: str = "constant", value: float = 0.0, data_format: str | None = None,
        pad_from_left_axis: bool = True, name: str | None = None) -> Tensor:  # fmt: skip
    """x with elements around it.

    Args:
        x (Tensor): any dtype.
        pad (int|list|Tensor): (before, after) pairs. Two per axis of x go from the first axis on, or from the last if
            pad_from_left_axis is False. Fewer go from the last axis (the last spatial one, if data_format has the
            channels last) backward. Negative numbers cut off. A number goes on all sides of the spatial axes.
        mode (str, optional): "constant", "reflect" (mirror without the edge), "replicate" (repeat the edge) or
            "circular" (go on at the other end). Default: "constant".
        value (float, optional): for "constant". Default: 0.0.
        data_format (str, optional): "NCL", "NLC", "NCHW", "NHWC", "NCDHW" or "NDHWC". Default: None, channels first.
        pad_from_left_axis (bool, optional): order of the pairs where every axis has one. Default: True.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: the padded x.

    Raises:
        AssertionError: mode or data_format is not known, or a mode other than "constant" and x has not 3 to 5 axes.
        ValueError: pad does not fit.

    Examples:
        >>> paddle.nn.functional.pad(paddle.ones([1, 2]), [1, 1]).tolist()
        [[0.0, 1.0, 1.0, 0.0]]
    """
    tensor(x, "pad")
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise errors.asserted(
            "pad: mode is not known.",
            expected="'constant', 'reflect', 'replicate' or 'circular'",
            received=f"mode: {mode!r}",
        )
    if isinstance(pad, Tensor):
        pad = pad.tolist()
    spatial = x.ndim - 2
    if isinstance(pad, int) and not isinstance(pad, bool):
        pad = [pad] * (2 * max(spatial, 1))
    if not isinstance(pad, (list, tuple)):
        make = errors.invalid_type if x.ndim in _PAD_FORMATS else errors.asserted
        raise make(
            "pad: pad is neither an integer nor a list.",
            expected="an int, or a pair per axis",
            received=f"pad: {pad!r}",
        )
    amounts = [integer(v, "pad", f"pad[{i}]") for i, v in enumerate(pad)]
    last = False
    if data_format is not None and x.ndim in _PAD_FORMATS:
        if data_format not in _PAD_FORMATS[x.ndim]:
            raise errors.asserted(
                "pad: data_format is not known.",
                expected=f"one of {_PAD_FORMATS[x.ndim]}",
                received=f"data_format: {data_format!r}",
            )
        last = data_format[1] != "C"
    if mode != "constant":
        if x.ndim not in _PAD_FORMATS:
            raise errors.asserted(
                f"pad: x has too few or too many axes for mode {mode!r}.", expected="3, 4 or 5", received=f"x: {x.type}"
            )
        if len(amounts) != 2 * spatial:
            raise errors.invalid_argument(
                "pad: pad has the wrong length.", expected=f"{2 * spatial} numbers", received=f"pad: {amounts}"
            )
    low, high = _pad_amounts(x.ndim, amounts, last, pad_from_left_axis)
    if mode == "constant":
        return pad_with(x, low, high, value) if any(low) or any(high) else copy_of(x)
    return _pad_from(x, low, high, mode) if any(low) or any(high) else copy_of(x)


def _pad_amounts(ndim: int, amounts: list[int], last: bool, from_left: bool) -> tuple[list[int], list[int]]:
    low, high = [0] * ndim, [0] * ndim
    if len(amounts) == 2 * ndim and from_left:
        order = list(range(ndim))
    elif last and len(amounts) <= 2 * (ndim - 2):
        order = list(range(ndim - 2, 0, -1))
    else:
        order = list(range(ndim - 1, -1, -1))
    amounts = amounts + [0] * (2 * ndim - len(amounts))
    for i, axis in enumerate(order):
        low[axis], high[axis] = amounts[2 * i], amounts[2 * i + 1]
    return low, high


def _pad_from(x: Any, low: list[int], high: list[int], mode: str) -> Any:
    x = pad_with(x, [min(n, 0) for n in low], [min(n, 0) for n in high])
    low, high = [max(n, 0) for n in low], [max(n, 0) for n in high]
    if mode == "circular":  # one step reaches no farther than once around
        for axis, n in enumerate(tuple(x.shape)):
            while n and (low[axis] > n or high[axis] > n):
                step = [n if i == axis else 0 for i in range(x.ndim)]
                none = [0] * x.ndim
                before = low[axis] > n
                x = PadFrom(tuple(step if before else none), tuple(none if before else step), mode)(x)
                (low if before else high)[axis] -= n
    return PadFrom(tuple(low), tuple(high), mode)(x) if any(low) or any(high) else x


@public(guarded=True)
def zeropad2d(x: Tensor, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """x with zeros around its last two spatial axes.

    Args:
        x (Tensor): [N, C, H, W], or [N, H, W, C] as data_format says.
        padding (int|list|Tensor): [left, right, top, bottom].
        data_format (str, optional): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: the padded x.
    """
    return pad(x, padding, "constant", 0, data_format)


# ---- channels and patches ---------------------------------------------------------------------
def _four_axes(x: Any, name: str, data_format: str) -> bool:
    tensor(x, name)
    choice(data_format, ("NCHW", "NHWC"), name, "data_format")
    if x.ndim != 4:
        raise errors.invalid_argument(f"{name}: x has not 4 axes.", expected="4 axes", received=f"x: {x.type}")
    return data_format == "NHWC"


def _divides(n: int, m: int, name: str, what: str) -> None:
    if m < 1 or n % m:
        raise errors.invalid_argument(
            f"{name}: {what} does not divide.", expected=f"a positive divisor of {n}", received=f"{m}"
        )


def _integer(v: Any, name: str, label: str) -> int:
    if not isinstance(v, int):
        raise errors.invalid_type(f"{name}: {label} is not an integer.", expected="an int", received=f"{v!r}")
    return v


@public(composed=True)
def pixel_shuffle(x: Tensor, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Channels become pixels: [N, C * r * r, H, W] -> [N, C, H * r, W * r].

    Source: Shi et al. 2016, arXiv:1609.05158, equation 4.

    Args:
        x (Tensor): 4 axes.
        upscale_factor (int): r.
        data_format (str, optional): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: the rearranged x.

    Raises:
        TypeError: upscale_factor is not an integer. ValueError: r * r does not divide the channels.
    """
    r = _integer(upscale_factor, "pixel_shuffle", "upscale_factor")
    if _four_axes(x, "pixel_shuffle", data_format):
        n, h, w, c = x.shape
        _divides(c, r * r, "pixel_shuffle", "upscale_factor ** 2")
        out = transpose(reshape(x, (n, h, w, c // (r * r), r, r)), (0, 1, 4, 2, 5, 3))
        return reshape(out, (n, h * r, w * r, c // (r * r)))
    n, c, h, w = x.shape
    _divides(c, r * r, "pixel_shuffle", "upscale_factor ** 2")
    out = transpose(reshape(x, (n, c // (r * r), r, r, h, w)), (0, 1, 4, 2, 5, 3))
    return reshape(out, (n, c // (r * r), h * r, w * r))


@public(composed=True)
def pixel_unshuffle(x: Tensor, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Pixels become channels: [N, C, H * r, W * r] -> [N, C * r * r, H, W].

    Args:
        x (Tensor): 4 axes.
        downscale_factor (int): r.
        data_format (str, optional): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: the rearranged x.

    Raises:
        TypeError: downscale_factor is not an integer. ValueError: r does not divide H and W.
    """
    r = _integer(downscale_factor, "pixel_unshuffle", "downscale_factor")
    last = _four_axes(x, "pixel_unshuffle", data_format)
    n, c, h, w = (x.shape[i] for i in ((0, 3, 1, 2) if last else (0, 1, 2, 3)))
    _divides(h, r, "pixel_unshuffle", "downscale_factor")
    _divides(w, r, "pixel_unshuffle", "downscale_factor")
    if last:
        out = transpose(reshape(x, (n, h // r, r, w // r, r, c)), (0, 1, 3, 5, 2, 4))
        return reshape(out, (n, h // r, w // r, c * r * r))
    out = transpose(reshape(x, (n, c, h // r, r, w // r, r)), (0, 1, 3, 5, 2, 4))
    return reshape(out, (n, c * r * r, h // r, w // r))


@public(composed=True)
def channel_shuffle(x: Tensor, groups: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Channels dealt out over the groups in turn.

    Source: Zhang et al. 2017, arXiv:1707.01083, section 3.1.

    Args:
        x (Tensor): 4 axes.
        groups (int): divides the channels.
        data_format (str, optional): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of x.

    Raises:
        TypeError: groups is not an integer. ValueError: groups does not divide the channels.
    """
    groups = _integer(groups, "channel_shuffle", "groups")
    if _four_axes(x, "channel_shuffle", data_format):
        n, h, w, c = x.shape
        _divides(c, groups, "channel_shuffle", "groups")
        return reshape(transpose(reshape(x, (n, h, w, groups, c // groups)), (0, 1, 2, 4, 3)), (n, h, w, c))
    n, c, h, w = x.shape
    _divides(c, groups, "channel_shuffle", "groups")
    return reshape(transpose(reshape(x, (n, groups, c // groups, h, w)), (0, 2, 1, 3, 4)), (n, c, h, w))


def _patch_sizes(name: str, kernel: Any, strides: Any, paddings: Any, dilations: Any) -> Any:
    k, s, d = (
        numbers(v, 2, name, label, errors.invalid_type)
        for v, label in ((kernel, "kernel_sizes"), (strides, "strides"), (dilations, "dilations"))
    )
    if isinstance(paddings, (list, tuple)) and len(paddings) == 4:
        top, left, bottom, right = (int(v) for v in paddings)
    else:
        if isinstance(paddings, (list, tuple)) and len(paddings) != 2:
            raise errors.invalid_argument(
                f"{name}: paddings has the wrong length.", expected="an int, 2 or 4 numbers", received=f"{paddings}"
            )
        top, left = bottom, right = numbers(paddings, 2, name, "paddings", errors.invalid_type)
    for v, label in ((k, "kernel_sizes"), (s, "strides"), (d, "dilations")):
        if min(v) < 1:
            raise errors.invalid_argument(f"{name}: {label} is not positive.", expected="above 0", received=f"{v}")
    return k, s, d, (top, left), (bottom, right)


@public(composed=True)
def unfold(x: Tensor, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1,
           name: str | None = None) -> Tensor:  # fmt: skip
    """Patches of an image as columns.

    Args:
        x (Tensor): [N, C, H, W].
        kernel_sizes (int|list): sizes of a patch, KH and KW.
        strides (int|list, optional): between patches. Default: 1.
        paddings (int|list, optional): zeros around; [h, w] or [top, left, bottom, right]. Default: 0.
        dilations (int|list, optional): between elements of a patch. Default: 1.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C * KH * KW, number of patches].

    Raises:
        AssertionError: x has not 4 axes. ValueError: the sizes do not fit.
    """
    tensor(x, "unfold")
    if x.ndim != 4:
        raise errors.asserted("unfold: x has not 4 axes.", expected="[N, C, H, W]", received=f"x: {x.type}")
    k, s, d, low, high = _patch_sizes("unfold", kernel_sizes, strides, paddings, dilations)
    out = Unfold(k, s, d)(pad_with(x, (0, 0, *low), (0, 0, *high)))
    return reshape(out, (x.shape[0], x.shape[1] * math.prod(k), math.prod(tuple(out.shape)[4:])))


@public(also={"x": "input", "output_sizes": "output_size", "kernel_sizes": "kernel_size", "strides": "stride",
              "paddings": "padding", "dilations": "dilation"})  # fmt: skip
def fold(x: Tensor, output_sizes: Any, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1,
         name: str | None = None) -> Tensor:  # fmt: skip
    """Columns of patches added into an image: the transpose of `unfold`.

    Args:
        x (Tensor): [N, C * KH * KW, number of patches].
        output_sizes (int|list): H and W of the image.
        kernel_sizes (int|list): KH and KW.
        strides, paddings, dilations (int|list, optional): as for `unfold`.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, C, H, W].

    Raises:
        AssertionError: x has not 3 axes. ValueError: the sizes do not fit.
    """
    tensor(x, "fold")
    if x.ndim != 3:
        raise errors.asserted(
            "fold: x has not 3 axes.", expected="[N, channels of a patch, patches]", received=f"x: {x.type}"
        )
    sizes = numbers(output_sizes, 2, "fold", "output_sizes")
    k, s, d, low, high = _patch_sizes("fold", kernel_sizes, strides, paddings, dilations)
    full = tuple(n + a + b for n, a, b in zip(sizes, low, high))
    count = tuple((n - (m - 1) * e - 1) // t + 1 for n, m, e, t in zip(full, k, d, s))
    n, rows, columns = x.shape
    if rows % math.prod(k) or columns != math.prod(count) or min(count) < 1:
        raise errors.invalid_argument(
            "fold: x does not fit the sizes.",
            expected=f"[N, a multiple of {math.prod(k)}, {math.prod(count)}]",
            received=f"x: {x.type}",
        )
    c = rows // math.prod(k)
    out = Fold(k, s, d, full)(reshape(x, (n, c, *k, *count)))
    return pad_with(out, (0, 0, *(-v for v in low)), (0, 0, *(-v for v in high)))


@public(composed=True)
def bilinear(x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None = None, name: str | None = None) -> Tensor:
    """out[n, o] = sum over i, j of x1[n, i] * weight[o, i, j] * x2[n, j], plus bias.

    Args:
        x1 (Tensor): [N, I].
        x2 (Tensor): [N, J].
        weight (Tensor): [O, I, J].
        bias (Tensor, optional): [1, O]. Default: None.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, O].

    Raises:
        ValueError: the sizes do not fit.
    """
    for v, label in ((x1, "x1"), (x2, "x2"), (weight, "weight")):
        floating(v, "bilinear", label)
    if x1.ndim != 2 or x2.ndim != 2 or weight.ndim != 3 or x1.shape[0] != x2.shape[0] or tuple(weight.shape)[1:] != (
        x1.shape[1], x2.shape[1]):  # fmt: skip
        raise errors.invalid_argument(
            "bilinear: the sizes do not fit.",
            expected="x1 [N, I], x2 [N, J], weight [O, I, J]",
            received=f"x1: {x1.type}, x2: {x2.type}, weight: {weight.type}",
        )
    o, i, j = weight.shape
    from ...engine.ops.reduction import sum_

    left = matmul(x1, reshape(transpose(weight, (1, 0, 2)), (i, o * j)))
    out = sum_(reshape(left, (x1.shape[0], o, j)) * reshape(x2, (x2.shape[0], 1, j)), (2,))
    return out if bias is None else out + bias


@public(composed=True)
def label_smooth(label: Tensor, prior_dist: Tensor | None = None, epsilon: float = 0.1,
                 name: str | None = None) -> Tensor:  # fmt: skip
    """(1 - epsilon) * label + epsilon * prior, the prior being even where it is not given.

    Source: Szegedy et al. 2015, arXiv:1512.00567, section 7.

    Args:
        label (Tensor): one-hot or soft labels, floating, classes on the last axis.
        prior_dist (Tensor, optional): [1, classes]. Default: None.
        epsilon (float, optional): in [0, 1]. Default: 0.1.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: shape and dtype of label.

    Raises:
        ValueError: epsilon is out of range.
    """
    tensor(label, "label_smooth", "label")
    if not 0.0 <= epsilon <= 1.0:
        raise errors.invalid_argument(
            "label_smooth: epsilon is out of range.", expected="0 <= epsilon <= 1", received=f"{epsilon}"
        )
    floating(label, "label_smooth", "label")
    smooth = label * (1.0 - epsilon)
    if prior_dist is not None:
        return smooth + tensor(prior_dist, "label_smooth", "prior_dist") * float(epsilon)
    return smooth + epsilon / label.shape[-1]
