"""Comparisons, logic and bits of Tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.trace import from_array
from ..engine.ops import elementwise as ew
from ..engine.ops import logic as ops
from ..engine.ops.creation import Full
from ..engine.ops.elementwise import is_number
from ..engine.ops.reduction import All
from ..engine.types import bool_
from ..utils.public import METHODS, public
from .arguments import fill_out
from .families import need_tensor, of_one, of_two
from .tensor import Tensor, flag

__all__ = [
    "equal", "eq", "not_equal", "ne", "less_than", "less", "lt", "less_equal", "le", "greater_than", "greater", "gt",
    "greater_equal", "ge", "isnan", "isinf", "isfinite", "isposinf", "isneginf", "isreal", "signbit", "logical_and",
    "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not",
    "bitwise_invert", "bitwise_left_shift", "bitwise_right_shift", "isclose", "allclose", "equal_all", "isin",
]  # fmt: skip

# ---- comparisons ------------------------------------------------------------------------------
_EXAMPLE = [1, 2, 3], [2, 2, 2]


def _comparison(name: str, op: Any, sign: str, number: bool = False, strict: bool = False) -> Any:
    import operator

    test = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
            ">=": operator.ge}[sign]  # fmt: skip
    x, y = _EXAMPLE
    return of_two(name, op, f"Whether x {sign} y, element by element.", x, y, [test(a, b) for a, b in zip(x, y)],
                  out=True, number=number, strict=strict, takes="Any real type.")  # fmt: skip


@public(also={"x": "input", "y": "other"}, method=("equal", "eq"))
def equal(x: Tensor, y: Any, name: str | None = None, *, out: Any = None) -> Tensor:
    """Whether x == y, element by element.

    Args:
        x (Tensor): Any type. y (Tensor|number): the shapes broadcast.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: bool, in the broadcast shape.

    Raises:
        TypeError: the types do not mix, or y is neither a Tensor nor a number.

    Examples:
        >>> paddle.equal(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 3])).tolist()
        [True, False]
    """
    need_tensor(x, "equal")
    if not is_number(y) and not isinstance(y, Tensor):
        raise errors.invalid_type("equal: y is no Tensor.", expected="a Tensor or a number", received=f"{type(y)}")
    if x.dtype.is_bool and is_number(y):
        y = bool(y)
    return fill_out(ew.equal(x, y), out)


not_equal = _comparison("not_equal", ew.not_equal, "!=")
less_than = _comparison("less_than", ew.less_than, "<")
less_equal = _comparison("less_equal", ew.less_equal, "<=")
greater_than = _comparison("greater_than", ew.greater_than, ">", strict=True)
greater_equal = _comparison("greater_equal", ew.greater_equal, ">=")
eq, ne, lt, le, gt, ge = equal, not_equal, less_than, less_equal, greater_than, greater_equal
less, greater = less_than, greater_than
METHODS |= {"ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge, "less": less, "greater": greater}

# ---- tests ------------------------------------------------------------------------------------
_ANY = "Any type; integers hold neither."


def _test(name: str, op: Any, does: str, x: str, result: str) -> Any:
    class Source(list):
        def __repr__(self) -> str:
            return x

    f = of_one(name, op, does, Source(), [], takes=_ANY, strict=True)
    text = f.__doc__ or ""
    f.__doc__ = text.replace(
        f">>> [round(v, 4) for v in paddle.{name}(paddle.to_tensor({x})).tolist()]\n        []",
        f">>> paddle.{name}(paddle.to_tensor({x})).tolist()\n        {result}",
    )
    return f


isnan = _test("isnan", ops.isnan, "Whether each element is NaN.", '[1.0, float("nan")]', "[False, True]")
isinf = _test("isinf", ops.isinf, "Whether each element is infinite.", '[1.0, float("inf")]', "[False, True]")
isfinite = _test(
    "isfinite", ops.isfinite, "Whether each element is a finite number.", '[1.0, float("inf")]', "[True, False]"
)


@public(method=True)
def isposinf(x: Tensor, name: str | None = None) -> Tensor:
    """Whether each element is plus infinity.

    Examples:
        >>> paddle.isposinf(paddle.to_tensor([1.0, float("inf"), float("-inf")])).tolist()
        [False, True, False]
    """
    need_tensor(x, "isposinf", kind=TypeError)
    return ops.logical_and(ops.isinf(x), ew.greater_than(x, 0))


@public(method=True)
def isneginf(x: Tensor, name: str | None = None) -> Tensor:
    """Whether each element is minus infinity.

    Examples:
        >>> paddle.isneginf(paddle.to_tensor([1.0, float("inf"), float("-inf")])).tolist()
        [False, False, True]
    """
    need_tensor(x, "isneginf", kind=TypeError)
    return ops.logical_and(ops.isinf(x), ew.less_than(x, 0))


@public(method=True)
def isreal(x: Tensor, name: str | None = None) -> Tensor:
    """Whether each element has no imaginary part.

    Examples:
        >>> paddle.isreal(paddle.to_tensor([1.0 + 0.0j, 1.0j])).tolist()
        [True, False]
    """
    from ..engine.ops.complex import Imag

    need_tensor(x, "isreal", kind=TypeError)
    if x.dtype.is_complex:
        return ew.equal(Imag()(x), 0)
    return Full(x.type.shape, True, bool_)()


@public(method=True)
def signbit(x: Tensor, name: str | None = None) -> Tensor:
    """Whether the sign of each element is minus; that of -0.0 is.

    Examples:
        >>> paddle.signbit(paddle.to_tensor([1.0, -0.0])).tolist()
        [False, True]
    """
    return ops.signbit(need_tensor(x, "signbit", kind=TypeError))


# ---- logic ------------------------------------------------------------------------------------
def _logical(name: str, op: Any, word: str, result: list[bool]) -> Any:
    return of_two(name, op, f"x {word} y, element by element; what is not zero is true.", [True, False], [True, True],
                  result, out=True, strict=True, takes="Any type.")  # fmt: skip


logical_and = _logical("logical_and", ops.logical_and, "and", [True, False])
logical_or = _logical("logical_or", ops.logical_or, "or", [True, True])
logical_xor = _logical("logical_xor", ops.logical_xor, "exclusive or", [False, True])


@public(also={"x": "input"}, method=True, kind=ValueError)
def logical_not(x: Tensor, name: str | None = None, *, out: Any = None) -> Tensor:
    """True where x is zero.

    Examples:
        >>> paddle.logical_not(paddle.to_tensor([True, False])).tolist()
        [False, True]
    """
    return fill_out(ops.logical_not(need_tensor(x, "logical_not")), out)


# ---- bits -------------------------------------------------------------------------------------
def _bits(name: str, op: Any, word: str, result: int, method: tuple[str, ...]) -> Any:
    def f(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
        return fill_out(op(need_tensor(x, f.__name__), need_tensor(y, f.__name__, "y")), out)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"""The bits of x {word} those of y, of integers of one type or bool; the shapes broadcast.

    Raises:
        ValueError: an argument is not a Tensor, or the types differ.

    Examples:
        >>> paddle.{name}(paddle.to_tensor([6]), paddle.to_tensor([3])).tolist()
        [{result}]
    """
    return public(also={"x": "input", "y": "other"}, method=method)(f)


bitwise_and = _bits("bitwise_and", ops.bitwise_and, "and", 2, ("bitwise_and",))
bitwise_or = _bits("bitwise_or", ops.bitwise_or, "or", 7, ("bitwise_or",))
bitwise_xor = _bits("bitwise_xor", ops.bitwise_xor, "exclusive or", 5, ("bitwise_xor",))


@public(method=("bitwise_not", "bitwise_invert"))
def bitwise_not(x: Tensor, out: Any = None, name: str | None = None) -> Tensor:
    """All bits turned; of bool, the other truth value.

    Examples:
        >>> paddle.bitwise_not(paddle.to_tensor([0, 5])).tolist()
        [-1, -6]
    """
    return fill_out(ops.bitwise_not(need_tensor(x, "bitwise_not")), out)


bitwise_invert = bitwise_not


def _shift_type(x: Tensor, y: Tensor, name: str) -> tuple[Tensor, Tensor]:
    need_tensor(x, name)
    need_tensor(y, name, "y")
    if x.dtype is not y.dtype and x.dtype.is_integer and y.dtype.is_integer:
        wide = max(x.dtype, y.dtype, key=lambda d: d.itemsize)
        return ew.cast(x, wide), ew.cast(y, wide)
    return x, y


@public(method=True)
def bitwise_left_shift(x: Tensor, y: Tensor, is_arithmetic: bool = True, out: Any = None,
                       name: str | None = None) -> Tensor:  # fmt: skip
    """The bits of x moved up by y places; zeros follow.

    Examples:
        >>> paddle.bitwise_left_shift(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 1])).tolist()
        [4, 6]
    """
    return fill_out(ops.left_shift(*_shift_type(x, y, "bitwise_left_shift")), out)


@public(method=True)
def bitwise_right_shift(x: Tensor, y: Tensor, is_arithmetic: bool = True, out: Any = None,
                        name: str | None = None) -> Tensor:  # fmt: skip
    """The bits of x moved down by y places; the sign follows, or zeros unless `is_arithmetic`.

    Examples:
        >>> paddle.bitwise_right_shift(paddle.to_tensor([8, -8]), paddle.to_tensor([2, 2])).tolist()
        [2, -2]
    """
    op = ops.right_shift if is_arithmetic else ops.right_shift_logical
    return fill_out(op(*_shift_type(x, y, "bitwise_right_shift")), out)


# ---- closeness --------------------------------------------------------------------------------
def _pair(x: Any, y: Any, name: str) -> tuple[Tensor, Tensor]:
    need_tensor(x, name)
    return x, need_tensor(y, name, "y")


@public(also={"x": "input", "y": "other"}, method=True, kind=ValueError)
def isclose(x: Tensor, y: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False,
            name: str | None = None) -> Tensor:  # fmt: skip
    """Whether |x - y| <= atol + rtol * |y|, element by element.

    Args:
        x, y (Tensor): the shapes broadcast.
        rtol, atol (float): relative and absolute bound. equal_nan (bool): NaN is close to NaN.

    Returns:
        Tensor: bool.

    Examples:
        >>> paddle.isclose(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 2.1])).tolist()
        [True, False]
    """
    return ops.IsClose(float(rtol), float(atol), flag(equal_nan, "equal_nan"))(*_pair(x, y, "isclose"))


@public(also={"x": "input", "y": "other"}, method=True)
def allclose(x: Tensor, y: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False,
             name: str | None = None) -> Tensor:  # fmt: skip
    """Whether all elements are close, as a 0-d bool Tensor. Arguments as `isclose`.

    Examples:
        >>> bool(paddle.allclose(paddle.to_tensor([1.0]), paddle.to_tensor([1.0])))
        True
    """
    near = ops.IsClose(float(rtol), float(atol), flag(equal_nan, "equal_nan"))(*_pair(x, y, "allclose"))
    return All(tuple(range(near.ndim)))(near) if near.ndim else near


@public(also={"x": "input", "y": "other"}, method=True)
def equal_all(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Whether shapes and all elements are equal, as a 0-d bool Tensor; Tensors of different types are not.

    Examples:
        >>> bool(paddle.equal_all(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 2])))
        True
    """
    _pair(x, y, "equal_all")
    if x.type is not y.type:
        return Full((), False, bool_)()
    same = ew.equal(x, y)
    return All(tuple(range(same.ndim)))(same) if same.ndim else same


@public(also={"x": "elements", "test_x": "test_elements"}, method=True)
def isin(x: Tensor, test_x: Tensor, assume_unique: bool = False, invert: bool = False,
         name: str | None = None) -> Tensor:  # fmt: skip
    """Whether each element of x is one of test_x; the opposite if `invert`.

    Examples:
        >>> paddle.isin(paddle.to_tensor([1, 2]), paddle.to_tensor([2, 3])).tolist()
        [False, True]
    """
    for a, label in ((x, "x"), (test_x, "test_x")):
        need_tensor(a, "isin", label, TypeError)
    found = np.isin(x.array(), test_x.array(), invert=flag(invert, "invert"))
    return from_array(np.ascontiguousarray(found).reshape(x.type.shape))  # type: ignore[return-value]
