"""Convolutions and transposed convolutions in one, two and three dimensions."""

from __future__ import annotations

import math
from typing import Any

from ...engine import errors
from ...tensor.tensor import Tensor
from .. import functional as F
from ..functional._check import integer
from ..initializer import Normal
from .factory import older_order
from .layers import Layer

__all__ = ["Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose"]

_FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def sizes(value: Any, n: int, name: str) -> list[int]:
    """One number per dimension, as a list."""
    if isinstance(value, int):
        return [value] * n
    if not isinstance(value, (list, tuple)) or len(value) != n:
        raise errors.invalid_argument(
            f"conv{n}d: {name} has the wrong length.",
            expected=f"an int or {n} of them",
            received=f"{name}: {value!r:.60}",
        )
    return [integer(v, f"Conv{n}D", f"{name}[{i}]") for i, v in enumerate(value)]


def around(padding: Any, n: int) -> list[int] | None:
    """Padding before and after each dimension, the last dimension first (as F.pad wants it); None for a word."""
    if isinstance(padding, str):
        return None
    if isinstance(padding, int):
        return [padding] * (2 * n)
    flat = list(padding)
    if flat and isinstance(flat[0], (list, tuple)):
        flat = [v for pair in flat[-n - 1 :] for v in pair]
        flat = flat[-2 * n :] if len(flat) >= 2 * n else flat
    if len(flat) == n:
        flat = [v for p in flat for v in (p, p)]
    return [v for i in range(n - 1, -1, -1) for v in flat[2 * i : 2 * i + 2]]


class _ConvNd(Layer):
    """What all convolutions share."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        transposed: bool,
        dims: int,
        stride: Any = 1,
        padding: Any = 0,
        padding_mode: str = "zeros",
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if weight_attr is False:
            raise errors.asserted(
                f"Conv{dims}D: weight_attr is False.", expected="a convolution with weights", received="False"
            )
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise errors.invalid_argument(
                f"Conv{dims}D: padding_mode is not known.",
                expected="zeros, reflect, replicate or circular",
                received=f"padding_mode: {padding_mode!r}",
            )
        if isinstance(padding, str) and padding.upper() not in ("SAME", "VALID"):
            raise errors.invalid_argument(
                f"Conv{dims}D: padding is not known.",
                expected="'SAME', 'VALID' or numbers",
                received=f"padding: {padding!r}",
            )
        if data_format not in _FORMATS[dims]:
            raise errors.invalid_argument(
                f"Conv{dims}D: data_format is not known.",
                expected=" or ".join(_FORMATS[dims]),
                received=f"data_format: {data_format!r}",
            )
        self._param_attr, self._bias_attr = weight_attr, bias_attr
        self._groups, self._in_channels, self._out_channels = groups, in_channels, out_channels
        self._data_format, self._padding_mode, self._dims = data_format, padding_mode, dims
        self._stride = sizes(stride, dims, "stride")
        self._dilation = sizes(dilation, dims, "dilation")
        self._kernel_size = sizes(kernel_size, dims, "kernel_size")
        self._padding, self.output_padding = padding, output_padding
        for label, value in (("in_channels", in_channels), ("out_channels", out_channels), ("groups", groups)):
            integer(value, f"Conv{dims}D", label)
        if groups < 1:
            raise errors.invalid_argument(
                f"Conv{dims}D: groups is not positive.", expected="groups > 0", received=f"groups: {groups}"
            )
        if in_channels % groups:
            raise errors.invalid_argument(
                f"Conv{dims}D: groups does not divide in_channels.",
                expected="in_channels % groups == 0",
                received=f"in_channels: {in_channels}, groups: {groups}",
            )
        if transposed:
            shape = [in_channels, out_channels // groups, *self._kernel_size]
            start = None
        else:
            if out_channels % groups:
                raise errors.invalid_argument(
                    f"Conv{dims}D: groups does not divide out_channels.",
                    expected="out_channels % groups == 0",
                    received=f"out_channels: {out_channels}, groups: {groups}",
                )
            shape = [out_channels, in_channels // groups, *self._kernel_size]
            fan = math.prod(self._kernel_size) * in_channels
            start = Normal(0.0, math.sqrt(2.0 / fan)) if fan > 0 else None
        # other borders than zeros are added before the convolution
        self._reversed_padding_repeated_twice = None
        self._updated_padding = padding
        if padding_mode != "zeros" and not transposed:
            pads = around(padding, dims)
            if pads is None:
                total = [d * (k - 1) for d, k in zip(self._dilation, self._kernel_size)]
                same = padding.upper() == "SAME"
                pads = [v if same else 0 for t in reversed(total) for v in (t // 2, t - t // 2)]
            self._reversed_padding_repeated_twice = pads
            self._updated_padding = 0
        self.weight = self.create_parameter(shape, weight_attr, dtype, default_initializer=start)
        self.bias = self.create_parameter([out_channels], bias_attr, dtype, is_bias=True)

    in_channels = property(lambda self: self._in_channels)
    out_channels = property(lambda self: self._out_channels)
    kernel_size = property(lambda self: self._kernel_size)
    stride = property(lambda self: self._stride)
    padding = property(lambda self: self._padding)
    dilation = property(lambda self: self._dilation)
    groups = property(lambda self: self._groups)
    padding_mode = property(lambda self: self._padding_mode)

    def _padded(self, x: Tensor) -> Tensor:
        pads = self._reversed_padding_repeated_twice
        if pads is None:
            return x
        return F.pad(x, pads, mode=self._padding_mode, data_format=self._data_format)

    def extra_repr(self) -> str:
        text = f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"
        if self._stride != [1] * self._dims:
            text += f", stride={self._stride}"
        if self._padding != 0:
            text += f", padding={self._padding}"
        if self._padding_mode != "zeros":
            text += f", padding_mode={self._padding_mode}"
        if self.output_padding != 0:
            text += f", output_padding={self.output_padding}"
        if self._dilation != [1] * self._dims:
            text += f", dilation={self._dilation}"
        if self._groups != 1:
            text += f", groups={self._groups}"
        return f"{text}, data_format={self._data_format}"


_ARGUMENTS = """
    Args:
        in_channels (int): channels of the input.
        out_channels (int): channels of the result.
        kernel_size (int|list[int]): of the window.
        stride (int|list[int]): Default: 1.
        padding (int|str|list[int]): a number, one per dimension or side, "SAME" or "VALID". Default: 0.
"""
_PLAIN = """        dilation (int|list[int]): distance of the window's elements. Default: 1.
        groups (int): channels are divided into as many groups. Default: 1.
        bias (bool): whether there is one. Default: True.
        padding_mode (str): "zeros", "reflect", "replicate" or "circular". Default: "zeros".
        device (optional): parameters stay on the current device.
        dtype (str|DType, optional): of the parameters; float32 by default.
"""
_TRANSPOSED = """        output_padding (int|list[int]): added to the size of the result. Default: 0.
        groups (int): channels are divided into as many groups. Default: 1.
        dilation (int|list[int]): distance of the window's elements. Default: 1.
"""
_ATTRIBUTES = """        weight_attr (ParamAttr, optional): of the weight {weight}.
        bias_attr (ParamAttr|bool, optional): of the bias [out_channels]; False for none.
        data_format (str): "{a}" or "{b}". Default: "{a}".
"""


def _order(rest: tuple[Any, ...]) -> dict[str, Any]:
    """bias, padding_mode, device, dtype; or, of old, padding_mode, weight_attr, bias_attr, data_format."""
    if isinstance(rest[0], str):
        return dict(zip(("padding_mode", "weight_attr", "bias_attr", "data_format"), rest))
    return dict(zip(("bias", "padding_mode", "device", "dtype"), rest))


def _convolution(n: int) -> type[Layer]:
    call, formats = f"conv{n}d", _FORMATS[n]

    class Conv(_ConvNd):
        @older_order(7, _order)
        def __init__(
            self,
            in_channels: int,
            out_channels: int,
            kernel_size: Any,
            stride: Any = 1,
            padding: Any = 0,
            dilation: Any = 1,
            groups: int = 1,
            *,
            bias: Any = True,
            padding_mode: str = "zeros",
            device: Any = None,
            dtype: Any = None,
            weight_attr: Any = None,
            bias_attr: Any = None,
            data_format: str = formats[0],
        ) -> None:
            if bias is False:
                bias_attr = False
            super().__init__(
                in_channels, out_channels, kernel_size, False, n, stride, padding, padding_mode, 0, dilation, groups,
                weight_attr, bias_attr, data_format, device, dtype,
            )  # fmt: skip

        def forward(self, x: Tensor) -> Tensor:
            if self._reversed_padding_repeated_twice is not None:
                x = self._padded(x)
            return getattr(F, call)(
                x,
                self.weight,
                self.bias,
                self._stride,
                self._updated_padding,
                self._dilation,
                self._groups,
                self._data_format,
            )

    weight = "[out_channels, in_channels / groups, *kernel_size]; normal, variance 2 / fan in, by default"
    return _finish(Conv, f"Conv{n}D", f"Convolution in {n} dimensions of [N, C, ...].", _PLAIN, weight, formats)


def _transposed(n: int) -> type[Layer]:
    call, formats = f"conv{n}d_transpose", _FORMATS[n]

    class ConvTranspose(_ConvNd):
        def forward(self, x: Tensor, output_size: Any = None) -> Tensor:
            return getattr(F, call)(
                x,
                self.weight,
                self.bias,
                stride=self._stride,
                padding=self._padding,
                output_padding=0 if output_size is not None else self.output_padding,
                groups=self._groups,
                dilation=self._dilation,
                output_size=output_size,
                data_format=self._data_format,
            )

    def make(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, dilation,
             weight_attr, bias_attr, data_format):  # fmt: skip
        _ConvNd.__init__(
            self, in_channels, out_channels, kernel_size, True, n, stride, padding, "zeros", output_padding, dilation,
            groups, weight_attr, bias_attr, data_format,
        )  # fmt: skip

    if n == 1:

        def init(
            self,
            in_channels: int,
            out_channels: int,
            kernel_size: Any,
            stride: Any = 1,
            padding: Any = 0,
            output_padding: Any = 0,
            groups: int = 1,
            dilation: Any = 1,
            weight_attr: Any = None,
            bias_attr: Any = None,
            data_format: str = formats[0],
        ) -> None:
            make(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, dilation,
                 weight_attr, bias_attr, data_format)  # fmt: skip
    else:

        def init(
            self,
            in_channels: int,
            out_channels: int,
            kernel_size: Any,
            stride: Any = 1,
            padding: Any = 0,
            output_padding: Any = 0,
            dilation: Any = 1,
            groups: int = 1,
            weight_attr: Any = None,
            bias_attr: Any = None,
            data_format: str = formats[0],
        ) -> None:
            make(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, dilation,
                 weight_attr, bias_attr, data_format)  # fmt: skip

    ConvTranspose.__init__ = init  # type: ignore[method-assign]
    return _finish(
        ConvTranspose,
        f"Conv{n}DTranspose",
        f"Transposed convolution in {n} dimensions: the gradient of a convolution for its input.",
        _TRANSPOSED,
        "[in_channels, out_channels / groups, *kernel_size]",
        formats,
    )


def _finish(cls: type[Layer], name: str, first: str, middle: str, weight: str, formats: Any) -> type[Layer]:
    cls.__name__ = cls.__qualname__ = name
    cls.__init__.__qualname__ = f"{name}.__init__"
    cls.__doc__ = first + "\n" + _ARGUMENTS + middle + _ATTRIBUTES.format(weight=weight, a=formats[0], b=formats[1])
    return cls


Conv1D, Conv2D, Conv3D = map(_convolution, (1, 2, 3))
Conv1DTranspose, Conv2DTranspose, Conv3DTranspose = map(_transposed, (1, 2, 3))
