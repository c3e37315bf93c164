"""`SDPBackend` and `sdpa_kernel`: kernels of attention by name. One here does the work of them all."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator

from ...engine import errors

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """Kernels of attention; ERROR stands for none."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2


_KERNELS = (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH)
_allowed: tuple[SDPBackend, ...] = _KERNELS


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """The kernels that may be used now; with priority, the one that is tried first comes first."""
    return list(_allowed) if with_priority else sorted(_allowed)


@contextlib.contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[dict]:
    """Restricts the kernels of scaled_dot_product_attention within a block; the result is the same with each.

    Args:
        backends (list[SDPBackend]|SDPBackend): kernels that may be used.
        set_priority (bool, optional): they are tried in this order. Default: False.

    Raises:
        AssertionError: backends is neither. TypeError: the list holds something else. ValueError: it is empty.
        RuntimeError: it names no kernel.

    Examples:
        >>> from paddle.nn.attention import SDPBackend, sdpa_kernel
        >>> q = paddle.ones([1, 3, 2, 4])
        >>> with sdpa_kernel(SDPBackend.MATH):
        ...     paddle.nn.functional.scaled_dot_product_attention(q, q, q).shape
        paddle.Size([1, 3, 2, 4])
    """
    global _allowed
    expected = "an SDPBackend, or a list of them"
    if not isinstance(backends, (list, SDPBackend)):
        raise errors.asserted(
            "sdpa_kernel: this is no backend.", expected=expected, received=f"backends: {backends!r:.60}"
        )
    asked = list(dict.fromkeys([backends] if isinstance(backends, SDPBackend) else backends))
    for backend in asked:
        if not isinstance(backend, SDPBackend):
            raise errors.invalid_type(
                "sdpa_kernel: the list holds something else.", expected=expected, received=f"{backend!r:.60}"
            )
    if not asked:
        raise errors.invalid_argument("sdpa_kernel: no backend is given.", expected=expected, received="backends: []")
    allowed = tuple(b for b in asked if b in _KERNELS)
    if not allowed:
        raise errors.precondition(
            "sdpa_kernel: no kernel of attention is left.",
            expected=f"one of {', '.join(k.name for k in _KERNELS)}",
            received="backends: ERROR",
        )
    before = _allowed
    _allowed = allowed if set_priority else tuple(k for k in _KERNELS if k in allowed)
    try:
        yield {}
    finally:
        _allowed = before
