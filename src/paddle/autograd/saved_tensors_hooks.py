"""`saved_tensors_hooks`: decides how values are kept between forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.eager import tape
from ..engine.eager import trace as tracing

__all__ = ["saved_tensors_hooks"]


class saved_tensors_hooks:
    """Inside, values saved for backward pass through `pack_hook`, and through `unpack_hook` when they are used.

    Args:
        pack_hook (Callable): Takes a Tensor, gives anything.
        unpack_hook (Callable): Takes what pack_hook gave, gives the Tensor back.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> with paddle.autograd.saved_tensors_hooks(lambda t: t.numpy(), lambda a: paddle.to_tensor(a)):
        ...     y = x * x
        >>> y.sum().backward()
        >>> x.grad.tolist()
        [2.0, 4.0]
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        trace = tracing.current()
        trace.flush()  # what was recorded before is not packed
        trace.generic = True
        tape.packing.hooks.append((self.pack_hook, self.unpack_hook))

    def __exit__(self, *args: Any) -> None:
        try:
            if args[0] is None:
                tape.pack_pending()
                tracing.current().generic = True
        finally:
            tape.packing.hooks.pop()
            tape.packing.nodes.clear()
