"""What a graph is lowered to: steps, each of them a kernel, work of the host, or no work at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..ir.graph import Node, Value
from ..types import TensorType
from .affine import Product
from .epilogue import Epilogue
from .expr import Operand
from .loops import Loops


@dataclass
class Step:
    """Something that runs: its results, what it reads, and where errors point to.

    Attributes:
        outputs, inputs: values.
        node: for messages.
    """

    outputs: list[Value]
    inputs: list[Value]
    node: Node

    def scratch(self) -> int:
        """Bytes that it needs while it runs."""
        return 0

    def within(self) -> Sequence[Step]:
        """The steps that it consists of."""
        return ()


@dataclass
class LoopStep(Step):
    """Loops over elements. closed: nothing else is computed in them. No loops: a kernel of the first tier."""

    loops: Loops
    fused: list[Node] = field(default_factory=list)
    closed: bool = False


@dataclass
class GroupStep(Step):
    """Loops that do not read what others of them make: one launch, see grouping.py.

    Attributes:
        readers: how many members read a value, under whatever shape. makers: the member that makes a value.
    """

    members: list[LoopStep]
    readers: dict[Value, int]
    makers: dict[Value, LoopStep]

    def within(self) -> Sequence[Step]:
        return self.members


@dataclass(frozen=True)
class Finish:
    """What a product does with its sums before they are stored.

    Attributes:
        beside: the further tensors of the epilogue.
        strides: along each axis of the product, in each of those.
    """

    epilogue: Epilogue
    beside: tuple[Operand, ...]
    strides: tuple[tuple[int, ...], ...]


@dataclass
class ProductStep(Step):
    """A sum of products. The first output is what `product` writes."""

    product: Product
    finish: Finish | None = None


@dataclass
class WinogradStep(Step):
    """A convolution by tiles: x with channels last and transformed weights to a result with channels last.

    Attributes:
        by_channel: for each further tensor of the epilogue, whether it has channels alone; else it lies as the result.
    """

    tile: int
    finish: Finish | None = None
    by_channel: tuple[bool, ...] = ()

    @property
    def tiles(self) -> int:
        n, _, _, h, w = self.node.outputs[0].shape
        return n * -(-h // self.tile) * -(-w // self.tile)


@dataclass
class WinogradGradStep(Step):
    """The gradient of a kernel by tiles: x and g with channels last to parts [P, C, 1, O, 3, 3] of it."""


@dataclass
class HostStep(Step):
    pass


@dataclass
class OwnKernel:
    """One of the kernels of an operator that has its own.

    Attributes:
        key: equal keys mean equal text, for one target.
        text: makes it: of a function @KERNEL, in the form in which it is compiled.
        total, grain, dims: units, units per task, and numbers that it is called with.
        values: what it reads and writes: i argument i, -1 - i result i, None the scratch memory of its step.
        operations: of floating-point numbers, for profiles.
    """

    key: str
    text: Callable[[], str]
    total: int
    grain: int
    dims: list[int]
    values: list[int | None]
    operations: float


@dataclass
class KernelStep(Step):
    """Kernels that an operator has of its own, one after another.

    Attributes:
        bytes: of scratch memory.
        plan: gives kernels and bytes for arguments of other types; None where there are none.
    """

    kernels: list[OwnKernel]
    bytes: int
    plan: Callable[[Sequence[TensorType]], tuple[list[OwnKernel], int] | None]

    def values(self, kernel: OwnKernel) -> list[Value | None]:
        at = lambda i: self.node.inputs[i] if i >= 0 else self.node.outputs[-1 - i]
        return [None if i is None else at(i) for i in kernel.values]

    def scratch(self) -> int:
        return self.bytes


@dataclass
class AliasStep(Step):
    """The result is the argument's buffer under another shape."""
