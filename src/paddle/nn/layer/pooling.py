"""Pooling layers: each holds the arguments of the function of `nn.functional` that it calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tensor.tensor import Tensor
from .. import functional as F
from .factory import alias, layer_class
from .layers import Layer

__all__: list[str] = []

_FORMAT = {1: "NCL", 2: "NCHW", 3: "NCDHW"}
_TEXTS = {
    "kernel_size": "int|list[int]): of the window.",
    "stride": "int|list[int], optional): the kernel size by default.",
    "padding": "int|str|list[int]): Default: 0.",
    "exclusive": "bool): padding does not count. Default: True.",
    "ceil_mode": "bool): keeps the last, incomplete window. Default: False.",
    "divisor_override": "float, optional): divides by this instead.",
    "return_mask": "bool): gives positions too. Default: False.",
    "data_format": "str): where channels are.",
    "output_size": "int|list[int|None]): of the result; None keeps the size of an axis.",
    "norm_type": "float): the power; inf for the greatest element.",
    "random_u": "float, optional): within (0, 1), fixes the windows.",
    "name": "str, optional): for printing.",
}


# what programs read of a layer besides its arguments
_OTHER_NAMES = {
    "kernel_size": "ksize",
    "divisor_override": "divisor",
    "output_size": "_output_size",
    "return_mask": "_return_mask",
    "data_format": "_data_format",
}


def _forward(function: str, names: tuple[str, ...], argument: str) -> Callable[..., Any]:
    """A `forward` that hands its input, and the attributes of these names, to a function."""
    apply = getattr(F, function)
    if argument == "input":

        def forward(self: Any, input: Tensor) -> Any:
            state = self.__dict__
            return apply(input, **{k: state[k] for k in names})
    elif argument == "x":

        def forward(self: Any, x: Tensor) -> Any:
            state = self.__dict__
            return apply(x, **{k: state[k] for k in names})
    else:

        def forward(self: Any, x: Tensor, indices: Tensor, output_size: Any = None) -> Any:
            state = self.__dict__
            size = state["output_size"] if output_size is None else output_size
            return apply(x, indices, **{k: state[k] for k in names if k != "output_size"}, output_size=size)

    return forward


def _pool(name: str, function: str, text: str, shown: Any, argument: str = "x", /, **signature: Any) -> type[Layer]:
    names = tuple(k for k in signature if k != "name")
    args = "".join(f"        {k} ({_TEXTS[k]}\n" for k in signature)
    cls = layer_class(
        name,
        signature,
        _forward(function, names, argument),
        shown=shown,
        doc=f"{text}\n\n    Args:\n{args}",
        module=__name__,
        prefix="",
    )
    for public, other in _OTHER_NAMES.items():
        if public in signature:
            setattr(cls, other, alias(public))
    if "random_u" in signature:
        cls._kernel_size = alias("kernel_size")  # type: ignore[attr-defined]
    __all__.append(name)
    globals()[name] = cls
    return cls


def _kept(name: str) -> property:
    """An attribute that the class shows too."""

    def put(self: Any, value: Any) -> None:
        self.__dict__[name] = value

    return property(lambda self: self.__dict__[name], put)


def _size(layer: Any) -> str:
    return f"output_size={layer.output_size}"


def _size_and_mask(layer: Any) -> str:
    return f"output_size={layer.output_size}, return_mask={layer.return_mask}"


def _norm(n: int) -> Callable[[Any], str]:
    def text(layer: Any) -> str:
        stride = layer.stride if n == 1 or layer.stride is not None else layer.kernel_size
        return (
            f"norm_type={float(layer.norm_type)}, kernel_size={layer.kernel_size}, stride={stride}, "
            f"padding={layer.padding}"
        )

    return text


_WINDOW: dict[str, Any] = {"kernel_size": ..., "stride": None, "padding": 0}
_SHOWN = ("kernel_size", "stride", "padding")

for _n in (1, 2, 3):
    _where = {} if _n == 1 else {"data_format": _FORMAT[_n]}
    _first = "input" if _n == 1 else "x"
    if _n == 1:
        _more: dict[str, Any] = {"exclusive": True, "ceil_mode": False}
    else:
        _more = {"ceil_mode": False, "exclusive": True, "divisor_override": None, **_where}
    _pool(
        f"AvgPool{_n}D", f"avg_pool{_n}d", f"Mean over windows in {_n} dimensions.", _SHOWN,
        **_WINDOW, **_more, name=None,
    )  # fmt: skip
    _pool(
        f"MaxPool{_n}D", f"max_pool{_n}d", f"Greatest element of windows in {_n} dimensions.", _SHOWN, _first,
        **_WINDOW, return_mask=False, ceil_mode=False, **_where, name=None,
    )  # fmt: skip
    _adaptive = _pool(
        f"AdaptiveAvgPool{_n}D", f"adaptive_avg_pool{_n}d",
        "Mean over windows chosen so that the result has a given size.", _size, _first,
        output_size=..., **_where, name=None,
    )  # fmt: skip
    if _n > 1:
        _adaptive.output_size = _kept("output_size")  # type: ignore[attr-defined]
    _pool(
        f"AdaptiveMaxPool{_n}D", f"adaptive_max_pool{_n}d",
        "Greatest element of windows chosen so that the result has a given size.", _size_and_mask, _first,
        output_size=..., return_mask=False, name=None,
    ).return_indices = property(lambda layer: layer.return_mask)  # type: ignore[attr-defined]  # fmt: skip
    _pool(
        f"MaxUnPool{_n}D", f"max_unpool{_n}d",
        "Puts elements back to where max pooling took them from, zeros elsewhere.", _size, "x, indices",
        **_WINDOW, data_format=_FORMAT[_n], output_size=None, name=None,
    )  # fmt: skip
    if _n > 1:
        _pool(
            f"FractionalMaxPool{_n}D", f"fractional_max_pool{_n}d",
            "Greatest element of windows of random sizes.\n\n    Source: Graham 2014, arXiv:1412.6071.", _size_and_mask,
            output_size=..., kernel_size=None, random_u=None, return_mask=False, name=None,
        )  # fmt: skip
    if _n < 3:
        _pool(
            f"LPPool{_n}D", f"lp_pool{_n}d", "Norms of windows.", _norm(_n),
            norm_type=..., **_WINDOW, ceil_mode=False, data_format=_FORMAT[_n], name=None,
        )  # fmt: skip
