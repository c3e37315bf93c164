"""Mixed precision: `auto_cast` for operators, `decorate` for models and optimizers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

from ..engine import errors, types
from ..engine.eager import trace as tracing
from ..engine.ops.elementwise import cast
from ..engine.types import DType
from ..nn import Layer
from ..nn.layer.norm import (
    BatchNorm,
    BatchNorm1D,
    BatchNorm2D,
    BatchNorm3D,
    InstanceNorm1D,
    InstanceNorm2D,
    InstanceNorm3D,
    LayerNorm,
    SyncBatchNorm,
)
from ..nn.layer.state import retype
from ..optimizer import Optimizer
from .mode import Mode, in_force, observed

__all__ = ["amp_decorate", "amp_guard", "auto_cast", "autocast", "decorate", "get_autocast_cpu_dtype",
           "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_enabled"]  # fmt: skip

_LEVELS = ("O0", "OD", "O1", "O2")
_BATCH_NORMS = (BatchNorm, BatchNorm1D, BatchNorm2D, BatchNorm3D, SyncBatchNorm)
_NORMS = (LayerNorm, InstanceNorm1D, InstanceNorm2D, InstanceNorm3D)


class auto_cast(contextlib.ContextDecorator):
    """Inside, operators choose the type they compute in: products and convolutions 16 bits, sums and powers float32.

    At level O1, operators on neither list take their arguments as they are, float32 where types meet. O2 is for models
    that `decorate` has converted: only the user's black list goes to float32. OD computes all but products and
    convolutions in float32. Gradients have the types of what they are gradients of.

    Args:
        enable (bool, optional): False switches an outer auto_cast off. Default: True.
        custom_white_list (set|list|tuple, optional): names of further operators that compute in 16 bits, as in
            "elementwise_add" or "add". Default: None.
        custom_black_list (set|list|tuple, optional): names of further operators that compute in float32.
            Default: None.
        level (str, optional): "O0" (off), "O1", "O2" or "OD". Default: "O1".
        dtype (str, optional): "float16" or "bfloat16". Default: "float16".
        use_promote (bool, optional): where both types meet in an operator on no list, float32 wins; the 16-bit type
            otherwise. Default: True.

    Raises:
        ValueError: the level or the dtype is not one of these, or a name is on both lists.

    Examples:
        >>> x = paddle.ones([2, 2])
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     (x @ x).dtype, (x @ x).exp().dtype
        (paddle.bfloat16, paddle.float32)
    """

    def __init__(
        self,
        enable: bool = True,
        custom_white_list: Iterable[str] | None = None,
        custom_black_list: Iterable[str] | None = None,
        level: str = "O1",
        dtype: str = "float16",
        use_promote: bool = True,
    ) -> None:
        _check_level("auto_cast", level)
        self._mode: Mode | None = None
        if enable and level != "O0":
            low = _low_type("auto_cast", dtype)
            self._mode = Mode.of(
                level, low, custom_white_list or (), custom_black_list or (), bool(use_promote) or level != "O2"
            )
        self._before: list[Mode | None] = []

    def __enter__(self) -> None:
        self._before.append(tracing.current().set_amp(observed(self._mode)))

    def __exit__(self, *exc: Any) -> None:
        tracing.current().set_amp(self._before.pop())


amp_guard = auto_cast


class autocast(auto_cast):
    """`auto_cast` at level O1, as `paddle.autocast`.

    Args:
        device_type (str|Place): not used: all devices share the mode.
        dtype (str|DType, optional): float16 or bfloat16. Default: None, for float16.
        enabled (bool, optional): False switches an outer one off. Default: True.
        cache_enabled (bool, optional): not used: a weight is converted once in a program in any case.
    """

    def __init__(self, device_type: Any = None, dtype: Any = None, enabled: bool = True, cache_enabled: bool = True):
        super().__init__(enable=enabled, dtype=dtype or "float16")


def _check_level(name: str, level: Any) -> None:
    if level not in _LEVELS:
        raise errors.invalid_argument(
            f"{name}: the level is not known.", expected=f"one of {list(_LEVELS)}", received=f"level: {level!r}"
        )


def _low_type(name: str, dtype: Any) -> DType:
    for low in (types.float16, types.bfloat16):
        if dtype is low or dtype == low.name:
            return low
    raise errors.invalid_argument(
        f"{name}: dtype is not a 16-bit float.", expected="'float16' or 'bfloat16'", received=f"dtype: {dtype!r}"
    )


def is_autocast_enabled(device_type: Any = None) -> bool:
    """Whether an `auto_cast` is in force.

    Examples:
        >>> with paddle.amp.auto_cast():
        ...     paddle.amp.is_autocast_enabled()
        True
    """
    return in_force() is not None


def get_autocast_dtype(device_type: Any = None) -> str:
    """The 16-bit type of the `auto_cast` in force; "float16" if there is none.

    Examples:
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     paddle.amp.get_autocast_dtype()
        'bfloat16'
    """
    mode = in_force()
    return "float16" if mode is None else mode.low.name


def get_autocast_cpu_dtype() -> str:
    """`get_autocast_dtype` by another name."""
    return get_autocast_dtype()


def get_autocast_gpu_dtype() -> str:
    """`get_autocast_dtype` by another name."""
    return get_autocast_dtype()


# ---- decorate ---------------------------------------------------------------------------------
def decorate(
    models: Layer | Sequence[Layer],
    optimizers: Optimizer | Sequence[Optimizer] | None = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: Any = None,
) -> Any:
    """Converts the parameters of models to 16 bits, for level O2; at other levels it changes nothing.

    Batch norms stay float32, and with float16 layer and instance norms too. The optimizers keep float32 copies of the
    weights they update.

    Args:
        models (Layer|list): converted in place.
        optimizers (Optimizer|list, optional): of their parameters. Default: None.
        level (str, optional): "O1", "O2", ... Default: "O1".
        dtype (str, optional): "float16" or "bfloat16". Default: "float16".
        master_weight (bool, optional): False keeps no float32 copies. Default: None, for True.
        save_dtype (str, optional): the floating type of what `state_dict` gives. Default: None, for the models'.
        master_grad (bool, optional): gradients become float32 after backward. Default: False.
        excluded_layers (Layer|type|list, optional): layers, or classes of layers, that stay float32. Default: None.

    Returns:
        The models as they were given; with optimizers, a tuple of both.

    Raises:
        ValueError: the level or a dtype is not known. TypeError: no Layer, or no Optimizer, was given.
        RuntimeError: a parameter is not float32.

    Examples:
        >>> model = paddle.amp.decorate(paddle.nn.Linear(2, 2), level="O2", dtype="bfloat16")
        >>> model.weight.dtype
        paddle.bfloat16
    """
    _check_level("decorate", level)
    low = _low_type("decorate", dtype)
    if level == "O2":
        listed = _listed(models, Layer, "models")
        excluded = _excluded(listed, excluded_layers)
        _check_save_dtype(save_dtype)
        for model in listed:
            _convert(model, low, excluded, master_grad)
        for optimizer in [] if optimizers is None else _listed(optimizers, Optimizer, "optimizers"):
            optimizer._multi_precision = master_weight is not False
        if save_dtype is not None:
            for model in listed:
                _save_as(model, save_dtype)
    return models if optimizers is None else (models, optimizers)


amp_decorate = decorate


def _listed(given: Any, kind: type, name: str) -> list[Any]:
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    for one in found:
        if not isinstance(one, kind):
            raise errors.invalid_type(
                f"decorate: {name} holds something else.", expected=f"a {kind.__name__} or a list of them",
                received=f"{name}: {type(one).__name__}",
            )  # fmt: skip
    return found


def _excluded(models: list[Layer], given: Any) -> set[Layer]:
    """All layers that stay as they are."""
    entries = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    classes = tuple(e for e in entries if isinstance(e, type) and issubclass(e, Layer))
    layers = [e for e in entries if isinstance(e, Layer)]
    if len(classes) + len(layers) < len(entries):
        raise errors.invalid_type(
            "decorate: excluded_layers holds something else.", expected="layers, or classes of layers",
            received=f"excluded_layers: {given!r}",
        )  # fmt: skip
    found = {inner for layer in layers for inner in layer.sublayers(include_self=True)}
    found.update(s for m in models for s in m.sublayers(include_self=True) if isinstance(s, classes))
    return found


def _convert(model: Layer, low: DType, excluded: set[Layer], master_grad: bool) -> None:
    for layer in model.sublayers(include_self=True):
        keeps = _BATCH_NORMS if low is types.bfloat16 else _BATCH_NORMS + _NORMS
        if layer in excluded or isinstance(layer, keeps) or not getattr(layer, "_cast_to_low_precision", True):
            continue
        for p in layer._parameters.values():
            if p is not None and p.type.dtype is types.float64:
                raise errors.precondition(
                    "decorate: a parameter is float64.", expected="a model in float32", received=f"{p.name}: {p.type}"
                )
        layer.__dict__["_dtype"] = low.name
        for t in [*layer._parameters.values(), *layer._buffers.values()]:
            if t is not None and t.type.dtype is types.float32:
                retype(t, low)
        for p in layer._parameters.values():
            if master_grad and p is not None and p.type.dtype is low and not p.sg:
                p.register_hook(_in_float32)


def _in_float32(g: Any) -> Any:
    return cast(g, types.float32)


def _check_save_dtype(dtype: Any) -> None:
    known = ("float16", "bfloat16", "float32", "float64")
    if dtype is not None and dtype not in known:
        raise errors.invalid_argument(
            "decorate: save_dtype is not a floating type.", expected=f"one of {list(known)}",
            received=f"save_dtype: {dtype!r}",
        )  # fmt: skip


def _save_as(model: Layer, dtype: str) -> None:
    to = types.dtype_of(dtype)

    def convert(found: dict[str, Any]) -> None:
        for key, t in found.items():
            if t.type.dtype.is_floating and t.type.dtype is not to:
                found[key] = cast(t, to)
                found[key].name = t.name

    for layer in model.sublayers(include_self=True):
        layer.register_state_dict_hook(convert)
