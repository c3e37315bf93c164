"""`Executor`: runs static programs, each as one step of the eager trace."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.eager.capture import Captured
from ..engine.eager.trace import TrieNode
from ..engine.types import TensorType
from ..framework import random
from ..framework.place import CPU
from ..tensor.tensor import Tensor
from . import sizes
from .program import Program, default_main_program, left
from .scope import Scope, global_scope, is_variable

__all__ = ["BuildStrategy", "CompiledProgram", "Executor"]

_local = tracing.local
_MOST_READY = 128  # forms of one program that are kept


class Ready:
    """The part of a program that gives some results and new states, for inputs of some types.

    Attributes:
        feeds: names of the inputs that are needed, in order.
        externals: what else is read: variables, by name in a scope, and Tensors.
        places: per result wanted, its place among the slots.
        changes: variables and Tensors that take a new value, in the order of the slots after the results.
        known: the sizes in place of those that are open.
    """

    __slots__ = ("feeds", "externals", "keys", "slots", "places", "changes", "captured", "known", "__weakref__")

    def __init__(self, program: Program, captured: Captured, types: dict[str, TensorType], wanted: list[int]):
        self.changes = captured.changes if not program._for_test else []
        self.slots = tuple(dict.fromkeys([*wanted, *(s for _, s in self.changes)]))
        steps = needed_steps(captured.steps, set(self.slots))
        needed = {s.slot for s in steps if s.op is None}
        names = {t.slot: name for name, (t, _) in program._feeds.items()}
        self.feeds = [n for s, n in names.items() if s in needed]
        self.externals = [(t, s) for t, s in captured.externals if s in needed]
        self.keys = [(s, make) for s, make in captured.keys if s in needed]
        missing = [n for n in self.feeds if n not in types]
        if missing:
            raise errors.missing_key(
                f"Executor.run: {missing[0]!r} is not fed.",
                expected="feed with " + ", ".join(map(repr, self.feeds)),
                received="feed with " + (", ".join(map(repr, types)) or "nothing"),
            )
        by_slot = {s: types[n] for s, n in names.items() if s in needed}
        opened = any(None in shape for _, shape in program._feeds.values())
        copy = Captured()
        copy.steps = steps
        self.known = known = sizes.Sizes()
        if opened:
            trace = program._recording.trace
            for n, type_ in types.items():
                known.learn(program._feeds[n][0].type, type_)
            copy.steps = sizes.resized(steps, by_slot, trace.numbers, trace.rules, known)
            self.externals = [(_resized_constant(t, known), s) for t, s in self.externals]
        copy.inputs = [s for s, n in names.items() if s in needed]
        copy.externals, copy.keys = self.externals, self.keys
        self.captured = copy
        self.places = [self.slots.index(s) for s in wanted]

    def run(self, fed: dict[str, Tensor], scope: Scope) -> list[Tensor]:
        """The results; the states have taken their new values."""
        trace = _local.trace
        every = [fed[n] for n in self.feeds]
        every += [value_of(t, scope) for t, _ in self.externals]
        every += [make() for _, make in self.keys]
        captured, slots = self.captured, self.slots
        out = trace.macro(self, every, lambda: captured.replay(every, slots)) if slots else ()
        news: list[Any] = list(out)
        for t, s in self.changes:
            at = slots.index(s)
            news[at] = tracing.rebind(value_of(t, scope), news[at])
        return [news[i] for i in self.places]


def _resized_constant(t: Tensor, known: sizes.Sizes) -> Tensor:
    """A constant of a program with open sizes: shapes made Tensors follow the sizes."""
    if not known.known or is_variable(t) or t.buffer is None:
        return t
    if any(sizes.show(n) == -1 for n in t.type.shape):
        raise sizes.open_constant(t.type.shape)
    if t.type.dtype.kind not in "iu" or t.type.size > 64:
        return t
    values = [known.put_in(int(v), sizes.Sizes()) for v in t.buffer.ravel()]
    new = np.array(values, t.buffer.dtype).reshape(t.type.shape)
    return t if np.array_equal(new, t.buffer) else tracing.from_array(new)  # type: ignore[return-value]


def needed_steps(steps: Sequence[TrieNode], wanted: set[int]) -> list[TrieNode]:
    """Of the steps of a capture, those that values of these slots, and effects, depend on."""
    needed = set(wanted)
    found: list[TrieNode] = []
    for step in reversed(steps):
        if step.op is None:
            if step.slot in needed and step.types:
                found.append(step)
        elif step.op.effect or any(step.slot + i in needed for i in range(len(step.types))):
            needed.update(r for r in step.refs if type(r) is int)
            found.append(step)
    return found[::-1]


def value_of(t: Tensor, scope: Scope) -> Tensor:
    """What a variable of a program stands for in a scope; other Tensors stand for themselves."""
    if not is_variable(t):
        return t
    found = scope._get(t.name)
    if found is None:
        raise errors.precondition(
            f"Executor.run: the variable {t.name!r} has no value.",
            expected="a startup program that has been run in this scope",
            received=f"{t.type}, without a value",
            hint="call exe.run(startup_program) before.",
        )
    return found


class BuildStrategy:
    """Settings of upstream's graph passes. Programs are fused and planned by the compiler whatever they are.

    Attributes:
        enable_inplace, fuse_bn_act_ops, memory_optimize, ... (bool): kept as they are set.

    Examples:
        >>> strategy = paddle.static.BuildStrategy()
        >>> strategy.enable_inplace = True
    """

    class ReduceStrategy:
        """How gradients of several devices are put together."""

        AllReduce = 0
        Reduce = 1
        _NoReduce = 2

    enable_inplace = memory_optimize = True
    debug_graphviz_path = ""
    num_trainers, trainer_id = 1, 0
    trainers_endpoints: tuple[str, ...] = ()
    nccl_comm_num = bkcl_comm_num = 1
    hierarchical_allreduce_inter_nranks = 0
    reduce_strategy = ReduceStrategy.AllReduce

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):
            raise errors.no_attribute(
                "BuildStrategy: there is no such setting.", expected="a setting of upstream's", received=name
            )
        self.__dict__[name] = value


for _setting in (
    "allow_cuda_graph_capture async_mode cache_runtime_context enable_addto enable_auto_fusion fuse_adamw "
    "fuse_all_optimizer_ops fuse_all_reduce_ops fuse_bn_act_ops fuse_bn_add_act_ops fuse_broadcast_ops "
    "fuse_dot_product_attention fuse_elewise_add_act_ops fuse_gemm_epilogue fuse_relu_depthwise_conv "
    "fuse_resunit fused_attention fused_feedforward sequential_run sync_batch_norm use_hierarchical_allreduce "
    "build_cinn_pass enable_backward_optimizer_op_deps"
).split():
    setattr(BuildStrategy, _setting, False)


class CompiledProgram:
    """A program as `Executor.run` takes it too. Programs are compiled when they run, whether wrapped or not.

    Args:
        program_or_graph (Program): the program.
        build_strategy (BuildStrategy, optional): kept.

    Raises:
        TypeError: not a Program.
    """

    def __init__(self, program_or_graph: Any, build_strategy: BuildStrategy | None = None) -> None:
        if not isinstance(program_or_graph, Program):
            raise errors.invalid_type(
                "CompiledProgram: this is no program.", expected="a Program", received=type(program_or_graph).__name__
            )
        self._program, self._build_strategy = program_or_graph, build_strategy or BuildStrategy()


class Executor:
    """Runs programs.

    Args:
        place (Place, optional): the device; there is the CPU.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     loss = paddle.nn.Linear(2, 1)(x).mean()
        ...     _ = paddle.optimizer.SGD(0.1).minimize(loss)
        >>> exe = paddle.static.Executor(paddle.CPUPlace())
        >>> _ = exe.run(startup)
        >>> a, b = (exe.run(main, feed={"x": [[1.0, 1.0]]}, fetch_list=[loss])[0] for _ in range(2))
        >>> bool(b < a)
        True
        >>> paddle.disable_static()
    """

    def __init__(self, place: Any = None) -> None:
        self.place = CPU if place is None else place
        self._closed = False
        self._lock = threading.RLock()

    def close(self) -> None:
        """Ends the executor: it runs nothing more."""
        self._closed = True

    def flush(self) -> None:
        """Computes what has been recorded and not been computed yet."""
        with left():
            _local.trace.flush()

    def run(
        self,
        program: Any = None,
        feed: Any = None,
        fetch_list: Any = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = False,
        use_prune: bool = False,
    ) -> Any:
        """Runs a program: what the results need, and all that it updates.

        Args:
            program (Program|CompiledProgram, optional): Default: the default main program. A startup program gives
                its parameters their first values.
            feed (dict, optional): arrays or Tensors by the names of the inputs.
            fetch_list (list, optional): Tensors of the program, or names, whose values are wanted.
            feed_var_name, fetch_var_name (str): names of variables of upstream's; nothing depends on them.
            scope (Scope, optional): where variables have their values. Default: the global scope.
            return_numpy (bool): arrays rather than Tensors. Default: True.
            use_program_cache, use_prune (bool): programs are kept, and are never longer than needed.

        Returns:
            list: a value for each entry of fetch_list; an empty list where nothing is fetched.

        Raises:
            RuntimeError: the executor was closed, or a parameter has no value yet.
            AttributeError: program is no program. AssertionError: fetch_list is no list.
            TypeError: feed is no dictionary, or holds no arrays; an entry of fetch_list is neither Tensor nor name.
            KeyError: an input is missing. ValueError: one is of another shape or element type; there is no such result.
        """
        if self._closed:
            raise errors.precondition(
                "Executor.run: the executor was closed.", expected="an open Executor", received="run after close"
            )
        if program is None:
            program = default_main_program()
        if isinstance(program, CompiledProgram):
            program = program._program
        if not isinstance(program, Program):
            raise errors.no_attribute(
                "Executor.run: this is no program.",
                expected="a Program or CompiledProgram",
                received=f"program: {type(program).__name__}",
            )
        scope = global_scope() if scope is None else scope
        if feed is None:
            feed = {}
        if isinstance(feed, (list, tuple)) and len(feed) == 1 and isinstance(feed[0], dict):
            feed = feed[0]
        if not isinstance(feed, dict):
            raise errors.invalid_type(
                "Executor.run: feed is no dictionary.",
                expected="values by name",
                received=f"feed: {type(feed).__name__}",
            )
        wanted = _as_list(fetch_list)
        with left(), self._lock, _Seeded(program):
            for start in program._starts if program._feeds == {} else ():
                _start(start, scope)
            fed = _fed(program, feed)
            found = self._run(program, fed, wanted, scope)
            _local.trace.flush()
            return [t.numpy() if return_numpy else tracing.shadow(t) for t in found]

    def _run(self, program: Program, fed: dict[str, Tensor], wanted: list[Any], scope: Scope) -> list[Tensor]:
        captured = program._view()
        count = len(wanted)
        wanted = [*wanted, *(p.value for p in program._printed)]
        places: list[Any] = []
        slots: list[int] = []
        for w in wanted:
            place = _place(program, captured, w)
            places.append(place)
            if type(place) is int:
                slots.append(place)
        types = {n: t.type for n, t in fed.items()}
        version = program._recording.trace.node
        key = (tuple(types.items()), tuple(slots))
        cache: OrderedDict[Any, Any] = program.__dict__.setdefault("_forms", OrderedDict())
        known = cache.get(key)
        if known is None or known[0] is not version:
            known = cache[key] = (version, Ready(program, captured, types, slots))
            while len(cache) > _MOST_READY:
                cache.popitem(last=False)
        else:
            cache.move_to_end(key)
        trace = _local.trace
        grad, amp = trace.grad, trace.set_amp(None)
        trace.set_grad(False)
        try:
            out = iter(known[1].run(fed, scope))
        finally:
            trace.set_grad(grad)
            trace.set_amp(amp)
        of_sizes = known[1].known
        found = [next(out) if type(p) is int else _resized_constant(value_of(p, scope), of_sizes) for p in places]
        for p, t in zip(program._printed, found[count:]):
            p.show(t.numpy())
        return found[:count]


class _Seeded:
    """Within the block random numbers are those of a program's own seed, if it has one."""

    def __init__(self, program: Program):
        self.program = program

    def __enter__(self) -> None:
        program = self.program
        if program._seed:
            source = random.default_generator()
            self.before = source.get_state()
            if program._random is None:
                source.manual_seed(program._seed)
            else:
                source.set_state(program._random)

    def __exit__(self, *_: Any) -> None:
        program = self.program
        if program._seed:
            source = random.default_generator()
            if not program._starts:  # a startup program gives the same values each time
                program._random = source.get_state()
            source.set_state(self.before)


def _start(start: Any, scope: Scope) -> None:
    values = start.make(lambda t: value_of(t, scope))
    for t, value in zip(start.variables, values):
        value.sg = True  # gradients are operations of programs
        known = scope._values.get(t.name)
        if known is not None and known.type is value.type and known is not value:
            tracing.rebind(known, value)
        else:
            scope._take(t.name, value)


def _as_list(fetch_list: Any) -> list[Any]:
    if fetch_list is None:
        return []
    if isinstance(fetch_list, (list, tuple)):
        return [w for item in fetch_list for w in (item if isinstance(item, (list, tuple)) else (item,))]
    if isinstance(fetch_list, (Tensor, str)):
        return [fetch_list]
    raise errors.asserted(
        "Executor.run: fetch_list is no list.",
        expected="Tensors of the program, or names",
        received=f"fetch_list: {type(fetch_list).__name__}",
    )


def _place(program: Program, captured: Captured, wanted: Any) -> Any:
    """The slot of what is wanted; for a variable that the program does not change, or another Tensor, itself."""
    t = wanted
    if isinstance(wanted, str):
        t = program._named(wanted)
        if t is None:
            raise errors.invalid_argument(
                "Executor.run: the program has no such variable.",
                expected="a name of one, or a Tensor of the program",
                received=f"fetch_list: {wanted!r}",
            )
    if not isinstance(t, Tensor):
        raise errors.invalid_type(
            "Executor.run: this cannot be fetched.",
            expected="a Tensor of the program, or a name",
            received=f"fetch_list: {type(wanted).__name__}",
        )
    for x, slot in captured.changes:
        if x is t and not program._for_test:
            return slot
    if t.epoch == captured.epoch:
        return t.slot
    copies: list[Any] = [program]  # of one another, the first is the last one
    while getattr(copies[-1], "_of", None) is not None:
        copies.append(copies[-1]._of)
        if t.epoch == copies[-1]._recording.trace.epoch:
            for copy in reversed(copies[:-1]):
                t = copy._alike.get(t.slot, t)
            break
    if t.epoch == captured.epoch:
        return t.slot
    if is_variable(t) or t.buffer is not None:
        return t
    raise errors.invalid_argument(
        "Executor.run: this Tensor is not made by the program.",
        expected="a result of the program that is run",
        received=f"{t.type} of another program",
    )


def _fed(program: Program, feed: dict[str, Any]) -> dict[str, Tensor]:
    unknown = [n for n in feed if n not in program._feeds]
    if unknown:
        known = ", ".join(map(repr, program._feeds)) or "none"
        errors.warn(f"Executor.run: {unknown[0]!r} is no input of the program, and is not used; its inputs: {known}.")
    return {n: _as_input(n, *program._feeds[n], v) for n, v in feed.items() if n in program._feeds}


def _as_input(name: str, t: Tensor, shape: Sequence[int | None], value: Any) -> Tensor:
    dtype = t.type.dtype
    if isinstance(value, Tensor):
        given: Any = value.type
        out: Any = value
    else:
        if hasattr(value, "_variable"):
            value = np.asarray(value)
        if isinstance(value, np.ndarray):
            a = value
        else:
            a = np.asarray(value)
            if a.dtype == object:
                raise errors.invalid_type(
                    f"Executor.run: what is fed as {name!r} is no array.",
                    expected=f"{dtype.name}{_written(shape)}",
                    received=type(value).__name__,
                )
            if a.dtype.kind in "fi" and dtype.kind in "fi" and (a.dtype.kind, dtype.kind) != ("f", "i"):
                a = a.astype(dtype.np)  # lists of numbers have no element type of their own
        if a.dtype.kind not in "biufcV":
            raise errors.invalid_type(
                f"Executor.run: what is fed as {name!r} holds no numbers.",
                expected=f"{dtype.name}{_written(shape)}",
                received=f"an array of {a.dtype}",
            )
        if dtype.name == "bfloat16" and a.dtype == np.uint16:
            a = a.view(dtype.np)
        out = tracing.from_array(np.array(a, order="C", dtype=a.dtype.newbyteorder("=")))
        given = out.type
    fits = len(given.shape) == len(shape) and all(n is None or n == m for n, m in zip(shape, given.shape))
    if not fits:
        raise errors.invalid_argument(
            f"Executor.run: what is fed as {name!r} does not fit.",
            expected=f"shape {_written(shape)}",
            received=f"shape {list(given.shape)}",
        )
    if given.dtype is not dtype:
        raise errors.invalid_argument(
            f"Executor.run: what is fed as {name!r} has another element type.",
            expected=f"{dtype.name}{_written(shape)}",
            received=f"{given}",
            hint=f"feed value.astype('{dtype.name}').",
        )
    return out


def _written(shape: Iterable[int | None]) -> str:
    return "[" + ", ".join("-1" if n is None else str(n) for n in shape) + "]"
