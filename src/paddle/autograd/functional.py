"""Jacobians and Hessians as matrices whose rows are computed when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine import errors
from ..engine.eager import walk
from ..engine.ops.creation import Full
from ..engine.ops.reduction import sum_
from ..engine.ops.shape import reshape
from ..tensor.tensor import Tensor

__all__ = ["Hessian", "Jacobian", "hessian", "jacobian"]

# Shape letters: B batch, M elements of ys, N elements of xs.


class Jacobian:
    """The matrix dys/dxs, [M, N] or, with a batch axis, [B, M, N]. Indexing computes the rows that it needs.

    Args:
        ys (Tensor): [], [M]; with a batch axis [B] or [B, M].
        xs (Tensor): [], [N]; with a batch axis [B] or [B, N].
        is_batched (bool): axis 0 of both is a batch axis. Default: False.
    """

    def __init__(self, ys: Tensor, xs: Tensor, is_batched: bool = False) -> None:
        most = 2 if is_batched else 1
        for name, t in (("ys", ys), ("xs", xs)):
            if t.ndim > most or (is_batched and t.ndim < 1):
                raise errors.invalid_argument(
                    f"jacobian: {name} has too many axes.",
                    expected=f"at most {most} axes" + (", the first of them the batch" if is_batched else ""),
                    received=f"{name}: {t.type}",
                    hint="flatten it first.",
                )
        self._ys, self._xs, self._batched = ys, xs, is_batched
        self._rows: dict[int, Tensor] = {}
        self._whole: Tensor | None = None
        shape = ys.type.shape[is_batched:], xs.type.shape[is_batched:]
        batch = list(ys.type.shape[:1]) if is_batched else []
        self.inner_shape = batch + [s[0] if s else 1 for s in shape]
        # a 0-d ys or xs gives no axis
        self._shape = batch + [s[0] for s in shape if s] if not is_batched else self.inner_shape

    @property
    def shape(self) -> list[int]:
        return list(self._shape)

    def _row(self, i: int) -> Tensor:
        found = self._rows.get(i)
        if found is None:
            y = self._ys
            if self._batched:
                column = reshape(y, (y.type.shape[0], -1 if y.ndim > 1 else 1)) if y.ndim == 1 else y
                y_i = sum_(column[:, i], (0,))
            else:
                y_i = y if y.ndim == 0 else y[i]
            (g,) = walk.grad([y_i], [self._xs], [None], retain=True, create_graph=True, allow_unused=True)
            if g is None:
                x = self._xs.type
                g = Full(x.shape, 0.0, x.dtype)()
            found = self._rows[i] = g
        return found

    def _all(self) -> Tensor:
        if self._whole is None:
            from ..tensor import stack

            axis = 1 if self._batched else 0
            m = self.inner_shape[axis]
            rows = [self._row(i) for i in range(m)]
            if self._batched:
                rows = [reshape(r, tuple(self.inner_shape[:1] + self.inner_shape[2:])) for r in rows]
            self._whole = reshape(stack(rows, axis), tuple(self._shape))
        return self._whole

    def __getitem__(self, indexes: Any) -> Tensor:
        if not self._batched and isinstance(indexes, int) and self._ys.ndim == 1:
            m = self.inner_shape[0]
            if -m <= indexes < m:
                return self._row(indexes % m)
        return self._all()[indexes]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._all(), name)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._all().__array__(*args, **kwargs)

    def __repr__(self) -> str:
        return repr(self._all())


def _delegate(name: str) -> Any:
    def method(self: Jacobian, *args: Any) -> Any:
        values = [a._all() if isinstance(a, Jacobian) else a for a in args]
        return getattr(self._all(), name)(*values)

    method.__name__ = name
    return method


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "matmul", "rmatmul", "pow", "neg",
              "lt", "le", "gt", "ge", "len"):  # fmt: skip
    setattr(Jacobian, f"__{_name}__", _delegate(f"__{_name}__"))


class Hessian(Jacobian):
    """The matrix of second derivatives of a single number, [N, N], or per batch entry, [B, N, N]."""


def _each(f: Any, items: Any) -> Any:
    return tuple(f(i) for i in items) if isinstance(items, (list, tuple)) else f(items)


def _check(value: Any, name: str, where: str) -> None:
    found = value if isinstance(value, (list, tuple)) else (value,)
    if not all(isinstance(t, Tensor) for t in found):
        raise errors.invalid_type(
            f"{where}: {name} is not made of Tensors.",
            expected="a Tensor, or a sequence of Tensors",
            received=f"{name}: {type(value).__name__}",
        )


def _batch(batch_axis: int | None, where: str) -> bool:
    if batch_axis not in (None, 0):
        raise errors.invalid_argument(
            f"{where}: the batch axis is not supported.", expected="batch_axis None or 0", received=f"{batch_axis!r}"
        )
    return batch_axis == 0


def jacobian(ys: Tensor | Sequence[Tensor], xs: Tensor | Sequence[Tensor], batch_axis: int | None = None) -> Any:
    """Derivatives of each element of ys for each element of xs.

    Args:
        ys (Tensor|Sequence[Tensor]): computed from xs; [] or [M], with a batch [B] or [B, M].
        xs (Tensor|Sequence[Tensor]): [] or [N], with a batch [B] or [B, N].
        batch_axis (int, optional): 0 if axis 0 is a batch axis, else None. Default: None.

    Returns:
        Jacobian: [M, N] or [B, M, N]. A sequence of ys, or of xs, gives a tuple of them (ys outside).

    Raises:
        ValueError: too many axes, or a batch_axis other than None and 0.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.jacobian(x * x, x)[:].tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    _check(ys, "ys", "jacobian")
    _check(xs, "xs", "jacobian")
    batched = _batch(batch_axis, "jacobian")
    return _each(lambda y: _each(lambda x: Jacobian(y, x, batched), xs), ys)


def hessian(ys: Tensor, xs: Tensor | Sequence[Tensor], batch_axis: int | None = None) -> Any:
    """Second derivatives of one number for the elements of xs.

    Args:
        ys (Tensor): one element; with a batch [B] or [B, 1].
        xs (Tensor|Sequence[Tensor]): [] or [N], with a batch [B] or [B, N].
        batch_axis (int, optional): 0 if axis 0 is a batch axis, else None. Default: None.

    Returns:
        Hessian: [N, N] or [B, N, N]; a sequence of xs gives a tuple of tuples.

    Raises:
        ValueError: ys has more than one element (per batch entry).

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.hessian((x * x * x).sum(), x)[:].tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    _check(ys, "ys", "hessian")
    _check(xs, "xs", "hessian")
    batched = _batch(batch_axis, "hessian")
    per = ys.size if not batched else ys.size // max(ys.type.shape[0], 1)
    if per != 1:
        raise errors.invalid_argument(
            "hessian: ys is not a single number.",
            expected="one element" + (" per batch entry" if batched else ""),
            received=f"ys: {ys.type}",
        )
    total = sum_(ys, tuple(range(ys.ndim)))
    inputs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    firsts = walk.grad([total], inputs, [None] * len(inputs[:1]), retain=True, create_graph=True, allow_unused=True)

    def second(first: Any, x: Tensor, y: Tensor) -> Hessian:
        if first is None:
            first = Full(x.type.shape, 0.0, x.type.dtype)()
        return Hessian(first, y, batched)

    if isinstance(xs, (list, tuple)):
        return tuple(tuple(second(f, x, y) for y in inputs) for f, x in zip(firsts, inputs))
    return second(firsts[0], xs, xs)
