"""Losses that need more than a composition: those whose arguments have to be checked element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import need_equal_dtypes, offending
from ..types import TensorType
from .elementwise import broadcast, log, maximum, sum_to
from .registry import Operator, absent, operator

FLOOR = -100.0  # logarithms are cut off here


def check_lengths(lengths: np.ndarray, low: int, high: int, label: str) -> None:
    """IndexError where a length is not in [low, high]."""
    bad = (lengths < low) | (lengths > high)
    if bad.any():
        raise IndexError(offending("a length is out of range", bad, lengths, f"lengths in [{low}, {high}]", label))


@operator
class BinaryCrossEntropy(Operator):
    """-(y * log(x) + (1 - y) * log(1 - x)) with logarithms of at least -100; x outside [0, 1] ends the run."""

    fault = "invalid_argument"

    def infer(self, x: TensorType, y: TensorType) -> TensorType:
        need_equal_dtypes(self.name, input=x, label=y)
        return TensorType(broadcast(self.name, x, y), x.dtype)

    def numpy(self, x, y):
        bad = ~((x >= 0) & (x <= 1))
        if bad.any():
            raise IndexError(offending("a probability is out of range", bad, x, "numbers in [0, 1]", "input"))
        wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x
        hit, miss = np.maximum(np.log(wide), FLOOR), np.maximum(np.log1p(-wide), FLOOR)
        return np.asarray(-(y * hit + (1 - y) * miss)).astype(x.dtype)

    def vjp(self, g, out, x, y):
        dx = g * (x - y) / maximum((1.0 - x) * x, 1e-12)
        dy = g * (maximum(log(1.0 - x), FLOOR) - maximum(log(x), FLOOR))
        return sum_to(dx, tuple(x.shape)), sum_to(dy, tuple(y.shape))

    def loops(self, k, x, y):
        e, t = k.broadcast(x), k.broadcast(y)
        e = k.check((e >= 0) & (e <= 1), e, k.index(e), "a probability is out of range.\n  expected: numbers in [0, 1]")
        hit, miss = k.max(k.log(e), FLOOR), k.max(k.log1p(-e), FLOOR)
        return -(t * hit + (1 - t) * miss)

    def xla(self, jnp, x, y):
        return -(y * jnp.maximum(jnp.log(x), FLOOR) + (1 - y) * jnp.maximum(jnp.log1p(-x), FLOOR))

    def spmd(self, *types):
        return "...,...->..."

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.uniform(0.05, 0.95, (3, 4)).astype("float32"), rng.uniform(size=(3, 4)).astype("float32"))
        yield cls(), (rng.uniform(0.05, 0.95, (2, 3)), rng.uniform(size=3))
        yield cls(), (np.zeros((0, 3)), np.zeros((0, 3)))


# ---- sequences --------------------------------------------------------------------------------
def _log_softmax(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


class _Alignment:
    """What the paths of CTC are made of: labels with blanks around them, and forward and backward sums of paths.

    Source: Graves et al. 2006, doi:10.1145/1143844.1143891, section 4.1.
    """

    def __init__(self, logits: np.ndarray, label: np.ndarray, times: np.ndarray, lengths: np.ndarray, blank: int):
        self.logp = _log_softmax(logits)
        steps, n, classes = logits.shape
        most = label.shape[1]
        used = np.arange(most) < lengths[:, None]
        wrong = used & ((label < 0) | (label >= classes))
        if wrong.any():
            raise IndexError(offending("a label is out of range", wrong, label, f"classes in [0, {classes})", "labels"))
        check_lengths(times, 0, steps, "input_lengths")
        check_lengths(lengths, 0, most, "label_lengths")
        self.states = np.full((n, 2 * most + 1), blank)
        self.states[:, 1::2] = np.where(used, label, blank)
        self.skip = np.zeros(self.states.shape, bool)  # a label may follow another without a blank between
        self.skip[:, 2:] = (self.states[:, 2:] != blank) & (self.states[:, 2:] != self.states[:, :-2])
        self.emit = np.take_along_axis(self.logp, np.broadcast_to(self.states, (steps, *self.states.shape)), 2)
        self.times, self.lengths, self.rows = times, lengths, np.arange(n)

    def forward(self) -> np.ndarray:
        alpha = np.full(self.emit.shape, -np.inf)
        if not len(alpha):
            return alpha
        alpha[0, :, :2] = self.emit[0, :, :2]
        for t in range(1, len(alpha)):
            before = alpha[t - 1]
            one, two = np.full_like(before, -np.inf), np.full_like(before, -np.inf)
            one[:, 1:], two[:, 2:] = before[:, :-1], before[:, :-2]
            total = np.logaddexp(np.logaddexp(before, one), np.where(self.skip, two, -np.inf))
            alpha[t] = total + self.emit[t]
        return alpha

    def backward(self) -> np.ndarray:
        beta = np.full(self.emit.shape, -np.inf)
        ends = np.zeros(self.states.shape, bool)
        ends[self.rows, 2 * self.lengths] = True
        ends[self.rows, np.maximum(2 * self.lengths - 1, 0)] = True
        skip = np.zeros_like(self.skip)
        skip[:, :-2] = self.skip[:, 2:]
        after = np.full(self.states.shape, -np.inf)
        for t in range(len(beta) - 1, -1, -1):
            one, two = np.full_like(after, -np.inf), np.full_like(after, -np.inf)
            one[:, :-1], two[:, :-2] = after[:, 1:], after[:, 2:]
            total = np.logaddexp(np.logaddexp(after, one), np.where(skip, two, -np.inf))
            total = np.where((self.times == t + 1)[:, None], np.where(ends, 0.0, -np.inf), total)
            beta[t] = after = total + self.emit[t]
        return beta

    def total(self, alpha: np.ndarray) -> np.ndarray:
        """Log of the sum of all paths of each sample."""
        last = alpha[self.times - 1, self.rows] if len(alpha) else np.full(self.states.shape, -np.inf)
        whole = last[self.rows, 2 * self.lengths]
        label = np.where(self.lengths > 0, last[self.rows, np.maximum(2 * self.lengths - 1, 0)], -np.inf)
        return np.where(self.times > 0, np.logaddexp(whole, label), -np.inf)


class _XlaAlignment:
    """The same in jax.numpy: the steps are scanned."""

    def __init__(self, jnp: Any, logits: Any, label: Any, times: Any, lengths: Any, blank: int):
        self.jnp = jnp
        self.logp = _xla_log_softmax(jnp, logits)
        steps, n, _ = logits.shape
        most = label.shape[1]
        used = jnp.arange(most) < lengths[:, None]
        self.states = jnp.full((n, 2 * most + 1), blank).at[:, 1::2].set(jnp.where(used, label, blank))
        before = self.moved(self.states, 2, blank)
        self.skip = (jnp.arange(2 * most + 1) >= 2) & (self.states != blank) & (self.states != before)
        self.emit = jnp.take_along_axis(self.logp, jnp.broadcast_to(self.states, (steps, *self.states.shape)), 2)
        self.times, self.lengths, self.rows = times, lengths, jnp.arange(n)

    def moved(self, x: Any, by: int, fill: Any) -> Any:
        """x moved to the right (to the left if negative) along its last axis."""
        n = x.shape[-1]
        wide = self.jnp.pad(x, ((0, 0), (max(by, 0), max(-by, 0))), constant_values=fill)
        return wide[:, :n] if by > 0 else wide[:, -by:]

    def forward(self) -> Any:
        jnp = self.jnp
        if not len(self.emit):
            return self.emit

        def step(before, emit):
            two = jnp.where(self.skip, self.moved(before, 2, -np.inf), -np.inf)
            alpha = jnp.logaddexp(jnp.logaddexp(before, self.moved(before, 1, -np.inf)), two) + emit
            return alpha, alpha

        first = jnp.where(jnp.arange(self.states.shape[1]) < 2, self.emit[0], -np.inf)
        return jnp.concatenate([first[None], jnp.lax.scan(step, first, self.emit[1:])[1]])

    def backward(self) -> Any:
        jnp = self.jnp
        ends = jnp.zeros(self.states.shape, bool).at[self.rows, 2 * self.lengths].set(True)
        ends = ends.at[self.rows, jnp.maximum(2 * self.lengths - 1, 0)].set(True)
        skip = self.moved(self.skip, -2, False)

        def step(after, now):
            t, emit = now
            two = jnp.where(skip, self.moved(after, -2, -np.inf), -np.inf)
            total = jnp.logaddexp(jnp.logaddexp(after, self.moved(after, -1, -np.inf)), two)
            total = jnp.where((self.times == t + 1)[:, None], jnp.where(ends, 0.0, -np.inf), total)
            return total + emit, total + emit

        start = jnp.full_like(self.emit, -np.inf, shape=self.states.shape)
        return jnp.lax.scan(step, start, (jnp.arange(len(self.emit)), self.emit), reverse=True)[1]

    def total(self, alpha: Any) -> Any:
        jnp = self.jnp
        if not len(alpha):
            return jnp.full_like(alpha, -np.inf, shape=self.times.shape)
        last = alpha[self.times - 1, self.rows]
        whole = last[self.rows, 2 * self.lengths]
        label = jnp.where(self.lengths > 0, last[self.rows, jnp.maximum(2 * self.lengths - 1, 0)], -np.inf)
        return jnp.where(self.times > 0, jnp.logaddexp(whole, label), -np.inf)


def _xla_log_softmax(jnp: Any, x: Any) -> Any:
    x = x.astype("float64")
    x = x - jnp.max(x, -1, keepdims=True)
    return x - jnp.log(jnp.sum(jnp.exp(x), -1, keepdims=True))


class Aligned(Operator):
    """Base of CTC operators: arguments logits [T, N, C], label [N, L], times [N], lengths [N]."""

    loops = absent("a step needs the one before it: runs on the host")

    blank: int = 0

    @classmethod
    def example(cls, rng):
        label = rng.integers(1, 4, (3, 2))
        return rng.normal(size=(5, 3, 4)), label, np.array([5, 4, 5]), np.array([2, 1, 2])


@operator
class CtcLoss(Aligned):
    """Minus the log of the probability of all alignments of a label with the softmax of logits; 0 if there is none.

    Shapes: logits [T, N, C], label [N, L], times and lengths [N] -> [N].
    """

    blank: int = 0

    def infer(self, logits: TensorType, label: TensorType, times: TensorType, lengths: TensorType) -> TensorType:
        return logits.with_shape((logits.shape[1],))

    def numpy(self, logits, label, times, lengths):
        a = _Alignment(logits, label, times, lengths, self.blank)
        total = a.total(a.forward())
        return np.where(np.isneginf(total), 0, -total).astype(logits.dtype)

    def vjp(self, g, out, logits, label, times, lengths):
        return CtcLossGrad(self.blank)(g, logits, label, times, lengths), None, None, None

    def xla(self, jnp, logits, label, times, lengths):
        a = _XlaAlignment(jnp, logits, label, times, lengths, self.blank)
        total = a.total(a.forward())
        return jnp.where(jnp.isneginf(total), 0, -total).astype(logits.dtype)

    def spmd(self, *types):
        return "TnC,nL,n,n->n"

    @classmethod
    def samples(cls, rng):
        yield cls(), cls.example(rng)


@operator
class CtcLossGrad(Aligned):
    """Gradient of CtcLoss by its logits, times g [N]. It is not differentiated again."""

    vjp = absent("a loss of alignments is differentiated once")

    blank: int = 0

    def infer(self, g, logits, label, times, lengths) -> TensorType:
        return logits

    def numpy(self, g, logits, label, times, lengths):
        a = _Alignment(logits, label, times, lengths, self.blank)
        alpha = a.forward()
        total = a.total(alpha)
        possible = ~np.isneginf(total)
        log_share = alpha + a.backward() - a.emit - np.where(possible, total, 0)[:, None]
        share = np.exp(log_share)
        hit = np.zeros(logits.shape)
        for s in range(share.shape[2]):
            hit[:, a.rows, a.states[:, s]] += share[:, :, s]
        inside = (np.arange(len(logits))[:, None] < times) & possible
        d = (np.exp(a.logp) - hit) * g[:, None]
        return np.where(inside[..., None], d, 0).astype(logits.dtype)

    def xla(self, jnp, g, logits, label, times, lengths):
        a = _XlaAlignment(jnp, logits, label, times, lengths, self.blank)
        alpha = a.forward()
        total = a.total(alpha)
        possible = ~jnp.isneginf(total)
        share = jnp.exp(alpha + a.backward() - a.emit - jnp.where(possible, total, 0)[:, None])
        hit = jnp.zeros_like(a.logp).at[:, a.rows[:, None], a.states].add(share)
        inside = (jnp.arange(len(logits))[:, None] < times) & possible
        d = (jnp.exp(a.logp) - hit) * g[:, None]
        return jnp.where(inside[..., None], d, 0).astype(logits.dtype)

    def spmd(self, *types):
        return "n,TnC,nL,n,n->TnC"

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=3), *cls.example(rng))


class Lattice(Operator):
    """Base of transducer operators: log-probabilities [N, T, U + 1, C], label [N, U], times [N], lengths [N]."""

    loops = absent("a step needs the one before it: runs on the host")

    blank: int = 0

    def sums(self, logp, label, times, lengths):
        """Per sample: forward and backward sums, and the steps of blanks and of labels.

        Source: Graves 2012, arXiv:1211.3711, section 2.4.
        """
        n, steps, places, classes = logp.shape
        check_lengths(times, 1, steps, "input_lengths")
        check_lengths(lengths, 0, places - 1, "label_lengths")
        for i in range(n):
            t, u = int(times[i]), int(lengths[i])
            own = label[i, :u]
            wrong = (own < 0) | (own >= classes)
            if wrong.any():
                raise IndexError(
                    offending("a label is out of range", wrong, own, f"classes in [0, {classes})", "label")
                )
            part = logp[i, :t, : u + 1].astype(np.float64)
            blank, emit = part[:, :, self.blank], part[:, np.arange(u), own]
            alpha, beta = np.full((t, u + 1), -np.inf), np.full((t, u + 1), -np.inf)
            for a in range(t):
                for b in range(u + 1):
                    if a == b == 0:
                        alpha[a, b] = 0
                        continue
                    up = alpha[a - 1, b] + blank[a - 1, b] if a else -np.inf
                    left = alpha[a, b - 1] + emit[a, b - 1] if b else -np.inf
                    alpha[a, b] = np.logaddexp(up, left)
            for a in range(t - 1, -1, -1):
                for b in range(u, -1, -1):
                    if a == t - 1 and b == u:
                        beta[a, b] = blank[a, b]
                        continue
                    down = beta[a + 1, b] + blank[a, b] if a < t - 1 else -np.inf
                    right = beta[a, b + 1] + emit[a, b] if b < u else -np.inf
                    beta[a, b] = np.logaddexp(down, right)
            yield i, own, alpha, beta, blank, emit

    def xla_steps(self, jnp, logp, label, lengths):
        """The steps of blanks [N, T, U + 1] and of labels [N, T, U] (none behind a label's end), and the label."""
        inside = jnp.arange(label.shape[1]) < lengths[:, None]
        label = jnp.where(inside, label, 0)
        logp = logp.astype("float64")
        places = jnp.broadcast_to(label[:, None, :, None], (*logp.shape[:2], label.shape[1], 1))
        emit = jnp.take_along_axis(logp[:, :, :-1], places, 3)[..., 0]
        return logp[..., self.blank], jnp.where(inside[:, None], emit, -np.inf), label

    def xla_backward(self, jnp, blank, emit, times, lengths):
        n, steps, places = blank.shape
        end = jnp.arange(places) == lengths[:, None]
        nothing = jnp.full_like(blank, -np.inf, shape=(n,))

        def along_label(right, now):
            down, emit = now
            beta = jnp.logaddexp(down, right + emit)
            return beta, beta

        def step(after, now):
            t, blank, emit = now
            last = (times == t + 1)[:, None]
            down = jnp.where(last, jnp.where(end, blank, -np.inf), after + blank)
            emit = jnp.pad(emit, ((0, 0), (0, 1)), constant_values=-np.inf)
            beta = jnp.lax.scan(along_label, nothing, (down.T, emit.T), reverse=True)[1].T
            return beta, beta

        start = jnp.full_like(blank, -np.inf, shape=(n, places))
        by_step = (jnp.arange(steps), jnp.swapaxes(blank, 0, 1), jnp.swapaxes(emit, 0, 1))
        return jnp.swapaxes(jnp.lax.scan(step, start, by_step, reverse=True)[1], 0, 1)

    def xla_forward(self, jnp, blank, emit):
        n, _, places = blank.shape

        def along_label(left, now):
            up, emit = now
            alpha = jnp.logaddexp(up, left + emit)
            return alpha, alpha

        def step(up, now):
            blank, emit = now
            emit = jnp.pad(emit, ((0, 0), (1, 0)), constant_values=-np.inf)
            nothing = jnp.full_like(up, -np.inf, shape=(n,))
            alpha = jnp.lax.scan(along_label, nothing, (up.T, emit.T))[1].T
            return alpha + blank, alpha

        start = jnp.where(jnp.arange(places) == 0, 0.0, jnp.full_like(blank, -np.inf, shape=(n, places)))
        return jnp.swapaxes(jnp.lax.scan(step, start, (jnp.swapaxes(blank, 0, 1), jnp.swapaxes(emit, 0, 1)))[1], 0, 1)

    @classmethod
    def example(cls, rng):
        logp = _log_softmax(rng.normal(size=(2, 4, 3, 4)))
        return logp, rng.integers(1, 4, (2, 2)), np.array([4, 3]), np.array([2, 1])


@operator
class TransducerLoss(Lattice):
    """Minus the log of the probability of all ways through a transducer's lattice.

    Shapes: log-probabilities [N, T, U + 1, C], label [N, U], times and lengths [N] -> [N].
    fastemit: strengthens the gradient of emissions (arXiv:2010.11148, section 3.2).
    """

    blank: int = 0
    fastemit: float = 0.0

    def infer(self, logp: TensorType, label: TensorType, times: TensorType, lengths: TensorType) -> TensorType:
        return logp.with_shape((logp.shape[0],))

    def numpy(self, logp, label, times, lengths):
        out = np.zeros(len(logp))
        for i, _, _, beta, _, _ in self.sums(logp, label, times, lengths):
            out[i] = -beta[0, 0]
        return out.astype(logp.dtype)

    def vjp(self, g, out, logp, label, times, lengths):
        return TransducerLossGrad(self.blank, self.fastemit)(g, logp, label, times, lengths), None, None, None

    def xla(self, jnp, logp, label, times, lengths):
        blank, emit, _ = self.xla_steps(jnp, logp, label, lengths)
        return -self.xla_backward(jnp, blank, emit, times, lengths)[:, 0, 0].astype(logp.dtype)

    def spmd(self, *types):
        return "nTUC,nL,n,n->n"

    @classmethod
    def samples(cls, rng):
        yield cls(), cls.example(rng)


@operator
class TransducerLossGrad(Lattice):
    """Gradient of TransducerLoss by the log-probabilities, times g [N]. It is not differentiated again."""

    vjp = absent("a loss of alignments is differentiated once")

    blank: int = 0
    fastemit: float = 0.0

    def infer(self, g, logp, label, times, lengths) -> TensorType:
        return logp

    def numpy(self, g, logp, label, times, lengths):
        out = np.zeros(logp.shape)
        for i, own, alpha, beta, blank, emit in self.sums(logp, label, times, lengths):
            t, places = alpha.shape
            after = np.full((t, places), -np.inf)
            after[:-1], after[-1, -1] = beta[1:], 0.0
            out[i, :t, :places, self.blank] = -np.exp(alpha + blank + after - beta[0, 0]) * g[i]
            step = -np.exp(alpha[:, :-1] + emit + beta[:, 1:] - beta[0, 0]) * (g[i] * (1 + self.fastemit))
            for b, c in enumerate(own):
                out[i, :t, b, c] += step[:, b]
        return out.astype(logp.dtype)

    def xla(self, jnp, g, logp, label, times, lengths):
        blank, emit, label = self.xla_steps(jnp, logp, label, lengths)
        alpha, beta = self.xla_forward(jnp, blank, emit), self.xla_backward(jnp, blank, emit, times, lengths)
        n, steps, places = blank.shape
        whole, g = beta[:, :1, :1], g[:, None, None]
        after = jnp.pad(beta[:, 1:], ((0, 0), (0, 1), (0, 0)), constant_values=-np.inf)
        last = (jnp.arange(steps) == times[:, None] - 1)[..., None]
        after = jnp.where(last & (jnp.arange(places) == lengths[:, None])[:, None], 0.0, after)
        out = jnp.zeros(logp.shape).at[..., self.blank].set(-jnp.exp(alpha + blank + after - whole) * g)
        step = -jnp.exp(alpha[:, :, :-1] + emit + beta[:, :, 1:] - whole) * (g * (1 + self.fastemit))
        at = jnp.ogrid[:n, :steps, : places - 1]
        return out.at[at[0], at[1], at[2], label[:, None]].add(step).astype(logp.dtype)

    def spmd(self, *types):
        return "n,nTUC,nL,n,n->nTUC"

    @classmethod
    def samples(cls, rng):
        yield cls(), (rng.normal(size=2), *cls.example(rng))
