"""What a Layer has: its parameters, buffers and sublayers as attributes, and the walks over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors, types
from ...engine.eager import trace as tracing
from ...engine.types import dtype_of
from ...framework.param import ParamAttr, Parameter, make_parameter
from ...tensor.tensor import Tensor
from ...utils import unique_name
from .members import Members

if TYPE_CHECKING:
    from .layers import Layer

_plain = (int, float, bool, str, type(None))


class Owner:
    """Makes, registers and finds parameters, buffers and sublayers."""

    training: bool
    _full_name: str
    _dtype: Any
    _parameters: Members
    _buffers: Members
    _sub_layers: Members
    _non_persistable_buffer_names_set: set[str]

    # -- making and registering --
    def create_parameter(
        self,
        shape: Any,
        attr: Any = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Any = None,
        device: Any = None,
    ) -> Any:
        """A new parameter, named after this layer. Assign it to an attribute to register it.

        Args:
            shape (list[int]): its shape.
            attr (ParamAttr|str|bool, optional): what is asked of it; False makes none.
            dtype (str|DType, optional): by default that of the layer.
            is_bias (bool): zeros by default, and named `b`. Default: False.
            default_initializer (Initializer, optional): used where attr has none.
            device (optional): the parameter stays on the current device.

        Returns:
            Parameter|None: None if attr is False.
        """
        if device is not None:
            check_device(device)
        found = ParamAttr._to_attr(attr)
        if found is False:
            return None
        if isinstance(found, list):
            found = found[0]
        # the default type, whatever the layer was made with: as upstream
        kind = dtype or types.default_dtype()
        return make_parameter(shape, kind, found, self._full_name, is_bias, default_initializer)

    def create_variable(self, name: str | None = None, persistable: bool | None = None, dtype: Any = None) -> Tensor:
        """A Tensor without a value yet, of the layer's dtype, named after this layer."""
        kind = dtype_of(dtype or self._dtype or types.default_dtype())
        t: Any = tracing.from_array(np.zeros((), kind.np))
        t.name = f"{self._full_name}.{name}" if name else unique_name.generate(f"{self._full_name}._generated_var")
        t.persistable = bool(persistable)
        return t

    create_tensor = create_variable

    def _check_name(self, what: str, name: Any, table: Any) -> None:
        if not isinstance(name, str):
            raise errors.invalid_type(
                f"add_{what}: the name is not a str.", expected="str", received=type(name).__name__
            )
        fact = ""
        if "." in name:
            fact = "the name contains a dot"
        elif name == "":
            fact = "the name is empty"
        elif hasattr(self, name) and name not in table:
            fact = f"the layer has an attribute {name!r} already"
        if fact:
            raise errors.missing_key(
                f"add_{what}: {fact}.", expected="a new name without a dot", received=f"name: {name!r}"
            )

    def add_parameter(self, name: str, parameter: Any) -> Any:
        """Registers a parameter under a name.

        Args:
            name (str): no dot, and no attribute that exists.
            parameter (Parameter|None): what is registered.

        Returns:
            Parameter: the parameter.

        Raises:
            TypeError: not a Parameter, or the name is not a str.
            KeyError: the name is taken, empty, or contains a dot.
        """
        if "_parameters" not in self.__dict__:
            raise errors.precondition(
                f"{type(self).__name__}: nothing can be registered before Layer.__init__() has run.",
                expected="super().__init__() first in __init__",
                received=f"add_parameter({name!r}, ...)",
            )
        self._check_name("parameter", name, self._parameters)
        if parameter is not None and not isinstance(parameter, Parameter):
            raise errors.invalid_type(
                "add_parameter: not a Parameter.", expected="a Parameter or None", received=type(parameter).__name__
            )
        self._parameters[name] = parameter
        return parameter

    def register_parameter(self, name: str, param: Any) -> Any:
        """add_parameter."""
        return self.add_parameter(name, param)

    def add_sublayer(self, name: str, sublayer: Any) -> Any:
        """Registers a sublayer under a name, and returns it."""
        if sublayer is not None and not isinstance(sublayer, Owner):
            raise AssertionError(
                errors.message("InvalidType", "add_sublayer: not a Layer.", "a Layer or None", type(sublayer).__name__)
            )
        self._sub_layers[str(name)] = sublayer
        return sublayer

    def add_module(self, name: str, module: Any) -> Any:
        """add_sublayer."""
        return self.add_sublayer(name, module)

    register_module = add_module

    def register_buffer(self, name: str, tensor: Any, persistable: bool = True) -> None:
        """Registers a Tensor that is state, but not learned.

        Args:
            name (str): no dot, and no attribute that exists.
            tensor (Tensor|None): what is registered.
            persistable (bool): whether state_dict holds it. Default: True.

        Raises:
            TypeError: not a Tensor.
            KeyError: the name is taken, empty, or contains a dot.
        """
        if "_buffers" not in self.__dict__:
            raise self._early("register_buffer")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise errors.invalid_type(
                "register_buffer: not a Tensor.", expected="a Tensor or None", received=type(tensor).__name__
            )
        self._buffers[name] = tensor
        names = self._non_persistable_buffer_names_set
        names.discard(name) if persistable else names.add(name)

    # -- attributes --
    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        params = state.get("_parameters")
        if isinstance(value, _plain) and (
            params is None or not (name in params or name in state["_buffers"] or name in state["_sub_layers"])
        ):
            object.__setattr__(self, name, value)
            return
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            if params is None:
                raise self._early(name)
            self._forget(name, params)
            params[name] = value
        elif isinstance(value, Owner):
            if params is None:
                raise self._early(name)
            if name in params:
                self._assign_registered(params, name, value, "parameter", "Parameter")
            self._forget(name, self._sub_layers)
            self._sub_layers[name] = value
        elif params is not None and name in params:
            self._assign_registered(params, name, value, "parameter", "Parameter")
        elif params is not None and name in self._sub_layers:
            self._assign_registered(self._sub_layers, name, value, "sublayer", "Layer")
        elif isinstance(value, Tensor):
            if params is None:
                raise self._early(name)
            if name not in self._buffers:
                self._forget(name, self._buffers)
                self._non_persistable_buffer_names_set.add(name)
            trace = tracing.local.trace
            if trace.abstract:
                self._record_assignment(trace, name, value)
            else:
                self._buffers[name] = value
        elif params is not None and name in self._buffers:
            self._assign_registered(self._buffers, name, value, "buffer", "Tensor")
        else:
            object.__setattr__(self, name, value)

    def _record_assignment(self, trace: Any, name: str, value: Tensor) -> None:
        """In a program that is being recorded: what each run of it does to the attribute."""
        known = self._buffers.get(name)
        if known is not None and known.type == value.type and known is not value:
            tracing.rebind(known, value)
            return
        self._buffers[name] = value
        if trace.declare is None:
            before = trace.assigned.get((id(self), name))
            trace.assigned[id(self), name] = (self, name, known if before is None else before[2], value)

    def _restore(self, name: str, before: Tensor | None) -> None:
        """Undoes an assignment that a capture has recorded."""
        if before is None:
            self._buffers.pop(name, None)
        else:
            self._buffers[name] = before

    def _early(self, name: str) -> Exception:
        return errors.invalid_argument(
            f"{type(self).__name__}: nothing can be registered before Layer.__init__() has run.",
            expected="super().__init__() first in __init__",
            received=f"an assignment of {name}",
        )

    def _assign_registered(self, table: Any, name: str, value: Any, what: str, kind: str) -> None:
        if value is not None:
            raise errors.invalid_type(
                f"{type(self).__name__}.{name}: a registered {what} is replaced by something else.",
                expected=f"a {kind} or None",
                received=type(value).__name__,
                hint=f"del layer.{name} first.",
            )
        table[name] = None

    def _forget(self, name: str, keep: Any) -> None:
        for table in (self._parameters, self._sub_layers, self._buffers):
            if table is not keep:
                table.pop(name, None)
        self._non_persistable_buffer_names_set.discard(name)
        if name not in keep:
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        # found in __dict__ in all ordinary cases: this is for objects half made, and for the error
        for table in ("_parameters", "_sub_layers", "_buffers"):
            found = self.__dict__.get(table)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._sub_layers, self._buffers):
            if name in table:
                del table[name]
                self._non_persistable_buffer_names_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._parameters, *self._sub_layers, *self._buffers})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for table in ("_parameters", "_sub_layers", "_buffers"):
            if table in self.__dict__:
                self.__dict__[table] = Members(self.__dict__[table]).own(self)

    # -- walking --
    def children(self) -> Iterator[Layer]:
        for _, layer in self.named_children():
            yield layer

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """Direct sublayers with their names, each once."""
        seen: set[int] = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and id(layer) not in seen:
                seen.add(id(layer))
                yield name, layer

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_sublayers(
        self,
        prefix: str = "",
        include_self: bool = False,
        layers_set: set[Layer] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Layer]]:
        """All sublayers with their names, outer ones first.

        Args:
            prefix (str): goes before the names. Default: "".
            include_self (bool): begins with this layer. Default: False.
            layers_set (set, optional): layers to leave out; those found are added.
            remove_duplicate (bool): names each layer once. Default: True.
        """
        seen = set() if layers_set is None else layers_set
        if include_self and not (remove_duplicate and self in seen):
            if remove_duplicate:
                seen.add(self)
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None and not (remove_duplicate and layer in seen):
                yield from layer.named_sublayers(prefix + ("." if prefix else "") + name, True, seen, remove_duplicate)

    def named_modules(
        self, memo: set[Layer] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Layer]]:
        yield from self.named_sublayers(prefix, True, memo, remove_duplicate)

    def modules(self) -> Iterator[Layer]:
        for _, layer in self.named_modules():
            yield layer

    def _named(self, table: str, prefix: str, deep: bool, once: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        layers: Iterable[tuple[str, Layer]] = (
            self.named_sublayers(prefix, True, None, once) if deep else [(prefix, self)]
        )
        for where, layer in layers:
            for name, value in layer.__dict__[table].items():
                if value is None or (once and id(value) in seen):
                    continue
                seen.add(id(value))
                yield where + ("." if where else "") + name, value

    def parameters(self, include_sublayers: bool = True) -> list[Any]:
        return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Parameters with their names, as in `fc.weight`, each once."""
        yield from self._named("_parameters", prefix, include_sublayers, remove_duplicate)

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        return [b for _, b in self.named_buffers(include_sublayers=include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Buffers with their names, each once."""
        yield from self._named("_buffers", prefix, include_sublayers, remove_duplicate)

    def _find(self, target: str, kind: str) -> Any:
        at: Any = self
        for part in target.split(".") if target else ():
            if not hasattr(at, part):
                raise _nothing_at(target, f"{type(at).__name__} has no {part}", f"a {kind}")
            at = getattr(at, part)
            if kind == "Layer" and not isinstance(at, Owner):
                raise _nothing_at(target, f"{part} is no Layer", "a Layer")
        return at

    def get_sublayer(self, target: str) -> Layer:
        """The sublayer that a dotted name leads to; AttributeError if there is none."""
        return self._find(target, "Layer")

    get_submodule = get_sublayer

    def set_sublayer(self, target: str, layer: Layer, strict: bool = False) -> None:
        """Puts a layer at a dotted name.

        Args:
            target (str): the name, not empty.
            layer (Layer): what is put there.
            strict (bool): raises AttributeError if nothing is there now. Default: False.
        """
        if not target:
            raise errors.invalid_argument("set_sublayer: the name is empty.", expected="a name", received="target: ''")
        if not isinstance(layer, Owner):
            raise errors.invalid_argument(
                "set_sublayer: not a Layer.", expected="a Layer", received=f"layer: {type(layer).__name__}"
            )
        where, _, name = target.rpartition(".")
        parent = self.get_sublayer(where)
        if strict and not hasattr(parent, name):
            raise _nothing_at(target, f"{type(parent).__name__} has no {name}", "a Layer")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Owner):
            raise _nothing_at(target, f"{name} is no Layer", "a Layer")
        setattr(parent, name, layer)

    set_submodule = set_sublayer

    def get_parameter(self, target: str) -> Any:
        """The parameter that a dotted name leads to; AttributeError if there is none."""
        where, _, name = target.rpartition(".")
        owner = self.get_sublayer(where)
        if name not in owner._parameters:
            raise _nothing_at(target, f"{type(owner).__name__} has no parameter {name}", "a parameter")
        return owner._parameters[name]

    def get_buffer(self, target: str) -> Tensor:
        """The buffer that a dotted name leads to; AttributeError if there is none."""
        where, _, name = target.rpartition(".")
        owner = self.get_sublayer(where)
        if name not in owner._buffers:
            raise _nothing_at(target, f"{type(owner).__name__} has no buffer {name}", "a buffer")
        return owner._buffers[name]

    def get_extra_state(self) -> Any:
        """State of a subclass beyond Tensors."""
        raise errors.precondition(
            f"{type(self).__name__}: it has no get_extra_state.",
            expected="a subclass that writes get_extra_state",
            received="a call of Layer.get_extra_state",
        )

    def apply(self, fn: Callable[[Layer], Any]) -> Layer:
        """Calls `fn` on every sublayer, inner ones first, and on this layer, which is returned."""
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    def full_name(self) -> str:
        """The name that the parameters' names start with, as in `linear_0`."""
        return self._full_name

    def _get_name(self) -> str:
        return type(self).__name__

    @property
    def _modules(self) -> Members:
        return self._sub_layers


def _nothing_at(target: str, fact: str, expected: str) -> Exception:
    return errors.no_attribute(f"Layer: there is nothing at {target!r}: {fact}.", expected=expected, received=target)


def check_device(device: Any) -> None:
    from ...framework import place

    place.place_of(device, "to")
