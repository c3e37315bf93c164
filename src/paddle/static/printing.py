"""What a program prints while it runs, and what it runs on."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.capture import in_program
from ..framework.place import CPUPlace
from ..tensor.tensor import Tensor
from .program import default_main_program

__all__ = ["Print", "cpu_places"]


def cpu_places(device_count: int | None = None) -> list[Any]:
    """Places of the CPU.

    Args:
        device_count (int, optional): how many. Default: the environment's CPU_NUM, or 1.

    Examples:
        >>> paddle.static.cpu_places(2)
        [Place(cpu), Place(cpu)]
    """
    import os

    count = int(os.environ.get("CPU_NUM", 1)) if device_count is None else device_count
    return [CPUPlace() for _ in range(count)]


class _Printed:
    """A value that is printed at each run."""

    def __init__(self, value: Tensor, name: str, first_n: int, message: str | None, summarize: int, parts: list[bool]):
        self.value, self.name, self.first_n, self.message = value, name, first_n, message
        self.summarize, self.parts = summarize, parts
        self.count = itertools.count(1)

    def show(self, a: np.ndarray) -> None:
        if self.first_n > 0 and next(self.count) > self.first_n:
            return
        name, kind, shape, layout = self.parts
        lines = [f"Variable: {self.name}"] if name else []
        lines += [f"  - message: {self.message}"] if self.message else []
        lines += [f"  - shape: {list(a.shape)}"] if shape else []
        lines += ["  - layout: NCHW"] if layout else []
        lines += [f"  - dtype: {a.dtype}"] if kind else []
        flat = a.ravel() if self.summarize < 0 else a.ravel()[: self.summarize]
        lines.append(f"  - data: [{' '.join(f'{v:g}' if flat.dtype.kind == 'f' else str(v) for v in flat)}]")
        print("\n".join(lines), flush=True)


def Print(  # noqa: N802
    input: Tensor, first_n: int = -1, message: str | None = None, summarize: int = 20, print_tensor_name: bool = True,
    print_tensor_type: bool = True, print_tensor_shape: bool = True, print_tensor_layout: bool = True,
    print_tensor_lod: bool = True, print_phase: str = "both",
) -> Tensor:  # fmt: skip
    """Prints a value each time that the program runs.

    Args:
        input (Tensor): what is printed.
        first_n (int): how often at most; -1 for always.
        message (str, optional): is printed before it.
        summarize (int): how many elements are shown; -1 for all. Default: 20.
        print_tensor_name, print_tensor_type, print_tensor_shape, print_tensor_layout (bool): what is shown beside them.
        print_tensor_lod (bool): there are none.
        print_phase (str): "forward", "backward" or "both"; gradients are not printed.

    Returns:
        Tensor: the same value.

    Raises:
        TypeError: input is no Tensor. RuntimeError: in dynamic mode.
    """
    if not isinstance(input, Tensor):
        raise errors.invalid_type("Print: input is no Tensor.", expected="Tensor", received=type(input).__name__)
    if not in_program():
        raise errors.precondition(
            "Print: operations run at once here.", expected="static mode", received="dynamic mode", hint="use print."
        )
    parts = [print_tensor_name, print_tensor_type, print_tensor_shape, print_tensor_layout]
    name = input.__dict__.get("_name") or "value"
    default_main_program()._printed.append(_Printed(input, name, first_n, message, summarize, parts))
    return input
