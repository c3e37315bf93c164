"""One step of recurrent networks, as compositions, and their sequences.

Shape letters: T time, B batch, H hidden units, P units of a projected state. Weights are stored as [gates * H, ...];
`x` is the input's part of the gates, [B, gates * H], with all biases that are added to it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ..types import TensorType
from .elementwise import relu, sigmoid, tanh
from .linalg import matmul
from .logic import select
from .recurrence import Recurrence, build
from .shape import slice_axis


def part(t: Any, i: int, n: int) -> Any:
    """The i-th of n equal parts of the last axis."""
    axis = len(t.shape) - 1
    size = t.shape[axis] // n
    return slice_axis(t, axis, i * size, (i + 1) * size)


def rnn_step(x: Any, h: Any, w_hh: Any, activation: str = "tanh") -> Any:
    """h' = activation(x + w_hh h).

    Args:
        x: [B, H]. h: [B, H]. w_hh: [H, H]. activation: "tanh" or "relu".

    Returns:
        h', [B, H].
    """
    return (tanh if activation == "tanh" else relu)(x + matmul(h, w_hh, False, True))


def lstm_step(x: Any, h: Any, c: Any, w_hh: Any, w_ho: Any = None) -> tuple[Any, Any]:
    """Gates in the order input, forget, candidate, output.

    Source: Hochreiter and Schmidhuber 1997, doi:10.1162/neco.1997.9.8.1735, with the forget gate of Gers et al. 2000.

    Args:
        x: [B, 4H]. h: [B, H], or [B, P] with a projection. c: [B, H]. w_hh: [4H, H or P].
        w_ho: [H, P], projects the new state, or None.

    Returns:
        (h', c').
    """
    total = x + matmul(h, w_hh, False, True)
    i, f, g, o = (part(total, k, 4) for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    h = sigmoid(o) * tanh(c)
    return h if w_ho is None else matmul(h, w_ho), c


def gru_step(x: Any, h: Any, w_hh: Any, b_hh: Any) -> Any:
    """Gates in the order reset, update, candidate; the reset gate works on the product w_hh h + b_hh.

    Source: Cho et al. 2014, arXiv:1406.1078, appendix A.1, in the form that puts the reset after the product.

    Args:
        x: [B, 3H]. h: [B, H]. w_hh: [3H, H]. b_hh: [3H].

    Returns:
        h', [B, H].
    """
    from_h = matmul(h, w_hh, False, True) + b_hh
    r = sigmoid(part(x, 0, 3) + part(from_h, 0, 3))
    z = sigmoid(part(x, 1, 3) + part(from_h, 1, 3))
    candidate = tanh(part(x, 2, 3) + r * part(from_h, 2, 3))
    return (h - candidate) * z + candidate


def network(
    kind: str, x: Any, states: Sequence[Any], weights: Sequence[Any], on: Any = None, reverse: bool = False,
    zeros: bool = False,
) -> tuple[Any, tuple[Any, ...]]:  # fmt: skip
    """A recurrent network over a sequence.

    Args:
        kind: "tanh", "relu", "lstm" or "gru".
        x: [T, B, gates * H]. states: to begin with, (h,) or (h, c). weights: what the step takes after its states.
        on: bool [T, B, 1], whether the sequence has not ended, or None. States stay as they are where it has.
        reverse: from the end to the beginning. zeros: where a sequence has ended, outputs are 0.

    Returns:
        (outputs [T, B, H or P], last states).
    """
    sequences = [x] if on is None else [x, on]
    types = lambda items: tuple(t.type for t in items)
    each = tuple(TensorType(t.type.shape[1:], t.type.dtype) for t in sequences)
    op = _operator(kind, types(weights), types(states), each, reverse, zeros)
    found = op(*weights, *states, *sequences)
    return found[len(states)], tuple(found[: len(states)])


@functools.lru_cache(maxsize=512)
def _operator(
    kind: str, weights: tuple[Any, ...], states: tuple[Any, ...], elements: tuple[Any, ...], reverse: bool, zeros: bool
) -> Recurrence:
    def step(w: Sequence[Any], old: Sequence[Any], now: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        x, *rest = now
        if kind == "lstm":
            new = list(lstm_step(x, *old, *w))
        else:
            new = [gru_step(x, *old, *w) if kind == "gru" else rnn_step(x, old[0], w[0], kind)]
        out = new[0]
        if rest:
            new = [select(rest[0], a, b) for a, b in zip(new, old)]
            out = select(rest[0], out, out * 0.0) if zeros else out
        return new, [out]

    return build(step, weights, states, elements, reverse)
