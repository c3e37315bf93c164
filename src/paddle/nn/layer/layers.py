"""`Layer`: the base of all networks."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...engine import errors, types
from ...engine.eager import tape
from ...engine.eager import trace as tracing
from ...engine.eager.rows import RowTensor, alike
from ...engine.ops.elementwise import cast
from ...engine.types import dtype_of
from ...framework.param import ParamAttr, Parameter, make_parameter
from ...tensor.tensor import Tensor
from ...utils import unique_name
from ...utils.public import guard_class, refuse
from .members import HookRemoveHelper, Members, indent, snake_case

__all__ = ["Layer"]

_local = tracing.local
_plain = (int, float, bool, str, type(None))


class Layer:
    """A part of a network: parameters, buffers, sublayers, and `forward`.

    Args:
        name_scope (str, optional): what names of parameters start with; the class name in snake case by default.
        dtype (str|DType): of the parameters. Default: "float32".

    Attributes:
        training (bool): whether dropout drops and batch norm takes the batch's statistics.

    Examples:
        >>> class Net(paddle.nn.Layer):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.fc = paddle.nn.Linear(2, 1)
        ...
        ...     def forward(self, x):
        ...         return self.fc(x)
        >>> Net()(paddle.ones([3, 2])).shape
        paddle.Size([3, 1])
    """

    training: bool
    _parameters: Members
    _buffers: Members
    _sub_layers: Members

    def __init__(self, name_scope: str | None = None, dtype: Any = "float32") -> None:
        if name_scope is not None and not isinstance(name_scope, str):
            raise errors.invalid_type(
                f"{type(self).__name__}: name_scope is not a str.", expected="str", received=type(name_scope).__name__
            )
        state = self.__dict__
        state["training"] = True
        state["_full_name"] = unique_name.generate(name_scope or snake_case(type(self).__name__))
        state["_dtype"] = dtype if isinstance(dtype, str) or dtype is None else dtype_of(dtype)
        state["_parameters"] = Members().own(self)
        state["_buffers"] = Members().own(self)
        state["_sub_layers"] = Members().own(self)
        state["_non_persistable_buffer_names_set"] = set()
        state["_forward_pre_hooks"] = OrderedDict()
        state["_forward_post_hooks"] = OrderedDict()
        state["_pre_hooks_with_kwargs"] = {}
        state["_post_hooks_with_kwargs"] = {}
        state["_post_hooks_always"] = {}
        state["_state_dict_hooks"] = OrderedDict()
        state["_built"] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard_class(cls)

    # -- calling --
    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The computation; a subclass writes it."""
        kind = type(self).__name__
        raise errors.unimplemented(
            f"{kind}: it has no forward.",
            expected="a subclass with `def forward(self, ...)`",
            received=f"a call of {kind}",
        )

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        trace = _local.trace
        if trace.grad or trace.in_layer:
            try:
                if self._forward_pre_hooks or self._forward_post_hooks:
                    return self._call_with_hooks(inputs, kwargs)
                return self.forward(*inputs, **kwargs)
            except Exception as e:
                refuse(e)
        trace.in_layer = True
        try:
            if self._forward_pre_hooks or self._forward_post_hooks:
                out = self._call_with_hooks(inputs, kwargs)
            else:
                out = self.forward(*inputs, **kwargs)
        except Exception as e:
            refuse(e)
        finally:
            trace.in_layer = False
        trace.flush_before_next()  # inference: what follows is another program, so this one repeats
        return out

    def _call_with_hooks(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for key, hook in list(self._forward_pre_hooks.items()):
            if key in self._pre_hooks_with_kwargs:
                changed = hook(self, inputs, kwargs)
                if changed is not None:
                    if not (isinstance(changed, tuple) and len(changed) == 2):
                        raise errors.precondition(
                            "forward_pre_hook: a hook with kwargs gave something else than (inputs, kwargs).",
                            expected="None, or a tuple of inputs and kwargs",
                            received=f"{type(changed).__name__}",
                        )
                    inputs, kwargs = changed
                continue
            changed = hook(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        called: set[int] = set()
        try:
            out = self.forward(*inputs, **kwargs)
            for key, hook in list(self._forward_post_hooks.items()):
                called.add(key)
                out = self._post(key, hook, inputs, kwargs, out)
            return out
        except Exception:
            for key, hook in list(self._forward_post_hooks.items()):
                if key in self._post_hooks_always and key not in called:
                    try:
                        self._post(key, hook, inputs, kwargs, None)
                    except Exception as e:
                        errors.warn(f"a forward hook with always_call=True raised: {e}")
            raise

    def _post(self, key: int, hook: Any, inputs: Any, kwargs: Any, out: Any) -> Any:
        if key in self._post_hooks_with_kwargs:
            changed = hook(self, inputs, kwargs, out)
        else:
            changed = hook(self, inputs, out)
        return out if changed is None else changed

    def backward(self, *inputs: Any) -> Any:
        raise errors.invalid_argument(
            f"{type(self).__name__}: layers have no backward.",
            expected="a backward of the result",
            received="a call of Layer.backward",
            hint="call loss.backward(); write a PyLayer for a gradient of your own.",
        )

    # -- hooks --
    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookRemoveHelper:
        """Calls `hook(layer, inputs)` before forward; what it returns, if not None, takes the inputs' place.

        Args:
            hook (Callable): the function.
            prepend (bool): before the hooks that are there. Default: False.
            with_kwargs (bool): the hook takes, and gives, keyword arguments too. Default: False.

        Returns:
            HookRemoveHelper: its `remove()` takes the hook away.
        """
        made = HookRemoveHelper(self._forward_pre_hooks, hook, self._pre_hooks_with_kwargs, first=prepend)
        if with_kwargs:
            self._pre_hooks_with_kwargs[made.id] = True
        return made

    def register_forward_post_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookRemoveHelper:
        """Calls `hook(layer, inputs, output)` after forward; what it returns, if not None, takes the output's place.

        Args:
            hook (Callable): the function.
            prepend (bool): before the hooks that are there. Default: False.
            with_kwargs (bool): called as `hook(layer, inputs, kwargs, output)`. Default: False.
            always_call (bool): also called, with None, when forward raises. Default: False.

        Returns:
            HookRemoveHelper: its `remove()` takes the hook away.
        """
        made = HookRemoveHelper(
            self._forward_post_hooks, hook, self._post_hooks_with_kwargs, self._post_hooks_always, first=prepend
        )
        if with_kwargs:
            self._post_hooks_with_kwargs[made.id] = True
        if always_call:
            self._post_hooks_always[made.id] = True
        return made

    register_forward_hook = register_forward_post_hook

    def register_state_dict_hook(self, hook: Callable[[Any], Any]) -> HookRemoveHelper:
        """Calls `hook(state)` on the dictionary that state_dict has made; what it returns is not used."""
        return HookRemoveHelper(self._state_dict_hooks, hook)

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
            _check_device(device)
        found = ParamAttr._to_attr(attr)
        if found is False:
            return None
        if isinstance(found, list):
            found = found[0]
        # the default type, whatever the layer was made with: as upstream
        kind = dtype or types.default_dtype()
        return make_parameter(shape, kind, found, self._full_name, is_bias, default_initializer)

    def create_variable(self, name: str | None = None, persistable: bool | None = None, dtype: Any = None) -> Tensor:
        """An empty Tensor of the layer's dtype."""
        kind = dtype_of(dtype or self._dtype or types.default_dtype())
        t: Any = tracing.from_array(np.zeros((0,), kind.np))
        t.name = name or unique_name.generate(f"{self._full_name}._generated_var")
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
        if sublayer is not None and not isinstance(sublayer, Layer):
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
        elif isinstance(value, Layer):
            if params is None:
                raise self._early(name)
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
            self._buffers[name] = value
        elif params is not None and name in self._buffers:
            self._assign_registered(self._buffers, name, value, "buffer", "Tensor")
        else:
            object.__setattr__(self, name, value)

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
            if kind == "Layer" and not isinstance(at, Layer):
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
        if not isinstance(layer, Layer):
            raise errors.invalid_argument(
                "set_sublayer: not a Layer.", expected="a Layer", received=f"layer: {type(layer).__name__}"
            )
        where, _, name = target.rpartition(".")
        parent = self.get_sublayer(where)
        if strict and not hasattr(parent, name):
            raise _nothing_at(target, f"{type(parent).__name__} has no {name}", "a Layer")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Layer):
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

    # -- modes --
    def train(self, mode: bool = True) -> Layer:
        """Sets `training` of this layer and all sublayers; returns the layer."""
        self.training = mode
        for layer in self.sublayers():
            layer.training = mode
        return self

    def eval(self) -> Layer:
        """train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Layer:
        """Sets whether the parameters are trained; returns the layer."""
        for p in self.parameters():
            p.stop_gradient = not requires_grad
        return self

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Sets the gradients of all trained parameters to zero, or to None."""
        for p in self.parameters():
            if not p.sg and p.leaf is not None:
                zero = set_to_zero and (p.leaf.grad is not None or p.leaf.zero)
                zero = zero and not isinstance(p.leaf.grad, RowTensor)
                p.leaf.grad, p.leaf.zero = None, zero

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.clear_gradients(not set_to_none)

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
        """Converts floating parameters and buffers to a dtype, in place; returns the layer.

        Args:
            device (str|Place, optional): where to; there is one place.
            dtype (str|DType, optional): the floating type to convert to.
            blocking (bool, optional), non_blocking (bool, optional): accepted; every conversion is in order.
        """
        if isinstance(device, Tensor):
            device, dtype = None, device.dtype
        if dtype is None and (isinstance(device, types.DType) or (isinstance(device, str) and _names_dtype(device))):
            device, dtype = None, device
        if device is not None:
            _check_device(device)
        if blocking is not None and not isinstance(blocking, bool):
            raise errors.asserted("to: blocking is not a bool.", expected="True or False", received=f"{blocking!r}")
        return self if dtype is None else self._convert(dtype_of(dtype), label=dtype)

    def _convert(self, dtype: Any, excluded: Any = (), label: Any = None) -> Layer:
        for layer in self.sublayers(include_self=True):
            if excluded and isinstance(layer, excluded):
                continue
            layer.__dict__["_dtype"] = label or dtype
            for t in [*layer._parameters.values(), *layer._buffers.values()]:
                if t is not None and t.type.dtype is not dtype and t.type.dtype.is_floating:
                    retype(t, dtype)
        return self

    def astype(self, dtype: Any = None) -> Layer:
        """Sets the type that new parameters take, here and in all sublayers; those there are stay (see `to`).

        Args:
            dtype (str|DType, optional): the type.

        Returns:
            Layer: the layer.
        """
        try:
            kind = dtype_of(dtype)
        except TypeError:
            raise errors.invalid_argument(
                f"{type(self).__name__}.astype: this is not an element type.",
                expected="a dtype, such as 'float32'",
                received=f"dtype: {dtype!r:.60}",
            ) from None
        for layer in self.sublayers(include_self=True):
            layer.__dict__["_dtype"] = kind
        return self

    def type(self, dst_type: Any) -> Layer:
        """astype."""
        return self.astype(dst_type)

    def float(self, excluded_layers: Any = None) -> Layer:
        return self._convert(types.float32, _classes(excluded_layers))

    def float16(self, excluded_layers: Any = None) -> Layer:
        return self._convert(types.float16, _classes(excluded_layers))

    def bfloat16(self, excluded_layers: Any = None) -> Layer:
        return self._convert(types.bfloat16, _classes(excluded_layers))

    def half(self) -> Layer:
        return self._convert(types.float16)

    def double(self) -> Layer:
        return self._convert(types.float64)

    def cpu(self) -> Layer:
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Layer:
        return self.to("gpu" if device is None else f"gpu:{device}" if isinstance(device, int) else device)

    def xpu(self, device: Any = None) -> Layer:
        return self.to("xpu" if device is None else f"xpu:{device}" if isinstance(device, int) else device)

    # -- printing --
    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n")
        text = type(self).__name__ + "("
        text += "\n  " + "\n  ".join(lines) + "\n" if len(lines) > 1 else extra
        parts = [f"({name}): {indent(repr(layer), 2)}" for name, layer in self._sub_layers.items()]
        if parts:
            text += "\n  " + "\n  ".join(parts) + "\n"
        return text + ")"


def _nothing_at(target: str, fact: str, expected: str) -> Exception:
    return errors.no_attribute(f"Layer: there is nothing at {target!r}: {fact}.", expected=expected, received=target)


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


def _check_device(device: Any) -> None:
    from ...framework import place

    place.place_of(device, "to")


def in_declarative_mode() -> bool:
    """Whether operations are being put into a static program."""
    return False
