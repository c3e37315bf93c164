"""Convolutions and their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine import errors
from ...engine.ops.convolution import Conv, conv_input_grad
from ...engine.ops.shape import pad, reshape, transpose
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import floating, need_fixed, numbers

__all__ = ["conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose"]

FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def channels_last(data_format: Any, rank: int, name: str) -> bool:
    """Whether the channels come last. ValueError if the format is not one of this rank."""
    formats = FORMATS[rank]
    if data_format not in formats:
        raise errors.invalid_argument(
            f"{name}: data_format is not known.", expected=f"one of {formats}", received=f"data_format: {data_format!r}"
        )
    return data_format == formats[1]


def to_first(x: Any, last: bool) -> Any:
    """x with its channels on axis 1."""
    return transpose(x, (0, x.ndim - 1, *range(1, x.ndim - 1))) if last else x


def to_last(x: Any, last: bool) -> Any:
    """Undoes `to_first`."""
    return transpose(x, (0, *range(2, x.ndim), 1)) if last else x


def padding_pairs(padding: Any, rank: int, last: bool, name: str) -> list[tuple[int, int]] | str:
    """(before, after) per spatial axis; or "SAME", "VALID"."""
    if isinstance(padding, str):
        kind = padding.upper()
        if kind not in ("SAME", "VALID"):
            raise errors.invalid_argument(
                f"{name}: padding is not known.",
                expected="'SAME', 'VALID' or numbers",
                received=f"padding: {padding!r}",
            )
        return kind
    if isinstance(padding, (list, tuple)) and padding and isinstance(padding[0], (list, tuple)):
        pairs = [tuple(int(v) for v in p) for p in padding]
        if len(pairs) == rank + 2:
            outer = (pairs[0], pairs[-1]) if last else (pairs[0], pairs[1])
            if any(p != (0, 0) for p in outer):
                raise errors.invalid_argument(
                    f"{name}: the batch or the channels are padded.",
                    expected="[0, 0] for these axes",
                    received=f"padding: {padding}",
                )
            pairs = pairs[1:-1] if last else pairs[2:]
        if len(pairs) != rank or any(len(p) != 2 for p in pairs):
            raise _bad_padding(padding, rank, name)
        return pairs  # type: ignore[return-value]
    if isinstance(padding, (list, tuple)) and len(padding) == 2 * rank and rank > 0:
        found = [int(v) for v in padding]
        return [(found[2 * i], found[2 * i + 1]) for i in range(rank)]
    if isinstance(padding, (list, tuple)) and len(padding) not in (1, rank):
        raise _bad_padding(padding, rank, name)
    return [(p, p) for p in numbers(padding, rank, name, "padding")]


def _bad_padding(padding: Any, rank: int, name: str) -> Exception:
    return errors.invalid_argument(
        f"{name}: padding has the wrong length.",
        expected=f"an int, {rank} or {2 * rank} ints, or a pair per axis",
        received=f"padding: {padding}",
    )


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """Padding for ceil(size / stride) windows, the odd element after."""
    if stride > 1:
        need_fixed(size, "padding 'SAME'")
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def positive(value: Any, rank: int, name: str, label: str) -> tuple[int, ...]:
    found = numbers(value, rank, name, label)
    if any(n < 1 for n in found):
        raise errors.invalid_argument(
            f"{name}: {label} is not positive.", expected="numbers above 0", received=f"{label}: {value}"
        )
    return found


def _check(name: str, rank: int, x: Any, weight: Any, bias: Any) -> None:
    floating(x, name)
    floating(weight, name, "weight")
    if bias is not None:
        floating(bias, name, "bias")
    if x.ndim != rank + 2 or weight.ndim != rank + 2:
        raise errors.invalid_argument(
            f"{name}: x or weight has the wrong number of axes.",
            expected=f"{rank + 2} axes each",
            received=f"x: {x.type}, weight: {weight.type}",
        )


def _with_bias(out: Any, bias: Any, rank: int) -> Any:
    return out if bias is None else out + reshape(bias, (1, bias.shape[0], *[1] * rank))


def _conv(name: str, rank: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
          groups: int, data_format: str) -> Any:  # fmt: skip
    last = channels_last(data_format, rank, name)
    _check(name, rank, x, weight, bias)
    strides = positive(stride, rank, name, "stride")
    dilations = positive(dilation, rank, name, "dilation")
    x = to_first(x, last)
    n, channels, *sizes = x.shape
    outs, inner, *kernel = weight.shape
    if groups < 1 or channels != inner * groups or outs % groups:
        raise errors.invalid_argument(
            f"{name}: channels, weight and groups do not fit.",
            expected=f"{inner * groups} channels, weight.shape[1] * groups, and groups a divisor of weight.shape[0]",
            received=f"{channels} channels in x: {x.type}, weight: {weight.type}, groups: {groups}",
        )
    pairs = padding_pairs(padding, rank, last, name)
    if pairs == "SAME":
        dilations = (1,) * rank  # upstream ignores the dilation here
        pairs = [same_padding(*a) for a in zip(sizes, kernel, strides)]
    elif pairs == "VALID":
        pairs = [(0, 0)] * rank
    x = pad(x, (0, 0, *(p[0] for p in pairs)), (0, 0, *(p[1] for p in pairs)))
    out = Conv(strides, dilations)(
        reshape(x, (n, groups, inner, *tuple(x.shape)[2:])),
        reshape(weight, (groups, outs // groups, inner, *kernel)),
    )
    out = reshape(out, (n, outs, *tuple(out.shape)[3:]))
    return to_last(_with_bias(out, bias, rank), last)


def _conv_transpose(name: str, rank: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any,
                    output_padding: Any, groups: int, dilation: Any, output_size: Any,
                    data_format: str) -> Any:  # fmt: skip
    last = channels_last(data_format, rank, name)
    _check(name, rank, x, weight, bias)
    strides = positive(stride, rank, name, "stride")
    dilations = positive(dilation, rank, name, "dilation")
    x = to_first(x, last)
    n, channels, *sizes = x.shape
    ins, outs, *kernel = weight.shape
    if groups < 1 or channels != ins or ins % groups:
        raise errors.invalid_argument(
            f"{name}: channels, weight and groups do not fit.",
            expected=f"{ins} channels, weight.shape[0], and groups a divisor of them",
            received=f"{channels} channels in x: {x.type}, weight: {weight.type}, groups: {groups}",
        )
    pairs = padding_pairs(padding, rank, last, name)
    if pairs == "SAME":
        dilations = (1,) * rank
        pairs = [same_padding(*a) for a in zip(sizes, kernel, strides)]
    elif pairs == "VALID":
        pairs = [(0, 0)] * rank
    least = [(m - 1) * s - sum(p) + d * (k - 1) + 1 for m, s, p, d, k in zip(sizes, strides, pairs, dilations, kernel)]
    if output_size is not None:
        if any(numbers(output_padding, rank, name, "output_padding")):
            raise errors.invalid_argument(
                f"{name}: output_size and output_padding are both given.",
                expected="at most one of them",
                received=f"output_size: {output_size}, output_padding: {output_padding}",
            )
        if isinstance(output_size, (list, tuple)) and len(output_size) != rank:
            raise errors.invalid_argument(
                f"{name}: output_size has the wrong length.",
                expected=f"an int, or {rank} of them",
                received=f"output_size: {output_size}",
            )
        wanted = numbers(output_size, rank, name, "output_size")
        extra = tuple(w - m for w, m in zip(wanted, least))
        if any(not 0 <= e < s for e, s in zip(extra, strides)):
            raise errors.invalid_argument(
                f"{name}: output_size cannot be reached.",
                expected=f"from {least} up to less than {[m + s for m, s in zip(least, strides)]}",
                received=f"output_size: {list(wanted)}",
            )
    else:
        extra = numbers(output_padding, rank, name, "output_padding")
        if any(e < 0 or (e and e >= max(s, d)) for e, s, d in zip(extra, strides, dilations)):
            raise errors.invalid_argument(
                f"{name}: output_padding is out of range.",
                expected="below the stride or the dilation, along each axis",
                received=f"output_padding: {list(extra)}, stride: {list(strides)}, dilation: {list(dilations)}",
            )
    if any(m + e < 1 for m, e in zip(least, extra)):
        raise errors.invalid_argument(
            f"{name}: the result would be empty.",
            expected="(size - 1) * stride + (kernel - 1) * dilation + 1 above the padding",
            received=f"x: {x.type}, padding: {pairs}",
        )
    # The transpose of a convolution whose padded input has these sizes; then the padding is cut off.
    full = [m + e + sum(p) for m, e, p in zip(least, extra, pairs)]
    grouped = reshape(x, (n, groups, ins // groups, *sizes))
    kernels = reshape(weight, (groups, ins // groups, outs, *kernel))
    out = conv_input_grad(grouped, kernels, (n, groups, outs, *full), strides, dilations)
    out = pad(out, (0, 0, 0, *(-p[0] for p in pairs)), (0, 0, 0, *(-p[1] for p in pairs)))
    out = reshape(out, (n, groups * outs, *tuple(out.shape)[3:]))
    return to_last(_with_bias(out, bias, rank), last)


@public(also={"x": "input"}, composed=True)
def conv1d(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
           padding: Any = 0, dilation: int | Sequence[int] = 1, groups: int = 1, data_format: str = "NCL",
           name: str | None = None) -> Tensor:  # fmt: skip
    """Convolution (cross-correlation) over one axis.

    Args:
        x (Tensor): [N, C, L], or [N, L, C] as data_format says.
        weight (Tensor): [O, C / groups, K].
        bias (Tensor, optional): [O]. Default: None.
        stride (int|list, optional): elements between windows. Default: 1.
        padding (int|str|list, optional): zeros on both sides; [before, after]; a pair per axis of x; "SAME" for
            ceil(L / stride) windows; "VALID" for none. Default: 0.
        dilation (int|list, optional): elements between those that a window reads. Default: 1.
        groups (int, optional): parts of the channels that are convolved apart. Default: 1.
        data_format (str, optional): "NCL" or "NLC". Default: "NCL".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, O, (L + padding - (K - 1) * dilation - 1) // stride + 1], in data_format.

    Raises:
        ValueError: shapes, channels and groups do not fit, or the padding or format is not known.

    Examples:
        >>> x, w = paddle.ones([1, 1, 4]), paddle.ones([1, 1, 3])
        >>> paddle.nn.functional.conv1d(x, w, padding=1).tolist()
        [[[2.0, 3.0, 3.0, 2.0]]]
    """
    return _conv("conv1d", 1, x, weight, bias, stride, padding, dilation, groups, data_format)


@public(also={"x": "input"}, composed=True)
def conv2d(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
           padding: Any = 0, dilation: int | Sequence[int] = 1, groups: int = 1, data_format: str = "NCHW",
           name: str | None = None) -> Tensor:  # fmt: skip
    """Convolution (cross-correlation) over two axes.

    Args:
        x (Tensor): [N, C, H, W], or [N, H, W, C] as data_format says.
        weight (Tensor): [O, C / groups, KH, KW].
        bias (Tensor, optional): [O]. Default: None.
        stride (int|list, optional): elements between windows, per axis or for both. Default: 1.
        padding (int|str|list, optional): zeros on both sides; [h, w]; [top, bottom, left, right]; a pair per axis of
            x; "SAME" for ceil(size / stride) windows; "VALID" for none. Default: 0.
        dilation (int|list, optional): elements between those that a window reads. Default: 1.
        groups (int, optional): parts of the channels that are convolved apart. Default: 1.
        data_format (str, optional): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, O, OH, OW] in data_format, with OH = (H + padding - (KH - 1) * dilation - 1) // stride + 1.

    Raises:
        ValueError: shapes, channels and groups do not fit, or the padding or format is not known.

    Examples:
        >>> x, w = paddle.ones([1, 3, 8, 8]), paddle.ones([4, 3, 3, 3])
        >>> paddle.nn.functional.conv2d(x, w, stride=2, padding=1).shape
        paddle.Size([1, 4, 4, 4])
    """
    return _conv("conv2d", 2, x, weight, bias, stride, padding, dilation, groups, data_format)


@public(also={"x": "input"}, composed=True)
def conv3d(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
           padding: Any = 0, dilation: int | Sequence[int] = 1, groups: int = 1, data_format: str = "NCDHW",
           name: str | None = None) -> Tensor:  # fmt: skip
    """Convolution (cross-correlation) over three axes.

    Args:
        x (Tensor): [N, C, D, H, W], or [N, D, H, W, C] as data_format says.
        weight (Tensor): [O, C / groups, KD, KH, KW].
        bias (Tensor, optional): [O]. Default: None.
        stride (int|list, optional): elements between windows. Default: 1.
        padding (int|str|list, optional): as for `conv2d`. Default: 0.
        dilation (int|list, optional): elements between those that a window reads. Default: 1.
        groups (int, optional): parts of the channels that are convolved apart. Default: 1.
        data_format (str, optional): "NCDHW" or "NDHWC". Default: "NCDHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, O, OD, OH, OW] in data_format.

    Raises:
        ValueError: shapes, channels and groups do not fit, or the padding or format is not known.
    """
    return _conv("conv3d", 3, x, weight, bias, stride, padding, dilation, groups, data_format)


@public(composed=True)
def conv1d_transpose(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
                     padding: Any = 0, output_padding: int | Sequence[int] = 0, groups: int = 1,
                     dilation: int | Sequence[int] = 1, output_size: Any = None, data_format: str = "NCL",
                     name: str | None = None) -> Tensor:  # fmt: skip
    """The transpose (gradient) of a convolution over one axis.

    Args:
        x (Tensor): [N, C, L], or [N, L, C] as data_format says.
        weight (Tensor): [C, O / groups, K].
        bias (Tensor, optional): [O]. Default: None.
        stride (int|list, optional): spreads x. Default: 1.
        padding (int|str|list, optional): what is cut off the result. Default: 0.
        output_padding (int|list, optional): added at the end, below the stride. Default: 0.
        groups (int, optional): parts of the channels. Default: 1.
        dilation (int|list, optional): spreads the kernel. Default: 1.
        output_size (int|list, optional): the size of the result, in place of output_padding. Default: None.
        data_format (str, optional): "NCL" or "NLC". Default: "NCL".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, O, (L - 1) * stride - padding + (K - 1) * dilation + 1 + output_padding], in data_format.

    Raises:
        ValueError: shapes, channels and groups do not fit, or output_size cannot be reached.
    """
    return _conv_transpose("conv1d_transpose", 1, x, weight, bias, stride, padding, output_padding, groups, dilation,
                           output_size, data_format)  # fmt: skip


@public(composed=True)
def conv2d_transpose(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
                     padding: Any = 0, output_padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1,
                     groups: int = 1, output_size: Any = None, data_format: str = "NCHW",
                     name: str | None = None) -> Tensor:  # fmt: skip
    """The transpose (gradient) of a convolution over two axes; see `conv1d_transpose`.

    Args:
        x (Tensor): [N, C, H, W], or [N, H, W, C] as data_format says.
        weight (Tensor): [C, O / groups, KH, KW].
        bias (Tensor, optional): [O]. Default: None.
        stride (int|list, optional): spreads x. Default: 1.
        padding (int|str|list, optional): what is cut off the result. Default: 0.
        output_padding (int|list, optional): added at the end, below the stride. Default: 0.
        dilation (int|list, optional): spreads the kernel. Default: 1.
        groups (int, optional): parts of the channels. Default: 1.
        output_size (int|list, optional): sizes of the result, in place of output_padding. Default: None.
        data_format (str, optional): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, O, OH, OW] in data_format.

    Raises:
        ValueError: shapes, channels and groups do not fit, or output_size cannot be reached.
    """
    return _conv_transpose("conv2d_transpose", 2, x, weight, bias, stride, padding, output_padding, groups, dilation,
                           output_size, data_format)  # fmt: skip


@public(composed=True)
def conv3d_transpose(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
                     padding: Any = 0, output_padding: int | Sequence[int] = 0, groups: int = 1,
                     dilation: int | Sequence[int] = 1, output_size: Any = None, data_format: str = "NCDHW",
                     name: str | None = None) -> Tensor:  # fmt: skip
    """The transpose (gradient) of a convolution over three axes; see `conv1d_transpose`.

    Args:
        x (Tensor): [N, C, D, H, W], or [N, D, H, W, C] as data_format says.
        weight (Tensor): [C, O / groups, KD, KH, KW].
        bias (Tensor, optional): [O]. Default: None.
        stride (int|list, optional): spreads x. Default: 1.
        padding (int|str|list, optional): what is cut off the result. Default: 0.
        output_padding (int|list, optional): added at the end, below the stride. Default: 0.
        groups (int, optional): parts of the channels. Default: 1.
        dilation (int|list, optional): spreads the kernel. Default: 1.
        output_size (int|list, optional): sizes of the result, in place of output_padding. Default: None.
        data_format (str, optional): "NCDHW" or "NDHWC". Default: "NCDHW".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, O, OD, OH, OW] in data_format.

    Raises:
        ValueError: shapes, channels and groups do not fit, or output_size cannot be reached.
    """
    return _conv_transpose("conv3d_transpose", 3, x, weight, bias, stride, padding, output_padding, groups, dilation,
                           output_size, data_format)  # fmt: skip
