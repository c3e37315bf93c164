"""An RGB image to draw on: rectangles, lines, pictures, text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import font

Color = Sequence[float]


class Canvas:
    """A white image.

    Args:
        width (int), height (int): pixels. All positions are (x, y) from the upper left corner, in pixels.
    """

    def __init__(self, width: int, height: int):
        self.pixels = np.full((height, width, 3), 255.0)

    def bytes(self) -> np.ndarray:
        """uint8 [H, W, 3]."""
        return np.rint(self.pixels).clip(0, 255).astype(np.uint8)

    def blend(self, x: int, y: int, cover: np.ndarray, color: Color) -> None:
        """Puts `color` on the pixels from (x, y) on, as far as `cover` in [0, 1] says. Parts outside are cut off."""
        top, left = max(0, -y), max(0, -x)
        part = self.pixels[y + top : y + cover.shape[0], x + left : x + cover.shape[1]]
        c = cover[top : top + part.shape[0], left : left + part.shape[1], None]
        part *= 1 - c
        part += c * np.asarray(color, "float64")

    def rect(self, x: int, y: int, width: int, height: int, color: Color) -> None:
        self.pixels[y : y + height, x : x + width] = color

    def frame(self, x: int, y: int, width: int, height: int, color: Color, thick: int = 1) -> None:
        """The border inside a rectangle."""
        self.rect(x, y, width, thick, color)
        self.rect(x, y + height - thick, width, thick, color)
        self.rect(x, y, thick, height, color)
        self.rect(x + width - thick, y, thick, height, color)

    def picture(self, x: int, y: int, gray: np.ndarray, color: Color = (20, 24, 36)) -> None:
        """A gray picture [H, W] in [0, 1] as ink of a color."""
        self.blend(x, y, gray, color)

    def text(
        self, x: float, y: float, text: str, size: float, color: Color = (40, 44, 56), align: str = "left",
        weight: float | None = None,
    ) -> None:  # fmt: skip
        """A text whose baseline starts at (x, y), ends there ("right") or is centered there ("center")."""
        width = font.width_of(text, size)
        x -= {"left": 0.0, "center": width / 2, "right": width}[align]
        cover, dx, dy = font.coverage(text, size, size / 8 if weight is None else weight)
        self.blend(round(x) - dx, round(y) - dy, cover, color)

    def curve(self, xs: np.ndarray, ys: np.ndarray, color: Color, thick: float = 1.5) -> None:
        """A line through points, smooth at its edges."""
        left, top = int(xs.min() - thick - 2), int(ys.min() - thick - 2)
        height, width = int(ys.max() + thick + 3) - top, int(xs.max() + thick + 3) - left
        nearest = np.full((height, width), 1e9)
        for ax, ay, bx, by in zip(xs, ys, xs[1:], ys[1:]):
            c0, c1 = int(min(ax, bx) - left - thick - 2), int(max(ax, bx) - left + thick + 3)
            gy, gx = np.mgrid[0:height, max(c0, 0) : min(c1, width)] + 0.5
            gx, gy = gx + left, gy + top
            dx, dy = bx - ax, by - ay
            length = dx * dx + dy * dy
            t = np.clip(((gx - ax) * dx + (gy - ay) * dy) / length, 0, 1) if length else 0.0
            part = nearest[:, max(c0, 0) : min(c1, width)]
            np.minimum(part, np.hypot(gx - ax - t * dx, gy - ay - t * dy), out=part)
        self.blend(left, top, np.clip(thick / 2 + 0.5 - nearest, 0, 1), color)

    def disc(self, x: float, y: float, radius: float, color: Color, opacity: float = 1.0) -> None:
        """A filled circle, smooth at its edge."""
        left, top, size = int(x - radius - 1), int(y - radius - 1), int(2 * radius + 4)
        gy, gx = np.mgrid[0:size, 0:size] + 0.5
        away = np.hypot(gx + left - x, gy + top - y)
        self.blend(left, top, np.clip(radius + 0.5 - away, 0, 1) * opacity, color)
