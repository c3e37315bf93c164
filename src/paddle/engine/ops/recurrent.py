"""One step of recurrent networks, as compositions.

Shape letters: B batch, I inputs, H hidden units, P units of a projected state. Weights are stored as [gates * H, ...].
"""

from __future__ import annotations

from typing import Any

from .elementwise import relu, sigmoid, tanh
from .linalg import matmul
from .shape import slice_axis


def gates(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> tuple[Any, Any]:
    """What the input and the state contribute to the gates: [B, gates * H] each."""
    from_x, from_h = matmul(x, w_ih, False, True), matmul(h, w_hh, False, True)
    return from_x if b_ih is None else from_x + b_ih, from_h if b_hh is None else from_h + b_hh


def part(t: Any, i: int, n: int) -> Any:
    """The i-th of n equal parts of the last axis."""
    axis = len(t.shape) - 1
    size = t.shape[axis] // n
    return slice_axis(t, axis, i * size, (i + 1) * size)


def rnn_cell(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, activation: str = "tanh") -> Any:
    """h' = activation(w_ih x + b_ih + w_hh h + b_hh).

    Args:
        x: [B, I]. h: [B, H]. w_ih: [H, I]. w_hh: [H, H]. b_ih, b_hh: [H] or None. activation: "tanh" or "relu".

    Returns:
        h', [B, H].
    """
    from_x, from_h = gates(x, h, w_ih, w_hh, b_ih, b_hh)
    return (tanh if activation == "tanh" else relu)(from_x + from_h)


def lstm_cell(
    x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, w_ho: Any = None
) -> tuple[Any, Any]:
    """Gates in the order input, forget, candidate, output.

    Source: Hochreiter and Schmidhuber 1997, doi:10.1162/neco.1997.9.8.1735, with the forget gate of Gers et al. 2000.

    Args:
        x: [B, I]. h: [B, H], or [B, P] with a projection. c: [B, H]. w_ih: [4H, I]. w_hh: [4H, H or P].
        b_ih, b_hh: [4H] or None. w_ho: [H, P], projects the new state, or None.

    Returns:
        (h', c').
    """
    from_x, from_h = gates(x, h, w_ih, w_hh, b_ih, b_hh)
    total = from_x + from_h
    i, f, g, o = (part(total, k, 4) for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    h = sigmoid(o) * tanh(c)
    return h if w_ho is None else matmul(h, w_ho), c


def gru_cell(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """Gates in the order reset, update, candidate; the reset gate works on the product w_hh h.

    Source: Cho et al. 2014, arXiv:1406.1078, appendix A.1, in the form that puts the reset after the product.

    Args:
        x: [B, I]. h: [B, H]. w_ih: [3H, I]. w_hh: [3H, H]. b_ih, b_hh: [3H] or None.

    Returns:
        h', [B, H].
    """
    from_x, from_h = gates(x, h, w_ih, w_hh, b_ih, b_hh)
    r = sigmoid(part(from_x, 0, 3) + part(from_h, 0, 3))
    z = sigmoid(part(from_x, 1, 3) + part(from_h, 1, 3))
    candidate = tanh(part(from_x, 2, 3) + r * part(from_h, 2, 3))
    return (h - candidate) * z + candidate
