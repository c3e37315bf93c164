"""Pooling layers: each holds the arguments of the function of `nn.functional` that it calls."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .factory import layer_class
from .layers import Layer

__all__: list[str] = []


def _layer(name: str, signature: dict[str, Any], call: Any, shown: Any, text: str) -> type[Layer]:
    """A pooling layer.

    Args:
        signature: parameters with their defaults (`...` for none), in order.
        call: takes the layer and the inputs.
        shown: names that are printed, or a function that gives the text.
    """
    cls = layer_class(name, signature, call, shown=shown, doc=text, module=__name__, prefix="")
    __all__.append(name)
    globals()[name] = cls
    return cls


_FORMAT = {1: "NCL", 2: "NCHW", 3: "NCDHW"}
_WINDOW = """
    Args:
        kernel_size (int|list[int]): of the window.
        stride (int|list[int], optional): the kernel size by default.
        padding (int|str|list[int]): Default: 0.
"""

for _n in (1, 2, 3):
    _avg, _max = f"avg_pool{_n}d", f"max_pool{_n}d"
    _head = {"kernel_size": ..., "stride": None, "padding": 0}
    if _n == 1:
        _layer(
            "AvgPool1D",
            {**_head, "exclusive": True, "ceil_mode": False, "name": None},
            lambda s, x: F.avg_pool1d(x, s.kernel_size, s.stride, s.padding, s.exclusive, s.ceil_mode),
            ("kernel_size", "stride", "padding"),
            f"Mean over windows of [N, C, L].\n{_WINDOW}        exclusive (bool): padding does not count. Default: "
            "True.\n        ceil_mode (bool): keeps the last, incomplete window. Default: False.\n",
        )
        _layer(
            "MaxPool1D",
            {**_head, "return_mask": False, "ceil_mode": False, "name": None},
            lambda s, x: F.max_pool1d(x, s.kernel_size, s.stride, s.padding, s.return_mask, s.ceil_mode),
            ("kernel_size", "stride", "padding"),
            f"Greatest element of windows of [N, C, L].\n{_WINDOW}        return_mask (bool): gives positions too. "
            "Default: False.\n        ceil_mode (bool): keeps the last, incomplete window. Default: False.\n",
        )
    else:
        _layer(
            f"AvgPool{_n}D",
            {
                **_head,
                "ceil_mode": False,
                "exclusive": True,
                "divisor_override": None,
                "data_format": _FORMAT[_n],
                "name": None,
            },
            lambda s, x, f=_avg: getattr(F, f)(
                x,
                s.kernel_size,
                stride=s.stride,
                padding=s.padding,
                ceil_mode=s.ceil_mode,
                exclusive=s.exclusive,
                divisor_override=s.divisor_override,
                data_format=s.data_format,
            ),
            ("kernel_size", "stride", "padding"),
            f"Mean over windows in {_n} dimensions.\n{_WINDOW}        ceil_mode (bool): keeps the last, incomplete "
            "window. Default: False.\n        exclusive (bool): padding does not count. Default: True.\n        "
            "divisor_override (float, optional): divides by this instead.\n        data_format (str): where channels "
            f"are. Default: {_FORMAT[_n]}.\n",
        )
        _layer(
            f"MaxPool{_n}D",
            {**_head, "return_mask": False, "ceil_mode": False, "data_format": _FORMAT[_n], "name": None},
            lambda s, x, f=_max: getattr(F, f)(
                x,
                s.kernel_size,
                stride=s.stride,
                padding=s.padding,
                return_mask=s.return_mask,
                ceil_mode=s.ceil_mode,
                data_format=s.data_format,
            ),
            ("kernel_size", "stride", "padding"),
            f"Greatest element of windows in {_n} dimensions.\n{_WINDOW}        return_mask (bool): gives positions "
            "too. Default: False.\n        ceil_mode (bool): keeps the last, incomplete window. Default: False.\n"
            f"        data_format (str): where channels are. Default: {_FORMAT[_n]}.\n",
        )
    _avg, _max = f"adaptive_avg_pool{_n}d", f"adaptive_max_pool{_n}d"
    if _n == 1:
        _layer(
            "AdaptiveAvgPool1D",
            {"output_size": ..., "name": None},
            lambda s, x: F.adaptive_avg_pool1d(x, s.output_size),
            ("output_size",),
            "Mean over windows chosen so that the result has a given size.\n\n    Args:\n        output_size (int): "
            "size of the last axis.\n",
        )
    else:
        _layer(
            f"AdaptiveAvgPool{_n}D",
            {"output_size": ..., "data_format": _FORMAT[_n], "name": None},
            lambda s, x, f=_avg: getattr(F, f)(x, output_size=s.output_size, data_format=s.data_format),
            lambda s: f"output_size={s.output_size}",
            "Mean over windows chosen so that the result has a given size.\n\n    Args:\n        output_size "
            "(int|list[int|None]): None keeps the size of an axis.\n        data_format (str): where channels are. "
            f"Default: {_FORMAT[_n]}.\n",
        )
    _cls = _layer(
        f"AdaptiveMaxPool{_n}D",
        {"output_size": ..., "return_mask": False, "name": None},
        lambda s, x, f=_max: getattr(F, f)(x, output_size=s.output_size, return_mask=s.return_mask),
        lambda s: f"output_size={s.output_size}, return_mask={s.return_mask}",
        "Greatest element of windows chosen so that the result has a given size.\n\n    Args:\n        output_size "
        "(int|list[int|None]): None keeps the size of an axis.\n        return_mask (bool): gives positions too. "
        "Default: False.\n",
    )
    _cls.return_indices = property(lambda s: s.return_mask)  # type: ignore[attr-defined]
    _unpool = f"max_unpool{_n}d"
    _layer(
        f"MaxUnPool{_n}D",
        {**_head, "data_format": _FORMAT[_n], "output_size": None, "name": None},
        lambda s, x, indices, f=_unpool: getattr(F, f)(
            x,
            indices,
            kernel_size=s.kernel_size,
            stride=s.stride,
            padding=s.padding,
            data_format=s.data_format,
            output_size=s.output_size,
        ),  # fmt: skip
        lambda s: f"output_size={s.output_size}",
        f"Puts elements back to where max pooling took them from, zeros elsewhere.\n{_WINDOW}        data_format "
        f"(str): Default: {_FORMAT[_n]}.\n        output_size (list[int], optional): of the result.\n",
    )
    if _n > 1:
        _fractional = f"fractional_max_pool{_n}d"
        _layer(
            f"FractionalMaxPool{_n}D",
            {"output_size": ..., "kernel_size": None, "random_u": None, "return_mask": False, "name": None},
            lambda s, x, f=_fractional: getattr(F, f)(
                x,
                output_size=s.output_size,
                kernel_size=s.kernel_size,
                random_u=s.random_u,
                return_mask=s.return_mask,
            ),
            lambda s: f"output_size={s.output_size}, return_mask={s.return_mask}",
            "Greatest element of windows of random sizes.\n\n    Source: Graham 2014, arXiv:1412.6071.\n\n    Args:\n"
            "        output_size (int|list[int|None]): of the result.\n        kernel_size (int|list[int], optional): "
            "windows overlap if given.\n        random_u (float, optional): within (0, 1), fixes the windows.\n        "
            "return_mask (bool): gives positions too. Default: False.\n",
        )
    if _n < 3:
        _lp = f"lp_pool{_n}d"
        _layer(
            f"LPPool{_n}D",
            {
                "norm_type": ...,
                "kernel_size": ...,
                "stride": None,
                "padding": 0,
                "ceil_mode": False,
                "data_format": _FORMAT[_n],
                "name": None,
            },
            lambda s, x, f=_lp: getattr(F, f)(
                x, s.norm_type, s.kernel_size, s.stride, s.padding, s.ceil_mode, s.data_format
            ),
            lambda s: (
                f"norm_type={float(s.norm_type)}, kernel_size={s.kernel_size}, "
                f"stride={s.stride if s.ndim_ == 1 or s.stride is not None else s.kernel_size}, padding={s.padding}"
            ),
            f"Norms of windows.\n\n    Args:\n        norm_type (float): the power; inf for the greatest element.\n"
            f"{_WINDOW.split('Args:')[1].lstrip(chr(10))}        ceil_mode (bool): keeps the last, incomplete window. "
            f"Default: False.\n        data_format (str): Default: {_FORMAT[_n]}.\n",
        ).ndim_ = _n  # type: ignore[attr-defined]
