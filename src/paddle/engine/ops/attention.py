"""Attention as one operator: its kernels never hold the scores of all queries and keys.

Shape letters: B batch, S queries, T keys, H heads of the queries, G heads of keys and values, K width of a head of
queries and keys, V of values. Each head of the keys serves H / G neighbours of the queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import invalid_argument, need_equal_dtypes
from ..types import DType, TensorType, float32, float64, int64
from .creation import Arange, Full
from .elementwise import cast, exp, less_equal
from .linalg import matmul
from .logic import select
from .reduction import sum_
from .registry import Operator, absent, operator
from .shape import broadcast_to, reshape, transpose


def sums_of(dtype: DType) -> DType:
    """The type in which attention of a type is summed."""
    return float64 if dtype is float64 else float32


WIDEST = 1024  # bytes of a head for which the kernels have room
FEW, FEW_HALF = 16, 192  # queries or keys up to which whole scores are as fast, and small; in 16-bit types


def suits(queries: int, keys: int, width: int, dtype: DType) -> bool:
    """Whether attention is better computed by `Attention` than through its scores. width: of the widest head."""
    few = FEW_HALF if dtype.itemsize == 2 else FEW
    return queries >= few and keys >= few and 0 < width * max(4, dtype.itemsize) <= WIDEST


class _Attention(Operator):
    """What both directions share: arguments query [B, S, H, K], key [B, T, G, K], value [B, T, G, V] and, if there is
    one, a mask that broadcasts to [B, H, S, T], its last size T: bool, true where a key is seen, or of the type of the
    query, added to the scores.
    """

    scale: float
    causal: bool = False
    shift: int = 0
    loops = absent("kernels of its own: the CPU compiler writes them by blocks")

    def check(self, q: TensorType, k: TensorType, v: TensorType, *mask: TensorType) -> None:
        need_equal_dtypes(self.name, query=q, key=k)
        need_equal_dtypes(self.name, query=q, value=v)
        ok = q.ndim == k.ndim == v.ndim == 4 and k.shape[:3] == v.shape[:3] and q.dtype.is_floating
        ok = ok and q.shape[0] == k.shape[0] and q.shape[3] == k.shape[3]
        if not ok or not k.shape[2] or q.shape[2] % k.shape[2]:
            raise invalid_argument(
                f"{self.name}: query, key and value do not fit.",
                expected="floating query [B, S, H, K], key [B, T, G, K], value [B, T, G, V] with G a divisor of H",
                received=f"query: {q}, key: {k}, value: {v}",
            )
        for m in mask:
            whole = (q.shape[0], q.shape[2], q.shape[1], k.shape[1])
            ok = 1 <= m.ndim <= 4 and m.shape[-1] == whole[3] and (m.dtype.is_bool or m.dtype is q.dtype)
            if not ok or any(n not in (1, w) for n, w in zip(m.shape[::-1], whole[::-1])):
                raise invalid_argument(
                    f"{self.name}: the mask does not fit.",
                    expected=f"bool or {q.dtype}, broadcasting to {list(whole)}, with its last size",
                    received=f"mask: {m}",
                )  # fmt: skip

    def scores(self, xp: Any, q: Any, k: Any, *mask: Any) -> Any:
        """[B, H, S, T], of arrays that `wide` gave; xp is numpy or jax.numpy."""
        found = xp.matmul(q * q.dtype.type(self.scale), k.swapaxes(2, 3))
        s, t = found.shape[2:]
        for m in mask:
            found = xp.where(m, found, -np.inf) if m.dtype == bool else found + m.astype(found.dtype)
        if self.causal:
            found = xp.where(xp.arange(t) <= xp.arange(s)[:, None] + self.shift, found, -np.inf)
        return found.astype(q.dtype)

    def letters(self, types: tuple[TensorType, ...], mask: tuple[TensorType, ...]) -> tuple[list[str], str]:
        """The terms of a sharding rule for query, key, value and mask; and the letter of the queries."""
        s, h = "S" if self.causal else "s", "h" if types[1].shape[2] > 1 else "H"  # one head serves all
        return [f"b{s}{h}K", f"bT{h}K", f"bT{h}V", *(f"b{h}{s}T"[-m.ndim :] for m in mask)], s


def _wide(xp: Any, x: Any, heads: int = 0) -> Any:
    """[B, S, H, K] as [B, H, S, K], in the type of sums; heads as often as it takes to make so many."""
    x = x.astype(np.float64 if x.dtype == np.float64 else np.float32).transpose(0, 2, 1, 3)
    return xp.repeat(x, heads // x.shape[1], 1) if heads else x


@operator
class Attention(_Attention):
    """softmax(query @ key^T * scale + mask) @ value for each head: [B, S, H, V]; and the log of the sum of the
    exponentials of the scores, [B, S, H], in float32 (float64 for float64).

    With `causal` query i sees no keys after i + shift. A query that sees no key gives nan, as 0 / 0. The mask has no
    gradient here. Keys that a causal query is far before are not looked at: nan there does not spread.
    """

    def infer(self, q: TensorType, k: TensorType, v: TensorType, *mask: TensorType) -> Any:
        self.check(q, k, v, *mask)
        return TensorType((*q.shape[:3], v.shape[3]), q.dtype), TensorType(q.shape[:3], sums_of(q.dtype))

    def form(self, xp: Any, q: Any, k: Any, v: Any, *mask: Any) -> Any:
        heads = q.shape[2]
        scores = self.scores(xp, _wide(xp, q), _wide(xp, k, heads), *mask)
        top = xp.max(scores, 3, keepdims=True, initial=-np.inf)
        top = xp.where(top == -np.inf, 0, top).astype(scores.dtype)
        e = xp.exp(scores - top)
        total = e.sum(3, keepdims=True)
        out = xp.matmul(e, _wide(xp, v, heads)) / total
        lse = (xp.log(total) + top)[..., 0]
        return out.transpose(0, 2, 1, 3).astype(q.dtype), lse.transpose(0, 2, 1)

    def numpy(self, *args):
        return self.form(np, *args)

    def xla(self, jnp, *args):
        return self.form(jnp, *args)

    def vjp(self, g, out, q, k, v, *mask):
        (g_out, g_lse), (value, lse) = g, out
        wide = lse.dtype
        if g_out is None:
            g_out = Full(value.shape, 0.0, value.dtype)()
        delta = sum_(cast(g_out, wide) * cast(value, wide), (3,))
        if g_lse is not None:
            delta = delta - g_lse
        grads = AttentionGrad(self.scale, self.causal, self.shift)(q, k, v, *mask, g_out, lse, delta)
        return (*grads, *(None for _ in mask))

    def spmd(self, *types):
        terms, s = self.letters(types, types[3:])
        return f"{','.join(terms)}->b{s}{terms[0][2]}V,b{s}{terms[0][2]}"

    @classmethod
    def samples(cls, rng):
        for op, arrays in _samples(rng):
            yield cls(*op), arrays


@operator
class AttentionGrad(_Attention):
    """Gradients of query, key and value, from that of the result.

    Further arguments, after the mask: g [B, S, H, V], gradient of the result; lse [B, S, H], as `Attention` gave it;
    delta [B, S, H], the sum of g times the result along V, less the gradient of lse. With scores s, weights
    p = exp(s - lse) and ds = p (g @ value^T - delta): dq = ds @ key * scale, dk = ds^T @ query * scale, dv = p^T @ g.

    Source: Dao et al. 2022, arXiv:2205.14135, appendix B.2.
    """

    def infer(self, q: TensorType, k: TensorType, v: TensorType, *rest: TensorType) -> Any:
        *mask, g, lse, delta = rest
        self.check(q, k, v, *mask)
        row = TensorType(q.shape[:3], sums_of(q.dtype))
        if g is not TensorType((*q.shape[:3], v.shape[3]), q.dtype) or lse is not row or delta is not row:
            raise invalid_argument(
                "attention_grad: what attention gave does not fit.",
                expected=f"g {q.dtype}[B, S, H, V], lse and delta {row}",
                received=f"g: {g}, lse: {lse}, delta: {delta}",
            )  # fmt: skip
        return q, k, v

    def form(self, xp: Any, q: Any, k: Any, v: Any, *rest: Any) -> Any:
        *mask, g, lse, delta = rest
        heads = q.shape[2]
        query, key, value, grad = (_wide(xp, q), _wide(xp, k, heads), _wide(xp, v, heads), _wide(xp, g))
        column = lambda x: x.transpose(0, 2, 1)[..., None]
        p = xp.exp(self.scores(xp, query, key, *mask) - column(lse))
        ds = p * (xp.matmul(grad, value.swapaxes(2, 3)) - column(delta))
        scale = query.dtype.type(self.scale)
        dq, dk = xp.matmul(ds, key) * scale, xp.matmul(ds.swapaxes(2, 3), query) * scale
        dv = xp.matmul(p.swapaxes(2, 3), grad)
        back = lambda x, t: (
            x.reshape(x.shape[0], t.shape[2], -1, *x.shape[2:]).sum(2).transpose(0, 2, 1, 3).astype(t.dtype)
        )
        return tuple(back(x, t) if x.size else xp.zeros(t.shape, t.dtype) for x, t in ((dq, q), (dk, k), (dv, v)))

    def numpy(self, *args):
        return self.form(np, *args)

    def xla(self, jnp, *args):
        return self.form(jnp, *args)

    def vjp(self, g, out, q, k, v, *rest):
        *mask, grad, lse, delta = rest
        wide, shapes, heads = lse.dtype, (q, k, v), q.shape[2]
        query, key, value, grads = (_by_head(x, wide, heads) for x in (q, k, v, grad))
        a, b, c = (_by_head(Full(x.shape, 0.0, x.dtype)() if d is None else d, wide, heads) for d, x in zip(g, shapes))
        column = lambda x: reshape(transpose(x, (0, 2, 1)), (q.shape[0], heads, q.shape[1], 1))
        scores = matmul(query * self.scale, key, False, True)
        for m in mask:
            scores = select(m, scores, -np.inf) if m.dtype.is_bool else scores + cast(m, wide)
        if self.causal:
            last = reshape(Arange(self.shift, 1, q.shape[1], int64)(), (q.shape[1], 1))
            scores = select(less_equal(Arange(0, 1, k.shape[1], int64)(), last), scores, -np.inf)
        p = exp(scores - column(lse))
        z = matmul(grads, value, False, True) - column(delta)
        ds = p * z
        e = (matmul(a, key, False, True) + matmul(query, b, False, True)) * self.scale  # of ds
        x = e * p  # of z
        y = (e * z + matmul(grads, c, False, True)) * p  # of the scores
        dq = (matmul(ds, b) + matmul(y, key)) * self.scale
        dk = (matmul(ds, a, True, False) + matmul(y, query, True, False)) * self.scale
        dv, dg = matmul(x, grads, True, False), matmul(p, c) + matmul(x, value)
        row = lambda t: transpose(sum_(t, (3,)), (0, 2, 1))
        of = [_of_heads(d, t) for d, t in ((dq, q), (dk, k), (dv, v), (dg, grad))]
        return (*of[:3], *(None for _ in mask), of[3], -row(y), -row(x))

    def spmd(self, *types):
        terms, s = self.letters(types, types[3:-3])
        h = terms[0][2]
        return f"{','.join(terms)},b{s}{h}V,b{s}{h},b{s}{h}->{','.join(terms[:3])}"

    @classmethod
    def samples(cls, rng):
        for op, arrays in _samples(rng):
            out, lse = Attention(*op).compute(*arrays)
            g = rng.normal(size=out.shape).astype(out.dtype)
            wide = lse.dtype
            delta = (g.astype(wide) * out.astype(wide)).sum(3)
            yield cls(*op), (*arrays, g, *map(np.ascontiguousarray, (lse, delta)))


def _by_head(x: Any, dtype: DType, heads: int) -> Any:
    """[B, S, H, K] as [B, H, S, K], in a type; heads as often as it takes to make so many."""
    x = transpose(cast(x, dtype), (0, 2, 1, 3))
    b, groups, *rest = x.shape
    if groups == heads:
        return x
    spread = broadcast_to(reshape(x, (b, groups, 1, *rest)), (b, groups, heads // groups, *rest))
    return reshape(spread, (b, heads, *rest))


def _of_heads(x: Any, like: Any) -> Any:
    """The gradient of what `_by_head` was given."""
    b, heads, *rest = x.shape
    groups = like.shape[2]
    if groups != heads:
        x = sum_(reshape(x, (b, groups, heads // groups, *rest)), (2,))
    return cast(transpose(x, (0, 2, 1, 3)), like.dtype)


def _samples(rng: np.random.Generator) -> Iterator[tuple[tuple[Any, ...], tuple[np.ndarray, ...]]]:
    """Attributes and arguments for both directions."""
    from ..types import bfloat16, float16

    def draw(s: int, t: int, h: int = 2, g: int = 2, k: int = 4, v: int = 4, b: int = 2, dtype: Any = "float32") -> Any:
        return tuple(rng.normal(size=n).astype(dtype) for n in ((b, s, h, k), (b, t, g, k), (b, t, g, v)))

    yield (0.5,), draw(3, 5)
    yield (0.4, True, 2), draw(4, 6, 4, 2, 3, 5)
    yield (0.7, True), (*draw(5, 4), rng.uniform(size=(2, 1, 5, 4)) > 0.2)
    added = rng.normal(size=(2, 1, 7)).astype("float32")
    added[:, :, 3] = -np.inf
    yield (0.5,), (*draw(1, 7), added)
    yield (0.25, True, -2), draw(5, 3, 2, 1, b=1)  # the first queries see no key
    yield (0.3,), draw(99, 101, 1, 1, 17, 20, b=1)
    yield (0.3, True), (*draw(200, 130, 1, 1, 8, 16, b=1), rng.uniform(size=(200, 130)) > 0.1)
    for dtype in ("float64", float16.np, bfloat16.np):
        yield (0.5,), draw(7, 9, dtype=dtype)
    yield (0.5,), (*draw(3, 5, dtype=bfloat16.np), rng.normal(size=5).astype(bfloat16.np))
    for s, t in ((0, 3), (3, 0)):
        yield (0.5,), draw(s, t)
