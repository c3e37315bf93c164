"""`MmapStorage`: Tensors from any place of a large file, which is not read as a whole."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.eager.trace import from_array
from ..engine.types import dtype_of
from ..tensor.tensor import Tensor

__all__ = ["MmapStorage"]


class MmapStorage:
    """A file of raw numbers, of which slices become Tensors.

    Only what is asked for is read, each time into a Tensor's own memory: what happens to the file later changes no
    Tensor, and no Tensor changes the file.

    Args:
        filename (str): the file.
        nbytes (int): how many of its bytes are used.

    Raises:
        ValueError: the file is shorter than nbytes.
        FileNotFoundError: there is no such file.

    Examples:
        >>> import tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "numbers.bin")
        >>> a = paddle.arange(6).astype("float32")
        >>> a.numpy().tofile(path)
        >>> storage = paddle.MmapStorage(path, 24)
        >>> storage.get_slice(dtype="float32", start=8, stop=11).tolist()
        [2.0, 3.0, 4.0]
    """

    def __init__(self, filename: str, nbytes: int):
        self.filename, self.nbytes = os.fspath(filename), int(nbytes)
        size = os.stat(self.filename).st_size
        if not 0 <= self.nbytes <= size:
            raise errors.invalid_argument(
                f"MmapStorage: {self.filename} has fewer bytes.",
                expected=f"0 to {size} bytes",
                received=f"nbytes: {nbytes}",
            )

    def get_slice(self, dtype: Any = "uint8", start: int = 0, stop: int = -1, step: int = 1) -> Tensor:
        """Some of the numbers.

        As upstream, `start` counts bytes, and `stop - start` elements.

        Args:
            dtype (str|dtype): what the bytes are read as. Default: "uint8".
            start (int): byte at which the first element begins. Default: 0.
            stop (int): start plus the number of elements; -1 for as many as there are. Default: -1.
            step (int): takes every step-th element. Default: 1.

        Returns:
            Tensor: one axis, ceil((stop - start) / step) elements; stop_gradient is True.

        Raises:
            ValueError: the slice is not inside the file.
        """
        d = dtype_of(dtype)
        count = (self.nbytes - start) // d.itemsize if stop == -1 else stop - start
        if start < 0 or count < 0 or step < 1 or start + count * d.itemsize > self.nbytes:
            raise errors.invalid_argument(
                f"MmapStorage: the slice is not inside {self.filename}.",
                expected=f"0 <= start <= stop, step >= 1, {d.itemsize} bytes per element, {self.nbytes} bytes",
                received=f"start: {start}, stop: {stop}, step: {step}",
            )
        out = np.empty(count, d.np)
        with open(self.filename, "rb") as f:
            f.seek(start)
            if count and f.readinto(memoryview(out.view(np.uint8))) != out.nbytes:
                raise errors.invalid_argument(f"MmapStorage: {self.filename} has become shorter.")
        if d is types.bool_:
            out = out.view(np.uint8) != 0  # bytes of a file may be anything
        return from_array(out if step == 1 else np.ascontiguousarray(out[::step]))
