"""Placements: what each process of one axis of a mesh holds of a tensor."""

from __future__ import annotations

import enum

from ...engine import errors

__all__ = ["Partial", "Placement", "ReduceType", "Replicate", "Shard"]


class ReduceType(enum.IntEnum):
    """How parts of a value become the value.

    Examples:
        >>> paddle.distributed.ReduceType.kRedMax.name
        'kRedMax'
    """

    kRedSum = 0
    kRedMax = 1
    kRedMin = 2
    kRedProd = 3
    kRedAvg = 4
    kRedAny = 5
    kRedAll = 6

    def __str__(self) -> str:
        return f"ReduceType.{self.name}"


class Placement:
    """Base of placements. Two that say the same are equal.

    Examples:
        >>> isinstance(paddle.distributed.Shard(0), paddle.distributed.Placement)
        True
    """

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether the tensor is cut: along dim, if one is given."""
        return False

    def is_replicated(self) -> bool:
        """Whether every process holds the whole tensor."""
        return False

    def is_partial(self) -> bool:
        """Whether every process holds a part of the value, to be reduced."""
        return False

    def _key(self) -> tuple[object, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._key() == self._key()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))


class Replicate(Placement):
    """Every process holds the whole tensor.

    Examples:
        >>> paddle.distributed.Replicate()
        Replicate()
    """

    def is_replicated(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "Replicate()"


class Shard(Placement):
    """The tensor is cut along an axis, a piece for each process.

    Args:
        dim (int): the axis.
        split_factor (int): pieces of one process that lie apart. Default: 1.

    Raises:
        TypeError: dim is not an int.

    Examples:
        >>> s = paddle.distributed.Shard(1)
        >>> s, s.get_dim(), s.is_shard(0)
        (Shard(dim=1), 1, False)
    """

    def __init__(self, dim: int, *, split_factor: int = 1) -> None:
        for name, n in (("dim", dim), ("split_factor", split_factor)):
            if type(n) is not int:
                raise TypeError(
                    errors.message(
                        "InvalidType", f"Shard: {name} is no number.", expected="int", received=f"{name}: {n!r}"
                    )
                )
        self._dim, self._split_factor = dim, split_factor

    def is_shard(self, dim: int | None = None) -> bool:
        return dim is None or dim == self._dim

    def get_dim(self) -> int:
        """The axis."""
        return self._dim

    def get_split_factor(self) -> int:
        """Pieces of one process that lie apart."""
        return self._split_factor

    def _key(self) -> tuple[object, ...]:
        return self._dim, self._split_factor

    def __repr__(self) -> str:
        more = f", split_factor={self._split_factor}" if self._split_factor != 1 else ""
        return f"Shard(dim={self._dim}{more})"


class Partial(Placement):
    """Every process holds a part of the value: reduced over the processes, they are the tensor.

    Args:
        reduce_type (ReduceType): how. Default: ReduceType.kRedSum.

    Examples:
        >>> paddle.distributed.Partial()
        Partial(reduce_type=SUM)
    """

    def __init__(self, reduce_type: ReduceType = ReduceType.kRedSum) -> None:
        self._reduce_type = ReduceType(reduce_type)

    def is_partial(self) -> bool:
        return True

    def reduce_type(self) -> ReduceType:
        """How the parts are reduced."""
        return self._reduce_type

    def _key(self) -> tuple[object, ...]:
        return (self._reduce_type,)

    def __repr__(self) -> str:
        return f"Partial(reduce_type={self._reduce_type.name[4:].upper()})"
