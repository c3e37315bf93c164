"""Functions of the user's, converted: found in their source, compiled for the same file and lines."""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import inspect
import linecache
import os
import re
import sysconfig
import types
from collections.abc import Callable, Iterator
from typing import Any

from ...engine import errors
from ...engine.eager.capture import capturing
from ...nn.layer.layers import Layer
from ...static.nn.control_flow import case, cond, switch_case, while_loop
from . import runtime
from .transform import JST, converted

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_STANDARD = os.path.abspath(sysconfig.get_paths()["stdlib"]) + os.sep
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_ignored: set[str] = {"numpy", "ml_dtypes", "llvmlite"}
_known: dict[int, tuple[types.CodeType, types.CodeType | None]] = {}  # by id of the code, which is kept with it
_made: dict[int, types.CodeType] = {}


def convert_function(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its control flow as calls that look at Tensors; itself where there is nothing to convert.

    Args:
        fn (callable): a function or a method.

    Returns:
        callable: with the same signature, defaults, closure and globals; decorators that `fn` has are part of it.
    """
    if isinstance(fn, types.MethodType):
        found = convert_function(fn.__func__)
        return fn if found is fn.__func__ else types.MethodType(found, fn.__self__)
    if not isinstance(fn, types.FunctionType) or not is_convertible(fn):
        return fn
    code = _converted_code(fn)
    if code is None:
        return fn
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
    cells[JST] = types.CellType(runtime)
    if not all(name in cells for name in code.co_freevars):
        return fn
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, closure)
    made.__kwdefaults__ = fn.__kwdefaults__
    made.__dict__.update(fn.__dict__)
    made.__qualname__, made.__module__, made.__doc__ = fn.__qualname__, fn.__module__, fn.__doc__
    return made


def ignore(modules: list[types.ModuleType]) -> None:
    """Functions of these modules are left as they are written."""
    _ignored.update(m.__name__ for m in modules)


def is_convertible(fn: types.FunctionType) -> bool:
    """Whether a function is the user's to convert."""
    code = fn.__code__
    file = code.co_filename
    if id(code) in _made or fn.__dict__.get("_not_to_static") or code.co_flags & _GENERATORS:
        return False
    if file.startswith(_PACKAGE) or (file.startswith(_STANDARD) and "-packages" + os.sep not in file):
        return False
    module = fn.__module__ or ""
    return not any(module == name or module.startswith(name + ".") for name in _ignored)


def _converted_code(fn: types.FunctionType) -> types.CodeType | None:
    code = fn.__code__
    known = _known.get(id(code))
    if known is None:
        known = _known[id(code)] = (code, _compiled(fn))
    return known[1]


def _compiled(fn: types.FunctionType) -> types.CodeType | None:
    """The code of the converted function; None where the source is not there, or is not that of this function."""
    code = fn.__code__
    place = definition(code)
    if place is None:
        return None
    node, class_name = place
    made: ast.stmt = converted(copy.deepcopy(node))
    if class_name is not None:  # names with two underscores mean what they mean there
        made = ast.ClassDef(class_name, [], [], [made], [])
        if "type_params" in ast.ClassDef._fields:
            made.type_params = []
    defined = class_name or node.name
    free = [*(n for n in code.co_freevars if n != defined), JST]
    arguments = ast.arguments([], [ast.arg(n) for n in free], None, [], [], None, [])
    # the name that is defined here means inside what it means in the user's file
    scope: list[ast.stmt] = [] if defined in code.co_freevars else [ast.Global([defined])]
    factory = ast.FunctionDef("jst_factory", arguments, [*scope, made], [], None)
    if "type_params" in ast.FunctionDef._fields:
        factory.type_params = []
    tree = ast.Module([ast.copy_location(factory, node)], [])
    ast.copy_location(made, node)
    whole = compile(ast.fix_missing_locations(tree), code.co_filename, "exec", dont_inherit=True, flags=_future(code))
    found = _code_inside(whole, code.co_name, ["jst_factory"] + ([class_name] if class_name else []))
    if found is not None:
        _note(found)
    return found


def _future(code: types.CodeType) -> int:
    import __future__

    mask = 0
    for name in __future__.all_feature_names:
        mask |= getattr(__future__, name).compiler_flag
    return code.co_flags & mask


def _code_inside(code: types.CodeType, name: str, path: list[str]) -> types.CodeType | None:
    for step in [*path, name]:
        inside = [c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == step]
        if len(inside) != 1:
            return None
        code = inside[0]
    return code


def _note(code: types.CodeType) -> None:
    """Functions made of this code, or of code inside, are converted already."""
    _made[id(code)] = code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            _note(c)


def definition(code: types.CodeType) -> tuple[ast.FunctionDef, str | None] | None:
    """The definition of a function in its file, and the name of the class that it is written in."""
    if code.co_name == "<lambda>":
        return None
    tree = _tree(code.co_filename)
    if tree is None:
        return None
    found: list[tuple[ast.FunctionDef, str | None]] = []

    def visit(node: ast.AST, class_name: str | None) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                if child.name == code.co_name and code.co_firstlineno in (first, child.lineno):
                    found.append((child, class_name))
                visit(child, class_name)
            else:
                visit(child, child.name if isinstance(child, ast.ClassDef) else class_name)

    visit(tree, None)
    return found[0] if len(found) == 1 else None


_trees: dict[str, tuple[list[str], ast.Module | None]] = {}


def _tree(file: str) -> ast.Module | None:
    lines = linecache.getlines(file)
    if not lines:
        return None
    known = _trees.get(file)
    if known is None or known[0] is not lines:
        try:
            tree: ast.Module | None = ast.parse("".join(lines))
        except SyntaxError:
            tree = None
        if len(_trees) > 64:
            _trees.clear()
        known = _trees[file] = (lines, tree)
    return known[1]


# ---- calls ------------------------------------------------------------------------------------
def callable_(f: Any) -> Any:
    """What a converted function calls where `f` is written."""
    if isinstance(f, types.FunctionType):
        if any(f is x for x in _TAKING_FUNCTIONS):
            return functools.partial(_with_converted, f)
        return convert_function(f)
    if isinstance(f, types.MethodType):
        if isinstance(f.__self__, Layer) and f.__func__ is Layer.__call__:
            return functools.partial(_call_layer, f.__self__)
        return convert_function(f)
    if isinstance(f, Layer):
        return functools.partial(_call_layer, f)
    if isinstance(f, types.BuiltinFunctionType):
        return f
    if f is map or f is filter:
        return functools.partial(_with_converted, f)
    from ..program import StaticFunction

    if isinstance(f, StaticFunction) and capturing():
        return callable_(f.dygraph_function)  # a part of this program
    if type(f) is functools.partial:
        return functools.partial(callable_(f.func), *f.args, **f.keywords)
    own = type(f).__dict__.get("__call__")
    if isinstance(own, types.FunctionType) and is_convertible(own):
        return types.MethodType(convert_function(own), f)
    return f


_TAKING_FUNCTIONS = (cond, while_loop, case, switch_case)


def _with_converted(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls what calls functions that it is given."""

    def each(x: Any) -> Any:
        if isinstance(x, (types.FunctionType, types.MethodType)):
            return convert_function(x)
        if type(x) in (list, tuple):
            return type(x)(map(each, x))
        return {k: each(v) for k, v in x.items()} if type(x) is dict else x

    if f is map or f is filter:
        return f(each(args[0]), *args[1:]) if args else f()
    if f is while_loop:  # its variables stay the objects that they are
        return f(*map(each, args[:2]), *args[2:], **{k: v if k == "loop_vars" else each(v) for k, v in kwargs.items()})
    return f(*map(each, args), **{k: each(v) for k, v in kwargs.items()})


def _call_layer(layer: Layer, *args: Any, **kwargs: Any) -> Any:
    with converted_forwards(layer):
        return layer(*args, **kwargs)


@contextlib.contextmanager
def converted_forwards(layer: Layer, itself: bool = True) -> Iterator[None]:
    """Within the block, the `forward` of a Layer and of those in it is converted where the user wrote it."""
    from ..program import StaticFunction

    changed: list[tuple[Layer, Any]] = []
    try:
        for x in layer.sublayers(include_self=itself):
            before = x.__dict__.get("forward")
            forward: Any = type(x).forward
            if isinstance(before, StaticFunction):
                forward = before._function  # a part of this program
            elif before is not None:
                continue  # one of its own, or converted further out
            found = convert_function(forward)
            if found is not forward:
                x.__dict__["forward"] = types.MethodType(found, x)
                changed.append((x, before))
        yield
    finally:
        for x, before in changed:
            if before is None:
                x.__dict__.pop("forward", None)
            else:
                x.__dict__["forward"] = before


def entry(fn: Callable[..., Any], instance: Any = None) -> Callable[..., Any]:
    """What is recorded for a call of `fn`, a method of `instance` if there is one."""
    made = convert_function(fn)

    @functools.wraps(made)
    def run(*args: Any, **kwargs: Any) -> Any:
        runtime.missing.why.clear()
        given = args if instance is None else (instance, *args)
        block = converted_forwards(instance, False) if isinstance(instance, Layer) else contextlib.nullcontext()
        try:
            with block:
                return made(*given, **kwargs)
        except NameError as e:
            name = next(iter(re.findall(r"'(\w+)'", str(e))), "")  # the attribute is not set for local variables
            why = runtime.missing.why.get(name)
            if why is None:
                raise
            raise errors.invalid_argument(
                f"to_static: {name} is used, but it {why}.", expected="a value of one type on every path",
                hint=f"give {name} a value of that type before the branch or the loop.", at=_line(e),
            ) from None  # fmt: skip
        except RecursionError as e:
            raise errors.precondition(
                "to_static: the recursion has no end while the function is recorded.",
                expected="a depth that follows from shapes and Python values",
                received="a recursion that the value of a Tensor ends: both branches are recorded",
                hint="write it as a loop.", at=_line(e),
            ) from None  # fmt: skip

    return run


def _line(e: BaseException) -> str:
    """The user's line that an error came from."""
    at, found = e.__traceback__, None
    while at is not None:
        code = at.tb_frame.f_code
        if id(code) in _made:
            found = code.co_filename, at.tb_lineno
        at = at.tb_next
    return errors.describe_line(*found) if found else ""
