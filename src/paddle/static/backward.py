"""Gradients and updates as operations of a static program."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.eager import walk
from ..engine.eager.capture import capture
from ..engine.ops.elementwise import cast
from ..engine.types import TensorType, dtype_of
from ..optimizer.plan import Cohort
from ..tensor.tensor import Tensor
from .program import Program, Start, default_main_program, default_startup_program

__all__ = ["append_backward", "gradients"]


def _as_tensors(value: Any, who: str, label: str) -> list[Tensor]:
    found = list(value) if isinstance(value, (list, tuple)) else [value]
    for i, t in enumerate(found):
        if not isinstance(t, Tensor):
            raise errors.invalid_type(
                f"{who}: {label}[{i}] is no Tensor.", expected="Tensors of the program", received=type(t).__name__
            )
    return found


def _barred(no_grad_set: Any) -> list[Tensor]:
    program = default_main_program()
    found = [program._named(t) if isinstance(t, str) else t for t in no_grad_set or ()]
    return [t for t in found if t is not None]


def _gradients(outputs: list[Tensor], inputs: list[Tensor], given: list[Any], no_grad: list[Tensor]) -> list[Any]:
    return walk.grad(
        outputs, inputs, given, retain=True, create_graph=True, allow_unused=True, no_grad=no_grad, only=True
    )


def gradients(targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Any = None) -> list[Any]:
    """Gradients of targets for inputs, as results of the program.

    Args:
        targets (Tensor|list[Tensor]): what is differentiated; several are summed.
        inputs (Tensor|list[Tensor]): what gradients are wanted for.
        target_gradients (Tensor|list[Tensor], optional): gradients of the targets. Default: ones.
        no_grad_set (set, optional): Tensors, or names, that gradients do not pass.

    Returns:
        list: a Tensor for each input; None for one that takes no part.

    Raises:
        TypeError: targets or inputs are no Tensors. ValueError: there are not as many gradients as targets.

    Examples:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     x.stop_gradient = False
        ...     (dx,) = paddle.static.gradients([x * x], x)
        >>> paddle.static.Executor().run(main, feed={"x": [1.0, 3.0]}, fetch_list=[dx])[0].tolist()
        [2.0, 6.0]
        >>> paddle.disable_static()
    """
    outputs, wanted = _as_tensors(targets, "gradients", "targets"), _as_tensors(inputs, "gradients", "inputs")
    given: list[Any] = [None] * len(outputs)
    if target_gradients is not None:
        given = list(target_gradients) if isinstance(target_gradients, (list, tuple)) else [target_gradients]
    if len(given) != len(outputs):
        raise errors.invalid_argument(
            "gradients: the gradients of the targets are not as many as these.",
            expected=f"{len(outputs)}",
            received=f"{len(given)}",
        )
    return _gradients(outputs, wanted, given, _barred(no_grad_set))


def append_backward(
    loss: Tensor,
    parameter_list: Any = None,
    no_grad_set: Any = None,
    callbacks: Any = None,
    checkpoints: Any = None,
    distop_context: Any = None,
) -> list[tuple[Any, Any]]:
    """Gradients of a loss for parameters, as results of the program.

    Args:
        loss (Tensor): one number.
        parameter_list (list, optional): Parameters or names. Default: all that are trained.
        no_grad_set (set, optional): Tensors, or names, that gradients do not pass.
        callbacks (list, optional): functions of upstream's blocks; not used.
        checkpoints (list, optional): what is kept is chosen by the compiler.
        distop_context (optional): not used.

    Returns:
        list: pairs of parameter and gradient.

    Raises:
        TypeError: loss is no Tensor. ValueError: it has more than one element.
    """
    if not isinstance(loss, Tensor):
        raise errors.invalid_type(
            "append_backward: loss is no Tensor.", expected="Tensor", received=type(loss).__name__
        )
    if loss.type.size != 1:
        raise errors.invalid_argument(
            "append_backward: loss is more than one number.",
            expected="one element",
            received=f"loss: {loss.type.dtype.name}{list(map(str, loss.shape))}",
            hint="take its mean() or sum().",
        )
    program = default_main_program()
    if parameter_list is None:
        params = [p for p in program.all_parameters() if not p.stop_gradient]
    else:
        params = [program._named(p) if isinstance(p, str) else p for p in parameter_list]
    barred = _barred(no_grad_set)
    params = [p for p in params if p is not None and not any(p is t for t in barred)]
    found = _gradients([loss], params, [None], barred)
    return [(p, g) for p, g in zip(params, found) if g is not None]


# -- updates ------------------------------------------------------------------------------------
def variable(
    program: Program,
    startup: Program,
    name: str,
    type_: TensorType,
    make: Callable[..., Any] | None,
    cls: type = Tensor,
) -> Any:
    """A variable of a program that `make(value_of)` gives its first value, if it is not given otherwise."""
    t = object.__new__(cls)
    t.type, t.sg, t.gnode, t.leaf, t.kin = type_, True, None, None, None
    t.__dict__["_name"] = name
    t.__dict__["_persistable"] = True
    program._add_variable(t)
    if make is not None:
        startup._starts.append(Start([t], lambda value_of: [make(value_of)]))
    return t


def states_of(optimizer: Any, rule: Any, p: Any) -> None:
    """The states of a parameter become variables of the program."""
    program, startup = default_main_program(), default_startup_program()
    if id(p) in optimizer._states:
        return
    wide = optimizer._work_dtype(p)
    with_master = p.type.dtype is not wide and optimizer._multi_precision

    def first(value: Tensor) -> dict[str, Tensor]:
        found = {"master_weight": cast(value, wide)} if with_master else {}
        return {**found, **rule.init_state(value)}

    made = capture(lambda t: {n: s.type for n, s in first(t).items()}, [p.type]).result
    names = list(made)
    state: OrderedDict[str, Tensor] = OrderedDict()
    for name in names:
        state[name] = variable(program, startup, optimizer._key(p, name), made[name], None)
    if names:

        def make(value_of: Callable[[Tensor], Tensor]) -> list[Tensor]:
            trace = tracing.current()
            before = trace.grad
            trace.set_grad(False)
            try:
                values = first(value_of(p))
            finally:
                trace.set_grad(before)
            return [values[n] for n in names]

        startup._starts.append(Start(list(state.values()), make))
    optimizer._states[id(p)] = state


def cohorts_of(optimizer: Any, rule: Any, params: Sequence[Any]) -> None:
    """The states that are one number for all parameters that are updated together become variables."""
    program, startup = default_main_program(), default_startup_program()
    if not rule.shared:
        return
    made: dict[Any, Cohort] = {}
    for p in params:
        if id(p) in optimizer._cohorts:
            continue
        wide = optimizer._work_dtype(p)
        cohort = made.get(wide)
        if cohort is None:
            states = {}
            for name, (start, _) in rule.shared.items():
                start = getattr(rule, start) if isinstance(start, str) else start
                a = np.array(start, np.dtype("int64") if isinstance(start, int) else wide.np)
                states[name] = variable(
                    program,
                    startup,
                    optimizer._key(p, name),
                    TensorType((), dtype_of(a.dtype)),
                    lambda _, a=a: tracing.from_array(a.copy()),
                )
            cohort = made[wide] = Cohort(states, wide)
        cohort.members.add(id(p))
        optimizer._key(p, next(iter(rule.shared)))
        optimizer._cohorts[id(p)] = cohort


def apply(optimizer: Any, pairs: list[tuple[Any, Any]]) -> list[Any]:
    """Updates of parameters as operations of the program. Returns these."""
    program = default_main_program()
    if not optimizer._parameters():
        for _, known, _, _ in optimizer._rules:
            known.extend(p for p, _ in pairs)
    start = len(program._steps())
    by_id = {id(p): g for p, g in pairs}
    found = []
    for rule, params, clip, decay in optimizer._rules:
        here = [p for p in params if id(p) in by_id]
        for p in here:
            states_of(optimizer, rule, p)
        cohorts_of(optimizer, rule, here)
        found.append((rule, [(p, by_id[id(p)]) for p in here], clip, decay))
    trace = tracing.current()
    before = trace.grad
    trace.set_grad(False)
    try:
        optimizer._apply(found)
    finally:
        trace.set_grad(before)
    optimizer._plan = None
    program._optimizers.append(optimizer)
    return program.global_block().ops[start:]
