"""Deformable convolutions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import nn
from ...engine import errors
from ...tensor.tensor import Tensor
from ._checks import check_tensor, pair

__all__ = ["DeformConv2D", "deform_conv2d"]

# Shape letters: N images, C channels in, O out, H, W of the input, P, Q of the output, K elements of the kernel,
# D groups of offsets, G groups of channels.


def deform_conv2d(
    x: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    deformable_groups: int = 1,
    groups: int = 1,
    mask: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """A convolution whose kernel reads its elements at places of its own, moved by offset, for each output element.

    Source: Dai et al. 2017, arXiv:1703.06211; with mask: Zhu et al. 2018, arXiv:1811.11168.

    Args:
        x (Tensor): [N, C, H, W].
        offset (Tensor): [N, 2 * D * K, P, Q], down and to the right in turn, for each element of the kernel.
        weight (Tensor): [O, C / groups, height, width], with K = height * width.
        bias (Tensor, optional): [O].
        stride (int|tuple), padding (int|tuple), dilation (int|tuple): as in `conv2d`. Default: 1, 0, 1.
        deformable_groups (int): D, in how many groups the channels are read alike. Default: 1.
        groups (int): as in `conv2d`. Default: 1.
        mask (Tensor, optional): [N, D * K, P, Q], factors of what is read. Default: 1.
        name (str, optional): not used here. Default: None.

    Returns:
        Tensor: [N, O, P, Q]. What lies outside of x is 0, and what lies between elements is interpolated.

    Raises:
        TypeError, ValueError: a wrong type or shape.

    Examples:
        >>> x, weight = paddle.ones([1, 2, 6, 6]), paddle.ones([3, 2, 3, 3])
        >>> paddle.vision.ops.deform_conv2d(x, paddle.zeros([1, 18, 4, 4]), weight)[0, 0, 0, 0].item()
        18.0
    """
    f = "deform_conv2d"
    check_tensor(x, f, "x", ("N", "C", "H", "W"))
    n, c, h, w = x.shape
    check_tensor(weight, f, "weight", ("O", "C / groups", "height", "width"))
    o, _, kh, kw = weight.shape
    k, d = kh * kw, deformable_groups
    if c % groups or c % d or o % groups or weight.shape[1] != c // groups:
        raise errors.invalid_argument(
            f"{f}: groups do not fit.",
            expected="channels that groups and deformable_groups divide, weight [O, C / groups, height, width]",
            received=f"x: {x.type}, weight: {weight.type}, groups={groups}, deformable_groups={d}",
        )
    (sh, sw), (ph, pw), (dh, dw) = (
        pair(v, f, label) for v, label in ((stride, "stride"), (padding, "padding"), (dilation, "dilation"))
    )
    p, q = (h + 2 * ph - dh * (kh - 1) - 1) // sh + 1, (w + 2 * pw - dw * (kw - 1) - 1) // sw + 1
    check_tensor(offset, f, "offset", (n, 2 * d * k, p, q))
    if mask is not None:
        check_tensor(mask, f, "mask", (n, d * k, p, q))
    weight, offset = (v if v.dtype is x.dtype else v.astype(x.dtype) for v in (weight, offset))
    moves = offset.reshape([n * d, k, 2, p * q]).transpose([2, 0, 1, 3])
    y = moves[0] + _regular(p, q, kh, kw, (sh, sw), (ph, pw), (dh, dw), 0, x)
    across = moves[1] + _regular(p, q, kh, kw, (sh, sw), (ph, pw), (dh, dw), 1, x)
    read = _bilinear(x.reshape([n * d, c // d, h * w]), y, across, h, w)  # [N * D, C / D, K, P * Q]
    if mask is not None:
        read = read * mask.astype(x.dtype).reshape([n * d, 1, k, p * q])
    columns = read.reshape([n, groups, c // groups * k, p * q])
    out = (weight.reshape([groups, o // groups, c // groups * k]) @ columns).reshape([n, o, p, q])
    return out if bias is None else out + bias.astype(x.dtype).reshape([1, o, 1, 1])


def _regular(
    p: int, q: int, kh: int, kw: int, stride: Any, padding: Any, dilation: Any, axis: int, x: Tensor
) -> Tensor:
    """Where a kernel that is not deformed reads, along one axis: [K, P * Q]."""
    import paddle

    tap = np.indices((kh, kw))[axis].reshape(-1, 1) * dilation[axis]
    place = np.indices((p, q))[axis].reshape(1, -1) * stride[axis] - padding[axis]
    return paddle.to_tensor((tap + place).astype(x.dtype.np))


def _bilinear(x: Tensor, y: Tensor, across: Tensor, h: int, w: int) -> Tensor:
    """x [B, C, H * W] at places [B, K, L]: [B, C, K, L]."""
    import paddle

    b, k, l = y.shape
    y, across = y.clip(-1.0, float(h)), across.clip(-1.0, float(w))  # all is 0 there, and an index has a bound
    y0, x0 = y.floor().detach(), across.floor().detach()
    below, right = y - y0, across - x0
    within = (y > -1) & (y < h) & (across > -1) & (across < w)  # matters for gradients at those bounds alone
    out: Any = None
    for dy in (0, 1):
        for dx in (0, 1):
            row, column = y0 + dy, x0 + dx
            inside = (within & (row >= 0) & (row < h) & (column >= 0) & (column < w)).astype(x.dtype)
            at = row.clip(0, h - 1) * w + column.clip(0, w - 1)
            at = at.astype("int64").reshape([b, 1, k * l]).expand([b, x.shape[1], k * l])
            share = (below if dy else 1.0 - below) * (right if dx else 1.0 - right) * inside
            part = paddle.take_along_axis(x, at, axis=2).reshape([b, -1, k, l]) * share.unsqueeze(1)
            out = part if out is None else out + part
    return out


class DeformConv2D(nn.Layer):
    """A layer of `deform_conv2d`, whose offsets and mask other layers give.

    Args:
        in_channels (int), out_channels (int): C and O.
        kernel_size (int|tuple): height and width.
        stride (int|tuple), padding (int|tuple), dilation (int|tuple): as in `Conv2D`. Default: 1, 0, 1.
        deformable_groups (int), groups (int): see `deform_conv2d`. Default: 1.
        weight_attr (ParamAttr, optional): of the weight; by default normal numbers of deviation sqrt(2 / (K * C)).
        bias_attr (ParamAttr|bool, optional): of the bias; False for none. Default: zeros.

    Raises:
        AssertionError: weight_attr is False. ValueError: groups does not divide in_channels.

    Examples:
        >>> layer = paddle.vision.ops.DeformConv2D(2, 3, 3, padding=1)
        >>> layer(paddle.ones([1, 2, 6, 6]), paddle.zeros([1, 18, 6, 6])).shape
        paddle.Size([1, 3, 6, 6])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        if weight_attr is False:
            raise AssertionError(errors.message("InvalidArgument", "DeformConv2D: weight_attr is False."))
        if in_channels % groups:
            raise errors.invalid_argument(
                "DeformConv2D: groups does not divide in_channels.",
                received=f"in_channels={in_channels}, groups={groups}",
            )
        size = pair(kernel_size, "DeformConv2D", "kernel_size")
        self._stride = pair(stride, "DeformConv2D", "stride")
        self._padding = pair(padding, "DeformConv2D", "padding")
        self._dilation = pair(dilation, "DeformConv2D", "dilation")
        self._deformable_groups, self._groups = deformable_groups, groups
        deviation = math.sqrt(2.0 / (math.prod(size) * in_channels))
        self.weight = self.create_parameter(
            [out_channels, in_channels // groups, *size],
            attr=weight_attr,
            default_initializer=nn.initializer.Normal(0.0, deviation),
        )
        self.bias = self.create_parameter([out_channels], attr=bias_attr, is_bias=True)

    def forward(self, x: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        return deform_conv2d(
            x,
            offset,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._dilation,
            self._deformable_groups,
            self._groups,
            mask,
        )
