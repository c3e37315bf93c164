"""`Layer`: the base of all networks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...engine import errors
from ...engine.eager import trace as tracing
from ...engine.eager.rows import RowTensor
from ...engine.types import dtype_of
from ...utils import unique_name
from ...utils.public import guard_class, refuse
from .members import HookRemoveHelper, Members, indent, snake_case
from .state import State

__all__ = ["Layer"]

_local = tracing.local
_plain = (int, float, bool, str, type(None))


class Layer(State):
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


def in_declarative_mode() -> bool:
    """Whether operations are being put into a static program."""
    return False
