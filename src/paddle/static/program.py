"""Static programs: operations are recorded into a `Program`, which an `Executor` runs."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.eager.capture import Captured, Recording
from ..engine.eager.trace import TrieNode
from ..engine.types import TensorType, dtype_of
from ..framework.param import Parameter
from ..tensor.tensor import Tensor
from . import sizes
from .scope import Scope, Variable, global_scope, is_variable, to_nowhere

__all__ = [
    "Program",
    "data",
    "default_main_program",
    "default_startup_program",
    "device_guard",
    "disable_static",
    "enable_static",
    "name_scope",
    "program_guard",
]


class Start:
    """How variables get their first values.

    Attributes:
        variables: in order.
        make: gives their values; it is called with a function from a variable to its value.
    """

    __slots__ = ("variables", "make")

    def __init__(self, variables: Sequence[Tensor], make: Callable[[Callable[[Tensor], Tensor]], Sequence[Tensor]]):
        self.variables, self.make = list(variables), make


class Operation:
    """One operation of a program, to be read."""

    def __init__(self, step: TrieNode):
        self._step = step

    def name(self) -> str:
        """As in `pd_op.matmul`."""
        return "pd_op.data" if self._step.op is None else f"pd_op.{self._step.op.name}"

    @property
    def type(self) -> str:
        return "feed" if self._step.op is None else self._step.op.name

    def attrs(self) -> dict[str, Any]:
        """Attributes by name."""
        return {} if self._step.op is None else self._step.op.attributes()

    def num_operands(self) -> int:
        return len(self._step.refs) if self._step.op is not None else 0

    def num_results(self) -> int:
        return len(self._step.types)

    def __repr__(self) -> str:
        return f"Operation({self.name()})"


class Block:
    """The operations and variables of a program. Branches and bodies of loops are inside their operations."""

    def __init__(self, program: "Program"):
        self.program, self.idx = program, 0

    @property
    def ops(self) -> list[Operation]:
        return [Operation(step) for step in self.program._steps()]

    @property
    def vars(self) -> dict[str, Tensor]:
        named = [v for v in self.program.list_vars() if v.__dict__.get("_name")]
        return {v.name: v for v in named}

    def all_parameters(self) -> list[Any]:
        return self.program.all_parameters()

    def has_var(self, name: str) -> bool:
        return self.program._named(name) is not None

    def var(self, name: str) -> Tensor:
        """The variable of this name.

        Raises:
            ValueError: there is none.
        """
        found = self.program._named(name)
        if found is None:
            raise errors.invalid_argument(
                "Block.var: the program has no such variable.",
                expected=_listed(list(self.vars)),
                received=f"name: {name!r}",
            )
        return found

    def __repr__(self) -> str:
        return str(self.program)


def _listed(names: list[str]) -> str:
    return ("one of " + ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")) if names else "none: it is empty"


class Program:
    """Operations that were recorded to be run later.

    Attributes:
        random_seed (int): where the random numbers of the program begin; 0 for those of `paddle.seed`.

    Examples:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = x * 2 + 1
        >>> exe = paddle.static.Executor()
        >>> exe.run(main, feed={"x": [[1.0, 2.0]]}, fetch_list=[y])[0].tolist()
        [[3.0, 5.0]]
        >>> paddle.disable_static()
    """

    def __init__(self) -> None:
        self._recording = Recording()
        self._recording.trace.declare = self._declare
        self._starts: list[Start] = []
        self._variables: dict[str, Tensor] = {}
        self._feeds: dict[str, tuple[Tensor, tuple[int | None, ...]]] = {}
        self._seed = 0
        self._random: Any = None
        self._for_test = False
        self._captured: tuple[Any, Captured] | None = None
        self._ready: dict[Any, Any] = {}  # what executors made of it, see executor.py
        self._optimizers: list[Any] = []
        self._printed: list[Any] = []

    # -- building --
    def _declare(self, t: Any, give: Callable[[Any], Any]) -> None:
        """A parameter was made: it is a variable of this program, and the startup program gives it its first value."""

        def make(value_of: Callable[[Tensor], Tensor]) -> list[Tensor]:
            made = object.__new__(type(t))
            made.gnode = made.leaf = made.kin = made.buffer = None
            made.epoch = made.slot = 0
            made.type, made.sg = t.type, t.sg
            made.__dict__.update({k: v for k, v in t.__dict__.items() if k != "_variable"})
            give(made)
            return [made]

        self._add_variable(t)
        _current_startup()._starts.append(Start([t], make))

    def _add_variable(self, t: Tensor) -> None:
        t.__dict__["_variable"] = True
        self._variables[t.name] = t
        to_nowhere(t)

    def _view(self) -> Captured:
        """What has been recorded so far."""
        trace = self._recording.trace
        known = self._captured
        if known is None or known[0] is not trace.node:
            inside = tracing.local.trace is trace
            with contextlib.nullcontext() if inside else self._recording:
                captured = self._recording.captured([t for t, _ in self._feeds.values()])
            known = self._captured = (trace.node, captured)
        return known[1]

    def _steps(self) -> list[TrieNode]:
        """Inputs and operations, without those that stand beside operations of training."""
        from .executor import needed_steps

        fed = {t.slot for t, _ in self._feeds.values()}
        captured = self._view()
        needed = {id(s) for s in needed_steps(captured.steps, set(self._results(captured)))}
        return [s for s in captured.steps if s.slot in fed or (s.op is not None and id(s) in needed)]

    def _results(self, captured: Captured) -> list[int]:
        """Slots of what nothing in the program uses, and of new values of variables."""
        beside = set(self._recording.trace.tests.values())
        made = [s.slot + i for s in captured.steps if s.op is not None for i in range(len(s.types))]
        used = {r for s in captured.steps if s.op is not None for r in s.refs if type(r) is int}
        changed = {slot for _, slot in captured.changes}
        return [s for s in made if (s not in used and s not in beside) or s in changed]

    def _named(self, name: str) -> Tensor | None:
        """The variable, or result, of this name."""
        if name in self._variables:
            return self._variables[name]
        if name in self._feeds:
            return self._feeds[name][0]
        for t in list(self._recording.trace.values.values()):
            if t.__dict__.get("_name") == name:
                return t  # type: ignore[return-value]
        for t, _ in self._view().externals:
            if t.__dict__.get("_name") == name:
                return t  # type: ignore[return-value]
        return None

    # -- what users see --
    @property
    def random_seed(self) -> int:
        return self._seed

    @random_seed.setter
    def random_seed(self, value: int) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            raise errors.invalid_argument(
                "Program.random_seed: this is no seed.",
                expected="an int",
                received=f"{type(value).__name__}: {value!r}",
            )
        self._seed, self._random = value, None

    def global_seed(self, seed: int) -> None:
        """Sets `random_seed`."""
        self.random_seed = seed

    def global_block(self) -> Block:
        """The only block: branches and loops are operations with programs inside."""
        return Block(self)

    @property
    def num_blocks(self) -> int:
        return 1

    @property
    def blocks(self) -> list[Block]:
        return [Block(self)]

    def block(self, index: int) -> Block:
        """The block of this number, which is 0."""
        return self.blocks[index]

    def num_ops(self) -> int:
        """The number of operations."""
        return len(self._steps())

    def list_vars(self) -> list[Any]:
        """Variables, then inputs and results in the order of the operations."""
        values = self._recording.trace.values
        made = [values.get(s.slot + i) for s in self._steps() for i in range(len(s.types))]
        return [*self._variables.values(), *(t for t in made if t is not None)]

    def all_parameters(self) -> list[Any]:
        """What is trained, and what layers keep beside it, in the order in which it was made."""
        found = [t for t in self._variables.values() if isinstance(t, Parameter)]
        seen = {id(t) for t in found}
        for t, _ in self._view().externals:
            if isinstance(t, Parameter) and id(t) not in seen:
                found.append(t)
                seen.add(id(t))
        return found

    def parameters_num(self) -> int:
        """The number of parameters."""
        return len(self.all_parameters())

    def get_parameter_value_by_name(self, name: str) -> Any:
        """The parameter of this name, or None."""
        return next((p for p in self.all_parameters() if p.name == name), None)

    def clone(self, for_test: bool = False) -> "Program":
        """A program that shares the variables of this one.

        Args:
            for_test (bool): dropout, batch normalization and their kind as in evaluation, and nothing is updated.
                Default: False.

        Returns:
            Program: what has been recorded so far. Later operations are added to one of the two only.
        """
        made = _Copy(self, for_test)
        return made

    def state_dict(self, mode: str = "all", scope: Scope | None = None) -> dict[str, Any]:
        """Values of variables by name.

        Args:
            mode (str): "all", "param" for parameters and what layers keep, or "opt" for the rest. Default: "all".
            scope (Scope, optional): where they are. Default: the global scope.

        Raises:
            TypeError: mode is no str. ValueError: it is none of these.
        """
        if not isinstance(mode, str):
            raise errors.invalid_type("state_dict: mode is no str.", expected="str", received=type(mode).__name__)
        if mode not in ("all", "param", "opt"):
            raise errors.invalid_argument(
                "state_dict: there is no such mode.", expected='"all", "param" or "opt"', received=f"mode: {mode!r}"
            )
        scope = scope or global_scope()
        found = {}
        for name, t in self._state(mode).items():
            if not is_variable(t):
                found[name] = t
            elif scope._get(name) is not None:
                found[name] = Variable(scope, name).get_tensor()
        return found

    def _state(self, mode: str = "all") -> dict[str, Tensor]:
        params = {p.name: p for p in self.all_parameters()}
        rest = {n: t for n, t in self._variables.items() if n not in params}
        kept = {n: t for n, t in rest.items() if t.persistable}
        return {"all": {**params, **kept}, "param": params, "opt": kept}[mode]

    def set_state_dict(self, state_dict: dict[str, Any], scope: Scope | None = None, copy_tensor: bool = False) -> None:
        """Gives variables of these names the values of arrays; others are passed over with a warning.

        Args:
            state_dict (dict): arrays or Tensors by name.
            scope (Scope, optional): where they go. Default: the global scope.
        """
        from .io import put_state

        put_state(self, state_dict, scope or global_scope())

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        """The operations as text."""
        return str(self)

    def __str__(self) -> str:
        captured = self._view()
        graph, leaves = captured.graph(self._results(captured))
        names = {t.slot: name for name, (t, _) in self._feeds.items()}
        names.update({slot: t.__dict__.get("_name") for t, slot in captured.externals if t.__dict__.get("_name")})
        for value, slot in zip(graph.inputs, leaves):
            if names.get(slot):
                value.name = re.sub(r"\W", "_", names[slot])
        return re.sub(r"\d{4,}", lambda m: str(sizes.show(int(m[0]))), str(graph))

    def __repr__(self) -> str:
        return str(self)


_SHORT = {"float": "f", "int": "i", "uint": "ui", "bfloat": "bf", "complex": "c"}


def described(t: Tensor) -> str:
    """A Tensor of a program as text: what makes it, and its type."""
    dtype = re.sub(r"[a-z]+(?=\d)", lambda m: _SHORT.get(m[0], m[0]), t.type.dtype.name)
    sizes_ = "x".join(str(sizes.show(n)) for n in t.type.shape)
    trace = tracing.trace_of(t)
    node = getattr(trace, "node", None)
    while node is not None and not (node.types and node.slot <= t.slot < node.slot + len(node.types)):
        node = node.parent
    if is_variable(t):
        name, index = "builtin.parameter", 0
    elif node is None or node.op is None:
        name, index = "pd_op.data", 0
    else:
        name, index = f"pd_op.{node.op.name}", t.slot - node.slot
    kind = f"tensor<{sizes_}{'x' if sizes_ else ''}{'b' if dtype == 'bool' else dtype}>"
    return f"Value(define_op_name={name}, index={index}, dtype={kind}, stop_gradient={t.sg})"


class _Copy(Program):
    """A program that another one was copied to: the same recording up to here, and results read by another way.

    Args:
        program: the other one.
        for_test: whether what training does is left out.
    """

    def __init__(self, program: Program, for_test: bool):
        super().__init__()
        origin = program._view()
        self._of, self._for_test = program, for_test
        self._variables = dict(program._variables)
        self._starts = list(program._starts)
        self._seed = program._seed
        trace, other = self._recording.trace, program._recording.trace
        tests = other.tests if for_test else {}
        leaves = [*origin.inputs, *(s for _, s in origin.externals), *(s for s, _ in origin.keys)]
        slots: dict[int, int] = {}
        with _left(), self._recording:
            by_slot = {s.slot: s for s in origin.steps}
            for s in leaves:
                node = by_slot[s]
                slots[s] = self._recording.stand_in(node.types[0], node.sg).slot
            for t, s in origin.externals:
                trace.entered[id(t)] = (slots[s], t)
                trace.sources.append((t, slots[s]))
            trace.keys += [(slots[s], make) for s, make in origin.keys]
            env = {s: trace.values[n] for s, n in slots.items()}
            env_steps = [s for s in origin.steps if s.op is not None]
            for step in env_steps:
                args = tuple(env[tests.get(r, r)] if type(r) is int else r for r in step.refs)
                trace.set_grad(step.grad)
                out = trace.record(step.op, args) if args else step.op()
                for i, t in enumerate(out if len(step.types) > 1 else (out,)):
                    env[step.slot + i] = t
                if step.slot in other.numbers:
                    trace.numbers[env[step.slot].slot] = other.numbers[step.slot]
                if step.slot in other.rules:
                    trace.rules[env[step.slot].slot] = other.rules[step.slot]
            trace.set_grad(True)
            if not for_test:
                for t, s in origin.changes:
                    trace.note(t)
                    t.type, t.epoch, t.slot, t.buffer = env[s].type, env[s].epoch, env[s].slot, None
                trace.tests = {env[a].slot: env[b].slot for a, b in other.tests.items()}
        self._alike = {s: env[tests.get(s, s)] for s in env}
        for name, (t, shape) in program._feeds.items():
            self._feeds[name] = (env[t.slot], shape)
        for s, t in list(other.values.items()):
            name = t.__dict__.get("_name")
            if name is not None and s in self._alike and s not in slots:
                self._alike[s].__dict__.setdefault("_name", name)
        for name, (t, _) in self._feeds.items():
            t.__dict__["_name"] = name


class _Mode(threading.local):
    """Attributes: pair, the main and the startup program that operations are recorded into, or None."""

    def __init__(self) -> None:
        self.pair: tuple[Program, Program] | None = None


_mode = _Mode()
_defaults: list[Program | None] = [None, None]


def _default(i: int) -> Program:
    found = _defaults[i]
    if found is None:
        with _left():
            found = _defaults[i] = Program()
    return found


def _switch(pair: tuple[Program, Program] | None) -> None:
    """Operations are recorded into other programs from here on; None: into none."""
    before = _mode.pair
    if before is not None:
        before[0]._recording.__exit__()
    _mode.pair = pair
    if pair is not None:
        pair[0]._recording.__enter__()


@contextlib.contextmanager
def _left() -> Iterator[None]:
    """Within the block operations run, as in dynamic mode."""
    before = _mode.pair
    _switch(None)
    try:
        yield
    finally:
        _switch(before)


left = _left


def _current_startup() -> Program:
    return _default(1) if _mode.pair is None else _mode.pair[1]


def default_main_program() -> Program:
    """The program that operations are recorded into."""
    return _default(0) if _mode.pair is None else _mode.pair[0]


def default_startup_program() -> Program:
    """The program that gives parameters their first values."""
    return _current_startup()


def enable_static() -> None:
    """From here on operations are recorded into a program, to be run by an Executor.

    Examples:
        >>> paddle.enable_static()
        >>> paddle.in_dynamic_mode()
        False
        >>> paddle.disable_static()
    """
    if _mode.pair is None:
        _switch((_default(0), _default(1)))


def disable_static(place: Any = None) -> None:
    """From here on operations run, as before `enable_static`.

    Args:
        place (Place|str, optional): what operations run on from here on.

    Examples:
        >>> paddle.enable_static()
        >>> paddle.disable_static()
        >>> paddle.in_dynamic_mode()
        True
    """
    _switch(None)
    if place is not None:
        from ..framework.place import set_device

        set_device(place if isinstance(place, str) else "cpu")


def _is_program(p: Any, argument: str) -> None:
    if not isinstance(p, Program):
        raise errors.invalid_type(
            f"program_guard: {argument} is no program.", expected="a Program", received=type(p).__name__
        )


@contextlib.contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Within the block operations are recorded into these programs.

    Args:
        main_program (Program): takes the operations.
        startup_program (Program, optional): takes the first values of parameters. Default: the one in force.

    Raises:
        TypeError: one of them is no Program.
    """
    _is_program(main_program, "main_program")
    if startup_program is not None:
        _is_program(startup_program, "startup_program")
    before = _mode.pair
    _switch((main_program, startup_program or _current_startup()))
    try:
        yield
    finally:
        _switch(before)


def data(name: str, shape: Sequence[int | None], dtype: Any = None, lod_level: int = 0) -> Tensor:
    """An input of the program.

    Args:
        name (str): what it is fed by.
        shape (list|tuple): sizes; None or -1 where each run may have another.
        dtype (str|dtype, optional): Default: the default dtype.
        lod_level (int): 0; sequences are padded.

    Returns:
        Tensor: without a value; its gradient is not computed unless `stop_gradient` is set to False.

    Raises:
        TypeError: an argument is of the wrong type. ValueError: a size is negative.

    Examples:
        >>> paddle.enable_static()
        >>> paddle.static.data("x", [None, 3]).shape
        paddle.Size([-1, 3])
        >>> paddle.disable_static()
    """
    from ..engine.types import default_dtype

    if not isinstance(name, str):
        raise errors.invalid_type("static.data: name is no str.", expected="str", received=type(name).__name__)
    if not isinstance(shape, (list, tuple)):
        raise errors.invalid_type(
            "static.data: shape is no list.", expected="list or tuple", received=f"shape: {type(shape).__name__}"
        )
    wanted: list[int | None] = []
    for i, n in enumerate(shape):
        if n is not None and (not hasattr(n, "__index__") or isinstance(n, bool)):
            raise errors.invalid_type(
                f"static.data: shape[{i}] is no size.", expected="int or None", received=f"{type(n).__name__}: {n}"
            )
        if n is not None and int(n) < -1:
            raise errors.invalid_argument(
                f"static.data: shape[{i}] is negative.", expected="0 or more, -1 or None", received=f"shape: {shape}"
            )
        wanted.append(None if n is None or n == -1 else int(n))
    kind = default_dtype() if dtype is None else dtype_of(dtype)
    program = default_main_program()
    type_ = TensorType(tuple(sizes.stand_in(i) if n is None else n for i, n in enumerate(wanted)), kind)
    if _mode.pair is None:
        raise errors.precondition(
            "static.data: operations run at once here.",
            expected="static mode",
            received="dynamic mode",
            hint="call paddle.enable_static() first, or be inside paddle.static.program_guard.",
        )
    known = program._feeds.get(name)
    if known is not None and known[0].type is type_:
        return known[0]
    if known is not None:
        raise errors.invalid_argument(
            f"static.data: {name!r} is another input already.", expected=f"{known[0].type}", received=f"{type_}"
        )
    t: Any = program._recording.stand_in(type_)
    t.name = name
    program._feeds[name] = (t, tuple(wanted))
    return t


@contextlib.contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """A part of a program, for reading.

    Args:
        prefix (str, optional): its name; it must not be empty.

    Raises:
        AssertionError: prefix is no name.
    """
    if prefix is not None and (not isinstance(prefix, str) or not prefix):
        raise errors.asserted("name_scope: prefix is no name.", expected="a str", received=f"prefix: {prefix!r}")
    yield


@contextlib.contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """A part of a program that runs on a device: there is the CPU.

    Args:
        device (str, optional): "cpu", or "gpu" with or without a number, which are the CPU here; None: any.

    Raises:
        ValueError: another name.
    """
    known = ("cpu", "gpu", "xpu", "npu", "all")
    if device is not None and str(device).partition(":")[0] not in known:
        raise errors.invalid_argument(
            "device_guard: there is no such device.", expected="cpu or gpu", received=f"device: {device!r}"
        )
    yield
