"""Messages along the edges of a graph: gathered where edges start, combined, reduced where they end."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...engine.ops.elementwise import add, divide, multiply, subtract
from ...engine.ops.indexing import Gather
from ...engine.ops.shape import reshape
from ...tensor.families import need_tensor
from ...tensor.tensor import Tensor
from ..math import reduce_rows

__all__: list[str] = []

_MESSAGES = {"add": add, "sub": subtract, "mul": multiply, "div": divide}
_REDUCTIONS = ("sum", "mean", "max", "min")


def _chosen(name: Any, among: Any, fn: str, label: str) -> str:
    if name not in among:
        raise errors.invalid_argument(
            f"{fn}: there is no such {label}.", expected=", ".join(map(repr, among)), received=f"{label}: {name!r}"
        )
    return name


def _edges(src: Any, dst: Any, fn: str) -> None:
    for label, v in (("src_index", src), ("dst_index", dst)):
        need_tensor(v, fn, label)
        if v.dtype.name not in ("int32", "int64"):
            raise errors.invalid_argument(f"{fn}: {label} holds no integers.", expected="int32 or int64",
                                          received=f"{label}: {v.type}")  # fmt: skip
    if src.dtype is not dst.dtype or tuple(src.shape) != tuple(dst.shape) or src.ndim != 1:
        raise errors.invalid_argument(
            f"{fn}: the two ends of edges do not fit.", expected="two vectors of one length and type",
            received=f"src_index: {src.type}, dst_index: {dst.type}",
        )  # fmt: skip


def _nodes(x: Any, fn: str, label: str = "x") -> Tensor:
    need_tensor(x, fn, label)
    if not x.ndim:
        raise errors.out_of_range(f"{fn}: {label} has no rows.", expected="[N, ...]", received=f"{label}: {x.type}")
    return x


def _count(out_size: Any, x: Tensor) -> int:
    n = 0 if out_size is None else int(out_size)
    return n if n > 0 else x.shape[0]


def _combined(op: str, a: Any, b: Any, fn: str) -> Any:
    if op == "div" and not a.dtype.is_floating:
        raise errors.invalid_argument(
            f"{fn}: integers are not divided.", expected="a floating type", received=f"{a.type}"
        )
    rank = max(a.ndim, b.ndim, 2)
    a, b = (reshape(t, (t.shape[0], *(1,) * (rank - t.ndim), *tuple(t.shape)[1:])) for t in (a, b))
    return _MESSAGES[op](a, b)


def send_u_recv(
    x: Tensor, src_index: Tensor, dst_index: Tensor, reduce_op: str = "sum", out_size: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Each node gets the rows of the nodes that have an edge to it, reduced.

    Args:
        x (Tensor): [N, ...], the rows of nodes.
        src_index (Tensor): int32 or int64 [E], where edges start.
        dst_index (Tensor): [E], where they end, of the same type.
        reduce_op (str): "sum", "mean", "max" or "min". Default: "sum".
        out_size (int|Tensor, optional): Rows of the result. Default: N.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [out_size, ...]; zeros where no edge ends.

    Raises:
        ValueError: no such reduce_op, or the ends of edges do not fit. IndexError: no such node.

    Examples:
        >>> x = paddle.to_tensor([[1.0], [2.0], [4.0]])
        >>> src, dst = paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 1])
        >>> paddle.geometric.send_u_recv(x, src, dst).tolist()
        [[0.0], [5.0], [2.0]]
    """
    fn = "send_u_recv"
    _chosen(reduce_op, _REDUCTIONS, fn, "reduce_op")
    _nodes(x, fn)
    _edges(src_index, dst_index, fn)
    return reduce_rows(Gather(0, False)(x, src_index), dst_index, _count(out_size, x), reduce_op)


def send_ue_recv(
    x: Tensor, y: Tensor, src_index: Tensor, dst_index: Tensor, message_op: str = "add", reduce_op: str = "sum",
    out_size: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """As `send_u_recv`, of the rows combined with what edges carry.

    Args:
        x (Tensor): [N, ...], the rows of nodes.
        y (Tensor): [E, ...], what edges carry; its axes after the first broadcast with those of x.
        src_index, dst_index (Tensor): [E], where edges start and end.
        message_op (str): "add", "sub", "mul" or "div". Default: "add".
        reduce_op (str): "sum", "mean", "max" or "min". Default: "sum".
        out_size (int|Tensor, optional): Rows of the result. Default: N.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [out_size, ...].

    Raises:
        ValueError: no such operation, or shapes do not fit. IndexError: no such node.

    Examples:
        >>> x, y = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([10.0, 20.0])
        >>> src, dst = paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])
        >>> paddle.geometric.send_ue_recv(x, y, src, dst, "mul", "sum").tolist()
        [[0.0], [50.0]]
    """
    fn = "send_ue_recv"
    _chosen(message_op, _MESSAGES, fn, "message_op")
    _chosen(reduce_op, _REDUCTIONS, fn, "reduce_op")
    _nodes(x, fn)
    _nodes(y, fn, "y")
    _edges(src_index, dst_index, fn)
    if y.shape[0] != src_index.shape[0]:
        raise errors.invalid_argument(
            f"{fn}: there is not one row of y for each edge.", expected=f"[{src_index.shape[0]}, ...]",
            received=f"y: {y.type}",
        )  # fmt: skip
    messages = _combined(message_op, Gather(0, False)(x, src_index), y, fn)
    return reduce_rows(messages, dst_index, _count(out_size, x), reduce_op)


def send_uv(
    x: Tensor, y: Tensor, src_index: Tensor, dst_index: Tensor, message_op: str = "add", name: str | None = None
) -> Tensor:
    """What each edge carries: the row where it starts combined with that where it ends.

    Args:
        x (Tensor): [N, ...], rows of nodes where edges start.
        y (Tensor): [N, ...], where they end; axes after the first broadcast.
        src_index, dst_index (Tensor): [E], where edges start and end.
        message_op (str): "add", "sub", "mul" or "div". Default: "add".
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [E, ...].

    Raises:
        ValueError: no such operation, or shapes do not fit. IndexError: no such node.

    Examples:
        >>> x = paddle.to_tensor([[1.0], [2.0]])
        >>> src, dst = paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])
        >>> paddle.geometric.send_uv(x, x, src, dst).tolist()
        [[3.0], [4.0]]
    """
    fn = "send_uv"
    _chosen(message_op, _MESSAGES, fn, "message_op")
    _nodes(x, fn)
    _nodes(y, fn, "y")
    _edges(src_index, dst_index, fn)
    return _combined(message_op, Gather(0, False)(x, src_index), Gather(0, False)(y, dst_index), fn)
