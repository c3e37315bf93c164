"""`paddle.Tensor`: the class, its attributes, its gradient, and what reads its values.

Functions of tensors are defined in the other modules of this package; `__init__` makes them methods.
"""

from __future__ import annotations

import copy
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.arrays import copied
from ..engine.eager import capture, rows, tape, walk
from ..engine.eager import trace as tracing
from ..engine.eager.sharing import DETACH, share
from ..engine.eager.trace import from_array
from ..engine.ops.elementwise import Detach
from ..engine.ops.shape import Reshape
from ..engine.types import DType
from ..framework.place import CPU, Place

_local = tracing.local
_new = object.__new__
_names = itertools.count()
open_sizes: list[int] = []  # what stands for open sizes in static programs, see static/sizes.py


def flag(v: Any, label: str) -> bool:
    """An argument that is True or False; None is False. Raises TypeError for anything else, numbers included."""
    if v is True or v is False:
        return v
    if v is None or isinstance(v, np.bool_):
        return bool(v)
    raise errors.invalid_type(
        f"{label} is not True or False.", expected="a bool", received=f"{label}: {type(v).__name__}"
    )


class Size(list):
    """The shape of a Tensor: a list of int that also equals tuples.

    Examples:
        >>> paddle.Size([2, 3]).numel()
        6
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def numel(self) -> int:
        """The number of elements of a Tensor of this shape."""
        n = 1
        for m in self:
            n *= m
        return n

    def __eq__(self, other: object) -> bool:
        return list.__eq__(self, list(other) if isinstance(other, tuple) else other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __add__(self, other: Any) -> "Size":
        return Size([*self, *other])

    def __radd__(self, other: Any) -> "Size":
        return Size([*other, *self])

    def __getitem__(self, key: Any) -> Any:
        found = list.__getitem__(self, key)
        return Size(found) if type(key) is slice else found

    def __repr__(self) -> str:
        return f"paddle.Size({list.__repr__(self)})"

    __str__ = __repr__


class TensorSize(int):
    """The number of elements of a Tensor; called, as in x.size(0), the sizes of its axes."""

    shape: tuple[int, ...]

    def __call__(self, dim: int | None = None) -> Any:
        return Size(self.shape) if dim is None else self.shape[dim]


class HookHandle:
    """Given by `register_hook`; takes the hook away again."""

    def __init__(self, hooks: dict[int, Callable[[Any], Any]], key: int):
        self._hooks, self._key = hooks, key

    def remove(self) -> bool:
        """Takes the hook away. Returns False if it was gone already."""
        return self._hooks.pop(self._key, None) is not None


class DenseTensor:
    """What `Tensor.get_tensor()` gives: the bare array of a Tensor, to be read and set."""

    def __init__(self, owner: "Tensor"):
        self._owner = owner

    def shape(self) -> list[int]:
        return list(self._owner.type.shape)

    def set(self, array: Any, place: Any = None) -> None:
        a = copied(array)
        tracing.rebind(self._owner, from_array(a))

    def _is_initialized(self) -> bool:
        return True

    def _dtype(self) -> DType:
        return self._owner.type.dtype

    def _place(self) -> Place:
        return CPU

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self._owner.__array__(dtype, copy)


class Tensor(tracing.Tensor):
    """An array with a gradient, recorded lazily and computed when its values are read.

    Args:
        data (list|tuple|numpy.ndarray|Tensor): values; or sizes, as in Tensor(2, 3), for zeros.

    Attributes:
        shape (Size), dtype (dtype), ndim (int), size (int), place (Place): what it is.
        stop_gradient (bool): no gradients are computed for it. grad (Tensor|None): its gradient after backward.
        name (str): unique. persistable (bool): kept by those who save a model.

    Examples:
        >>> x = paddle.Tensor([1.0, 2.0])
        >>> x.shape, x.dtype
        (paddle.Size([2]), paddle.float32)
    """

    __slots__ = ()
    __array_ufunc__ = None  # numpy's operators leave the work to those of Tensor
    __array_priority__ = 100

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Tensor:
            from .conversion import construct

            return construct(None, *args, **kwargs)
        return _new(cls)

    # -- description --
    @property
    def shape(self) -> Size:
        if not open_sizes or sys._getframe(1).f_globals.get("__name__", "").startswith("paddle."):
            return Size(self.type.shape)
        return self._shown_shape()

    def _shown_shape(self) -> Size:
        """The shape as users see it: of what belongs to a static program with -1 for sizes that are open."""
        owner = tracing.trace_of(self)
        if owner is None or not owner.abstract:
            return Size(self.type.shape)
        from ..static.sizes import shown

        return Size(shown(self.type.shape))

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def ndim(self) -> int:
        return len(self.type.shape)

    @property
    def size(self) -> int:
        if open_sizes and not sys._getframe(1).f_globals.get("__name__", "").startswith("paddle."):
            if -1 in self._shown_shape():
                from .attribute import numel

                return numel(self)  # type: ignore[return-value]
        n = TensorSize(self.type.size)
        n.shape = self.type.shape
        return n

    @property
    def place(self) -> Place:
        return CPU

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def name(self) -> str:
        found = self.__dict__.get("_name")
        if found is None:
            found = self.__dict__["_name"] = f"generated_tensor_{next(_names)}"
        return found

    @name.setter
    def name(self, value: str) -> None:
        if not isinstance(value, str):
            raise errors.invalid_type("name: a name is a text.", expected="a str", received=f"name: {value!r:.60}")
        self.__dict__["_name"] = value

    @property
    def persistable(self) -> bool:
        return self.__dict__.get("_persistable", False)

    @persistable.setter
    def persistable(self, value: bool) -> None:
        self.__dict__["_persistable"] = flag(value, "persistable")

    @property
    def inplace_version(self) -> int:
        return self.__dict__.get("_inplace_version", 0)

    # -- gradients --
    @property
    def stop_gradient(self) -> bool:
        return self.sg

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        if value is not True and value is not False:
            value = flag(value, "stop_gradient")
        if value != self.sg:
            if value:
                self._stop()
            else:
                self._start()

    def _stop(self) -> None:
        """No gradients from here on. How it was made is kept, in case they are wanted again."""
        edge = tape.edge_of(self)
        self._leave_trace()
        if isinstance(edge, tuple):
            self.__dict__["_history"] = edge
        self.sg, self.gnode = True, None

    def _start(self) -> None:
        """A leaf that gradients are computed for; or, after `_stop`, what it was before."""
        owner = tracing.trace_of(self)
        if owner is not None and owner.abstract and self.buffer is None:
            owner.start_gradients(self)  # type: ignore[attr-defined]
            return
        self.array()
        self._leave_trace()
        self.sg, self.gnode = False, self.__dict__.pop("_history", None)

    def _leave_trace(self) -> None:
        """Another handle takes the place of this Tensor in the running trace; it enters anew when used again."""
        trace = _local.trace
        if self.epoch != trace.epoch:
            return
        if self.buffer is None:
            tracing.take_value(self, Detach()(self))
        else:
            if trace.values.get(self.slot) is self:
                trace.values[self.slot] = tracing.shadow(self)
            self.epoch = 0

    @property
    def requires_grad(self) -> bool:
        return not self.sg

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.stop_gradient = not value

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        """Sets whether gradients are computed for this Tensor. Returns it."""
        if not isinstance(requires_grad, bool):
            raise errors.invalid_type(
                "requires_grad_: this is neither True nor False.", expected="a bool", received=f"{requires_grad!r}"
            )
        self.stop_gradient = not requires_grad
        return self

    @property
    def grad(self) -> Any:
        g = tape.gradient(self)
        if g is not None and g.sg:
            tape.as_leaf(g)
        return g

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None and not isinstance(value, tracing.Tensor):
            raise errors.invalid_argument(
                "grad: a gradient is a Tensor.", expected="a Tensor or None", received=type(value).__name__
            )
        state = tape.leaf_state(self)
        if value is not None:  # a Tensor of its own, which later gradients are added to
            value = rows.alike(state.grad, value).detach()
            value.kin = None
        state.grad, state.zero = value, False

    @property
    def grad_(self) -> Any:
        return self.grad

    @property
    def grad_fn(self) -> Any:
        """What made this Tensor, for the curious: a node of the tape, or None."""
        if self.sg:
            return None
        edge = tape.edge_of(self)
        return edge[0] if isinstance(edge, tuple) else None

    @property
    def is_leaf(self) -> bool:
        if self.sg:
            return "_history" not in self.__dict__
        return isinstance(tape.edge_of(self), tape.LeafState)

    def backward(
        self, grad_tensor: Any = None, retain_graph: bool = False, *, dump_backward_graph_path: str | None = None
    ) -> None:
        """Adds the gradients of this Tensor to `grad` of the leaves that it depends on.

        Args:
            grad_tensor (Tensor, optional): the gradient of this Tensor itself. Default: ones.
            retain_graph (bool): keep what is needed to go through the same operations again.
            dump_backward_graph_path (str, optional): a folder for a text file that lists the operations.

        Examples:
            >>> x = paddle.to_tensor([3.0], stop_gradient=False)
            >>> (x * x).backward()
            >>> x.grad.tolist()
            [6.0]
        """
        if grad_tensor is not None and not isinstance(grad_tensor, Tensor):
            raise errors.asserted(
                "backward: grad_tensor is not a Tensor.", expected="a Tensor", received=type(grad_tensor).__name__
            )
        retain_graph = flag(retain_graph, "retain_graph")
        if self.sg:
            errors.warn(
                f"backward: nothing is done for {self.type} with stop_gradient True; nothing that it was computed "
                "from has stop_gradient False, or no_grad was active."
            )
            return
        if dump_backward_graph_path is not None:
            import os

            os.makedirs(dump_backward_graph_path, exist_ok=True)
            with open(os.path.join(dump_backward_graph_path, "backward_graph.txt"), "w") as f:
                f.write(tape.describe([tape.edge_of(self)]))
        walk.backward([self], [grad_tensor], retain_graph)

    def gradient(self) -> np.ndarray | None:
        """The gradient as an array, or None; one by rows as a pair of values and numbers of rows."""
        g = self.grad
        if isinstance(g, rows.RowTensor):
            return g.numpy(), g.row_numbers.numpy()  # type: ignore[return-value]
        return None if g is None else g.numpy()

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Clears the gradient: to zeros if there is one, or to None."""
        if not self.sg:  # upstream asks for nothing where there is nothing to clear
            set_to_zero = flag(set_to_zero, "set_to_zero")
        leaf = self.leaf
        if leaf is not None and (leaf.grad is not None or leaf.zero):
            zero = bool(set_to_zero) and not isinstance(leaf.grad, rows.RowTensor)
            leaf.grad, leaf.zero = None, zero

    def clear_grad(self) -> None:
        """Clears the gradient to zeros if there is one."""
        self.clear_gradient()

    def register_hook(self, hook: Callable[[Any], Any]) -> HookHandle:
        """Calls `hook` with the gradient of this Tensor in each backward.

        Args:
            hook (callable): takes the gradient; what it returns, unless None, goes on in its place.

        Returns:
            HookHandle: `remove()` takes the hook away.

        Raises:
            RuntimeError: no gradients are computed for this Tensor.

        Examples:
            >>> x = paddle.to_tensor([1.0], stop_gradient=False)
            >>> handle = x.register_hook(lambda g: g * 10)
            >>> (x * 2).backward()
            >>> x.grad.tolist()
            [20.0]
        """
        if self.sg:
            raise errors.precondition(
                "register_hook: no gradients are computed for this Tensor.",
                expected="stop_gradient False",
                received=f"{self.type} with stop_gradient True",
            )
        _local.trace.generic = True
        edge = tape.edge_of(self)
        if _local.trace.abstract and isinstance(edge, tuple):
            capture.refuse_python_gradients("register_hook")
        if isinstance(edge, tuple):
            node, i = edge
            node.hooks = node.hooks or {}
            hooks = node.hooks.setdefault(i, {})
        else:
            edge.hooks = hooks = edge.hooks if edge.hooks is not None else {}
        key = next(_hook_keys)
        hooks[key] = hook
        return HookHandle(hooks, key)

    def retain_grads(self) -> None:
        """Keeps `grad` of a Tensor that is not a leaf in the next backward."""
        if self.sg:
            return
        edge = tape.edge_of(self)
        if isinstance(edge, tuple):
            _local.trace.generic = True
            node, i = edge
            node.keep = node.keep or {}
            node.keep[i] = tape.leaf_state(self)

    def detach(self) -> "Tensor":
        """The same value without its history. It shares memory: a change in place of one changes the other."""
        a = self.buffer
        made = Detach()(self) if a is None else tracing.make_tensor(self.type, 0, 0, True, a)
        return share(self, made, DETACH)  # type: ignore[return-value]

    @property
    def data(self) -> "Tensor":
        """The same value without its history, as `detach` gives it. Assigned to, this Tensor takes another value.

        Examples:
            >>> w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
            >>> _ = w.data.fill_(3.0)
            >>> w.data = w.data * 2
            >>> w.tolist(), w.stop_gradient
            ([6.0, 6.0], False)
        """
        return self.detach()

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise errors.invalid_argument(
                "data: the value is not a Tensor.", expected="a Tensor", received=type(value).__name__
            )
        made = value.detach()
        self.kin = None
        tracing.take_value(self, made)
        share(value, self, DETACH)

    def detach_(self) -> "Tensor":
        """Forgets how this Tensor was made. Returns it."""
        if not self.sg:
            self._stop()
        self.__dict__.pop("_history", None)
        return self

    # -- values --
    def array(self) -> np.ndarray:
        """The values, computed if need be. Belongs to the Tensor: not to be written to."""
        _local.trace.reads += 1
        a = self.buffer
        return tracing.materialize_elsewhere(self) if a is None else a

    def numpy(self) -> np.ndarray:
        """The values as an array of one's own; bfloat16 as uint16, as upstream does."""
        a = self.array()
        return a.view(np.uint16).copy() if self.type.dtype is types.bfloat16 else a.copy()

    def item(self, *args: int) -> Any:
        """One element as a Python number.

        Args:
            *args (int): nothing for a Tensor of one element; a position in row-major order; or one index per axis.

        Raises:
            ValueError: more than one element, or no such element.

        Examples:
            >>> paddle.to_tensor([[1, 2], [3, 4]]).item(1, 0)
            3
        """
        a = self.array()
        if not args:
            if a.size != 1:
                raise errors.invalid_argument(
                    "item: the Tensor has more than one element.",
                    expected="one element, or the indices of one",
                    received=f"{self.type}",
                )
            v = a.item()
        else:
            try:
                v = a.item(*args)
            except (IndexError, ValueError) as e:
                raise errors.invalid_argument(
                    "item: there is no such element.", expected=f"indices into {self.type}", received=f"{args}: {e}"
                ) from None
        return float(v) if isinstance(v, np.generic) or type(v).__module__ == "ml_dtypes" else v

    def tolist(self) -> Any:
        """The values as nested lists; a number for a 0-d Tensor."""
        a = self.array()
        return (a if a.dtype.kind in "biufc" else a.astype(np.float32)).tolist()

    def set_value(self, value: Any) -> None:
        """Gives this Tensor other values, of its own shape and dtype.

        Args:
            value (numpy.ndarray|Tensor|dict): the values.

        Raises:
            AssertionError: another type, shape or dtype.
        """
        if isinstance(value, dict):
            value = next(iter(value.values()))
        if isinstance(value, tracing.Tensor):
            a = value.array()  # type: ignore[attr-defined]
        elif isinstance(value, np.ndarray):
            a = value
        else:
            raise AssertionError(
                errors.message("InvalidType", "set_value: this holds no values.", "an array or a Tensor",
                               type(value).__name__)
            )  # fmt: skip
        mine = self.type.dtype
        if a.dtype == np.uint16 and mine is types.bfloat16:
            a = a.view(mine.np)
        if a.shape != self.type.shape or a.dtype != mine.np:
            raise AssertionError(
                errors.message("InvalidArgument", "set_value: the value does not fit the Tensor.", f"{self.type}",
                               f"{a.dtype.name}{list(a.shape)}")
            )  # fmt: skip
        made = from_array(copied(a))
        tracing.rebind(self, made)

    def copy_(self, other: "Tensor", blocking: bool = True) -> "Tensor":
        """Takes the values of another Tensor. Returns this one."""
        from ..utils.public import replace

        if not isinstance(other, tracing.Tensor):
            raise errors.invalid_argument(
                "copy_: this is not a Tensor.", expected="a Tensor", received=f"other: {type(other).__name__}"
            )
        return replace(self, Reshape(other.type.shape)(other.detach()))

    def value(self) -> "Tensor":
        """The Tensor itself."""
        return self

    def get_tensor(self) -> DenseTensor:
        """The bare array behind the Tensor."""
        return DenseTensor(self)

    def _is_initialized(self) -> bool:
        return True

    def _one(self, what: str) -> Any:
        if self.type.size != 1:
            raise AssertionError(
                errors.message(
                    "InvalidArgument", f"{what} of a Tensor of several elements.", "one element", f"{self.type}"
                )
            )
        return self.array().reshape(())

    def __float__(self) -> float:
        return float(self._one("float()"))

    def __int__(self) -> int:
        return int(self._one("int()"))

    def __long__(self) -> int:
        return int(self._one("int()"))

    def __complex__(self) -> complex:
        return complex(self._one("complex()"))

    def __bool__(self) -> bool:
        return bool(self._one("The truth value"))

    __nonzero__ = __bool__

    def __index__(self) -> int:
        v = self._one("The index value")
        if self.type.dtype.kind not in "iub":
            raise errors.invalid_type("A Tensor is used as an index.", expected="an integer type",
                                      received=f"{self.type}")  # fmt: skip
        return int(v)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        a = self.numpy()
        return a if dtype is None else a.astype(dtype)

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        return self.numpy().__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int | None]:
        return (1, None)  # the host; numpy asks for nothing more

    def __len__(self) -> int:
        if not self.type.shape:
            raise AssertionError(errors.message("InvalidArgument", "len() of a 0-d Tensor.", "at least one axis"))
        self.need_fixed_axis(0, "len")
        return self.type.shape[0]

    def need_fixed_axis(self, axis: int, name: str) -> None:
        """TypeError where the size of an axis is open, in a static program."""
        if open_sizes and self._shown_shape()[axis] == -1:
            raise errors.invalid_type(
                f"{name}: the size of axis {axis} is open.",
                expected="a size that is known while the program is recorded",
                received=f"shape {list(self._shown_shape())}",
                hint="paddle.shape(x) gives sizes as a Tensor.",
            )

    def __iter__(self) -> Iterator["Tensor"]:
        return (self[i] for i in range(len(self)))  # type: ignore[index]

    def __contains__(self, value: Any) -> bool:
        return bool((self.array() == (value.array() if isinstance(value, Tensor) else value)).any())

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> "Tensor":
        return self.clone()  # type: ignore[attr-defined]

    def __deepcopy__(self, memo: dict[int, Any]) -> "Tensor":
        made = from_array(copied(self.array()), self.sg)
        memo[id(self)] = made
        for key, value in self.__dict__.items():
            if key not in ("_history", "_name"):
                made.__dict__[key] = copy.deepcopy(value, memo)
        return made  # type: ignore[return-value]

    def __reduce_ex__(self, protocol: Any) -> Any:
        keep = {k: v for k, v in self.__dict__.items() if k not in ("_history", "_inplace_version")}
        return _revive, (self.type.dtype.name, self.type.shape, self.array().tobytes(), self.sg, keep)

    def __format__(self, format_spec: str) -> str:
        return format(self.item(), format_spec) if not self.type.shape else object.__format__(self, format_spec)

    def __repr__(self) -> str:
        from .to_string import describe

        return describe(self)

    __str__ = __repr__


_hook_keys = itertools.count()


def _revive(dtype: str, shape: tuple[int, ...], data: bytes, sg: bool, state: dict[str, Any]) -> Any:
    """A Tensor from a pickle."""
    a = copied(np.frombuffer(data, types.dtype_of(dtype).np).reshape(shape))
    made = from_array(a, sg)
    made.__dict__.update(state)
    return made


tracing.TENSOR[0] = Tensor
