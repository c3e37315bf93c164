"""`paddle.grad` and `paddle.autograd.backward`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine import errors
from ..engine.eager import tape, walk
from ..tensor.tensor import Tensor

__all__ = ["backward", "grad"]


def _tensors(value: Any, name: str, where: str) -> list[Tensor]:
    """A Tensor or a non-empty sequence of them, as a list."""
    found = list(value) if isinstance(value, (list, tuple)) else [value]
    if not found or not all(isinstance(t, Tensor) for t in found):
        raise AssertionError(
            errors.message(
                "InvalidArgument",
                f"{where}: {name} is not made of Tensors.",
                "a Tensor, or a list of at least one",
                f"{name}: {value!r}",
            )
        )
    return found


def _gradients(value: Any, count: int, name: str, where: str) -> list[Any]:
    if value is None:
        return [None] * count
    found = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(found) != count or not all(g is None or isinstance(g, Tensor) for g in found):
        raise AssertionError(
            errors.message(
                "InvalidArgument",
                f"{where}: {name} does not fit.",
                f"{count} Tensors or None",
                f"{name}: {len(found)} of types {[type(g).__name__ for g in found]}",
            )
        )
    return found


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool = False,
    *,
    dump_backward_graph_path: str | None = None,
) -> None:
    """Adds the gradients of several Tensors to the `grad` of the leaves that they depend on.

    Args:
        tensors (Tensor|list[Tensor]): What to differentiate.
        grad_tensors (Tensor|list[Tensor|None], optional): The gradient of each; None stands for ones.
        retain_graph (bool): Keeps the graph, so that it can be walked again. Default: False.
        dump_backward_graph_path (str, optional): A folder for a text file with the operations that were walked.

    Raises:
        AssertionError: an argument is not a Tensor, or the counts differ.
        RuntimeError: the graph was freed by an earlier backward.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.backward([x * x], [paddle.to_tensor([1.0, 10.0])])
        >>> x.grad.tolist()
        [2.0, 40.0]
    """
    found = _tensors(tensors, "tensors", "backward")
    if len({id(t) for t in found}) != len(found):
        raise AssertionError(
            errors.message("InvalidArgument", "backward: a Tensor is given twice.", "different Tensors", "")
        )
    grads = _gradients(grad_tensors, len(found), "grad_tensors", "backward")
    _dump(found, dump_backward_graph_path)
    walk.backward(found, grads, retain_graph)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Tensor | Sequence[Tensor] | set[Tensor] | None = None,
    *,
    dump_backward_graph_path: str | None = None,
) -> list[Tensor | None]:
    """The gradients of outputs for inputs; `grad` of the leaves stays as it is.

    Args:
        outputs (Tensor|list[Tensor]): What to differentiate.
        inputs (Tensor|list[Tensor]): For what; leaves or values in between.
        grad_outputs (Tensor|list[Tensor|None], optional): The gradient of each output; None stands for ones.
        retain_graph (bool, optional): Keeps the graph for another walk. Default: the value of create_graph.
        create_graph (bool): The gradients can be differentiated again. Default: False.
        only_inputs (bool): Must be True.
        allow_unused (bool): None, instead of an error, for an input that takes no part. Default: False.
        no_grad_vars (Tensor|list[Tensor], optional): Gradients do not pass these.
        dump_backward_graph_path (str, optional): A folder for a text file with the operations that were walked.

    Returns:
        list[Tensor|None]: One per input, of its shape.

    Raises:
        AssertionError: an argument is not a Tensor.
        ValueError: an input takes no part and allow_unused is False.

    Examples:
        >>> x = paddle.to_tensor(2.0, stop_gradient=False)
        >>> (dx,) = paddle.grad(x**3, x, create_graph=True)
        >>> paddle.grad(dx, x)[0].item()
        12.0
    """
    if not only_inputs:
        raise AssertionError(errors.message("InvalidArgument", "grad: only_inputs=False is not supported.", "True", ""))
    outs, ins = _tensors(outputs, "outputs", "grad"), _tensors(inputs, "inputs", "grad")
    grads = _gradients(grad_outputs, len(outs), "grad_outputs", "grad")
    if no_grad_vars is None:
        barred: list[Tensor] = []
    else:
        if isinstance(no_grad_vars, set):
            no_grad_vars = list(no_grad_vars)
        barred = _tensors(no_grad_vars, "no_grad_vars", "grad") if not _empty(no_grad_vars) else []
    _dump(outs, dump_backward_graph_path)
    return walk.grad(
        outs,
        ins,
        grads,
        retain=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        allow_unused=allow_unused,
        no_grad=barred,
    )


def _empty(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and not value


def _dump(tensors: Sequence[Tensor], folder: str | None) -> None:
    if folder is None:
        return
    import os

    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "backward_graph.txt"), "w", encoding="utf-8") as f:
        f.write(tape.describe([tape.edge_of(t) for t in tensors]))
