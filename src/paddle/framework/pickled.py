"""Reads pickles that hold plain data: numbers, strings, containers, numpy arrays. Nothing in a file is run.

A pickle is a program for a machine with a stack, and Python's own machine runs whatever function a file names. This
one has the same instructions, but the functions are the few in `_MAKERS`; each makes plain data from plain data.
It needs memory in proportion to the size of the file: lengths are checked against what is left of it, what is
stored once exists once, and nothing is repeated by walking over shared parts again and again.

The result has stand-ins (`Array`, `Kind`, `Raw`), which `paddle.load` replaces.
"""

from __future__ import annotations

import datetime
import math
import pickle
import re
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..engine.types import DType, dtype_of
from .source import Broken, Source

__all__: list[str] = []

_OWN_BUFFER = 1 << 12  # bytes from which on a string of bytes is read straight into the memory of an array
_KEY_PARTS = 1000  # of a key; hashing a nest of shared tuples could take forever
_KINDS = re.compile(r"[<>=|]?(b1|[iu][1248]|f[248]|c8|c16|[SU][0-9]{1,6})")  # as numpy writes them; never objects
_PLAIN = (str, int, float, complex, bytes, bool, type(None), np.generic)


class Refused(Broken):
    """A file names a function or a class that could run code."""


# ---- stand-ins --------------------------------------------------------------------------------
class Named:
    """A function or class that a file names: what it is called, and what is called instead."""

    __slots__ = ("name", "make")

    def __init__(self, name: str, make: Callable[..., Any]):
        self.name, self.make = name, make


class Raw:
    """Many bytes, in memory that an array can take over."""

    __slots__ = ("memory",)

    def __init__(self, memory: np.ndarray):
        self.memory = memory


class Kind:
    """A numpy element type: of numbers or text, never of objects."""

    __slots__ = ("np",)

    def __init__(self, name: Any = None, align: Any = False, copy: Any = False) -> None:
        if not isinstance(name, str) or not _KINDS.fullmatch(name):
            raise Broken(f"the element type {name[:40]!r}" if isinstance(name, str) else "an element type without name")
        self.np = np.dtype(name)

    def set_state(self, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) < 2 or state[1] not in ("<", ">", "=", "|"):
            raise Broken("the state of an element type is wrong")
        if state[1] != "|":
            self.np = self.np.newbyteorder(state[1])


class Array:
    """A numpy array: made by `_reconstruct`, filled by its state."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: np.ndarray = np.zeros(0)

    def set_state(self, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) != 5:
            raise Broken("the state of an array is wrong")
        self.fill(state[4], state[2], state[1], "F" if state[3] else "C")

    def fill(self, raw: Any, kind: Any, shape: Any, order: str) -> "Array":
        if not isinstance(kind, Kind):
            raise Broken("an array without element type")
        if isinstance(shape, int):
            shape = (shape,)
        if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):
            raise Broken("the shape of an array is wrong")
        memory = _memory_of(raw)
        if math.prod(shape) * kind.np.itemsize != memory.nbytes:
            raise Broken(f"an array of {math.prod(shape)} elements of {kind.np} with {memory.nbytes} bytes")
        if not memory.nbytes:
            self.value = np.empty(shape, kind.np)
            return self
        if kind.np.kind == "b" and memory.max() > 1:
            raise Broken("an array of bool holds neither 0 nor 1")
        self.value = memory.view(kind.np).reshape(shape, order=order)  # type: ignore[call-overload]
        return self


def _memory_of(raw: Any) -> np.ndarray:
    if isinstance(raw, Raw):
        return raw.memory
    if isinstance(raw, str):
        raw = raw.encode("latin1")
    if not isinstance(raw, (bytes, bytearray)):
        raise Broken("an array whose elements are objects")
    return np.array(np.frombuffer(raw, np.uint8))


class Code:
    """An element type of upstream's, stored as a number."""

    __slots__ = ("dtype",)
    _NAMES = {1: "bool", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "uint32", 7: "int32", 8: "uint64",
              9: "int64", 10: "float32", 11: "float64", 12: "complex64", 13: "complex128", 15: "float16",
              16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e5m2"}  # fmt: skip

    def __init__(self) -> None:
        self.dtype: DType | None = None

    def set_state(self, state: Any) -> None:
        if not isinstance(state, int) or state not in self._NAMES:
            raise Broken("an element type of Paddle's that is not known")
        self.dtype = dtype_of(self._NAMES[state])


# ---- what may be called -----------------------------------------------------------------------
def _reconstruct(subtype: Any, shape: Any, kind: Any) -> Array:
    if not isinstance(subtype, Named) or subtype.make is not _no_array:
        raise Broken("an array of a class of its own")
    return Array()


def _no_array(*args: Any) -> Any:
    raise Broken("an array that is made by hand")


def _scalar(kind: Any, raw: Any = b"") -> Any:
    return Array().fill(raw, kind, (), "C").value[()]


def _from_buffer(raw: Any, kind: Any, shape: Any, order: Any) -> Array:
    if order not in ("C", "F", "A", "K"):
        raise Broken("the order of an array is wrong")
    return Array().fill(raw, kind, shape, "F" if order == "F" else "C")


def _latin1(text: Any, encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise Broken("bytes in an encoding that is not latin1")
    return text.encode("latin1")


def _bytearray(raw: Any = b"", encoding: Any = "latin1") -> bytearray:
    return bytearray(_latin1(raw, encoding) if isinstance(raw, str) else memoryview(_memory_of(raw)))


def _bytes() -> bytes:
    return b""


def _items(obj: Any) -> Iterable[Any]:
    if not isinstance(obj, (list, tuple, set, frozenset)):
        raise Broken("a container that is made of something else")
    return obj


def _ordered(pairs: Any = ()) -> OrderedDict[Any, Any]:
    return OrderedDict((_key(k), v) for k, v in _items(pairs))


def _quoted(text: Any = None, names: Any = None) -> Any:
    """Upstream stores the tensors of static programs as eval("data", {"data": array}): the one call that is meant."""
    if text != "data" or not isinstance(names, dict) or list(names) != ["data"] or not isinstance(names["data"], Array):
        raise Refused("builtins.eval")
    return names["data"]


def _complex(re: Any = 0.0, im: Any = 0.0) -> complex:
    if not isinstance(re, (int, float)) or not isinstance(im, (int, float)):
        raise Broken("a complex number that is not made of numbers")
    return complex(re, im)


def _plain_arguments(make: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is harmless if its arguments are numbers, texts and bytes."""

    def checked(*args: Any) -> Any:
        if not all(isinstance(a, _PLAIN) for a in args):
            raise Broken("a call with something else than numbers and texts")
        return make(*args)

    return checked


def _time(raw: Any, *zone: Any) -> datetime.datetime:
    if not isinstance(raw, (bytes, str)) or len(raw) != 10 or not all(isinstance(z, datetime.timezone) for z in zone):
        raise Broken("a time that is none")
    return datetime.datetime(raw, *zone)  # type: ignore[arg-type]  (how times are stored)


def _zone(offset: Any) -> datetime.timezone:
    if not isinstance(offset, datetime.timedelta):
        raise Broken("a time zone that is none")
    return datetime.timezone(offset)


def _dtype_named(name: Any) -> DType:
    if not isinstance(name, str):
        raise Broken("an element type without name")
    return dtype_of(name)


def _generator_state(seed: Any, offset: Any, branches: Any = 0, visits: Any = None) -> Any:
    from .random import GeneratorState

    visits = {} if visits is None else visits
    numbers = [seed, offset, branches, *(visits.values() if isinstance(visits, dict) else [None])]
    if not all(type(n) is int for n in numbers) or not all(isinstance(name, str) for name in visits):
        raise Broken("the state of a generator is wrong")
    return GeneratorState(seed, offset, branches, visits)


_MAKERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): _no_array,
    ("numpy", "dtype"): Kind,
    ("collections", "OrderedDict"): _ordered,
    ("_codecs", "encode"): _latin1,
    ("datetime", "datetime"): _time,
    ("datetime", "timezone"): _zone,
    ("datetime", "timedelta"): _plain_arguments(datetime.timedelta),
    ("paddle", "dtype"): Code,
    ("paddle.engine.types", "dtype_of"): _dtype_named,
    ("paddle.framework.random", "GeneratorState"): _generator_state,
    **{(f"numpy.{core}.{module}", name): f for core in ("core", "_core") for module in ("multiarray", "numeric")
       for name, f in (("_reconstruct", _reconstruct), ("scalar", _scalar), ("_frombuffer", _from_buffer))},
    **{(module, name): f for module in ("builtins", "__builtin__")
       for name, f in (
           ("tuple", lambda x=(): tuple(_items(x))), ("list", lambda x=(): list(_items(x))),
           ("set", lambda x=(): {_key(k) for k in _items(x)}),
           ("frozenset", lambda x=(): frozenset(_key(k) for k in _items(x))),
           ("slice", _plain_arguments(slice)), ("range", _plain_arguments(range)), ("xrange", _plain_arguments(range)),
           ("complex", _complex), ("bytearray", _bytearray), ("bytes", _bytes), ("eval", _quoted),
       )},
}  # fmt: skip


def _key(key: Any) -> Any:
    """A key of a dictionary or a member of a set, if it is plain and small."""
    if isinstance(key, _PLAIN):
        return key
    parts, budget = [key], _KEY_PARTS
    while parts:
        part = parts.pop()
        budget -= 1
        if isinstance(part, (tuple, frozenset)) and budget >= len(part):
            parts.extend(part)
        elif not isinstance(part, _PLAIN):
            raise Broken("a key that is no number, text or short tuple of them")
    return key


# ---- the machine ------------------------------------------------------------------------------
class _Machine:
    """One run through one pickle."""

    def __init__(self, source: Source):
        self.source = source
        self.stack: list[Any] = []
        self.marked: list[list[Any]] = []  # stacks below the marks
        self.memo: dict[int, Any] = {}
        self.budget = 8 * source.size + (1 << 20)  # bytes that calls may make of what the file holds

    def run(self) -> Any:
        byte, known = self.source.byte, _INSTRUCTIONS
        while True:
            code = byte()
            if code == 46:  # STOP
                if len(self.stack) != 1 or self.marked:
                    raise Broken("it stops in the middle")
                return self.stack[0]
            instruction = known.get(code)
            if instruction is None:
                raise Broken(f"{code:#04x} is no instruction of a pickle that holds data")
            instruction(self)

    def number(self, form: struct.Struct) -> Any:
        return form.unpack(self.source.take(form.size))[0]

    def since_mark(self) -> list[Any]:
        if not self.marked:
            raise Broken("a mark is missing")
        found, self.stack = self.stack, self.marked.pop()
        return found

    def pop(self, n: int) -> list[Any]:
        if len(self.stack) < n:
            raise Broken("the stack is empty")
        found = self.stack[len(self.stack) - n :]
        del self.stack[len(self.stack) - n :]
        return found

    def top(self, kind: Any) -> Any:
        if not self.stack or not isinstance(self.stack[-1], kind):
            raise Broken("items for something that is no container")
        return self.stack[-1]

    # -- values --
    def text(self, n: int) -> None:
        self.stack.append(self.source.take(n).decode("utf-8", "surrogatepass"))

    def old_text(self, n: int) -> None:
        self.stack.append(self.source.take(n).decode("latin1"))

    def raw(self, n: int) -> None:
        if n < _OWN_BUFFER:
            self.stack.append(self.source.take(n))
        else:
            self.stack.append(Raw(self.memory(n)))

    def memory(self, n: int) -> np.ndarray:
        if n > self.source.left:  # said before memory is asked for
            raise Broken(f"{n} bytes are announced where {self.source.left} are left")
        out = np.empty(n, np.uint8)
        self.source.fill(out)
        return out

    def byte_array(self) -> None:
        self.stack.append(bytearray(memoryview(self.memory(self.number(_U8)))))

    def long(self, n: int) -> None:
        if n < 0:
            raise Broken("a number of negative length")
        self.stack.append(int.from_bytes(self.source.take(n), "little", signed=True))

    def written_number(self) -> None:
        line = self.source.line(1 << 13)
        if line in (b"00", b"01"):
            self.stack.append(line == b"01")
        else:
            self.stack.append(int(line.rstrip(b"L")))

    def written_string(self) -> None:
        line = self.source.line()
        if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in (b"'", b'"') or b"\\" in line:
            raise Broken("a string without quotes, or with escapes")
        self.stack.append(line[1:-1].decode("latin1"))

    # -- containers --
    def tuple_of(self, n: int) -> None:
        self.stack.append(tuple(self.pop(n)))

    def mark(self) -> None:
        self.marked.append(self.stack)
        self.stack = []

    def push_since_mark(self, make: Callable[[list[Any]], Any]) -> None:
        items = self.since_mark()
        self.stack.append(make(items))

    def extend(self, items: list[Any]) -> None:
        self.top(list).extend(items)

    def put(self, items: list[Any]) -> None:
        into = self.top(dict)
        for k, v in _pairs(items):
            into[_key(k)] = v

    def add(self, items: list[Any]) -> None:
        self.top(set).update(_key(k) for k in items)

    # -- the memo --
    def remember(self, n: int) -> None:
        if not self.stack:
            raise Broken("the stack is empty")
        self.memo[n] = self.stack[-1]

    def recall(self, n: int) -> None:
        if n not in self.memo:
            raise Broken("the memo is empty")
        self.stack.append(self.memo[n])

    # -- names and calls --
    def name(self, module: str, name: str) -> None:
        make = _MAKERS.get((module, name))
        if make is None:
            raise Refused(f"{module[:80]}.{name[:80]}")
        self.stack.append(Named(f"{module}.{name}", make))

    def old_name(self) -> None:
        module = self.source.line().decode("utf-8")
        self.name(module, self.source.line().decode("utf-8"))

    def new_name(self) -> None:
        module, name = self.pop(2)
        if not isinstance(module, str) or not isinstance(name, str):
            raise Broken("a name that is no text")
        self.name(module, name)

    def call(self) -> None:
        f, arguments = self.pop(2)
        if not isinstance(f, Named) or not isinstance(arguments, tuple):
            raise Broken("a call of something that is no function")
        try:
            made = f.make(*arguments)
        except TypeError:
            raise Broken(f"{f.name} with the wrong arguments") from None
        self.spend(made)
        self.stack.append(made)

    def build(self) -> None:
        target, state = self.pop(2)
        if not isinstance(target, (Kind, Array, Code)):
            raise Broken("a state for something that has none")
        target.set_state(state)
        self.spend(target)
        self.stack.append(target)

    def spend(self, made: Any) -> None:
        """Ends a pickle that makes a lot of a little, again and again."""
        if isinstance(made, Array):
            self.budget -= made.value.nbytes
        elif isinstance(made, (bytes, bytearray)):
            self.budget -= len(made)
        elif isinstance(made, (list, tuple, set, frozenset, dict)):
            self.budget -= 8 * len(made)
        if self.budget < 0:
            raise Broken("it makes far more data than it holds")

    def frame(self) -> None:
        n = self.number(_U8)
        if n > self.source.left:
            raise Broken(f"{n} bytes are announced where {self.source.left} are left")

    def protocol(self) -> None:
        if self.source.byte() > 5:
            raise Broken("a pickle of a protocol beyond 5")

    def persistent(self) -> None:
        raise Refused("a persistent object")

    def extension(self) -> None:
        raise Refused("an extension of pickle")


def _pairs(items: list[Any]) -> Iterable[tuple[Any, Any]]:
    if len(items) % 2:
        raise Broken("a key without value")
    it = iter(items)
    return zip(it, it)


def _dict(items: list[Any]) -> dict[Any, Any]:
    return {_key(k): v for k, v in _pairs(items)}


_I4, _U1, _U2, _U4, _U8 = (struct.Struct(f) for f in ("<i", "<B", "<H", "<I", "<Q"))
_F8 = struct.Struct(">d")
_Run = Callable[[_Machine], Any]


def _constant(value: Any) -> _Run:
    return lambda m: m.stack.append(value)


def _counted(form: struct.Struct, do: Callable[[_Machine, int], None]) -> _Run:
    """An instruction that is followed by a number: a length, or a place in the memo."""
    return lambda m: do(m, m.number(form))


def _pop_one(m: _Machine) -> None:
    if m.stack:
        m.stack.pop()
    else:
        m.since_mark()


_M = _Machine
_INSTRUCTIONS: dict[int, _Run] = {
    code[0]: run
    for code, run in {
        pickle.PROTO: _M.protocol, pickle.FRAME: _M.frame, pickle.MARK: _M.mark, pickle.POP: _pop_one,
        pickle.POP_MARK: lambda m: m.since_mark(), pickle.DUP: lambda m: m.stack.append(m.top(object)),
        pickle.NONE: _constant(None), pickle.NEWTRUE: _constant(True), pickle.NEWFALSE: _constant(False),
        pickle.INT: _M.written_number, pickle.LONG: _M.written_number,
        pickle.FLOAT: lambda m: m.stack.append(float(m.source.line(1 << 10))),
        pickle.BININT: lambda m: m.stack.append(m.number(_I4)),
        pickle.BININT1: lambda m: m.stack.append(m.source.byte()),
        pickle.BININT2: lambda m: m.stack.append(m.number(_U2)),
        pickle.BINFLOAT: lambda m: m.stack.append(m.number(_F8)),
        pickle.LONG1: _counted(_U1, _M.long), pickle.LONG4: _counted(_I4, _M.long),
        pickle.UNICODE: lambda m: m.stack.append(m.source.line().decode("raw-unicode-escape")),
        pickle.SHORT_BINUNICODE: _counted(_U1, _M.text), pickle.BINUNICODE: _counted(_U4, _M.text),
        pickle.BINUNICODE8: _counted(_U8, _M.text),
        pickle.STRING: _M.written_string, pickle.SHORT_BINSTRING: _counted(_U1, _M.old_text),
        pickle.BINSTRING: _counted(_U4, _M.old_text),
        pickle.SHORT_BINBYTES: _counted(_U1, _M.raw), pickle.BINBYTES: _counted(_U4, _M.raw),
        pickle.BINBYTES8: _counted(_U8, _M.raw), pickle.BYTEARRAY8: _M.byte_array,
        pickle.EMPTY_TUPLE: _constant(()), pickle.TUPLE: lambda m: m.push_since_mark(tuple),
        pickle.TUPLE1: lambda m: m.tuple_of(1), pickle.TUPLE2: lambda m: m.tuple_of(2),
        pickle.TUPLE3: lambda m: m.tuple_of(3),
        pickle.EMPTY_LIST: lambda m: m.stack.append([]), pickle.LIST: lambda m: m.push_since_mark(list),
        pickle.APPEND: lambda m: m.extend(m.pop(1)), pickle.APPENDS: lambda m: m.extend(m.since_mark()),
        pickle.EMPTY_DICT: lambda m: m.stack.append({}), pickle.DICT: lambda m: m.push_since_mark(_dict),
        pickle.SETITEM: lambda m: m.put(m.pop(2)), pickle.SETITEMS: lambda m: m.put(m.since_mark()),
        pickle.EMPTY_SET: lambda m: m.stack.append(set()), pickle.ADDITEMS: lambda m: m.add(m.since_mark()),
        pickle.FROZENSET: lambda m: m.push_since_mark(lambda items: frozenset(_key(k) for k in items)),
        pickle.PUT: lambda m: m.remember(int(m.source.line(32))),
        pickle.GET: lambda m: m.recall(int(m.source.line(32))),
        pickle.BINPUT: _counted(_U1, _M.remember), pickle.LONG_BINPUT: _counted(_U4, _M.remember),
        pickle.BINGET: _counted(_U1, _M.recall), pickle.LONG_BINGET: _counted(_U4, _M.recall),
        pickle.MEMOIZE: lambda m: m.remember(len(m.memo)),
        pickle.GLOBAL: _M.old_name, pickle.STACK_GLOBAL: _M.new_name, pickle.REDUCE: _M.call, pickle.NEWOBJ: _M.call,
        pickle.BUILD: _M.build, pickle.PERSID: _M.persistent, pickle.BINPERSID: _M.persistent,
        pickle.EXT1: _M.extension, pickle.EXT2: _M.extension, pickle.EXT4: _M.extension,
    }.items()
}  # fmt: skip


def read(source: Source) -> Any:
    """The object of the next pickle, with stand-ins for arrays.

    Raises:
        Refused: it names something that could run code.
        Broken: it is cut off, or something else than a pickle of plain data.
    """
    try:
        return _Machine(source).run()
    except (UnicodeDecodeError, OverflowError, struct.error) as e:
        raise Broken(f"{type(e).__name__} at byte {source.size - source.left}") from None
    except ValueError as e:
        if isinstance(e, Broken):
            raise
        raise Broken(str(e)[:200]) from None
