"""Windows: what frames of a signal are multiplied by."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager.trace import from_array
from ...engine.types import dtype_of
from ...tensor.tensor import Tensor

__all__: list[str] = []

# Each function gives the symmetric window of n samples, n >= 2. Formulas: Harris 1978, doi:10.1109/PROC.1978.10837.


def _centered(n: int) -> np.ndarray:
    """Positions with the middle at 0."""
    return np.arange(n) - (n - 1) / 2


def _cosines(n: int, weights: Any) -> np.ndarray:
    x = np.linspace(-math.pi, math.pi, n)
    return sum(w * np.cos(k * x) for k, w in enumerate(weights))  # type: ignore[return-value]


def _hamming(n: int, alpha: float = 0.54) -> np.ndarray:
    return _cosines(n, (alpha, 1 - alpha))


def _gaussian(n: int, std: float) -> np.ndarray:
    return np.exp(-(_centered(n) ** 2) / (2 * std * std))


def _general_gaussian(n: int, p: float, sig: float) -> np.ndarray:
    return np.exp(-0.5 * np.abs(_centered(n) / sig) ** (2 * p))


def _exponential(n: int, center: float | None = None, tau: float = 1.0, sym: bool = True) -> np.ndarray:
    middle = (n - 1) / 2 if center is None else center
    return np.exp(-np.abs(np.arange(n) - middle) / tau)


def _triang(n: int) -> np.ndarray:
    k = np.arange(1, (n + 1) // 2 + 1)
    w = (2 * k - 1) / n if n % 2 == 0 else 2 * k / (n + 1)
    return np.concatenate([w, w[::-1] if n % 2 == 0 else w[-2::-1]])


def _bohman(n: int) -> np.ndarray:
    x = np.abs(np.linspace(-1, 1, n)[1:-1])
    w = (1 - x) * np.cos(math.pi * x) + np.sin(math.pi * x) / math.pi
    return np.concatenate([[0.0], w, [0.0]])


def _cosine(n: int) -> np.ndarray:
    return np.sin(math.pi / n * (np.arange(n) + 0.5))


def _tukey(n: int, alpha: float = 0.5) -> np.ndarray:
    if alpha <= 0:
        return np.ones(n)
    if alpha >= 1:
        return _hamming(n, 0.5)
    k = np.arange(n)
    width = int(alpha * (n - 1) / 2)
    edge = lambda x: 0.5 * (1 + np.cos(math.pi * (x - 1)))  # noqa: E731
    rise = edge(2.0 * k[: width + 1] / alpha / (n - 1))
    return np.concatenate([rise, np.ones(n - 2 * (width + 1)), rise[::-1]])


def _taylor(n: int, nbar: int = 4, sll: float = 30, norm: bool = True) -> np.ndarray:
    """Side lobes of a level: the first `nbar` are `sll` decibels below the main one."""
    a = math.acosh(10 ** (sll / 20)) / math.pi
    s2 = nbar**2 / (a * a + (nbar - 0.5) ** 2)
    m = np.arange(1, nbar)
    weights = []
    for i, at in enumerate(m):
        top = (-1.0) ** i * np.prod(1 - at**2 / s2 / (a * a + (m - 0.5) ** 2))
        below = 2 * np.prod(1 - at**2 / m[:i] ** 2) * np.prod(1 - at**2 / m[i + 1 :] ** 2)
        weights.append(top / below)

    def value(x: Any) -> Any:
        angles = 2 * math.pi * m[:, None] * (np.atleast_1d(x) - n / 2 + 0.5) / n
        return 1 + 2 * np.array(weights) @ np.cos(angles)

    w = value(np.arange(n))
    return w / value((n - 1) / 2)[0] if norm else w


def _bartlett(n: int) -> np.ndarray:
    k = np.arange(n)
    return np.where(k <= (n - 1) / 2, 2.0 * k / (n - 1), 2.0 - 2.0 * k / (n - 1))


_WINDOWS: dict[str, Callable[..., np.ndarray]] = {
    "hamming": _hamming,
    "hann": lambda n: _hamming(n, 0.5),
    "gaussian": _gaussian,
    "general_gaussian": _general_gaussian,
    "exponential": _exponential,
    "triang": _triang,
    "bohman": _bohman,
    "blackman": lambda n: _cosines(n, (0.42, 0.5, 0.08)),
    "nuttall": lambda n: _cosines(n, (0.3635819, 0.4891775, 0.1365995, 0.0106411)),
    "general_cosine": _cosines,
    "general_hamming": lambda n, alpha: _hamming(n, alpha),
    "cosine": _cosine,
    "tukey": _tukey,
    "taylor": _taylor,
    "bartlett": _bartlett,
    "kaiser": np.kaiser,
}
_NEEDY = ("gaussian", "exponential", "kaiser")  # named alone they are refused: a parameter has to say which


def get_window(window: str | tuple[Any, ...], win_length: int, fftbins: bool = True, dtype: Any = "float64") -> Tensor:
    """A window.

    Args:
        window (str|tuple): Its name, or its name and parameters: "hamming", "hann", ("gaussian", deviation),
            ("general_gaussian", power, width), ("exponential", center, decay), "triang", "bohman", "blackman",
            "cosine", ("tukey", share), ("taylor", side_lobes, decibels), "bartlett", "nuttall", ("kaiser", beta),
            ("general_cosine", weights), ("general_hamming", weight).
        win_length (int): Samples.
        fftbins (bool): Periodic: the first samples of a symmetric window that is one longer. Default: True.
        dtype (str|dtype): float32 or float64. Default: "float64".

    Returns:
        Tensor: [win_length].

    Raises:
        ValueError: there is no such window, it lacks a parameter, or win_length is no count. TypeError: dtype is not
            floating.

    Examples:
        >>> paddle.audio.functional.get_window("hann", 4).tolist()
        [0.0, 0.5, 1.0, 0.5]
    """
    name, given = (window[0], tuple(window[1:])) if isinstance(window, tuple) and window else (window, ())
    if not isinstance(name, str) or name not in _WINDOWS:
        raise errors.invalid_argument(
            "get_window: there is no such window.", expected=", ".join(_WINDOWS), received=f"window: {window!r}"
        )
    if isinstance(window, str) and name in _NEEDY:
        raise errors.invalid_argument(f"get_window: {name} needs a parameter.", expected=f"('{name}', number)",
                                      received=f"{window!r}")  # fmt: skip
    if int(win_length) != win_length or win_length < 0:
        raise errors.invalid_argument("get_window: win_length is no count.", received=f"{win_length}")
    kind = dtype_of(dtype)
    if not kind.is_floating:
        raise errors.invalid_type("get_window: dtype is not floating.", received=f"{kind.name}")
    if name == "exponential" and not fftbins and given and given[0] is not None:
        raise errors.invalid_argument("get_window: a symmetric exponential window has its center in the middle.",
                                      expected="center None", received=f"{given[0]}")  # fmt: skip
    n = int(win_length)
    if n <= 1:
        w = np.ones(n)
    else:
        w = _WINDOWS[name](n + fftbins, *given)[:n]
    return from_array(np.ascontiguousarray(w.astype(kind.np)))
