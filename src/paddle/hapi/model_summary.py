"""`paddle.summary`: the layers of a network with their shapes and sizes."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from ..engine import errors
from ..nn import Layer
from ..static.input import InputSpec
from ..tensor.tensor import Tensor

__all__ = ["summary"]


def summary(net: Layer, input_size: Any = None, dtypes: Any = None, input: Any = None) -> dict[str, int]:
    """Prints the layers of a network in the order in which they run, with shapes and numbers of parameters.

    Args:
        net (Layer): The network.
        input_size (tuple|InputSpec|list of both, optional): Shape of each input; None or -1 is taken as 1.
        dtypes (str|list, optional): Of the inputs. Default: float32.
        input (Tensor|list|dict, optional): The inputs themselves, instead of shapes.

    Returns:
        dict: total_params and trainable_params, numpy integers.

    Raises:
        ValueError: neither input_size nor input is given. TypeError: input_size is of another kind.

    Examples:
        >>> int(paddle.summary(paddle.nn.Linear(4, 2), (1, 4))["total_params"])  # doctest: +ELLIPSIS
        layer ...
        10
    """
    import paddle

    if input is None and input_size is None:
        raise errors.invalid_argument(
            "summary: neither input_size nor input is given.",
            expected="input_size, as in (2, 3), or input, a Tensor",
            received="neither",
        )
    arguments = _given(input) if input is not None else _made(input_size, dtypes)
    rows: list[dict[str, Any]] = []
    hooks = [
        layer.register_forward_post_hook(_recorder(rows))
        for layer in net.sublayers(include_self=True)
        if not layer._sub_layers or layer is net
    ]
    training = net.training
    net.eval()
    try:
        with paddle.no_grad():
            net(**arguments) if isinstance(arguments, dict) else net(*arguments)
    finally:
        for hook in hooks:
            hook.remove()
        net.train() if training else net.eval()
    if len(rows) > 1:
        rows = [r for r in rows if not r["layer"]._sub_layers]
    entries = {id(p): p for p in (*net.parameters(), *net.buffers())}.values()
    # numpy's integers, as upstream gives
    total = sum(np.int64(p.size) for p in entries)
    trainable = sum(np.int64(p.size) for p in net.parameters() if not p.stop_gradient)
    inputs = list(arguments.values()) if isinstance(arguments, dict) else arguments
    print(_table(rows, inputs, total, trainable))
    return {"total_params": total, "trainable_params": trainable}


def _given(input: Any) -> Any:
    if isinstance(input, Tensor):
        return [input]
    return dict(input) if isinstance(input, dict) else list(input)


def _made(size: Any, dtypes: Any) -> list[Tensor]:
    """Inputs of zeros for the shapes."""
    import paddle

    if isinstance(size, InputSpec) or (isinstance(size, tuple) and all(_is_number(n) for n in size)):
        size = [size]
    if isinstance(size, list) and size and all(_is_number(n) for n in size):
        size = [tuple(size)]
    if not isinstance(size, (list, tuple)):
        raise errors.invalid_type(
            "summary: input_size is of the wrong type.",
            expected="tuple, InputSpec, or a list of them",
            received=type(size).__name__,
        )
    kinds = [dtypes] * len(size) if dtypes is None or isinstance(dtypes, str) else list(dtypes)
    kinds += [None] * (len(size) - len(kinds))
    made = []
    for s, kind in zip(size, kinds):
        shape = [1 if n is None or n < 0 else int(n) for n in (s.shape if isinstance(s, InputSpec) else s)]
        made.append(paddle.zeros(shape, kind or (s.dtype if isinstance(s, InputSpec) else "float32")))
    return made


def _is_number(n: Any) -> bool:
    return n is None or isinstance(n, numbers.Number)


def _recorder(rows: list[dict[str, Any]]) -> Any:
    def record(layer: Layer, inputs: Any, outputs: Any) -> None:
        rows.append({"layer": layer, "in": _shapes(inputs), "out": _shapes(outputs)})

    return record


def _shapes(value: Any) -> list[list[int]]:
    if isinstance(value, Tensor):
        return [list(value.shape)]
    if isinstance(value, dict):
        value = list(value.values())
    return [s for v in value for s in _shapes(v)] if isinstance(value, (list, tuple)) else []


def _table(rows: list[dict[str, Any]], inputs: list[Any], total: int, trainable: int) -> str:
    counts: dict[str, int] = {}
    cells = [("layer", "input", "output", "parameters")]
    activations = 0
    for r in rows:
        kind = type(r["layer"]).__name__
        counts[kind] = counts.get(kind, 0) + 1
        own = sum(p.size for p in (*r["layer"].parameters(), *r["layer"].buffers()))
        activations += sum(math.prod(s) for s in r["out"])
        cells.append((f"{kind}-{counts[kind]}", _text(r["in"]), _text(r["out"]), f"{own:,}"))
    widths = [max(len(c[i]) for c in cells) for i in range(4)]
    lines = [
        "  ".join(t.rjust(w) if i == 3 else t.ljust(w) for i, (t, w) in enumerate(zip(c, widths))).rstrip()
        for c in cells
    ]
    rule = "-" * max(map(len, lines))
    sizes = [sum(x.size for x in inputs if isinstance(x, Tensor)), activations, total]
    mb = [4 * n / 2**20 for n in sizes]
    return "\n".join(
        [
            lines[0],
            rule,
            *lines[1:],
            rule,
            f"parameters: {total:,}, of which trainable: {trainable:,}",
            f"float32 memory: input {mb[0]:.2f} MB, activations {mb[1]:.2f} MB, parameters {mb[2]:.2f} MB",
        ]
    )


def _text(shapes: list[list[int]]) -> str:
    return ", ".join(str(s) for s in shapes) or "-"
