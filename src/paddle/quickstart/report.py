"""The picture that the quickstart draws: test images, mistakes, the loss, the confusion matrix."""

from __future__ import annotations

import numpy as np

from ..utils.canvas import Canvas

INK, SOFT, LINE = (32, 36, 48), (118, 124, 138), (222, 226, 234)
BLUE, RED = (38, 98, 196), (212, 56, 46)
_CELL, _DIGIT, _COLUMNS = 60, 48, 10


def draw(
    images: np.ndarray, labels: np.ndarray, predicted: np.ndarray, losses: np.ndarray, facts: list[tuple[str, str]]
) -> np.ndarray:
    """Draws the report.

    Args:
        images (array): [N, 28, 28] in [0, 1].
        labels (array), predicted (array): [N] digits.
        losses (array): Training loss of each step.
        facts (list of pairs): What is told in figures, as (figure, words).

    Returns:
        array: uint8 [H, W, 3].
    """
    c = Canvas(1300, 868)
    c.rect(0, 0, 1300, 6, BLUE)
    c.text(40, 62, "OpenPaddle quickstart: MNIST digits", 22, INK, weight=2.8)
    _facts(c, 40, 122, facts)
    wrong = np.flatnonzero(labels != predicted)
    _digits(c, 40, 200, f"test images, {len(wrong)} of {len(labels):,} wrong", images, labels, predicted,
            np.arange(min(4 * _COLUMNS, len(labels))))  # fmt: skip
    _digits(c, 40, 552, "mistakes: truth > prediction", images, labels, predicted, wrong[: 3 * _COLUMNS])
    _confusion(c, 740, 200, labels, predicted)
    _losses(c, 740, 698, losses)
    return c.bytes()


def _facts(c: Canvas, x: int, y: int, facts: list[tuple[str, str]]) -> None:
    for i, (figure, words) in enumerate(facts):
        left = x + i * 250
        c.text(left, y, figure, 17, BLUE, weight=2.4)
        c.text(left, y + 26, words, 10, SOFT, weight=1.3)


def _digits(
    c: Canvas, x: int, y: int, title: str, images: np.ndarray, labels: np.ndarray, predicted: np.ndarray,
    which: np.ndarray,
) -> None:  # fmt: skip
    c.text(x, y, title, 12, INK, weight=1.6)
    for k, i in enumerate(which):
        left, top = x + (k % _COLUMNS) * (_CELL + 4), y + 16 + (k // _COLUMNS) * (_CELL + 18)
        bad = labels[i] != predicted[i]
        c.rect(left, top, _CELL, _CELL, (253, 236, 234) if bad else (245, 247, 250))
        edge = (_CELL - _DIGIT) // 2
        c.picture(left + edge, top + edge, _enlarge(images[i], _DIGIT))
        if bad:
            c.frame(left, top, _CELL, _CELL, RED, 2)
        told = f"{labels[i]} > {predicted[i]}" if bad else str(predicted[i])
        c.text(left + _CELL / 2, top + _CELL + 13, told, 9, RED if bad else SOFT, "center", 1.3)


def _enlarge(image: np.ndarray, size: int) -> np.ndarray:
    """Linear interpolation between the centres of pixels."""
    for axis in (0, 1):
        n = image.shape[axis]
        at = np.clip((np.arange(size) + 0.5) * n / size - 0.5, 0, n - 1)
        low = at.astype(int)
        w = (at - low).reshape((-1, 1) if axis == 0 else (1, -1))
        image = np.take(image, low, axis) * (1 - w) + np.take(image, np.minimum(low + 1, n - 1), axis) * w
    return image


def _confusion(c: Canvas, x: int, y: int, labels: np.ndarray, predicted: np.ndarray) -> None:
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (labels, predicted), 1)
    c.text(x, y, "confusion matrix", 12, INK, weight=1.6)
    c.text(x + 180, y, "rows: truth, columns: prediction", 10, SOFT, weight=1.2)
    x, y, cell = x + 26, y + 40, 42
    worst = max(1, counts[~np.eye(10, dtype=bool)].max())
    for i in range(10):
        c.text(x - 16, y + i * cell + 26, str(i), 10, SOFT, "center", 1.4)
        c.text(x + i * cell + cell / 2, y - 8, str(i), 10, SOFT, "center", 1.4)
        for j in range(10):
            n = counts[i, j]
            share = n / max(1, counts[i].sum())
            strength = share if i == j else (0.25 + 0.75 * n / worst if n else 0.0)
            color = _mix((247, 249, 252), BLUE if i == j else RED, strength * (0.95 if i == j else 0.8))
            c.rect(x + j * cell, y + i * cell, cell - 2, cell - 2, color)
            if n:
                light = strength > 0.5
                c.text(x + j * cell + cell / 2 - 1, y + i * cell + 25, str(n), 10,
                       (255, 255, 255) if light else INK, "center", 1.4)  # fmt: skip
        right = counts[i, i] / max(1, counts[i].sum())
        c.text(x + 10 * cell + 64, y + i * cell + 26, f"{right:.1%}", 10, SOFT, "right", 1.3)


def _mix(a: tuple, b: tuple, t: float) -> tuple:
    return tuple(p + (q - p) * t for p, q in zip(a, b))


def _losses(c: Canvas, x: int, y: int, losses: np.ndarray) -> None:
    width, height = 500, 96
    c.text(x, y, "training loss by step", 12, INK, weight=1.6)
    left, top = x + 40, y + 18
    smooth = np.convolve(np.pad(losses, (7, 7), "edge"), np.ones(15) / 15, "valid") if len(losses) > 30 else losses
    low, high = np.log10(max(float(smooth.min()), 1e-4)), np.log10(max(float(smooth.max()), 1e-3))
    for power in range(int(np.floor(low)), int(np.ceil(high)) + 1):
        at = top + height * (high - power) / (high - low)
        if top - 1 <= at <= top + height + 1:
            c.rect(left, round(at), width, 1, LINE)
            c.text(left - 8, at + 4, f"{10.0**power:g}", 9, SOFT, "right", 1.2)
    xs = left + np.linspace(0, width, len(smooth))
    ys = top + height * (high - np.log10(np.maximum(smooth, 1e-4))) / (high - low)
    keep = slice(None, None, max(1, len(xs) // 250))
    c.curve(xs[keep], ys[keep], BLUE, 1.8)
    c.text(left, top + height + 18, "0", 9, SOFT, weight=1.2)
    c.text(left + width, top + height + 18, str(len(losses)), 9, SOFT, "right", 1.2)
