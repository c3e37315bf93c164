"""PixelShuffle, PixelUnshuffle, ChannelShuffle, Upsample and its special cases, padding layers."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...tensor.tensor import Tensor
from .. import functional as F
from .factory import named
from .layers import Layer

__all__ = [
    "ChannelShuffle",
    "PixelShuffle",
    "PixelUnshuffle",
    "Upsample",
    "UpsamplingBilinear2D",
    "UpsamplingNearest2D",
]


def _check(who: str, name: str, value: Any, data_format: str) -> None:
    if not isinstance(value, int):
        raise errors.invalid_type(f"{who}: {name} is not an int.", expected="int", received=type(value).__name__)
    if value <= 0:
        raise errors.invalid_argument(f"{who}: {name} is not positive.", expected="> 0", received=f"{name}: {value}")
    if data_format not in ("NCHW", "NHWC"):
        raise errors.invalid_argument(
            f"{who}: data_format is not known.", expected="NCHW or NHWC", received=f"data_format: {data_format!r}"
        )


class PixelShuffle(Layer):
    """Channels become pixels: [N, C r r, H, W] -> [N, C, H r, W r].

    Args:
        upscale_factor (int): r.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): for printing.
    """

    def __init__(self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        _check("PixelShuffle", "upscale_factor", upscale_factor, data_format)
        self._upscale_factor, self._data_format, self._name = upscale_factor, data_format, name

    def forward(self, x: Tensor) -> Tensor:
        return F.pixel_shuffle(x, self._upscale_factor, self._data_format)

    def extra_repr(self) -> str:
        text = f"upscale_factor={self._upscale_factor}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return named(text, self._name)


class PixelUnshuffle(Layer):
    """Pixels become channels: [N, C, H r, W r] -> [N, C r r, H, W].

    Args:
        downscale_factor (int): r.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): for printing.
    """

    def __init__(self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        _check("PixelUnshuffle", "downscale_factor", downscale_factor, data_format)
        self._downscale_factor, self._data_format, self._name = downscale_factor, data_format, name

    def forward(self, x: Tensor) -> Tensor:
        return F.pixel_unshuffle(x, self._downscale_factor, self._data_format)

    def extra_repr(self) -> str:
        text = f"downscale_factor={self._downscale_factor}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return named(text, self._name)


class ChannelShuffle(Layer):
    """Channels of several groups, dealt out in turn.

    Args:
        groups (int): how many groups there are.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): for printing.
    """

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        _check("ChannelShuffle", "groups", groups, data_format)
        self._groups, self._data_format, self._name = groups, data_format, name

    def forward(self, x: Tensor) -> Tensor:
        return F.channel_shuffle(x, self._groups, self._data_format)

    def extra_repr(self) -> str:
        text = f"groups={self._groups}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return named(text, self._name)


class Upsample(Layer):
    """Enlarges images by interpolation; see `nn.functional.interpolate`.

    Args:
        size (int|list[int]|Tensor, optional): of the result.
        scale_factor (float|list[float]|Tensor, optional): instead of size.
        mode (str): "nearest", "linear", "bilinear", "trilinear", "bicubic" or "area". Default: "nearest".
        align_corners (bool): corners stay in place. Default: False.
        align_mode (int): 0 for pixel centres at half, 1 for at whole numbers. Default: 0.
        data_format (str, optional): where channels are.
        recompute_scale_factor (bool, optional): takes the scale from the sizes.
        name (str, optional): for printing.
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str | None = None,
        recompute_scale_factor: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode.lower()
        self.align_corners, self.align_mode, self.data_format, self.name = align_corners, align_mode, data_format, name
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, x: Tensor) -> Tensor:
        more = {} if self.recompute_scale_factor is None else {"recompute_scale_factor": self.recompute_scale_factor}
        return F.interpolate(
            x,
            size=self.size,
            scale_factor=self.scale_factor,
            mode=self.mode,
            align_corners=self.align_corners,
            align_mode=self.align_mode,
            data_format=self.data_format,
            **more,
        )

    def extra_repr(self) -> str:
        text = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        return named(
            f"{text}, mode={self.mode}, align_corners={self.align_corners}, align_mode={self.align_mode}, "
            f"data_format={self.data_format}",
            self.name,
        )


class _Upsampling2D(Layer):
    mode, align_corners = "nearest", False

    def __init__(
        self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__()
        size = [size, size] if isinstance(size, int) else size
        self.size, self.scale_factor, self.data_format, self.name = size, scale_factor, data_format, name

    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(
            x,
            size=self.size,
            scale_factor=self.scale_factor,
            mode=self.mode,
            align_corners=self.align_corners,
            align_mode=0,
            data_format=self.data_format,
        )

    def extra_repr(self) -> str:
        text = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        return named(f"{text}, data_format={self.data_format}", self.name)


class UpsamplingNearest2D(_Upsampling2D):
    """Enlarges images by repeating pixels.

    Args:
        size (int|list[int]|Tensor, optional): of the result.
        scale_factor (float|list[float]|Tensor, optional): instead of size.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): for printing.
    """


class UpsamplingBilinear2D(_Upsampling2D):
    """Enlarges images by bilinear interpolation, corners in place.

    Args:
        size (int|list[int]|Tensor, optional): of the result.
        scale_factor (float|list[float]|Tensor, optional): instead of size.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): for printing.
    """

    mode, align_corners = "bilinear", True


class _PadNd(Layer):
    dims = 1

    def __init__(self, padding: Any, mode: str, value: float, data_format: str, name: str | None) -> None:
        super().__init__()
        if not isinstance(padding, (int, list, tuple, Tensor)):
            raise errors.invalid_type(
                f"{type(self).__name__}: padding is of the wrong type.",
                expected="an int, a list of them or a Tensor",
                received=type(padding).__name__,
            )
        self.padding = [padding] * (2 * self.dims) if isinstance(padding, int) else padding
        self._mode, self.value, self._data_format, self._name = mode, value, data_format, name

    def forward(self, x: Tensor) -> Tensor:
        return F.pad(x, pad=self.padding, mode=self._mode, value=self.value, data_format=self._data_format)

    def extra_repr(self) -> str:
        return named(
            f"padding={self.padding}, mode={self._mode}, value={self.value}, data_format={self._data_format}",
            self._name,
        )


_PAD_FORMAT = {1: "NCL", 2: "NCHW", 3: "NCDHW"}
_PAD_ARGS = """

    Args:
        padding (int|list[int]|Tensor): a number, or numbers before and after each axis, the last axis first.
{more}        data_format (str): where channels are. Default: {format}.
        name (str, optional): for printing.
"""


def _padding(n: int) -> None:
    form = _PAD_FORMAT[n]

    def of(kind: str) -> Any:
        if kind == "":

            def init(
                self,
                padding: Any,
                mode: str = "constant",
                value: float = 0.0,
                data_format: str = form,
                name: str | None = None,
            ) -> None:
                _PadNd.__init__(self, padding, mode, value, data_format, name)
        elif kind == "Constant":

            def init(self, padding: Any, value: float, data_format: str = form, name: str | None = None) -> None:
                _PadNd.__init__(self, padding, "constant", value, data_format, name)
        else:
            word = {"Zero": "constant", "Reflection": "reflect", "Replication": "replicate", "Circular": "circular"}

            def init(self, padding: Any, data_format: str = form, name: str | None = None) -> None:
                _PadNd.__init__(self, padding, word[kind], 0.0, data_format, name)

        return init

    for kind, text in (
        ("", "Adds a border in {n} dimensions."),
        ("Constant", "Adds a border of one value in {n} dimensions."),
        ("Zero", "Adds a border of zeros in {n} dimensions."),
        ("Reflection", "Adds a border that mirrors the inside, in {n} dimensions."),
        ("Replication", "Adds a border that repeats the edge, in {n} dimensions."),
        ("Circular", "Adds a border taken from the opposite side, in {n} dimensions."),
    ):
        if kind == "Zero" and n == 0:
            continue
        name = f"{kind}Pad{n}D"
        more = ""
        if kind == "":
            more = '        mode (str): "constant", "reflect", "replicate" or "circular". Default: "constant".\n'
        if kind in ("", "Constant"):
            more += "        value (float): of a constant border.\n"
        cls = type(name, (_PadNd,), {"__init__": of(kind), "dims": n, "__module__": __name__})
        cls.__doc__ = text.format(n=n) + _PAD_ARGS.format(more=more, format=form)
        globals()[name] = cls
        __all__.append(name)


for _n in (1, 2, 3):
    _padding(_n)
