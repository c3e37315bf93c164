"""Softmax and the losses on labels: rows along one axis are reduced and used again, in one pass where fused."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import invalid_argument, offending
from ..types import TensorType
from .elementwise import cast, exp, not_equal
from .reduction import sum_
from .registry import Operator, operator
from .shape import broadcast_to, reshape


def _wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32) if x.dtype.itemsize < 4 else x


def _row(k: Any, x: Any, at: list[Any], axis: int) -> Any:
    return lambda j: k.load(x, [*at[:axis], j, *at[axis + 1 :]])


def _statistics(k: Any, x: Any, at: list[Any], axis: int) -> tuple[Any, Any]:
    """Greatest element of a row, and the sum of exponentials relative to it."""
    row = _row(k, x, at, axis)
    top = k.reduce("max", [x.shape[axis]], row)
    return top, k.sum([x.shape[axis]], lambda j: k.exp(row(j) - top))


def _shifted(x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    x = _wide(x)
    top = np.max(x, axis=axis, keepdims=True) if x.shape[axis] else x
    return x - top, top


def _shifted_xla(jnp: Any, x: Any, axis: int) -> Any:
    x = _wide(x)
    return x - jnp.max(x, axis=axis, keepdims=True, initial=-np.inf)


def _over_axis(cls: Any, rng: np.random.Generator) -> Any:
    x = rng.normal(size=(3, 4, 5)).astype("float32") * 3
    for axis in range(3):
        yield cls(axis), (x,)
    yield cls(0), (rng.normal(size=37),)
    yield cls(1), (rng.normal(size=(0, 3)),)
    yield cls(1), (rng.normal(size=(3, 0)),)
    yield cls(1), (np.array([[1e4, -1e4, 0.0], [-np.inf, 0.0, 1.0], [np.nan, 0.0, 1.0]], "float32"),)


class RowOperator(Operator):
    """Base: the shape of x is kept, `axis` (non-negative) is reduced on the way."""

    def infer(self, x: TensorType) -> TensorType:
        return x

    def spmd(self, *types):
        before = "abcdefgh"[: self.axis]
        return f"{before}R...->{before}R..."

    @classmethod
    def samples(cls, rng):
        return _over_axis(cls, rng)


@operator
class Softmax(RowOperator):
    """exp(x) over its sum along an axis."""

    axis: int

    def numpy(self, x):
        e = np.exp(_shifted(x, self.axis)[0])
        return (e / e.sum(axis=self.axis, keepdims=True)).astype(x.dtype)

    def vjp(self, g, out, x):
        weighted = g * out
        return (weighted - out * sum_(weighted, (self.axis,), True),)

    def loops(self, k, x):
        top, total = _statistics(k, x, list(k.at), self.axis)
        return k.exp(k.load(x, k.at) - top) / total

    def xla(self, jnp, x):
        e = jnp.exp(_shifted_xla(jnp, x, self.axis))
        return (e / jnp.sum(e, axis=self.axis, keepdims=True)).astype(x.dtype)


@operator
class LogSoftmax(RowOperator):
    """x less the log of the sum of exp(x) along an axis."""

    axis: int

    def numpy(self, x):
        shifted = _shifted(x, self.axis)[0]
        return (shifted - np.log(np.exp(shifted).sum(axis=self.axis, keepdims=True))).astype(x.dtype)

    def vjp(self, g, out, x):
        return (g - exp(out) * sum_(g, (self.axis,), True),)

    def loops(self, k, x):
        top, total = _statistics(k, x, list(k.at), self.axis)
        return k.load(x, k.at) - top - k.log(total)

    def xla(self, jnp, x):
        shifted = _shifted_xla(jnp, x, self.axis)
        return (shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=self.axis, keepdims=True))).astype(x.dtype)


# ---- labels -----------------------------------------------------------------------------------
class Labelled(Operator):
    """Base of operators with an integer label per row.

    Shapes: x [..., C, ...], label [..., ...] (x without `axis`).
    A label outside [0, C) that is not `ignore_index` ends the run with an IndexError.
    """

    axis: int
    ignore_index: int

    def without_axis(self, x: TensorType, label: TensorType) -> TensorType:
        rest = x.shape[: self.axis] + x.shape[self.axis + 1 :]
        if label.shape != rest:
            raise invalid_argument(
                f"{self.name}: label does not fit x.",
                expected=f"label: {list(rest)}, the shape of x without axis {self.axis}",
                received=f"x: {x}, label: {label}",
            )
        return TensorType(rest, x.dtype)

    def checked(self, label: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
        """Labels with 0 for ignored ones, and which are kept."""
        label = label.astype(np.int64)
        kept = label != self.ignore_index
        bad = kept & ((label < 0) | (label >= classes))
        if bad.any():
            allowed = f"classes in [0, {classes}), or {self.ignore_index} for none"
            raise IndexError(offending("a label is out of range", bad, label, allowed, "label"))
        return np.where(kept, label, 0), kept

    def pick(self, k: Any, x: Any, label: Any, at: Any) -> tuple[Any, Any]:
        """The element of row `at` at its label (0 if ignored), and whether the row is ignored."""
        i = k.index(k.load(label, at))
        n = x.shape[self.axis]
        inside = (i >= 0) & (i < n)
        ignored = i.eq(self.ignore_index)
        i = k.check(inside | ignored, i, i, "a label is out of range.\n  received: label: {value}")
        return k.load(x, [*at[: self.axis], i, *at[self.axis :]], inside=inside & ~ignored), ignored

    def pick_xla(self, jnp: Any, x: Any, label: Any) -> tuple[Any, Any]:
        """The element of each row at its label, and which rows are kept (the element of others means nothing)."""
        kept = label != self.ignore_index
        i = jnp.expand_dims(jnp.where(kept, label, 0), self.axis)
        return jnp.take_along_axis(x, i, self.axis).squeeze(self.axis), kept

    def spmd(self, *types):
        a = "abcdefgh"[: self.axis]
        return f"{a}R...,{a}...->{a}..."

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 5, 4)).astype("float32")
        for axis in range(3):
            shape = x.shape[:axis] + x.shape[axis + 1 :]
            label = rng.integers(0, x.shape[axis], shape)
            yield cls(axis), (x, label)
            label.flat[0] = -100
            yield cls(axis), (x, label.astype("int32"))
        yield cls(1, 2), (rng.normal(size=(33, 3)), rng.integers(0, 3, 33))
        yield cls(0), (rng.normal(size=7), np.asarray(3))
        yield cls(1), (rng.normal(size=(0, 3)), np.zeros(0, "int64"))


@operator
class PickLabel(Labelled):
    """x at the label of each row; 0 where the label is `ignore_index`."""

    fault = "bad_index"
    axis: int
    ignore_index: int = -100

    def infer(self, x: TensorType, label: TensorType) -> TensorType:
        return self.without_axis(x, label)

    def numpy(self, x, label):
        i, kept = self.checked(label, x.shape[self.axis])
        if not i.size:
            return np.zeros(i.shape, x.dtype)
        found = np.take_along_axis(x, np.expand_dims(i, self.axis), self.axis).squeeze(self.axis)
        return np.where(kept, found, x.dtype.type(0))

    def vjp(self, g, out, x, label):
        return PutLabel(self.axis, x.shape[self.axis], self.ignore_index)(g, label), None

    def loops(self, k, x, label):
        value, _ = self.pick(k, x, label, list(k.at))
        return value

    def xla(self, jnp, x, label):
        found, kept = self.pick_xla(jnp, x, label)
        return jnp.where(kept, found, 0)


@operator
class PutLabel(Operator):
    """Rows that hold a value at their label and 0 elsewhere: the transpose of PickLabel.

    Shapes: value [..., ...], label alike -> [..., size, ...], the new axis at `axis`.
    """

    axis: int
    size: int
    ignore_index: int = -100

    def infer(self, value: TensorType, label: TensorType) -> TensorType:
        return value.with_shape((*value.shape[: self.axis], self.size, *value.shape[self.axis :]))

    def numpy(self, value, label):
        bad = (label != self.ignore_index) & ((label < 0) | (label >= self.size))
        if bad.any():
            raise IndexError(offending("a label is out of range", bad, label, f"classes in [0, {self.size})", "label"))
        label = np.where(label == self.ignore_index, -1, label)
        classes = np.arange(self.size).reshape([-1] + [1] * (value.ndim - self.axis))
        hit = np.expand_dims(label, self.axis) == classes
        return np.where(hit, np.expand_dims(value, self.axis), value.dtype.type(0))

    def vjp(self, g, out, value, label):
        return PickLabel(self.axis, self.ignore_index)(g, label), None

    def loops(self, k, value, label):
        at = [*k.at[: self.axis], *k.at[self.axis + 1 :]]
        i = k.index(k.load(label, at))
        kept = i.ne(self.ignore_index)
        ok = (i >= 0) & (i < self.size) | ~kept
        i = k.check(ok, i, i, "a label is out of range.\n  received: label: {value}")
        return k.where(i.eq(k.at[self.axis]) & kept, k.load(value, at), 0)

    def xla(self, jnp, value, label):
        classes = jnp.arange(self.size).reshape([-1] + [1] * (value.ndim - self.axis))
        hit = jnp.expand_dims(jnp.where(label == self.ignore_index, -1, label), self.axis) == classes
        return jnp.where(hit, jnp.expand_dims(value, self.axis), 0)

    def spmd(self, *types):
        a = "abcdefgh"[: self.axis]
        return f"{a}...,{a}...->{a}R..."

    @classmethod
    def samples(cls, rng):
        yield cls(1, 5), (rng.normal(size=(3, 4)).astype("float32"), rng.integers(0, 5, (3, 4)))
        yield cls(2, 5, 2), (rng.normal(size=(3, 4)), rng.integers(0, 5, (3, 4)))
        yield cls(0, 3), (rng.normal(size=()), np.asarray(1))


@operator
class SoftmaxCrossEntropy(Labelled):
    """-log(softmax(x)) at the label of each row; 0 where the label is `ignore_index`."""

    axis: int
    ignore_index: int = -100

    def infer(self, x: TensorType, label: TensorType) -> TensorType:
        return self.without_axis(x, label)

    def numpy(self, x, label):
        i, kept = self.checked(label, x.shape[self.axis])
        if not i.size:
            return np.zeros(i.shape, x.dtype)
        shifted, _ = _shifted(x, self.axis)
        at = np.take_along_axis(shifted, np.expand_dims(i, self.axis), self.axis).squeeze(self.axis)
        return np.where(kept, np.log(np.exp(shifted).sum(self.axis)) - at, 0).astype(x.dtype)

    def vjp(self, g, out, x, label):
        return SoftmaxCrossEntropyGrad(self.axis, self.ignore_index)(g, x, label), None

    def loops(self, k, x, label):
        at = list(k.at)
        value, ignored = self.pick(k, x, label, at)
        top, total = _statistics(k, x, [*at[: self.axis], None, *at[self.axis :]], self.axis)
        return k.where(ignored, 0, k.log(total) + top - value)

    def xla(self, jnp, x, label):
        shifted = _shifted_xla(jnp, x, self.axis)
        found, kept = self.pick_xla(jnp, shifted, label)
        return jnp.where(kept, jnp.log(jnp.sum(jnp.exp(shifted), self.axis)) - found, 0).astype(x.dtype)


@operator
class SoftmaxCrossEntropyGrad(Operator):
    """(softmax(x) - one_hot(label)) * g; 0 in rows whose label is `ignore_index`.

    Shapes: g and label [..., ...], x [..., C, ...] -> [..., C, ...].
    """

    axis: int
    ignore_index: int = -100

    def infer(self, g: TensorType, x: TensorType, label: TensorType) -> TensorType:
        return x

    def numpy(self, g, x, label):
        e = np.exp(_shifted(x, self.axis)[0])
        p = e / e.sum(axis=self.axis, keepdims=True)
        classes = np.arange(x.shape[self.axis]).reshape([-1] + [1] * (x.ndim - self.axis - 1))
        label = np.expand_dims(label, self.axis)
        d = (p - (label == classes)) * np.expand_dims(g, self.axis)
        return np.where(label == self.ignore_index, 0, d).astype(x.dtype)

    def vjp(self, gg, out, g, x, label):
        p = Softmax(self.axis)(x)
        kept = cast(not_equal(label, self.ignore_index), g.dtype)
        weighted = gg * p
        mean = sum_(weighted, (self.axis,), True)
        rest = tuple(g.shape)
        dg = reshape(mean, rest) * kept - PickLabel(self.axis, self.ignore_index)(gg, label)
        rows = reshape(g * kept, tuple(mean.shape))
        return dg, broadcast_to(rows, tuple(x.shape)) * (weighted - p * mean), None

    def loops(self, k, g, x, label):
        at = [*k.at[: self.axis], *k.at[self.axis + 1 :]]
        top, total = _statistics(k, x, list(k.at), self.axis)
        i = k.index(k.load(label, at))
        p = k.exp(k.load(x, k.at) - top) / total
        d = (p - k.where(i.eq(k.at[self.axis]), p.scope.const(1, p.dtype), 0)) * k.load(g, at)
        return k.where(i.eq(self.ignore_index), 0, d)

    def xla(self, jnp, g, x, label):
        e = jnp.exp(_shifted_xla(jnp, x, self.axis))
        p = e / jnp.sum(e, axis=self.axis, keepdims=True)
        classes = jnp.arange(x.shape[self.axis]).reshape([-1] + [1] * (x.ndim - self.axis - 1))
        label = jnp.expand_dims(label, self.axis)
        d = (p - (label == classes)) * jnp.expand_dims(g, self.axis)
        return jnp.where(label == self.ignore_index, 0, d).astype(x.dtype)

    def spmd(self, *types):
        a = "abcdefgh"[: self.axis]
        return f"{a}...,{a}R...,{a}...->{a}R..."

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 5, 4)).astype("float32")
        label = rng.integers(0, 5, (3, 4))
        label[0, 0] = -100
        yield cls(1), (rng.normal(size=(3, 4)).astype("float32"), x, label)
        yield cls(1, 2), (rng.normal(size=33), rng.normal(size=(33, 3)), rng.integers(0, 3, 33))
        yield cls(0), (rng.normal(size=()), rng.normal(size=7), np.asarray(3))
