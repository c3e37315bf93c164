"""`InputSpec`: the description of an input before there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine import errors
from ..engine.types import DType, dtype_of
from ..tensor.tensor import Tensor


class InputSpec:
    """Shape, dtype and name of an input.

    Args:
        shape (list|tuple): Sizes; None or -1 where the size is open.
        dtype (str|dtype): Default: float32.
        name (str, optional): Of the input.
        stop_gradient (bool): False if gradients flow to it. Default: False.

    Raises:
        TypeError: shape is no list or tuple, or dtype names no element type. ValueError: a size is no integer.

    Examples:
        >>> paddle.static.InputSpec([None, 784], "float32", "x")
        InputSpec(shape=(-1, 784), dtype=paddle.float32, name=x, stop_gradient=False)
    """

    def __init__(
        self,
        shape: Sequence[int | None],
        dtype: Any = "float32",
        name: str | None = None,
        stop_gradient: bool = False,
    ):
        self.shape = _sizes(shape)
        self.dtype: DType | None = None if dtype is None else dtype_of(dtype)
        self.name, self.stop_gradient = name, stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> "InputSpec":
        """The description of a Tensor.

        Args:
            tensor (Tensor): Gives shape, dtype and, if name is None, the name.
            name (str, optional): Of the input.

        Raises:
            ValueError: tensor is no Tensor.
        """
        if not isinstance(tensor, Tensor):
            raise errors.invalid_argument(
                "InputSpec.from_tensor: not a Tensor.", expected="Tensor", received=type(tensor).__name__
            )
        return cls(tensor.shape, tensor.dtype, name or tensor.name)

    @classmethod
    def from_numpy(cls, ndarray: Any, name: str | None = None) -> "InputSpec":
        """The description of an array.

        Args:
            ndarray (numpy.ndarray): Gives shape and dtype.
            name (str, optional): Of the input.
        """
        return cls(ndarray.shape, ndarray.dtype, name)

    def batch(self, batch_size: int | Sequence[int]) -> "InputSpec":
        """Puts an axis of size `batch_size` in front of the shape, in place. Returns self."""
        if isinstance(batch_size, (list, tuple)):
            if len(batch_size) != 1:
                raise errors.invalid_argument(
                    "InputSpec.batch: one size is added.", expected="one int", received=repr(batch_size)
                )
            batch_size = batch_size[0]
        if not isinstance(batch_size, int):
            raise errors.invalid_type(
                "InputSpec.batch: batch_size is no integer.", expected="int", received=type(batch_size).__name__
            )
        self.shape = (batch_size, *self.shape)
        return self

    def unbatch(self) -> "InputSpec":
        """Takes the first axis off the shape, in place. Returns self."""
        if not self.shape:
            raise errors.invalid_argument(
                "InputSpec.unbatch: the shape has no axis.",
                received=repr(self),
                expected="a shape with at least one axis",
            )
        self.shape = self.shape[1:]
        return self

    def _key(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.name, self.stop_gradient

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key() == other._key()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype}, name={self.name}, "
            f"stop_gradient={self.stop_gradient})"
        )


def _sizes(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, (list, tuple)):
        raise errors.invalid_type(
            "InputSpec: shape is of the wrong type.", expected="list or tuple", received=type(shape).__name__
        )
    for i, n in enumerate(shape):
        if n is not None and (not hasattr(n, "__index__") or isinstance(n, bool)):
            raise errors.invalid_argument(
                f"InputSpec: shape[{i}] is no integer.", expected="int or None", received=f"{type(n).__name__}: {n}"
            )
    return tuple(-1 if n is None else int(n) for n in shape)
