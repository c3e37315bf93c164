"""Derivatives of functions of Tensors: times a vector from either side, or as matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...autograd import grad
from ...engine import errors
from ...tensor import concat, ones_like, reshape, stack, zeros_like
from ...tensor.tensor import Tensor

__all__: list[str] = []

# Shape letters: B batch, M elements of the results, N elements of the arguments.


def _inputs(func: Any, xs: Any, fn: str) -> list[Tensor]:
    """The arguments as leaves of their own."""
    if not callable(func):
        raise errors.invalid_type(f"{fn}: func is not callable.", received=f"func: {type(func).__name__}")
    given = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    found = []
    for x in given:
        if not isinstance(x, Tensor):
            raise errors.invalid_type(
                f"{fn}: xs is not made of Tensors.", expected="a Tensor, or a list of Tensors",
                received=f"xs: {type(x).__name__}",
            )  # fmt: skip
        x = x.detach()
        x.stop_gradient = False
        found.append(x)
    return found


def _outputs(ys: Any) -> list[Tensor]:
    return list(ys) if isinstance(ys, (list, tuple)) else [ys]


def _vectors(v: Any, like: Sequence[Tensor], fn: str) -> list[Tensor]:
    """The vectors, ones by default, each of the shape of a Tensor."""
    if v is None:
        return [ones_like(t) for t in like]
    given = list(v) if isinstance(v, (list, tuple)) else [v]
    fits = len(given) == len(like) and all(
        isinstance(a, Tensor) and tuple(a.shape) == tuple(b.shape) for a, b in zip(given, like)
    )
    if not fits:
        raise errors.precondition(
            f"{fn}: v does not fit.", expected=", ".join(map(str, (t.type for t in like))),
            received=", ".join(str(getattr(a, "type", type(a).__name__)) for a in given),
        )  # fmt: skip
    return given


def _slopes(ys: Sequence[Tensor], xs: Sequence[Tensor], vs: Sequence[Tensor]) -> list[Tensor]:
    """The gradients of ys, weighted with vs, for xs; zeros where there is none."""
    live = [(y, v) for y, v in zip(ys, vs) if not y.stop_gradient]
    found: Any = [None] * len(xs)
    if live:
        found = grad([y for y, _ in live], xs, [v for _, v in live], create_graph=True, allow_unused=True)
    found = [zeros_like(x) if g is None else g for g, x in zip(found, xs)]
    for g in found:
        g.stop_gradient = False  # constants too, as upstream
    return found


def _as_given(found: list[Tensor], given: Any) -> Any:
    return tuple(found) if isinstance(given, (list, tuple)) else found[0]


def vjp(func: Callable[..., Any], xs: Any, v: Any = None) -> tuple[Any, Any]:
    """The values of a function, and a vector times its derivative.

    Args:
        func (callable): Takes Tensors, gives a Tensor or several.
        xs (Tensor|Sequence[Tensor]): The arguments.
        v (Tensor|Sequence[Tensor], optional): The vector, as the values. Default: ones.

    Returns:
        tuple: the values; the product, as xs, zeros for an argument that takes no part.

    Raises:
        TypeError: func is not callable, or xs no Tensors. RuntimeError: v has other shapes than the values.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.incubate.autograd.vjp(lambda x: x * x, x)[1].tolist()
        [2.0, 4.0]
    """
    inputs = _inputs(func, xs, "vjp")
    ys = func(*inputs)
    outs = _outputs(ys)
    return ys, _as_given(_slopes(outs, inputs, _vectors(v, outs, "vjp")), xs)


def jvp(func: Callable[..., Any], xs: Any, v: Any = None) -> tuple[Any, Any]:
    """The values of a function, and its derivative times a vector.

    The product is the derivative, for w, of w times the derivative: two passes backward make one forward.

    Args:
        func (callable): Takes Tensors, gives a Tensor or several.
        xs (Tensor|Sequence[Tensor]): The arguments.
        v (Tensor|Sequence[Tensor], optional): The vector, as xs. Default: ones.

    Returns:
        tuple: the values; the product, as the values.

    Raises:
        TypeError: func is not callable, or xs no Tensors. RuntimeError: v has other shapes than xs.

    Examples:
        >>> x, v = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 0.0])
        >>> paddle.incubate.autograd.jvp(lambda x: x * x, x, v)[1].tolist()
        [2.0, 0.0]
    """
    inputs = _inputs(func, xs, "jvp")
    vs = _vectors(v, inputs, "jvp")
    ys = func(*inputs)
    outs = _outputs(ys)
    ws = []
    for y in outs:
        w = zeros_like(y)
        w.stop_gradient = False
        ws.append(w)
    return ys, _as_given(_slopes(_slopes(outs, inputs, ws), ws, vs), ys)


class Jacobian:
    """The derivative of a function as a matrix; what is indexed is computed.

    Several arguments, and several values, lie side by side; all are flattened.

    Args:
        func (callable): Takes Tensors, gives a Tensor or several.
        xs (Tensor|Sequence[Tensor]): The arguments.
        is_batched (bool): The first axis of all is a batch, of which the entries do not meet. Default: False.

    Attributes:
        shape (tuple[int]): (M, N), or (B, M, N).

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.incubate.autograd.Jacobian(lambda x: x * x, x)[:].tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """

    def __init__(self, func: Callable[..., Any], xs: Any, is_batched: bool = False):
        self._batched = is_batched
        self._xs = _inputs(func, xs, type(self).__name__)
        self._ys = self._flat(_outputs(self._values(func)))
        count = sum(x.size // x.shape[0] if is_batched else x.size for x in self._xs)
        self._shape = (*tuple(self._ys.shape), count)
        self._rows: dict[int, Tensor] = {}

    def _values(self, func: Callable[..., Any]) -> Any:
        return func(*self._xs)

    def _flat(self, ts: Sequence[Tensor]) -> Tensor:
        """Tensors side by side: [M], or [B, M]."""
        flat = [reshape(t, [t.shape[0], -1] if self._batched else [-1]) for t in ts]
        return flat[0] if len(flat) == 1 else concat(flat, -1)

    @property
    def shape(self) -> tuple[int, ...]:
        """(M, N), or (B, M, N)."""
        return self._shape

    def _row(self, i: int) -> Tensor:
        found = self._rows.get(i)
        if found is None:
            y = self._ys[:, i].sum() if self._batched else self._ys[i]
            found = self._rows[i] = self._flat(_slopes([y], self._xs, [ones_like(y)]))
        return found

    def __getitem__(self, indexes: Any) -> Tensor:
        """Elements; a row or slice of rows alone is computed."""
        key = indexes if isinstance(indexes, tuple) else (indexes,)
        if len(key) > len(self._shape):
            raise errors.out_of_range(
                f"{type(self).__name__}: there are more indices than axes.", expected=f"at most {len(self._shape)}",
                received=f"{len(key)}",
            )  # fmt: skip
        axis = 1 if self._batched else 0
        key += (slice(None),) * (len(self._shape) - len(key))
        rows = key[axis]
        count = self._shape[axis]
        if isinstance(rows, int):
            if not -count <= rows < count:
                raise errors.out_of_range(
                    f"{type(self).__name__}: there is no such row.", expected=f"[{-count}, {count})", received=f"{rows}"
                )
            return self._row(rows % count)[key[:axis] + key[axis + 1 :]]
        wanted = range(count)[rows]
        if not wanted:
            raise errors.out_of_range(f"{type(self).__name__}: there are no such rows.", received=f"{rows}")
        whole = stack([self._row(i) for i in wanted], axis)
        return whole[key[:axis] + (slice(None),) + key[axis + 1 :]]


class Hessian(Jacobian):
    """The second derivative of a function with one value (one per batch entry) as a matrix.

    Args:
        func (callable): Takes Tensors, gives a Tensor of one element, or [B, 1].
        xs (Tensor|Sequence[Tensor]): The arguments.
        is_batched (bool): The first axis of all is a batch. Default: False.

    Raises:
        RuntimeError: the function has several values.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.incubate.autograd.Hessian(lambda x: (x**3).sum(), x)[:].tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """

    def _values(self, func: Callable[..., Any]) -> Any:
        y = func(*self._xs)
        size = y.size // y.shape[0] if self._batched else y.size
        if size != 1:
            raise errors.precondition(
                "Hessian: the function has several values.", expected="[B, 1]" if self._batched else "one element",
                received=f"{y.type}",
            )  # fmt: skip
        return _slopes([y], self._xs, [ones_like(y)])
