"""Convolution over any number of spatial axes, and what its gradients are made of.

Shape letters: N batch, G groups, C input channels of a group, O output channels of a group, S sizes of the padded
input, K sizes of the kernel, Z sizes of the result; S, K and Z stand for one size per spatial axis.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ..errors import invalid_argument, need_equal_dtypes
from ..types import TensorType
from .registry import Operator, operator
from .shape import Dilate, flip, pad, slice_axis, transpose


def out_size(n: int, kernel: int, stride: int, dilation: int) -> int:
    """How many windows of a dilated kernel fit into n elements."""
    return (n - (kernel - 1) * dilation - 1) // stride + 1


@operator
class Conv(Operator):
    """out[n,g,o,z] = sum over c, k of x[n, g, c, z*stride + k*dilation] * w[g,o,c,k].

    Shapes: x [N, G, C, *S] with its padding, w [G, O, C, *K] -> [N, G, O, *Z].
    """

    strides: tuple
    dilations: tuple

    def infer(self, x: TensorType, w: TensorType) -> TensorType:
        rank = len(self.strides)
        if x.ndim != rank + 3 or w.ndim != rank + 3 or x.shape[1:3] != (w.shape[0], w.shape[2]):
            raise invalid_argument(
                "conv: x and weight do not fit.",
                expected=f"x [N, G, C, ...] and weight [G, O, C, ...] with {rank} spatial axes",
                received=f"x: {x}, weight: {w}",
            )
        need_equal_dtypes("conv", x=x, weight=w)
        sizes = tuple(map(out_size, x.shape[3:], w.shape[3:], self.strides, self.dilations))
        if any(n < 1 for n in sizes) and x.size:
            raise invalid_argument(
                "conv: the kernel is larger than the padded input.",
                expected="(kernel - 1) * dilation + 1 <= size + padding, along each axis",
                received=f"padded sizes: {list(x.shape[3:])}, kernel: {list(w.shape[3:])}, "
                f"dilation: {list(self.dilations)}",
            )
        return TensorType((x.shape[0], w.shape[0], w.shape[1], *(max(n, 0) for n in sizes)), x.dtype)

    def numpy(self, x, w):
        n, g, c = x.shape[:3]
        kernel, rank = w.shape[3:], len(self.strides)
        sizes = tuple(max(out_size(*a), 0) for a in zip(x.shape[3:], kernel, self.strides, self.dilations))
        shape = (n, g, w.shape[1], *sizes)
        if 0 in shape or 0 in w.shape:
            return np.zeros(shape, x.dtype)
        wide = np.float32 if x.dtype.kind == "f" and x.dtype.itemsize < 4 else x.dtype
        step = x.strides[3:]
        windows = np.lib.stride_tricks.as_strided(
            x,
            (g, n, *sizes, c, *kernel),
            (x.strides[1], x.strides[0], *(a * b for a, b in zip(step, self.strides)), x.strides[2],
             *(a * b for a, b in zip(step, self.dilations))),
        )  # fmt: skip
        rows = windows.reshape(g, n * math.prod(sizes), c * math.prod(kernel)).astype(wide, copy=False)
        columns = w.reshape(g, w.shape[1], -1).transpose(0, 2, 1).astype(wide, copy=False)
        out = (rows @ columns).reshape(g, n, *sizes, w.shape[1])
        return out.transpose(1, 0, rank + 2, *range(2, rank + 2)).astype(x.dtype, copy=False)

    def vjp(self, g, out, x, w):
        dx = conv_input_grad(g, w, tuple(x.shape), self.strides, self.dilations)
        dw = conv_weight_grad(g, x, tuple(w.shape), self.strides, self.dilations)
        return dx, dw

    def loops(self, k, x, w):
        n, g, o, *z = k.at

        def product(c, *kk):
            at = [i * s + j * d for i, j, s, d in zip(z, kk, self.strides, self.dilations)]
            return k.load(x, [n, g, c, *at]) * k.load(w, [g, o, c, *kk])

        return k.sum(w.shape[2:], product)

    def xla(self, jnp, x, w):
        n, g, c, *s = x.shape
        out = jnp.lax.conv_general_dilated(
            x.reshape(n, g * c, *s),
            w.reshape(g * w.shape[1], *w.shape[2:]),
            self.strides,
            "VALID",
            rhs_dilation=self.dilations,
            feature_group_count=g,
        )
        return out.reshape(n, g, w.shape[1], *out.shape[2:])

    def spmd(self, *types):
        rank = len(self.strides)
        return f"ngc{'STUV'[:rank]},goc{'KLMP'[:rank]}->ngo{'STUV'[:rank]}"

    @classmethod
    def samples(cls, rng):
        def make(*shape, dtype="float32"):
            return rng.normal(size=shape).astype(dtype)

        yield cls((1,), (1,)), (make(2, 1, 3, 7), make(1, 4, 3, 3))
        yield cls((2, 1), (1, 2)), (make(2, 1, 2, 6, 7), make(1, 3, 2, 3, 2))
        yield cls((2, 2), (1, 1)), (make(1, 2, 2, 6, 5), make(2, 2, 2, 3, 2))
        yield cls((1, 1), (1, 1)), (make(1, 4, 1, 5, 5, dtype="float64"), make(4, 1, 1, 3, 3, dtype="float64"))
        yield cls((1, 1), (1, 1)), (make(0, 1, 2, 4, 4), make(1, 3, 2, 2, 2))
        yield cls((3, 2), (1, 1)), (make(2, 1, 3, 9, 8), make(1, 5, 3, 1, 1))
        yield cls((1, 2, 1), (1, 1, 2)), (make(1, 1, 2, 3, 5, 4), make(1, 2, 2, 2, 2, 2))
        yield cls((1, 1), (1, 1)), (make(1, 1, 2, 4, 4, dtype="float16"), make(1, 2, 2, 2, 2, dtype="float16"))


def conv_input_grad(g: Any, w: Any, x_shape: tuple[int, ...], strides: tuple, dilations: tuple) -> Any:
    """Gradient of the (padded) input: g convolved with the mirrored kernel, spread out by the stride.

    Elements of the input that are a stride apart are reached by the same elements of the kernel, and by no others: they
    are one convolution of their own, whose result is spread out.
    """
    if any(s > 1 and d > 1 for s, d in zip(strides, dilations)):
        return _full(Dilate((1, 1, 1, *strides))(g), w, x_shape[3:], dilations)
    total = None
    for first in itertools.product(*(range(min(s, k)) for s, k in zip(strides, tuple(w.shape)[3:]))):
        part = w
        for axis, (r, s) in enumerate(zip(first, strides), 3):
            part = slice_axis(part, axis, r, part.shape[axis], s) if s > 1 else part
        sizes = tuple(-(-(n - r) // s) for n, r, s in zip(x_shape[3:], first, strides))
        out = _full(g, part, sizes, dilations)
        if any(s > 1 for s in strides):
            out = Dilate((1, 1, 1, *strides))(out)
            after = (n - r - m for n, r, m in zip(x_shape[3:], first, tuple(out.shape)[3:]))
            out = pad(out, (0, 0, 0, *first), (0, 0, 0, *after))
        total = out if total is None else total + out
    return total


def _full(g: Any, w: Any, sizes: tuple[int, ...], dilations: tuple) -> Any:
    """g convolved with the mirrored kernel, from the first element that it reaches: [N, G, C, *sizes]."""
    reach = [(n - 1) * d for n, d in zip(tuple(w.shape)[3:], dilations)]
    rest = (n - m for n, m in zip(sizes, tuple(g.shape)[3:]))
    g = pad(g, (0, 0, 0, *reach), (0, 0, 0, *rest))
    axes = tuple(range(3, 3 + len(sizes)))
    mirrored = transpose(flip(w, axes) if max(tuple(w.shape)[3:], default=1) > 1 else w, (0, 2, 1, *axes))
    return Conv((1,) * len(axes), dilations)(g, mirrored)


def conv_weight_grad(g: Any, x: Any, w_shape: tuple[int, ...], strides: tuple, dilations: tuple) -> Any:
    """Gradient of the kernel: batch and channels change places, and so do stride and dilation."""
    axes = tuple(range(3, len(w_shape)))
    for i in axes:  # what the last window leaves over would make the result larger than the kernel
        read = (g.shape[i] - 1) * strides[i - 3] + (w_shape[i] - 1) * dilations[i - 3] + 1
        x = slice_axis(x, i, 0, min(read, x.shape[i]))
    out = Conv(dilations, strides)(transpose(x, (2, 1, 0, *axes)), transpose(g, (1, 2, 0, *axes)))
    return transpose(out, (1, 2, 0, *axes))


# ---- patches: unfold and fold -----------------------------------------------------------------
@operator
class Unfold(Operator):
    """The windows of the last axes side by side: out[n, c, k, z] = x[n, c, z*stride + k*dilation].

    Shapes: x [N, C, *S] with its padding -> [N, C, *K, *Z].
    """

    kernel: tuple
    strides: tuple
    dilations: tuple

    def infer(self, x: TensorType) -> TensorType:
        sizes = tuple(map(out_size, x.shape[2:], self.kernel, self.strides, self.dilations))
        if any(n < 1 for n in sizes):
            raise invalid_argument(
                "unfold: the kernel is larger than the padded input.",
                expected="(kernel - 1) * dilation + 1 <= size + padding, along each axis",
                received=f"x with its padding: {x}, kernel_sizes: {list(self.kernel)}",
            )
        return x.with_shape((*x.shape[:2], *self.kernel, *sizes))

    def numpy(self, x):
        sizes = tuple(map(out_size, x.shape[2:], self.kernel, self.strides, self.dilations))
        out = np.empty((*x.shape[:2], *self.kernel, *sizes), x.dtype)
        for kk in itertools.product(*map(range, self.kernel)):
            to, source = (slice(None), slice(None), *kk), (slice(None), slice(None), *self.window(kk, sizes))
            out[to] = x[source]
        return out

    def window(self, kk: tuple[int, ...], sizes: tuple[int, ...]) -> list[slice]:
        return [slice(j * d, j * d + (n - 1) * s + 1, s)
                for j, d, n, s in zip(kk, self.dilations, sizes, self.strides)]  # fmt: skip

    def vjp(self, g, out, x):
        return (Fold(self.kernel, self.strides, self.dilations, tuple(x.shape)[2:])(g),)

    def loops(self, k, x):
        rank = len(self.kernel)
        n, c, *rest = k.at
        at = [z * s + j * d for j, z, s, d in zip(rest[:rank], rest[rank:], self.strides, self.dilations)]
        return k.load(x, [n, c, *at])

    def xla(self, jnp, x):
        out = jnp.lax.conv_general_dilated_patches(x, self.kernel, self.strides, "VALID", rhs_dilation=self.dilations)
        return out.reshape(*x.shape[:2], *self.kernel, *out.shape[2:])

    def spmd(self, *types):
        return f"nc{'STUV'[: len(self.kernel)]}->nc{'KLMP'[: len(self.kernel)]}{'STUV'[: len(self.kernel)]}"

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(2, 3, 6, 7)).astype("float32")
        yield cls((2, 3), (1, 1), (1, 1)), (x,)
        yield cls((3, 2), (2, 1), (1, 2)), (x,)
        yield cls((3,), (3,), (1,)), (rng.normal(size=(1, 2, 8)),)


@operator
class Fold(Operator):
    """Windows added into place: the transpose of Unfold. Shapes: x [N, C, *K, *Z] -> [N, C, *sizes]."""

    kernel: tuple
    strides: tuple
    dilations: tuple
    sizes: tuple

    def infer(self, x: TensorType) -> TensorType:
        return x.with_shape((*x.shape[:2], *self.sizes))

    def numpy(self, x):
        rank = len(self.kernel)
        out = np.zeros((*x.shape[:2], *self.sizes), x.dtype)
        like = Unfold(self.kernel, self.strides, self.dilations)
        for kk in itertools.product(*map(range, self.kernel)):
            to = (slice(None), slice(None), *like.window(kk, x.shape[2 + rank :]))
            source = (slice(None), slice(None), *kk)
            out[to] += x[source]
        return out

    def vjp(self, g, out, x):
        return (Unfold(self.kernel, self.strides, self.dilations)(g),)

    def loops(self, k, x):
        rank = len(self.kernel)
        n, c, *at = k.at
        count = x.shape[2 + rank :]

        def part(*kk):
            inside, z = None, []
            for i, j, s, d, m in zip(at, kk, self.strides, self.dilations, count):
                i = i - j * d
                for test in ((i >= 0), (i % s).eq(0) if s > 1 else None, (i // s) < m):
                    if test is not None:
                        inside = test if inside is None else inside & test
                z.append(i // s)
            return k.load(x, [n, c, *kk, *z], inside)

        return k.sum(self.kernel, part)

    def xla(self, jnp, x):
        rank = len(self.kernel)
        total: Any = 0
        for kk in itertools.product(*map(range, self.kernel)):
            source = (slice(None), slice(None), *kk)
            edges = [(j * d, n - j * d - (m - 1) * s - 1, s - 1) for j, d, n, m, s in
                     zip(kk, self.dilations, self.sizes, x.shape[2 + rank :], self.strides)]  # fmt: skip
            total = total + jnp.lax.pad(x[source], np.zeros((), x.dtype), [(0, 0, 0)] * 2 + edges)
        return total

    def spmd(self, *types):
        return f"nc{'KLMP'[: len(self.kernel)]}{'STUV'[: len(self.kernel)]}->nc{'STUV'[: len(self.kernel)]}"

    @classmethod
    def samples(cls, rng):
        yield cls((2, 3), (1, 1), (1, 1), (6, 7)), (rng.normal(size=(2, 3, 2, 3, 5, 5)).astype("float32"),)
        yield cls((3, 2), (2, 1), (1, 2), (6, 7)), (rng.normal(size=(1, 2, 3, 2, 2, 5)),)
