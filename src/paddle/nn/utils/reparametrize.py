"""Weights computed from other parameters before each call: weight_norm and spectral_norm."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...engine.eager.trace import rebind
from ...engine.ops.elementwise import sqrt
from ...engine.ops.reduction import sum_
from ...framework.grad_mode import no_grad
from ...framework.param import Parameter
from ...tensor.tensor import Tensor
from ...utils.public import public

__all__ = ["remove_weight_norm", "spectral_norm", "weight_norm"]


def _norm_except(v: Tensor, dim: int) -> Tensor:
    """The 2-norm over all axes but one: a vector; over all axes if dim is -1."""
    axes = tuple(i for i in range(v.ndim) if i != dim)
    return sqrt(sum_(v * v, axes))


def _along(g: Tensor, v: Tensor, dim: int) -> Tensor:
    return g.reshape([v.shape[i] if i == dim else 1 for i in range(v.ndim)]) if dim != -1 else g


def _weight(layer: Any, name: str, function: str) -> Any:
    if name not in layer._parameters:
        raise errors.missing_key(
            f"{function}: the layer has no parameter {name!r}.",
            expected=f"one of {list(layer._parameters)}",
            received=f"name: {name!r}, layer: {layer!r}",
        )
    return layer._parameters[name]


def _put(layer: Any, name: str, weight: Tensor) -> None:
    """Makes a computed weight a buffer that state_dict does not hold."""
    layer._buffers[name] = weight
    layer._non_persistable_buffer_names_set.add(name)


def _parameter(layer: Any, name: str, value: Tensor) -> Parameter:
    """Registers a new parameter, named after the layer, of this value."""
    value.array()
    made = layer.create_parameter(value.shape, dtype=value.dtype)
    made.set_value(value)
    return layer.add_parameter(name, made)


class _WeightNorm:
    """Computes `name` from `name_g` and `name_v` before each call."""

    def __init__(self, name: str, dim: int):
        self.name, self.dim = name, dim

    def weight(self, layer: Any) -> Tensor:
        g, v = getattr(layer, self.name + "_g"), getattr(layer, self.name + "_v")
        return v * _along(g / _norm_except(v, self.dim), v, self.dim)

    def __call__(self, layer: Any, inputs: Any) -> None:
        _put(layer, self.name, self.weight(layer))


@public(guarded=True)
def weight_norm(layer: Any, name: str = "weight", dim: int | None = 0) -> Any:
    r"""Writes a weight as direction and length: :math:`w = g\, v / \|v\|`.

    Source: Salimans and Kingma 2016, arXiv:1602.07868.

    Args:
        layer (Layer): is changed: it has parameters `weight_g` and `weight_v` in place of `weight`.
        name (str): of the parameter. Default: "weight".
        dim (int, optional): the axis that keeps a length per entry; None for one length. Default: 0.

    Returns:
        Layer: the layer.

    Examples:
        >>> conv = paddle.nn.utils.weight_norm(paddle.nn.Conv2D(3, 5, 3))
        >>> conv.weight_g.shape
        paddle.Size([5])
    """
    for hook in layer._forward_pre_hooks.values():
        if isinstance(hook, _WeightNorm) and hook.name == name:
            raise errors.precondition(
                f"weight_norm: it is applied to {name} already.", expected="a layer without it", received=f"{layer!r}"
            )
    w = _weight(layer, name, "weight_norm")
    dim = -1 if dim is None else dim
    if not -w.ndim <= dim < w.ndim:
        raise errors.asserted(
            "weight_norm: there is no such axis.", expected=f"dim in [{-w.ndim}, {w.ndim})", received=f"dim: {dim}"
        )
    if dim != -1:
        dim %= w.ndim
    hook = _WeightNorm(name, dim)
    with no_grad():
        g, v = _norm_except(w, dim), w.clone()
    del layer._parameters[name]
    _parameter(layer, name + "_v", v)
    _parameter(layer, name + "_g", g)
    _put(layer, name, hook.weight(layer))
    layer.register_forward_pre_hook(hook)
    return layer


@public(guarded=True)
def remove_weight_norm(layer: Any, name: str = "weight") -> Any:
    """Makes the weight a parameter again.

    Args:
        layer (Layer): what weight_norm was applied to.
        name (str): of the parameter. Default: "weight".

    Returns:
        Layer: the layer.

    Raises:
        ValueError: weight_norm was not applied.
    """
    for key, hook in layer._forward_pre_hooks.items():
        if isinstance(hook, _WeightNorm) and hook.name == name:
            with no_grad():
                w = hook.weight(layer)
            for part in ("_g", "_v"):
                del layer._parameters[name + part]
            del layer._buffers[name]
            layer._non_persistable_buffer_names_set.discard(name)
            _parameter(layer, name, w)
            del layer._forward_pre_hooks[key]
            return layer
    raise errors.invalid_argument(
        f"remove_weight_norm: there is no weight_norm of {name!r}.", expected="a layer with it", received=f"{layer!r}"
    )


class _SpectralNorm:
    """Computes `name` from `name_orig`, divided by its greatest singular value, before each call."""

    def __init__(self, name: str, iterations: int, dim: int, eps: float):
        self.name, self.iterations, self.dim, self.eps = name, iterations, dim, eps

    def rows(self, w: Tensor) -> Tensor:
        axes = [self.dim] + [i for i in range(w.ndim) if i != self.dim]
        return w.transpose(axes).reshape([w.shape[self.dim], -1])

    def unit(self, x: Tensor) -> Tensor:
        from ...engine.ops.elementwise import maximum

        return x / maximum(sqrt(sum_(x * x, (0,))), self.eps)

    def weight(self, layer: Any, iterate: bool) -> Tensor:
        w = getattr(layer, self.name + "_orig")
        u, v = getattr(layer, self.name + "_u"), getattr(layer, self.name + "_v")
        m = self.rows(w)
        if iterate:
            with no_grad():
                a, b, fixed = u, v, m.detach()
                for _ in range(self.iterations):
                    b = self.unit(fixed.t().matmul(a))
                    a = self.unit(fixed.matmul(b))
                rebind(u, a)
                rebind(v, b)
                u, v = u.clone(), v.clone()
        sigma = (u * m.matmul(v)).sum()
        return w / sigma

    def __call__(self, layer: Any, inputs: Any) -> None:
        _put(layer, self.name, self.weight(layer, layer.training))


@public(guarded=True)
def spectral_norm(
    layer: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divides a weight by its greatest singular value, found by power iteration.

    Source: Miyato et al. 2018, arXiv:1802.05957.

    Args:
        layer (Layer): is changed: it has a parameter `weight_orig` in place of `weight`.
        name (str): of the parameter. Default: "weight".
        n_power_iterations (int): per call while training. Default: 1.
        eps (float): least norm. Default: 1e-12.
        dim (int, optional): axis that counts as rows; 1 for Linear and transposed convolutions, 0 otherwise.

    Returns:
        Layer: the layer.
    """
    from ..layer.common import Linear
    from ..layer.conv import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose

    if n_power_iterations <= 0:
        raise errors.invalid_argument(
            "spectral_norm: n_power_iterations is not positive.", expected="> 0", received=f"{n_power_iterations}"
        )
    for hook in layer._forward_pre_hooks.values():
        if isinstance(hook, _SpectralNorm) and hook.name == name:
            raise errors.precondition(
                f"spectral_norm: it is applied to {name} already.", expected="a layer without it", received=f"{layer!r}"
            )
    if dim is None:
        dim = int(isinstance(layer, (Linear, Conv1DTranspose, Conv2DTranspose, Conv3DTranspose)))
    w = _weight(layer, name, "spectral_norm")
    hook = _SpectralNorm(name, n_power_iterations, dim, eps)
    with no_grad():
        h, n = hook.rows(w).shape
        from ...tensor import randn

        u, v = hook.unit(randn([h])), hook.unit(randn([n]))
    del layer._parameters[name]
    layer.add_parameter(name + "_orig", w)
    _put(layer, name, w * 1.0)
    layer.register_buffer(name + "_u", u)
    layer.register_buffer(name + "_v", v)
    layer.register_forward_pre_hook(hook)
    return layer
