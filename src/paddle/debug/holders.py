"""Who holds what: a walk from names (variables, globals) through containers and objects to Tensors."""

from __future__ import annotations

import collections
import functools
import gc
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import paddle

from ..engine.eager import tape
from ..engine.eager import trace as tracing
from ..engine.ir.drawing import place_of
from ..nn.layer.layers import Layer
from ..optimizer.optimizer import Optimizer

PACKAGE = os.path.dirname(os.path.abspath(paddle.__file__)) + os.sep
MOST = 1_000_000  # objects that a walk visits
TRAINED = " (its parameters)"  # of an optimizer
_OPTIMIZED = 0x0001  # CO_OPTIMIZED: code of a function, whose variables do not live in a dictionary
# Nothing of a program's own lies behind these.
_PLAIN = (str, bytes, int, float, complex, bool, type(None), types.ModuleType, types.CodeType, np.dtype,
          types.BuiltinFunctionType, range, slice, type(Ellipsis))  # fmt: skip
_LIBRARIES = {*sys.stdlib_module_names, "numpy", "llvmlite", "ml_dtypes", "paddle"} - {"__main__"}


class Step:
    """A way to an object: what it was reached from, and how it is written from there.

    Attributes:
        how: what follows the way before; or a function of that; of a first step a name, or a name and a remark.
    """

    __slots__ = ("object", "before", "how")

    def __init__(self, object: Any, before: "Step | None", how: Any):
        self.object, self.before, self.how = object, before, how

    def __str__(self) -> str:
        """As the user would write it: model.fc1.weight, losses[3]."""
        parts: list[str] = []
        step: Step | None = self
        while step is not None:
            how = step.how
            if callable(how):  # says all that matters of the way before it
                return how(str(step.before)) + "".join(reversed(parts))
            if type(how) is tuple:
                return how[0] + "".join(reversed(parts)) + how[1]
            parts.append(how)
            step = step.before
        return "".join(reversed(parts))


class Walk:
    """Goes through all that names lead to, nearest first.

    Attributes:
        found: by id of a Tensor, the ways to it, the shortest first.
        complete: False where the walk ended before it had seen everything.
    """

    def __init__(self) -> None:
        self.found: dict[int, list[Step]] = {}
        self.complete = True
        self._queue: collections.deque[Step] = collections.deque()
        self._later: collections.deque[Step] = collections.deque()  # for when the model's own names have been seen
        self._seen: set[int] = set()
        self._kinds: dict[type, Kind] = {}

    def start(self, object: Any, how: Any) -> None:
        self._push(object, None, how)

    def _push(self, object: Any, before: Step | None, how: Any) -> None:
        kind = type(object)
        if kind in _PLAIN:
            return
        if issubclass(kind, tracing.Tensor):
            self.found.setdefault(id(object), []).append(Step(object, before, how))
        if how is TRAINED:
            self._later.append(Step(object, before, how))
        elif id(object) not in self._seen:
            self._seen.add(id(object))
            self._queue.append(Step(object, before, how))

    def run(self) -> None:
        kinds = self._kinds
        while self._queue or self._later:
            if len(self._seen) > MOST:
                self.complete = False
                return
            if self._queue:
                step = self._queue.popleft()
            else:
                step = self._later.popleft()
                if id(step.object) in self._seen:
                    continue
                self._seen.add(id(step.object))
            try:
                cls = type(step.object)
                if cls not in kinds:
                    kinds[cls] = Kind(cls)
                for object, how in parts_of(step.object, kinds[cls]):
                    self._push(object, step, how)
            except Exception:  # an object of another library that does not let itself be looked at
                continue

    def has(self, object: Any) -> bool:
        return id(object) in self._seen


# ---- what an object consists of ---------------------------------------------------------------
class Kind:
    """How to look into the objects of a class.

    Attributes:
        rule: gives their parts, or None.
        slots: names and descriptors. plain: whether what is set on them is to be looked at, too.
    """

    __slots__ = ("rule", "slots", "plain")

    def __init__(self, cls: type):
        self.rule = next((_RULES[base] for base in cls.__mro__ if base in _RULES), None)
        self.plain = self.rule is None or not (module_of(cls).startswith("paddle.") or issubclass(cls, _WHOLE))
        self.slots = []
        if self.plain and not issubclass(cls, tracing.Tensor):
            self.slots = [
                (f".{name}", member)
                for base in cls.__mro__
                for name, member in list(base.__dict__.items())
                if type(member) is types.MemberDescriptorType
            ]


def module_of(cls: type) -> str:
    name = cls.__module__
    return name if isinstance(name, str) else ""


def parts_of(x: Any, kind: Kind) -> Iterator[tuple[Any, Any]]:
    """The objects that x holds, each with how it is written. No code of the object's own runs."""
    if kind.rule is not None:
        yield from kind.rule(x)
    if not kind.plain:
        return
    try:
        names = object.__getattribute__(x, "__dict__")
    except AttributeError:
        names = None
    if isinstance(names, dict):
        for name, value in list(names.items()):
            yield value, f".{name}"
    for how, member in kind.slots:
        try:
            yield member.__get__(x), how
        except AttributeError:  # not set
            continue
    if kind.rule is None and names is None and not kind.slots and gc.is_tracked(x):
        for value in gc.get_referents(x):
            if not isinstance(value, type):
                yield value, f" (in a {type(x).__name__})"


def entries(x: Any) -> Iterator[tuple[Any, Any]]:
    for key, value in list(dict.items(x)):
        yield value, f"[{key!r}]" if isinstance(key, (str, int, float, bool)) else f"[{type(key).__name__}]"
        yield key, " (a key)"


def elements(kind: Any, written: str = "[{i}]") -> Callable[[Any], Iterator[tuple[Any, Any]]]:
    """The rule of a kind of container; subclasses may iterate as they like."""
    return lambda x: ((value, written.format(i=i)) for i, value in enumerate(list(kind.__iter__(x))))


def of_function(f: Any) -> Iterator[tuple[Any, Any]]:
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
        try:
            yield cell.cell_contents, f" (variable {name} of a closure)"
        except ValueError:  # an empty cell
            continue
    yield f.__defaults__, ".__defaults__"
    yield f.__kwdefaults__, ".__kwdefaults__"
    yield f.__dict__, ".__dict__"


def of_method(f: Any) -> Iterator[tuple[Any, Any]]:
    yield f.__self__, ".__self__"
    yield f.__func__, ".__func__"


def of_partial(f: Any) -> Iterator[tuple[Any, Any]]:
    yield f.func, ".func"
    yield f.args, ".args"
    yield f.keywords, ".keywords"


def of_class(x: Any) -> Iterator[tuple[Any, Any]]:
    if module_of(x).partition(".")[0] not in _LIBRARIES:
        for name, value in list(vars(x).items()):
            yield value, f".{name}"


def of_generator(x: Any) -> Iterator[tuple[Any, Any]]:
    if x.gi_frame is not None:
        for name, value in variables(x.gi_frame).items():
            yield value, f" (variable {name} of {x.__qualname__})"


def of_tensor(t: Any) -> Iterator[tuple[Any, Any]]:
    for name, value in list(t.__dict__.items()):
        yield value, f".{name}"
    if t.leaf is not None:
        yield t.leaf, ""
    if t.gnode is not None:
        yield t.gnode[0], ""


def of_leaf(state: Any) -> Iterator[tuple[Any, Any]]:
    yield state.grad, ".grad"
    yield state.hooks, " (a hook)"
    yield state.post, " (a hook)"


def of_record(node: Any) -> Iterator[tuple[Any, Any]]:
    name = node.op.name if node.op is not None else getattr(node, "cls", type(node)).__name__
    place = f" at {place_of(node.line)}" if node.line else ""
    root = lambda way: f"the record of {name}{place}, for the backward of {way}"
    for value in (*node.args, *node.outs):
        yield value, root
    yield getattr(node, "ctx", None), root
    for edge in node.edges:
        if isinstance(edge, tuple):
            yield edge[0], ""


def of_layer(layer: Any) -> Iterator[tuple[Any, Any]]:
    state = object.__getattribute__(layer, "__dict__")
    tables = ("_parameters", "_buffers", "_sub_layers")
    registered = {name: value for table in tables for name, value in (state.get(table) or {}).items()}
    for name, value in registered.items():
        yield value, f"[{name}]" if str(name).isdigit() else f".{name}"
    for name, value in list(state.items()):
        if name not in tables and name not in registered:
            yield value, f".{name}"


def of_optimizer(opt: Any) -> Iterator[tuple[Any, Any]]:
    kind = type(opt).__name__
    state = object.__getattribute__(opt, "__dict__")
    params = {id(p): p.name for _, group, _, _ in state.get("_rules", ()) for p in group}

    def told(text: str) -> Callable[[str], str]:
        return lambda way: f"{kind}.{text} ({way})"

    for key, states in list(state.get("_states", {}).items()):
        for name, t in list(states.items()):
            yield t, told(f"{name} of {params.get(key, 'a parameter')}")
    for cohort in {id(c): c for c in state.get("_cohorts", {}).values()}.values():
        for name, t in list(cohort.states.items()):
            yield t, told(f"{name}, shared")
    yield state.get("_rate", (None, None))[1], told("learning rate")
    for _, group, _, _ in state.get("_rules", ()):
        for p in group:
            yield p, TRAINED
    for name, value in list(state.items()):
        if name not in ("_states", "_cohorts", "_plan", "_rate", "_rules", "_param_groups", "_parameter_list"):
            yield value, f".{name}"


_RULES: dict[type, Callable[[Any], Iterator[tuple[Any, Any]]]] = {
    dict: entries,
    list: elements(list),
    tuple: elements(tuple),
    collections.deque: elements(collections.deque),
    set: elements(set, " (in a set)"),
    frozenset: elements(frozenset, " (in a frozenset)"),
    np.ndarray: lambda a: elements(list)(a.ravel().tolist()) if a.dtype == object else iter(()),
    types.FunctionType: of_function,
    types.MethodType: of_method,
    functools.partial: of_partial,
    type: of_class,
    types.GeneratorType: of_generator,
    types.FrameType: lambda f: iter(()),
    tracing.Tensor: of_tensor,
    tracing.Trace: lambda t: iter(()),
    tape.LeafState: of_leaf,
    tape.GradNode: of_record,
    Layer: of_layer,
    Optimizer: of_optimizer,
}
# Classes whose rule says all, subclasses included.
_WHOLE = (Layer, Optimizer, tracing.Tensor, tape.GradNode, type, types.FunctionType)


# ---- where a walk begins ----------------------------------------------------------------------
def variables(frame: Any) -> dict[str, Any]:
    """A frame's variables. Before Python 3.13 a frame keeps the dictionary, and with it the values: it is emptied."""
    names = frame.f_locals
    found = dict(names)
    if frame.f_code.co_flags & _OPTIMIZED and type(names) is dict and sys.getrefcount(names) <= 3:
        names.clear()  # unless somebody else has it, as from locals()
    return found


def frames() -> list[tuple[Any, str]]:
    """The frames of all threads but those of this package, the innermost first, with a remark on where they are."""
    found = []
    here = threading.get_ident()
    for thread, top in sys._current_frames().items():
        frame: Any = top
        while frame is not None:
            code = frame.f_code
            if not code.co_filename.startswith(os.path.dirname(os.path.abspath(__file__))):
                where = [] if code.co_name == "<module>" else [f"in {code.co_name}"]
                where += [] if thread == here else ["of another thread"]
                found.append((frame, f" ({' '.join(where)})" if where else ""))
            frame = frame.f_back
    return found


def walk_all(tracked: list[Any]) -> Walk:
    """A walk from everything that has a name.

    Args:
        tracked: further objects, for what no name leads to: iterators of running loops, optimizers, layers.
    """
    walk = Walk()
    modules = [m for m in list(sys.modules.values()) if isinstance(m, types.ModuleType)]
    mine = [m for m in modules if m.__name__.partition(".")[0] not in _LIBRARIES]
    mine.sort(key=lambda m: m.__name__ != "__main__")
    spaces = {id(vars(m)) for m in modules}
    inner = []
    for frame, remark in frames():
        if frame.f_code.co_filename.startswith(PACKAGE):
            inner.append((frame, remark))
            continue
        if frame.f_code.co_flags & _OPTIMIZED:
            from_names(walk, variables(frame), "", remark)
        elif id(frame.f_locals) not in spaces:  # the body of a class, or code that exec runs
            from_names(walk, frame.f_locals, "", remark)
        if id(frame.f_globals) not in spaces:
            spaces.add(id(frame.f_globals))
            from_names(walk, frame.f_globals, "", "")
    for m in mine:
        from_names(walk, vars(m), "" if m.__name__ == "__main__" else f"{m.__name__}.", "")
    walk.run()
    for frame, remark in inner:
        if frame.f_code.co_flags & _OPTIMIZED:
            from_names(walk, variables(frame), "", remark)
    for m in modules:
        if m.__name__.startswith("paddle.") and not m.__name__.startswith("paddle.engine"):
            from_names(walk, vars(m), f"{m.__name__}.", "")
    walk.run()
    for x in tracked:
        if walk.has(x):
            continue
        if isinstance(x, types.GeneratorType):
            of_loader = x.gi_code.co_filename.startswith(os.path.join(PACKAGE, "io"))
            walk.start(x, (f"the iterator of {'a DataLoader' if of_loader else x.__qualname__}", ""))
        else:
            walk.start(x, f"a {type(x).__name__} without a name")
        walk.run()
    return walk


def from_names(walk: Walk, names: dict[str, Any], prefix: str, remark: str) -> None:
    for name, value in list(names.items()):
        if not (name.startswith("__") and name.endswith("__")):
            walk.start(value, (f"{prefix}{name}", remark))


def of_running_traces() -> dict[int, str]:
    """By id, the Tensors that running traces hold."""
    found: dict[int, str] = {}
    for trace in list(tracing._traces.values()):
        for t in (*trace.values.values(), *trace.shadows):
            found[id(t)] = "the running trace, until its next flush"
    return found
