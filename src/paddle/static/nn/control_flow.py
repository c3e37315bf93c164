"""Branches and loops on Tensors: `cond`, `while_loop`, `case`, `switch_case`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine import errors
from ...engine.eager.capture import capturing
from ...tensor.tensor import Tensor
from .recording import outline, record_cond, record_while, same_structure, shown

__all__ = ["case", "cond", "switch_case", "while_loop"]


def cond(
    pred: Tensor,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
    return_names: Sequence[str] | None = None,
) -> Any:
    """The result of one of two functions.

    In eager mode the function that is chosen runs. While a program is being recorded (`jit.to_static` with full_graph,
    static programs) both are recorded, and the program runs one of them each time; gradients pass through it.

    Args:
        pred (Tensor): one element, bool.
        true_fn (callable, optional): called without arguments where pred is true; None gives None.
        false_fn (callable, optional): the same where it is false.
        name (str, optional): accepted; nothing is named by it.
        return_names (Sequence[str], optional): what errors call the items of the results.

    Returns:
        Any: what the function returned: Tensors in nested lists, tuples and dicts. In a program both have to give
        equal structures, shapes and dtypes; Python numbers that differ become Tensors.

    Raises:
        TypeError: true_fn or false_fn cannot be called, or pred is no Tensor.
        ValueError: in a program, the results of the two differ in structure, shape or dtype.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.static.nn.cond(x.sum() > 2, lambda: x * 2, lambda: x - 1).tolist()
        [2.0, 4.0]
    """
    for label, fn in (("true_fn", true_fn), ("false_fn", false_fn)):
        if fn is not None and not callable(fn):
            raise errors.invalid_type(
                f"cond: {label} in cond must be callable.", expected="a function or None",
                received=f"{label}: {type(fn).__name__}",
            )  # fmt: skip
    if not isinstance(pred, Tensor):
        raise errors.asserted(
            "cond: pred is not a Tensor.", expected="a bool Tensor of one element", received=f"pred: {pred!r}"
        )
    if pred.type.size != 1:
        raise errors.asserted("cond: pred has several elements.", expected="one", received=f"pred: {pred.type}")
    then, other = true_fn or _nothing, false_fn or _nothing
    if not capturing():
        return then() if pred else other()
    return record_cond(pred, then, other, return_names)


def _nothing() -> None:
    return None


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> Any:
    """Runs `body` on the loop variables as long as `cond` is true of them.

    In eager mode this is a Python loop. While a program is being recorded the loop becomes part of it: the program
    finds the number of steps each time it runs. Gradients pass through it; each step is kept for them.

    Args:
        cond (callable): called with the loop variables; gives a bool Tensor of one element.
        body (callable): called with the loop variables; returns them anew, in the same structure.
        loop_vars (list|tuple): Tensors, or nested lists, tuples and dicts of them; not empty.
        is_test (bool, optional): accepted; whether gradients are wanted is seen from the Tensors. Default: False.
        name (str, optional): accepted; nothing is named by it.

    Returns:
        list|tuple: the loop variables after the last step, in the kind of loop_vars.

    Raises:
        TypeError: cond or body cannot be called, or cond gives something else than one bool.
        ValueError: loop_vars is empty, or body returns another structure, or in a program other shapes or dtypes.

    Examples:
        >>> i, s = paddle.to_tensor(0), paddle.to_tensor(1.0)
        >>> i, s = paddle.static.nn.while_loop(lambda i, s: i < 3, lambda i, s: [i + 1, s * 2], [i, s])
        >>> int(i), float(s)
        (3, 8.0)
    """
    for label, fn in (("cond", cond), ("body", body)):
        if not callable(fn):
            raise errors.invalid_type(
                f"while_loop: {label} in while_loop should be callable.", expected="a function",
                received=f"{label}: {type(fn).__name__}",
            )  # fmt: skip
    if not isinstance(loop_vars, (list, tuple)):
        raise errors.invalid_type(
            "while_loop: loop_vars is neither a list nor a tuple.", expected="list or tuple",
            received=f"loop_vars: {type(loop_vars).__name__}",
        )  # fmt: skip
    if not loop_vars:
        raise errors.invalid_argument(
            "while_loop: loop_vars in while_loop should not be empty.", expected="at least one loop variable"
        )
    if capturing():
        found = record_while(cond, lambda *v: _listed(body(*v), len(loop_vars)), list(loop_vars))
        return found if isinstance(loop_vars, list) else tuple(found)
    values: Any = loop_vars
    while _one_bool(cond(*values)):
        after = _listed(body(*values), len(loop_vars))
        if not same_structure(list(after), list(loop_vars)):
            raise errors.invalid_argument(
                "while_loop: body in while_loop should return the same arity (length and structure) and types as "
                "loop_vars.", expected=outline(loop_vars), received=outline(after),
            )  # fmt: skip
        values = list(after) if isinstance(loop_vars, list) else tuple(after)
    return values


def _listed(result: Any, n: int) -> Any:
    return result if isinstance(result, (list, tuple)) else [result] if n == 1 else (result,)


def _one_bool(verdict: Any) -> bool:
    if not isinstance(verdict, Tensor) or verdict.type.size != 1:
        raise errors.invalid_type(
            "while_loop: the condition is not one Tensor of one element.", expected="a bool Tensor of one element",
            received=shown(verdict),
        )  # fmt: skip
    return bool(verdict)


def case(pred_fn_pairs: Any, default: Callable[[], Any] | None = None, name: str | None = None) -> Any:
    """The result of the first function whose predicate is true.

    Args:
        pred_fn_pairs (list|tuple): tuples (pred, fn): a bool Tensor of one element, and a function without arguments.
        default (callable, optional): called where no predicate is true; the last function by default.
        name (str, optional): accepted; nothing is named by it.

    Returns:
        Any: what the function returned; see `cond` for what has to be equal in a program.

    Raises:
        TypeError: the pairs are not such tuples, or a function cannot be called.
        ValueError: there are no pairs.

    Examples:
        >>> x = paddle.to_tensor(0.3)
        >>> pairs = [(x < 0.1, lambda: x * 10), (x < 0.5, lambda: x * 2)]
        >>> round(float(paddle.static.nn.case(pairs, lambda: x)), 3)
        0.6
    """
    if not isinstance(pred_fn_pairs, (list, tuple)):
        raise errors.invalid_type(
            "case: pred_fn_pairs is neither a list nor a tuple.", expected="list or tuple",
            received=f"pred_fn_pairs: {type(pred_fn_pairs).__name__}",
        )  # fmt: skip
    if not pred_fn_pairs:
        raise errors.out_of_range("case: pred_fn_pairs is empty.", expected="at least one pair")
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise errors.invalid_type(
                "case: the elements of pred_fn_pairs are not pairs.", expected="tuples (pred, fn)", received=f"{pair!r}"
            )
        pred, fn = pair
        if not isinstance(pred, Tensor):
            raise errors.invalid_type(
                "case: a pred is not a Tensor.", expected="a bool Tensor of one element", received=f"pred: {pred!r}"
            )
        if not callable(fn):
            raise errors.invalid_type(
                "case: a fn of pred_fn_pairs must be callable.", expected="a function", received=f"fn: {fn!r}"
            )
    return _first_true(list(pred_fn_pairs), _need_default("case", default))


def _need_default(name: str, default: Any) -> Any:
    if default is not None and not callable(default):
        raise errors.invalid_type(
            f"{name}: the default must be callable.", expected="a function", received=f"default: {default!r}"
        )
    return default


def _first_true(pairs: list[tuple[Tensor, Callable[[], Any]]], default: Callable[[], Any] | None) -> Any:
    if default is None:
        *pairs, (_, default) = pairs
    if not pairs:
        return default()
    (pred, fn), *rest = pairs
    return cond(pred, fn, lambda: _first_true(rest, default))


def switch_case(
    branch_index: Tensor, branch_fns: Any, default: Callable[[], Any] | None = None, name: str | None = None
) -> Any:
    """The result of the function with a given number.

    Args:
        branch_index (Tensor): one element of an integer type.
        branch_fns (dict|list|tuple): functions without arguments by their number; or pairs (int, function); or
            functions, numbered from 0.
        default (callable, optional): called for any other number; the function with the greatest number by default.
        name (str, optional): accepted; nothing is named by it.

    Returns:
        Any: what the function returned; see `cond` for what has to be equal in a program.

    Raises:
        TypeError: a function cannot be called, a number is no int, or branch_index is not an integer Tensor.
        ValueError: a number stands twice.

    Examples:
        >>> x = paddle.to_tensor([1.0])
        >>> paddle.static.nn.switch_case(paddle.to_tensor(1), {0: lambda: x, 1: lambda: x * 5}).tolist()
        [5.0]
    """
    if not isinstance(branch_index, Tensor) or branch_index.type.dtype.kind not in "iu":
        raise errors.invalid_type(
            "switch_case: branch_index is not a Tensor of integers.", expected="one element of an integer type",
            received=f"branch_index: {shown(branch_index)}",
        )  # fmt: skip
    if branch_index.type.size != 1:
        raise errors.asserted(
            "switch_case: branch_index has several elements.", expected="one", received=f"{branch_index.type}"
        )
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise errors.invalid_type(
            "switch_case: branch_fns is no dict, list or tuple.", expected="dict, list or tuple",
            received=f"branch_fns: {type(branch_fns).__name__}",
        )  # fmt: skip
    given = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if not given:
        raise errors.out_of_range("switch_case: branch_fns is empty.", expected="at least one function")
    pairs = list(enumerate(given)) if all(callable(fn) for fn in given) else given
    functions: dict[int, Callable[[], Any]] = {}
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise errors.invalid_type(
                "switch_case: the elements of branch_fns are not pairs.", expected="tuples (int, function)",
                received=f"{pair!r}",
            )  # fmt: skip
        key, fn = pair
        if not isinstance(key, int):
            raise errors.invalid_type(
                "switch_case: a key of branch_fns is no int.", expected="int", received=f"{key!r}"
            )
        if key in functions:
            raise errors.invalid_argument(
                "switch_case: a key of branch_fns stands twice.", expected="each key once", received=f"{key}"
            )
        if not callable(fn):
            raise errors.invalid_type(
                f"switch_case: the function for key {key} cannot be called.", expected="a function", received=f"{fn!r}"
            )
        functions[key] = fn
    default = _need_default("switch_case", default)
    order = sorted(functions.items())
    if default is None:
        default = order[-1][1]
    if not capturing():
        return functions.get(int(branch_index), default)()
    index = branch_index.reshape([])
    return _first_true([(index == key, fn) for key, fn in order], default)
