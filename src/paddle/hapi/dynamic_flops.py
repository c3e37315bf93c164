"""`paddle.flops`: multiply-adds of a network."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import nn
from ..engine import errors
from ..nn import Layer
from ..tensor.tensor import Tensor

__all__ = ["flops"]


def flops(
    net: Layer, input_size: Any, custom_ops: dict[Any, Callable[..., int]] | None = None, print_detail: bool = False
) -> int:
    """Counts the multiply-adds of a forward pass, as upstream does: one each for a product with its sum.

    Args:
        net (Layer): The network.
        input_size (list of int): Shape of its input.
        custom_ops (dict, optional): Counting functions by layer class: f(layer, inputs, output), which returns the
            count or sets `layer.total_ops`.
        print_detail (bool): Print a line per layer. Default: False.

    Returns:
        int: the count. Layers that no rule knows count as zero, and are named. The layers in `net` are counted, not
            `net` itself: it is 0 for a single Linear, as upstream.

    Raises:
        TypeError: net is no Layer.

    Examples:
        >>> paddle.flops(paddle.nn.Sequential(paddle.nn.Linear(4, 2)), [1, 4])
        8
    """
    import paddle

    if not isinstance(net, Layer):
        raise errors.invalid_type("flops: net is no Layer.", received=type(net).__name__, expected="a Layer")
    rules = {**_rules(), **(custom_ops or {})}
    rows: list[tuple[str, list[int], list[int], int, int]] = []
    unknown: set[str] = set()
    hooks = []
    for name, layer in net.named_sublayers():
        if layer._sub_layers and type(layer) not in (custom_ops or {}):
            continue
        rule = next((rules[c] for c in type(layer).__mro__ if c in rules), None)
        if rule is None:
            unknown.add(type(layer).__name__)
            continue
        hooks.append(layer.register_forward_post_hook(_counter(name, rule, rows)))
    training = net.training
    net.eval()
    try:
        with paddle.no_grad():
            net(paddle.zeros(list(input_size)))
    finally:
        for hook in hooks:
            hook.remove()
        net.train() if training else net.eval()
    total = sum(r[4] for r in rows)
    if unknown:
        print(f"flops: no rule for {', '.join(sorted(unknown))}, counted as zero")
    if print_detail:
        for name, shape_in, shape_out, parameters, count in rows:
            print(f"{name:24} {shape_in!s:20} {shape_out!s:20} {parameters:12,} {count:14,}")
        print(f"{'total':24} {'':20} {'':20} {sum(r[3] for r in rows):12,} {total:14,}")
    return total


def _counter(name: str, rule: Callable[..., Any], rows: list[Any]) -> Any:
    def count(layer: Layer, inputs: Any, output: Any) -> None:
        found = rule(layer, inputs, output)
        if found is None:
            found = int(getattr(layer, "total_ops", 0))
        first = output[0] if isinstance(output, (list, tuple)) else output
        parameters = sum(p.size for p in layer.parameters())
        rows.append((name, list(inputs[0].shape), list(first.shape), parameters, int(found)))

    return count


def _rules() -> dict[type, Callable[[Any, Any, Tensor], int]]:
    def convolution(layer: Any, inputs: Any, out: Tensor) -> int:
        kernel = math.prod(layer.weight.shape[1:])  # input channels of a group, and window
        return out.size * (kernel + (layer.bias is not None))

    def transposed(layer: Any, inputs: Any, out: Tensor) -> int:
        return inputs[0].size * math.prod(layer.weight.shape[1:]) + (out.size if layer.bias is not None else 0)

    def linear(layer: Any, inputs: Any, out: Tensor) -> int:
        return out.size * int(layer.weight.shape[0])

    def per_input(n: int) -> Callable[..., int]:
        return lambda layer, inputs, out: n * inputs[0].size

    def window(layer: Any, inputs: Any, out: Tensor) -> int:
        k = layer.ksize
        return out.size * ((k**2 if isinstance(k, int) else math.prod(k)) + 1)

    def adaptive(layer: Any, inputs: Any, out: Tensor) -> int:
        k = math.prod(-(-i // o) for i, o in zip(inputs[0].shape[2:], out.shape[2:]))
        return out.size * (k + 1)

    def nothing(layer: Any, inputs: Any, out: Any) -> int:
        return 0

    rules: dict[str, Callable[..., int]] = {
        **dict.fromkeys(("Conv1D", "Conv2D", "Conv3D"), convolution),
        **dict.fromkeys(("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"), transposed),
        "Linear": linear,
        **dict.fromkeys(("BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "BatchNorm"), per_input(2)),
        **dict.fromkeys(("LayerNorm", "GroupNorm"), per_input(2)),
        **dict.fromkeys(("ReLU", "ReLU6", "LeakyReLU", "PReLU"), per_input(1)),
        **dict.fromkeys(("AvgPool1D", "AvgPool2D", "AvgPool3D"), window),
        **dict.fromkeys(("AdaptiveAvgPool1D", "AdaptiveAvgPool2D", "AdaptiveAvgPool3D"), adaptive),
        **dict.fromkeys(("Dropout", "Flatten", "Identity", "MaxPool1D", "MaxPool2D", "MaxPool3D"), nothing),
    }  # fmt: skip
    return {getattr(nn, name): rule for name, rule in rules.items() if hasattr(nn, name)}
