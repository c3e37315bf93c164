"""What an operator is, and the table of all operators.

An operator is like a frozen dataclass: annotated names are attributes, methods are its rules (see
docs/adding-an-operator.md). It is not one because a hundred of those take long to make at import.
Two operators of one class with equal attributes are one object, so that identity compares.
"""

from __future__ import annotations

import contextlib
import dis
import threading
from collections.abc import Callable, Container, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ..errors import invalid_type
from ..ir.graph import Graph, Value
from ..types import TensorType

registry: dict[str, type["Operator"]] = {}


class _Context(threading.local):
    """Where an operator without arguments is applied: the tracer, a graph being built, or numpy.

    Attributes:
        apply: called with the operator.
    """

    default: ClassVar[Callable[["Operator"], Any]]

    def __init__(self) -> None:
        self.apply: Callable[[Operator], Any] = lambda op: _Context.default(op)


context = _Context()
_Context.default = lambda op: op.compute()


@contextlib.contextmanager
def applying(apply: Callable[["Operator"], Any]) -> Iterator[None]:
    """Within the block, operators without arguments are handed to `apply`."""
    before, context.apply = context.apply, apply
    try:
        yield
    finally:
        context.apply = before


class absent:
    """Stands where a rule is not given, and says why."""

    def __init__(self, reason: str):
        self.reason = reason

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(self.reason)

    def __get__(self, instance: Any, owner: Any = None) -> "absent":
        return self

    def __bool__(self) -> bool:
        return False


class _Interning(type):
    """Makes operators: binds attributes, and gives back the one made before with the same."""

    name: str
    fields: dict[str, Any]
    kinds: dict[str, tuple[str, Any]]
    _interned: dict[Any, Any]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        types = tuple(map(type, args))  # False, 0 and 0.0 are equal as keys
        key: Any = (args, types) if not kwargs else (args, types, *kwargs.items(), *map(type, kwargs.values()))
        if (kwargs or float in types or complex in types) and (0.0 in args or 0.0 in kwargs.values()):
            key += (repr(args), repr(kwargs))  # so are 0.0 and -0.0
        found = cls._interned.get(key)
        if found is None:
            made = cls.bind(args, kwargs)
            same = repr(made)
            found = cls._interned.setdefault(same, made)
            if len(cls._interned) > 20_000:
                cls._interned.clear()
            cls._interned[key] = cls._interned[same] = found
        return found

    def bind(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        names = list(cls.fields)
        given = {**dict(zip(names, args)), **kwargs}
        if len(args) > len(names) or set(given) - set(names) or len(given) < len(args) + len(kwargs):
            raise TypeError(f"{cls.__name__} takes {names}, not {args} {kwargs}")
        made: Any = object.__new__(cls)  # type: ignore[arg-type]  # cls is a class of operators
        for name, default in cls.fields.items():
            value = given.get(name, default)
            if value is _REQUIRED:
                raise TypeError(f"{cls.__name__}: {name} is missing")
            kind = cls.kinds.get(name)
            if kind is not None and not isinstance(value, kind[1]):
                raise invalid_type(
                    f"{cls.name}: {name} is not {kind[0]}.",
                    expected=kind[0],
                    received=f"{name}: {type(value).__name__}",
                )
            object.__setattr__(made, name, value)
        return made


_REQUIRED: Any = object()
_KINDS: dict[Any, tuple[str, Any]] = {
    "bool": ("True or False", (bool, int, np.bool_)),
    "int": ("an integer", (int, np.integer)),
    "float": ("a number", (int, float, np.integer, np.floating)),
}


class _Uses:
    """Computes `vjp_uses` of a class when first asked for."""

    def __get__(self, instance: Any, owner: Any) -> frozenset[str]:
        rule = owner.vjp_source or owner.vjp
        owner.vjp_uses = found = _parameters_used(rule) if rule else frozenset()
        return found


class Operator(metaclass=_Interning):
    """Base of all operators.

    Rules, each a method of the subclass:
        infer(self, *types): result type or tuple of types; raises the user-facing error.
        numpy(self, *arrays) or compose(self, *tensors): the meaning.
        vjp(self, g, out, *args): gradients of the arguments, a tuple with None where there is none.
            With several outputs, `g` and `out` are tuples; a `g` that nothing asked for is None.
        loops(self, k, *args): one output element (see engine/cpu/expr.py).
        blocks(self, k, *args): beside loops, several elements at once: None where that does not apply, else
            (extents, body); body() gives (indices, value) pairs that fill the output when k.at runs over extents.
        xla(self, jnp, *args): the value; jnp is jax.numpy, with jax.lax as jnp.lax, jax.scipy.special as jnp.special.
        spmd(self, *types): sharding in index notation: one term per argument, "->", one term per result; a letter per
            axis. A letter on both sides: the axis can be cut, the result is then cut alike (where the sizes differ,
            only so that they all part evenly). Only on the left: the parts of the result are summed. Only on the
            right: any part can be made. Capitals are kept whole. "...": the other axes, paired from the right.
        sized(self, *shapes): what computes a part of the result, of these shapes, from parts of the arguments.
        samples(cls, rng).
        nested(self, run, *arrays): of an operator with graphs inside, as numpy; run(graph) gives what runs one,
            and may have `repeat`, see cpu/nested.py.
        overwrite(self, *arrays): writes the result into the argument that `overwrites` tells. It refuses nothing.
        written(self, k, *args): the same as a loop form over the shape `written_shape(*shapes)`: indices in the result,
            value, and whether it is written at all. What is written twice is written equal.

    Class attributes:
        name: snake case, as in `paddle.*`.
        effect (bool): it does something beyond its results and is never dropped.
        overwrites: the argument whose array can become the result's where nothing else needs it, or None.
        fault: what errors.py makes of a failed check of its arguments at run time.
        pointwise (bool): each result element depends on the argument elements that broadcasting pairs with it, alone.
        fields: names of the attributes with defaults. kinds: what those of a plain type are held to.
        vjp_uses: whose data the gradient rule reads, found from the code of vjp_source, or of vjp itself.
        shape_attributes: attributes that the loop form does not read, so that it serves all their values.
        number_attributes: attributes, tuples of ints, whose positive numbers the loop form takes as expressions too.
    """

    name: ClassVar[str]
    effect: ClassVar[bool] = False
    overwrites: ClassVar[int | None] = None
    fault: ClassVar[str] = "out_of_range"
    pointwise: ClassVar[bool] = False
    shape_attributes: ClassVar[tuple[str, ...]] = ()
    number_attributes: ClassVar[tuple[str, ...]] = ()
    fields: ClassVar[dict[str, Any]] = {}
    kinds: ClassVar[dict[str, tuple[str, Any]]] = {}
    vjp_source: ClassVar[Any] = None
    vjp_uses: ClassVar[Any] = _Uses()
    _interned: ClassVar[dict[Any, Any]]

    infer: Any = absent("no shape rule")
    numpy: Any = absent("no numpy form: see compose")
    compose: Any = absent("a primitive: see numpy")
    vjp: Any = absent("not differentiable")
    blocks: Any = absent("each element is written by its own")
    written: Any = absent("arguments are not written into by kernels")
    written_shape: Any = absent("arguments are not written into by kernels")
    loops: Any = absent("no loop form: runs its numpy form")
    xla: Any = absent("no XLA form")
    spmd: Any = absent("no sharding rule: arguments are gathered")
    samples: Any = absent("no samples")
    nested: Any = absent("no graphs inside that the host runs")

    if TYPE_CHECKING:  # attributes are bound by the metaclass

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def infer_types(self, *types: TensorType) -> tuple[TensorType, ...]:
        found = self.infer(*types)
        return found if type(found) is tuple else (found,)

    def sized(self, *shapes: tuple[int, ...]) -> Operator:
        """The operator with the sizes among its attributes changed to results of `shapes`; the base class has none."""
        return self

    def prepare(self, *args: Any) -> tuple[Any, ...]:
        """Arguments as the operator wants them: promoted, numbers typed. The base class changes nothing."""
        return args

    def __call__(self, *args: Any) -> Any:
        """Applies the operator to Tensors (recorded), graph values (appended) or arrays (computed)."""
        for a in args:
            apply = getattr(a, "apply_operator", None)
            if apply is not None:
                return apply(self, args)
        return self.compute(*args) if args else context.apply(self)

    def compute(self, *arrays: Any) -> Any:
        """The result on numpy arrays, by the meaning."""
        out = run_numpy(self, *arrays)
        return out if len(out) > 1 else out[0]

    def attributes(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).fields}

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}={v!r}" for k, v in self.attributes().items())
        return f"{self.name}({inside})" if inside else self.name

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{self.name}: attributes of an operator do not change")

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __reduce__(self) -> tuple[Any, ...]:
        return (_revive, (self.name, self.attributes()))


def _revive(name: str, attributes: dict[str, Any]) -> Operator:
    return registry[name](**attributes)


T = TypeVar("T", bound=type[Operator])


def snake(name: str) -> str:
    out = []
    for i, c in enumerate(name):
        if c.isupper() and i and (not name[i - 1].isupper() or (i + 1 < len(name) and name[i + 1].islower())):
            if name[i - 1] != "_":
                out.append("_")
        out.append(c.lower())
    return "".join(out)


def letters(n: int, whole: Container[int] = ()) -> str:
    """Names of n axes for a sharding rule; those in `whole` are capitals."""
    return "".join(c.upper() if i in whole else c for i, c in enumerate("abcdefghijklmnopqrst"[:n]))


def operator(cls: T) -> T:
    """Makes a class an operator: annotated names are its attributes; interned, registered, its rules checked."""
    cls._interned = {}
    cls.fields, cls.kinds = {}, {}
    for base in reversed(cls.__mro__):
        for name, kind in base.__dict__.get("__annotations__", {}).items():
            if not str(kind).startswith("ClassVar") and base is not Operator and name != "name":
                cls.fields[name] = getattr(cls, name, _REQUIRED)
                if kind in _KINDS:
                    cls.kinds[name] = _KINDS[kind]
    if "name" not in cls.__dict__:
        cls.name = snake(cls.__name__)
    if bool(cls.numpy) == bool(cls.compose):
        raise TypeError(f"{cls.__name__}: give one of numpy and compose")
    if not cls.infer and not cls.compose:
        raise TypeError(f"{cls.__name__}: infer is missing")
    if cls.name in registry:
        raise TypeError(f"{cls.__name__}: the name {cls.name} is taken")
    registry[cls.name] = cls
    return cls


def _parameters_used(rule: Callable[..., Any]) -> frozenset[str]:
    """Whose data a rule reads: `g`, `out`, arguments by position as `0`, `1`, ...; shapes alone do not count."""
    code = rule.__code__
    params = list(code.co_varnames[: code.co_argcount])
    if params and params[0] == "self":
        params = params[1:]
    shape_only = {"shape", "dtype", "ndim", "type", "size"}
    read: set[str] = set()
    steps = list(dis.get_instructions(code))
    for step, after in zip(steps, [*steps[1:], steps[-1]]):
        if step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")):
            if not (after.opname == "LOAD_ATTR" and after.argval in shape_only):
                read.update(step.argval if isinstance(step.argval, tuple) else (step.argval,))
    names = ["g", "out"] + [str(i) for i in range(len(params) - 2)]
    used = {role for role, p in zip(names, params) if p in read}
    if code.co_flags & 0x04:  # *args
        star = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        if star in read:
            used.add("*")
    return frozenset(used)


# ---- numpy meaning of compositions ------------------------------------------------------------
class Array:
    """A numpy array that operators compute on at once; only used to give compositions their numpy meaning."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value: Any = value.value if isinstance(value, Array) else value

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.value)

    @property
    def ndim(self) -> int:
        return np.ndim(self.value)

    @property
    def dtype(self) -> Any:
        from ..types import dtype_of

        return dtype_of(np.asarray(self.value).dtype)

    def apply_operator(self, op: Operator, args: tuple[Any, ...]) -> Any:
        ready = op.prepare(*args)
        if op.compose:
            return op.compose(*ready)
        with np.errstate(all="ignore"):
            out = op.numpy(
                *(a.value if isinstance(a, Array) else a.array() if hasattr(a, "array") else a for a in ready)
            )
        return tuple(map(Array, out)) if isinstance(out, tuple) else Array(out)


def run_numpy(op: Operator, *arrays: Any) -> tuple[np.ndarray, ...]:
    """Results of the meaning, as a tuple of arrays."""
    if op.numpy:
        with np.errstate(all="ignore"):
            out = op.numpy(*arrays)
        return out if isinstance(out, tuple) else (out,)
    with applying(lambda o: Array(o.numpy())):
        out = op.compose(*map(Array, arrays))
    return tuple(o.value for o in (out if isinstance(out, tuple) else (out,)))


# ---- compositions in graphs -------------------------------------------------------------------
def apply_to_values(op: Operator, args: tuple[Any, ...]) -> Any:
    """Appends `op` to the graph that the values belong to."""
    from .number import Constant, Number

    args = op.prepare(*args)
    graph: Graph = next(a.graph for a in args if isinstance(a, Value))
    out = graph.add(op, (graph.add(Constant(a.value, a.dtype), ())[0] if isinstance(a, Number) else a for a in args))
    return out if len(out) > 1 else out[0]


Value.apply_operator = staticmethod(lambda op, args: apply_to_values(op, args))  # type: ignore[attr-defined]


def expand(op: Operator, *values: Value) -> tuple[Value, ...]:
    """The composition written into the graph of its arguments."""
    graph = values[0].graph
    with applying(lambda o: graph.add(o, ())[0]):
        out = op.compose(*values)
    return out if isinstance(out, tuple) else (out,)


def all_samples(op: type[Operator], seed: int = 0) -> Iterator[tuple[Operator, tuple[np.ndarray, ...]]]:
    yield from op.samples(np.random.default_rng(seed))
