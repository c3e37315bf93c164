"""The in-place forms of functions: `x.exp_()` gives x the value of `exp(x)`."""

from __future__ import annotations

from typing import Any

from ..utils.public import METHODS, inplace
from . import arithmetic, logic, math, products, reduction, search, sequences
from .arguments import fill_out

__all__: list[str] = []  # filled below: what upstream offers as functions too, not only as methods

_METHODS_ONLY = {"add_", "ceil_", "clip_", "erfinv_", "exp_", "floor_", "lerp_", "reciprocal_", "round_", "rsqrt_",
                 "scale_", "sigmoid_", "sqrt_"}  # fmt: skip
_SOURCES: dict[Any, str] = {
    arithmetic: "add clip divide frac lerp pow round scale subtract",
    math: "abs acos acosh asin asinh atan atanh ceil copysign cos cosh digamma erf erfinv exp expm1 floor floor_divide "
    "gammainc gammaincc gammaln gcd hypot i0 lcm ldexp lgamma log log10 log1p log2 logit multigammaln multiply "
    "nan_to_num neg polygamma reciprocal remainder rsqrt sigmoid sin sinc sinh sqrt square tan tanh trunc",
    reduction: "cumsum",
    products: "addmm baddbmm",
    sequences: "renorm",
}
_TRUTHS = (
    "equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or logical_xor logical_not"
)
_BITS = "bitwise_and bitwise_or bitwise_xor bitwise_not"
_PAIRED = ("add", "divide", "floor_divide", "gcd", "lcm", "multiply", "remainder", "subtract")


def _define(name: str, f: Any) -> None:
    globals()[name] = METHODS[name] = f
    if name not in _METHODS_ONLY:
        __all__.append(name)


for _module, _names, _retypes in (*((m, n, False) for m, n in _SOURCES.items()), (logic, _BITS, False),
                                  (logic, _TRUTHS, True)):  # fmt: skip
    for _name in _names.split():
        _any = _retypes or _name in ("divide", "ldexp")  # integers become floating
        _paired = _name in _PAIRED or _module is logic and not _name.endswith("_not")
        _flat = _module is reduction  # without an axis the elements are one vector
        _define(
            _name + "_",
            inplace(getattr(_module, _name), name=_name + "_", retypes=_any, reshapes=_flat, paired=_paired),
        )

_cumprod = inplace(reduction.cumprod, retypes=True, reshapes=True)
_left = inplace(logic.bitwise_left_shift, paired=True)
_right = inplace(logic.bitwise_right_shift, paired=True)


def cumprod_(x: Any, dim: Any = None, dtype: Any = None, name: str | None = None) -> Any:
    """In-place form of `cumprod`: the tensor takes the result's value, and type, and is returned."""
    return _cumprod(x, dim, dtype=dtype)


def bitwise_left_shift_(x: Any, y: Any, is_arithmetic: bool = True, out: Any = None, name: str | None = None) -> Any:
    """In-place form of `bitwise_left_shift`: the tensor takes the result's value and is returned."""
    return fill_out(_left(x, y, is_arithmetic), out)


def bitwise_right_shift_(x: Any, y: Any, is_arithmetic: bool = True, out: Any = None, name: str | None = None) -> Any:
    """In-place form of `bitwise_right_shift`: the tensor takes the result's value and is returned."""
    return fill_out(_right(x, y, is_arithmetic), out)


for _function in (cumprod_, bitwise_left_shift_, bitwise_right_shift_):
    _define(_function.__name__, _function)

# Other names of the same functions.
_ALIASES = {"mod_": "remainder_", "floor_mod_": "remainder_", "less_": "less_than_", "sub_": "subtract_",
            "div_": "divide_", "bitwise_invert_": "bitwise_not_"}  # fmt: skip
for _alias, _name in _ALIASES.items():
    _define(_alias, METHODS[_name])
for _alias, _name in {"clamp_": "clip_", "mul_": "multiply_"}.items():
    METHODS[_alias] = METHODS[_name]


def where_(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """In-place form of `where`: x takes the result's value and is returned."""
    from ..utils.public import check_inplace, replace

    check_inplace("where_", x)
    return replace(x, search.where(condition, x, y))


_define("where_", where_)
