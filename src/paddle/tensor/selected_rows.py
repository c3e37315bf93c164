"""Gradients of tables by rows, as users see them: upstream's SelectedRows."""

from __future__ import annotations

from typing import Any

from ..engine.eager import rows as _rows
from ..engine.eager.rows import RowTensor
from .tensor import Tensor
from .to_string import INDENT, text_of

__all__: list[str] = []


class SelectedRows(RowTensor, Tensor):
    """The values [n, ...] of the rows of a table that have a gradient; the other rows have none.

    What is computed of it element by element, with numbers, goes on knowing its rows. A row that comes up several
    times has the sum of its values.
    """

    __slots__ = ()

    def rows(self) -> list[int]:
        """The numbers of the rows."""
        return self.row_numbers.array().tolist()

    def is_selected_rows(self) -> bool:
        """Whether only some rows are stored: True."""
        return True

    def is_dense(self) -> bool:
        """Whether every element is stored: False."""
        return False

    def get_selected_rows(self) -> SelectedRows:
        """The Tensor itself: it knows its rows and height."""
        return self

    def __repr__(self) -> str:
        t = self.type
        return (
            f"Tensor(shape={list(t.shape)}, dtype={t.dtype.name}, place={self.place}, stop_gradient={self.sg}, "
            f"rows={self.rows()},\n{' ' * INDENT}{text_of(self.array())})"
        )

    __str__ = __repr__


def _keeping_rows(name: str) -> Any:
    def method(self: SelectedRows, *args: Any, **kwargs: Any) -> Any:
        return _rows.alike(self, getattr(Tensor, name)(self, *args, **kwargs))

    method.__name__, method.__doc__ = name, getattr(Tensor, name).__doc__
    return method


def keep_rows() -> None:
    """Called once Tensor has all its methods."""
    for name in ("__add__", "__radd__", "__mul__", "__rmul__", "__truediv__", "__neg__", "__sub__", "clone", "detach",
                 "scale", "clip"):  # fmt: skip
        setattr(SelectedRows, name, _keeping_rows(name))
    _rows.CLASS[0] = SelectedRows
