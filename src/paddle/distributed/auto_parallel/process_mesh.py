"""Meshes: processes in rows, columns and further axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...engine import errors

__all__ = ["ProcessMesh", "get_mesh", "set_mesh"]


def _assertion(what: str, **more: str) -> AssertionError:
    return AssertionError(errors.message("InvalidArgument", f"ProcessMesh: {what}", **more))


class ProcessMesh:
    """Processes as a grid of any number of axes. Two with equal processes and names are equal.

    Args:
        mesh (list|numpy.ndarray, optional): numbers of processes, nested as the grid is.
        dim_names (list[str], optional): names of the axes. Default: "d0", "d1", ...
        shape (Sequence[int], optional): sizes of the grid, where there is no mesh.
        process_ids (Iterable[int], optional): numbers of processes in row-major order, where there is no mesh.

    Raises:
        ValueError: mesh is neither a list nor an array; the processes do not fill the shape.
        AssertionError: processes or names come up twice; there is not one name for each axis.

    Examples:
        >>> mesh = paddle.distributed.ProcessMesh([[0, 1], [2, 3]], dim_names=["x", "y"])
        >>> mesh.shape, mesh.get_dim_size("y")
        ([2, 2], 2)
        >>> mesh["y"]
        ProcessMesh(shape=[2], process_ids=[0, 1], dim_names=['y'])
    """

    def __init__(
        self,
        mesh: Any = None,
        dim_names: list[str] | None = None,
        shape: Sequence[int] | None = None,
        process_ids: Iterable[int] | None = None,
    ) -> None:
        if mesh is None:
            if shape is None or process_ids is None:
                raise _assertion("there is no mesh.", expected="mesh, or shape and process_ids")
            mesh = np.array(list(process_ids)).reshape(list(shape))
        if not isinstance(mesh, (list, np.ndarray)):
            raise errors.invalid_argument(
                "ProcessMesh: mesh is no grid.", expected="a list or numpy.ndarray", received=type(mesh).__name__
            )
        grid = np.array(mesh)
        if grid.dtype.kind not in "iu":
            raise _assertion("a process is no number.", expected="integers", received=f"mesh: {grid.dtype}")
        ids = [int(n) for n in grid.ravel()]
        if min(ids, default=0) < 0 or len(set(ids)) != len(ids):
            raise _assertion("a process comes up twice, or is negative.", expected="each once", received=f"{ids}")
        if dim_names is not None and not isinstance(dim_names, list):
            raise errors.invalid_argument(
                "ProcessMesh: dim_names is no list.", expected="list[str]", received=type(dim_names).__name__
            )
        names = [f"d{i}" for i in range(grid.ndim)] if dim_names is None else list(dim_names)
        if len(names) != grid.ndim or len(set(names)) != len(names):
            raise _assertion(
                "the names do not fit.", expected=f"{grid.ndim} different ones, one for each axis",
                received=f"dim_names: {dim_names}",
            )  # fmt: skip
        self._mesh, self._dim_names = grid.astype(np.int64), names

    @property
    def mesh(self) -> np.ndarray:
        """The processes, as an array."""
        return self._mesh

    @property
    def shape(self) -> list[int]:
        """Sizes of the axes."""
        return list(self._mesh.shape)

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return self._mesh.ndim

    @property
    def size(self) -> int:
        """How many processes there are."""
        return int(self._mesh.size)

    @property
    def process_ids(self) -> list[int]:
        """The processes in row-major order."""
        return [int(n) for n in self._mesh.ravel()]

    @property
    def dim_names(self) -> list[str]:
        """Names of the axes."""
        return list(self._dim_names)

    def _axis(self, dim: str | int) -> int:
        if isinstance(dim, int) and 0 <= dim < self.ndim:
            return dim
        if dim not in self._dim_names:
            raise _assertion("there is no such axis.", expected=f"one of {self._dim_names}", received=f"{dim!r}")
        return self._dim_names.index(dim)  # type: ignore[arg-type]

    def get_dim_size(self, dim: str | int) -> int:
        """How many processes lie along an axis.

        Args:
            dim (str|int): its name or number.
        """
        return self.shape[self._axis(dim)]

    dim_size = get_dim_size

    def contains(self, process_id: int) -> bool:
        """Whether a process is in the mesh."""
        return process_id in self.process_ids

    def empty(self) -> bool:
        """Whether there is no process."""
        return not self._mesh.size

    def get_mesh_with_dim(self, dim_name: str, index: Any = None) -> ProcessMesh:
        """The mesh with one axis in front; with an index, what lies there along it.

        Args:
            dim_name (str): the axis.
            index (int|slice, optional): a place along it.
        """
        axis = self._axis(dim_name)
        names = [dim_name, *(n for n in self._dim_names if n != dim_name)]
        turned = ProcessMesh(np.moveaxis(self._mesh, axis, 0), names)
        return turned if index is None else turned[index]

    def __getitem__(self, index: Any) -> ProcessMesh:
        if isinstance(index, str):  # the processes along an axis, of those that are first along the others
            axis = self._axis(index)
            return ProcessMesh(self._mesh[tuple(slice(None) if i == axis else 0 for i in range(self.ndim))], [index])
        found = self._mesh[index]
        at = index if isinstance(index, tuple) else (index,)
        names = [n for n, i in zip(self._dim_names, (*at, *[slice(None)] * self.ndim)) if isinstance(i, slice)]
        return ProcessMesh(found, names) if np.ndim(found) else ProcessMesh([int(found)])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ProcessMesh)
            and other.shape == self.shape
            and other.process_ids == self.process_ids
            and other.dim_names == self.dim_names
        )

    def __hash__(self) -> int:
        return hash((*self.shape, *self.process_ids, *self._dim_names))

    def __str__(self) -> str:
        return f"shape {self.shape}, process_ids {self.process_ids}, dim_names {self.dim_names}"

    def __repr__(self) -> str:
        return f"ProcessMesh(shape={self.shape}, process_ids={self.process_ids}, dim_names={self.dim_names})"


_current: list[ProcessMesh | None] = [None]


def get_mesh() -> ProcessMesh | None:
    """The mesh that `set_mesh` has set, None before.

    Examples:
        >>> paddle.distributed.get_mesh() is None
        True
    """
    return _current[0]


def set_mesh(mesh: ProcessMesh) -> None:
    """Sets the mesh of the program.

    Args:
        mesh (ProcessMesh): all processes.

    Examples:
        >>> before = paddle.distributed.get_mesh()
        >>> paddle.distributed.set_mesh(paddle.distributed.ProcessMesh([0]))
        >>> paddle.distributed.get_mesh().size
        1
        >>> paddle.distributed.set_mesh(before)
    """
    _current[0] = mesh
