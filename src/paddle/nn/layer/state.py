"""What a Layer is saved as and loaded from, and the element types of what it has."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors, types
from ...engine.eager import tape
from ...engine.eager import trace as tracing
from ...engine.eager.rows import alike
from ...engine.ops.elementwise import cast
from ...engine.types import dtype_of
from ...tensor.tensor import Tensor
from .owner import Owner, check_device

if TYPE_CHECKING:
    from .layers import Layer


class State(Owner):
    """state_dict and its kin, and conversions."""

    _state_dict_hooks: OrderedDict[int, Any]

    # -- state --
    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Parameters and persistable buffers by dotted name.

        Args:
            destination (dict, optional): filled and returned; a new one by default.
            include_sublayers (bool): Default: True.
            structured_name_prefix (str): goes before every name; also `prefix`. Default: "".
            use_hook (bool): calls the state dict hooks. Default: True.
            keep_vars (bool): the Tensors themselves, not copies without gradients. Default: True.
        """
        if "prefix" in kwargs:
            kwargs["structured_name_prefix"] = kwargs.pop("prefix")
        return self._state_dict(False, *args, **kwargs)

    def _state_dict(
        self,
        all_buffers: bool,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Any]:
        found = OrderedDict() if destination is None else destination
        self._collect(found, include_sublayers, structured_name_prefix, use_hook, keep_vars, all_buffers)
        return found

    def to_static_state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Any]:
        """state_dict with the buffers that are not persistable too."""
        return self._state_dict(True, destination, include_sublayers, structured_name_prefix, use_hook, keep_vars)

    def _collect(self, found: Any, deep: bool, prefix: str, use_hook: bool, keep: bool, all_buffers: bool) -> None:
        hidden = self._non_persistable_buffer_names_set
        for name, t in [*self._parameters.items(), *self._buffers.items()]:
            if t is not None and (all_buffers or name not in hidden or name in self._parameters):
                found[prefix + name] = t if keep else t.detach()
        if deep:
            for name, layer in self._sub_layers.items():
                if layer is not None:
                    layer._collect(found, True, f"{prefix}{name}.", use_hook, keep, all_buffers)
        if use_hook:
            for hook in self._state_dict_hooks.values():
                hook(found)

    def set_state_dict(
        self, state_dict: dict[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Gives parameters and persistable buffers the values of a dictionary.

        What is missing, or of another shape, keeps its value, and a warning says so. Where it raises, nothing has
        been changed.

        Args:
            state_dict (dict): Tensors or arrays by name.
            use_structured_name (bool): the keys are dotted names; otherwise names of the Tensors. Default: True.

        Returns:
            tuple[list[str], list[str]]: names that were missing or did not fit, and keys that were not used.

        Raises:
            AssertionError: a value has the right shape and another dtype.
            AttributeError: no dictionary.
        """
        if not hasattr(state_dict, "get"):
            raise errors.no_attribute(
                "set_state_dict: this holds no parameters.", expected="a dict", received=type(state_dict).__name__
            )
        missing: list[str] = []
        used: set[str] = set()
        fits: list[tuple[Tensor, Any]] = []
        for key, t in self.state_dict(use_hook=False).items():
            name = key if use_structured_name else t.name
            state = state_dict.get(name)
            if state is None:
                missing.append(name)
                errors.warn(f"Skip loading for {key}. {name} is not found in the provided dict.")
                continue
            if isinstance(state, (list, tuple)):
                state = np.asarray(state)
            if not hasattr(state, "shape"):
                raise errors.no_attribute(
                    f"set_state_dict: {name} is no Tensor.",
                    expected=f"a Tensor or an array, {t.type}",
                    received=f"{name}: {type(state).__name__}",
                )
            shape = list(state.shape)
            if shape != list(t.type.shape):
                missing.append(name)
                errors.warn(
                    f"Skip loading for {key}. {name} receives a shape {shape}, but the expected shape is "
                    f"{list(t.type.shape)}."
                )
                continue
            if not _has_dtype(state, t.type.dtype):
                kind = state.type.dtype.name if isinstance(state, Tensor) else np.asarray(state).dtype.name
                raise AssertionError(
                    errors.message(
                        "InvalidArgument",
                        f"set_state_dict: {name} is of another dtype.",
                        f"{t.type}",
                        f"{kind}{shape}",
                        f'cast it first: state_dict["{name}"].astype("{t.type.dtype.name}").',
                    )
                )
            used.add(name)
            fits.append((t, state))
        for t, state in fits:
            t.set_value(state)
        return missing, [k for k in state_dict if k not in used]

    set_dict = load_dict = set_state_dict

    def load_state_dict(self, state_dict: dict[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """set_state_dict that, if strict, raises RuntimeError where names do not match exactly."""
        with warnings.catch_warnings():
            if strict:
                warnings.simplefilter("ignore")
            missing, unexpected = self.set_state_dict(state_dict)
        if strict and (missing or unexpected):
            raise errors.precondition(
                f"load_state_dict: the names do not match those of {type(self).__name__}.",
                expected="the names of state_dict()",
                received=f"missing: {missing}, unexpected: {unexpected}",
                hint="pass strict=False to load what matches.",
            )
        return missing, unexpected

    def sharded_state_dict(self, structured_name_prefix: str = "") -> dict[str, Any]:
        """state_dict, for saving from several processes: here every process holds the whole of each Tensor."""
        return self.state_dict(structured_name_prefix=structured_name_prefix)

    # -- types and places --
    def to(
        self, device: Any = None, dtype: Any = None, blocking: bool | None = None, non_blocking: bool | None = None
    ) -> Layer:
        """Converts parameters and buffers to a dtype, in place; returns the layer.

        Those of integers are converted too; `float`, `float16` and `bfloat16` leave them.

        Args:
            device (str|Place, optional): where to; there is one place.
            dtype (str|DType, optional): the type to convert to.
            blocking (bool, optional), non_blocking (bool, optional): accepted; every conversion is in order.
        """
        if isinstance(device, Tensor):
            device, dtype = None, device.dtype
        if dtype is None and (isinstance(device, types.DType) or (isinstance(device, str) and _names_dtype(device))):
            device, dtype = None, device
        if device is not None:
            check_device(device)
        if blocking is not None and not isinstance(blocking, bool):
            raise errors.asserted("to: blocking is not a bool.", expected="True or False", received=f"{blocking!r}")
        return self if dtype is None else self._convert(dtype_of(dtype), label=dtype, every=True)

    def _convert(self, dtype: Any, excluded: Any = (), label: Any = None, every: bool = False) -> Layer:
        for layer in self.sublayers(include_self=True):
            if excluded and isinstance(layer, excluded):
                continue
            layer.__dict__["_dtype"] = label or dtype
            for t in [*layer._parameters.values(), *layer._buffers.values()]:
                if t is not None and t.type.dtype is not dtype and (every or t.type.dtype.is_floating):
                    retype(t, dtype)
        return self

    def astype(self, dtype: Any = None) -> Layer:
        """Sets the type that new parameters take, here and in all sublayers; those there are stay (see `to`).

        Args:
            dtype (str|DType, optional): the type.

        Returns:
            Layer: the layer.
        """
        kind = _element_type(dtype, "astype")
        for layer in self.sublayers(include_self=True):
            layer.__dict__["_dtype"] = kind
        return self

    def type(self, dst_type: Any) -> Layer:
        """Converts all parameters and buffers, in place; returns the layer."""
        return self._convert(_element_type(dst_type, "type"), every=True)

    def float(self, excluded_layers: Any = None) -> Layer:
        return self._convert(types.float32, _classes(excluded_layers))

    def float16(self, excluded_layers: Any = None) -> Layer:
        return self._convert(types.float16, _classes(excluded_layers))

    def bfloat16(self, excluded_layers: Any = None) -> Layer:
        return self._convert(types.bfloat16, _classes(excluded_layers))

    def half(self) -> Layer:
        """to(dtype="float16")."""
        return self._convert(types.float16, every=True)

    def double(self) -> Layer:
        """to(dtype="float64")."""
        return self._convert(types.float64, every=True)

    def cpu(self) -> Layer:
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Layer:
        return self.to("gpu" if device is None else f"gpu:{device}" if isinstance(device, int) else device)

    def xpu(self, device: Any = None) -> Layer:
        return self.to("xpu" if device is None else f"xpu:{device}" if isinstance(device, int) else device)


def retype(t: Tensor, dtype: Any) -> None:
    """Converts a parameter or buffer in place, and its gradient."""
    trace = tracing.current()
    before = trace.grad
    trace.set_grad(False)
    try:
        leaf = t.leaf
        tracing.rebind(t, cast(t, dtype))
        if leaf is not None:
            leaf.zero = leaf.zero and leaf.grad is None
            if leaf.grad is not None:
                leaf.grad = alike(leaf.grad, cast(leaf.grad, dtype))
            t.leaf = tape.leaf_state(t) if t.leaf is None else t.leaf
    finally:
        trace.set_grad(before)
    trace.flush_before_next()


def _has_dtype(state: Any, d: Any) -> bool:
    """Whether set_value takes this as a value of dtype d."""
    if isinstance(state, Tensor):
        return state.type.dtype is d
    return isinstance(state, np.ndarray) and (state.dtype == d.np or (state.dtype == np.uint16 and d is types.bfloat16))


def _element_type(dtype: Any, method: str) -> Any:
    try:
        return dtype_of(dtype)
    except TypeError:
        raise errors.invalid_argument(
            f"Layer.{method}: this is not an element type.",
            expected="a dtype, such as 'float32'",
            received=f"dtype: {dtype!r:.60}",
        ) from None


def _classes(excluded: Any) -> tuple[type, ...]:
    if excluded is None:
        return ()
    return tuple(excluded) if isinstance(excluded, (list, tuple)) else (excluded,)


def _names_dtype(name: str) -> bool:
    try:
        dtype_of(name)
    except TypeError:
        return False
    return True
