"""A small stroke font: letters as lines and arcs, drawn smooth at any size.

A glyph is a width and strokes. Units: capitals are 6 high, small letters 4, the baseline is y = 0, y points up.
A stroke is a list of points, or an arc ("o", x, y, rx, ry, from, to), angles in degrees, anticlockwise from the right.
"""

from __future__ import annotations

import functools
import math

import numpy as np

SPACE = 1.4  # between glyphs
_Stroke = tuple


def _o(x: float, y: float, rx: float, ry: float, a: float = 0, b: float = 360) -> _Stroke:
    return ("o", x, y, rx, ry, a, b)


_BOWL = _o(1.6, 2, 1.6, 2)
GLYPHS: dict[str, tuple[float, list]] = {
    " ": (1.2, []),
    "0": (3.2, [_o(1.6, 3, 1.6, 3)]),
    "1": (1.6, [[(0, 4.8), (1.4, 6), (1.4, 0)]]),
    "2": (3.2, [_o(1.6, 4.4, 1.6, 1.6, -35, 170), [(2.91, 3.48), (0, 0), (3.2, 0)]]),
    "3": (3.2, [_o(1.5, 4.5, 1.4, 1.5, -90, 155), _o(1.5, 1.5, 1.7, 1.5, -155, 90)]),
    "4": (3.4, [[(2.5, 0), (2.5, 6), (0, 1.7), (3.4, 1.7)]]),
    "5": (3.2, [[(2.9, 6), (0.5, 6), (0.25, 3.3)], _o(1.5, 1.95, 1.7, 1.95, -150, 137)]),
    "6": (3.2, [_o(1.6, 1.9, 1.6, 1.9), [(0, 2), (0.15, 3.4), (0.9, 5), (2.2, 6)]]),
    "7": (3.2, [[(0, 6), (3.2, 6), (1.1, 0)]]),
    "8": (3.2, [_o(1.6, 4.55, 1.35, 1.45), _o(1.6, 1.55, 1.6, 1.55)]),
    "9": (3.2, [_o(1.6, 4.1, 1.6, 1.9), [(3.2, 4), (3.05, 2.6), (2.3, 1), (1, 0)]]),
    "a": (3.2, [_BOWL, [(3.2, 4), (3.2, 0)]]),
    "b": (3.2, [_BOWL, [(0, 6), (0, 0)]]),
    "c": (2.8, [_o(1.6, 2, 1.6, 2, 45, 315)]),
    "d": (3.2, [_BOWL, [(3.2, 6), (3.2, 0)]]),
    "e": (3.2, [_o(1.6, 2, 1.6, 2, 0, 315), [(0, 2), (3.2, 2)]]),
    "f": (2.2, [_o(1.9, 4.9, 1.1, 1.1, 75, 180), [(0.8, 4.9), (0.8, 0)], [(0, 4), (2.1, 4)]]),
    "g": (3.2, [_BOWL, [(3.2, 4), (3.2, -0.5)], _o(1.7, -0.5, 1.5, 1.5, -150, 0)]),
    "h": (3.0, [[(0, 6), (0, 0)], _o(1.5, 2.5, 1.5, 1.5, 0, 180), [(3, 2.5), (3, 0)]]),
    "i": (0.3, [[(0.15, 4), (0.15, 0)], [(0.15, 5.8), (0.15, 5.8)]]),
    "j": (1.2, [[(1.1, 4), (1.1, -0.9)], _o(0, -0.9, 1.1, 1.1, -90, 0), [(1.1, 5.8), (1.1, 5.8)]]),
    "k": (2.7, [[(0, 6), (0, 0)], [(2.5, 4), (0, 1.7)], [(1, 2.6), (2.7, 0)]]),
    "l": (0.3, [[(0.15, 6), (0.15, 0)]]),
    "m": (4.8, [[(0, 4), (0, 0)], _o(1.2, 2.6, 1.2, 1.4, 0, 180), [(2.4, 2.6), (2.4, 0)],
                _o(3.6, 2.6, 1.2, 1.4, 0, 180), [(4.8, 2.6), (4.8, 0)]]),
    "n": (3.0, [[(0, 4), (0, 0)], _o(1.5, 2.5, 1.5, 1.5, 0, 180), [(3, 2.5), (3, 0)]]),
    "o": (3.2, [_BOWL]),
    "p": (3.2, [_BOWL, [(0, 4), (0, -2)]]),
    "q": (3.2, [_BOWL, [(3.2, 4), (3.2, -2)]]),
    "r": (2.0, [[(0, 4), (0, 0)], _o(1.7, 2.1, 1.7, 1.9, 70, 180)]),
    "s": (2.6, [_o(1.35, 2.95, 1.15, 1.05, 40, 250), _o(1.25, 1.05, 1.25, 1.05, -145, 75)]),
    "t": (2.2, [[(0.8, 5.4), (0.8, 1.1)], _o(1.9, 1.1, 1.1, 1.1, 180, 285), [(0, 4), (2.1, 4)]]),
    "u": (3.0, [[(0, 4), (0, 1.5)], _o(1.5, 1.5, 1.5, 1.5, 180, 360), [(3, 4), (3, 0)]]),
    "v": (3.0, [[(0, 4), (1.5, 0), (3, 4)]]),
    "w": (4.6, [[(0, 4), (1.15, 0), (2.3, 3.6), (3.45, 0), (4.6, 4)]]),
    "x": (2.8, [[(0, 4), (2.8, 0)], [(2.8, 4), (0, 0)]]),
    "y": (3.0, [[(0, 4), (1.55, 0)], [(3, 4), (1, -1.4), (0.1, -2)]]),
    "z": (2.7, [[(0, 4), (2.7, 4), (0, 0), (2.7, 0)]]),
    "A": (4.2, [[(0, 0), (2.1, 6), (4.2, 0)], [(0.75, 2.1), (3.45, 2.1)]]),
    "M": (4.6, [[(0, 0), (0, 6), (2.3, 2), (4.6, 6), (4.6, 0)]]),
    "N": (3.8, [[(0, 0), (0, 6), (3.8, 0), (3.8, 6)]]),
    "I": (0.3, [[(0.15, 6), (0.15, 0)]]),
    "S": (3.4, [_o(1.7, 4.45, 1.6, 1.55, 35, 255), _o(1.7, 1.5, 1.7, 1.5, -150, 78)]),
    "T": (3.8, [[(0, 6), (3.8, 6)], [(1.9, 6), (1.9, 0)]]),
    "O": (4.4, [_o(2.2, 3, 2.2, 3)]),
    "P": (3.4, [[(0, 0), (0, 6), (1.8, 6)], _o(1.8, 4.4, 1.6, 1.6, -90, 90), [(1.8, 2.8), (0, 2.8)]]),
    ".": (0.3, [[(0.15, 0.1), (0.15, 0.1)]]),
    ",": (0.5, [[(0.4, 0.2), (0.1, -0.9)]]),
    ":": (0.3, [[(0.15, 0.2), (0.15, 0.2)], [(0.15, 3.4), (0.15, 3.4)]]),
    "-": (2.0, [[(0, 2.2), (2, 2.2)]]),
    "/": (2.4, [[(0, -0.6), (2.4, 6.4)]]),
    "%": (4.8, [_o(1.1, 4.8, 1.1, 1.2), _o(3.7, 1.2, 1.1, 1.2), [(4.1, 6), (0.7, 0)]]),
    "(": (1.4, [_o(2.6, 2.6, 2.5, 4.2, 125, 235)]),
    ")": (1.4, [_o(-1.2, 2.6, 2.5, 4.2, -55, 55)]),
    ">": (3.6, [[(0, 2.6), (3.6, 2.6)], [(2.3, 3.9), (3.6, 2.6), (2.3, 1.3)]]),  # an arrow
}  # fmt: skip


def _points(stroke: object) -> np.ndarray:
    if isinstance(stroke, tuple):
        _, x, y, rx, ry, a, b = stroke
        t = np.radians(np.linspace(a, b, max(6, int(abs(b - a) / 12))))
        return np.stack([x + rx * np.cos(t), y + ry * np.sin(t)], 1)
    return np.array(stroke, "float64")


def width_of(text: str, size: float) -> float:
    """Width of a text: pixels. `size`: height of capitals in pixels."""
    widths = [GLYPHS[c][0] for c in text]
    return (sum(widths) + SPACE * (len(text) - 1)) * size / 6 if text else 0.0


@functools.lru_cache(maxsize=4096)
def _glyph(char: str, size: float, weight: float, shift: float) -> np.ndarray:
    """Coverage [H, W] of a glyph; its origin lies at column 2 + shift, row ceil(1.3 * size)."""
    width, strokes = GLYPHS[char]
    scale, base = size / 6, math.ceil(1.3 * size)
    shape = (math.ceil(1.9 * size) + 2, math.ceil(width * scale + 5))
    ys, xs = np.mgrid[0 : shape[0], 0 : shape[1]] + 0.5
    nearest = np.full(shape, 1e9)
    for stroke in strokes:
        p = _points(stroke) * scale
        p = np.stack([p[:, 0] + 2 + shift, base - p[:, 1]], 1)
        for (ax, ay), (bx, by) in zip(p, p[1:]):
            dx, dy = bx - ax, by - ay
            length = dx * dx + dy * dy
            t = np.clip(((xs - ax) * dx + (ys - ay) * dy) / length, 0, 1) if length else 0.0
            nearest = np.minimum(nearest, np.hypot(xs - ax - t * dx, ys - ay - t * dy))
    return np.clip(weight / 2 + 0.5 - nearest, 0, 1)


def coverage(text: str, size: float, weight: float = 1.0) -> tuple[np.ndarray, int, int]:
    """How much of each pixel a text covers.

    Args:
        text (str): Of the characters in GLYPHS.
        size (float): Height of capitals: pixels.
        weight (float): Width of strokes: pixels.

    Returns:
        array [H, W] in [0, 1], and the column and row in it of the text's left end on the baseline.
    """
    base = math.ceil(1.3 * size)
    out = np.zeros((math.ceil(1.9 * size) + 2, math.ceil(width_of(text, size)) + 8))
    at = 0.0
    for c in text:
        left = int(at)
        g = _glyph(c, size, weight, round((at - left) * 4) / 4)
        part = out[:, left : left + g.shape[1]]
        np.maximum(part, g[:, : part.shape[1]], out=part)
        at += (GLYPHS[c][0] + SPACE) * size / 6
    return out, 2, base
