"""Saved programs on disk: `NAME.json`, the programs, and `NAME.pdiparams`, their weights in the format safetensors.

Described in docs/saved-models.md. Nothing here needs a Layer: `SavedProgram` is what a pair of files holds.

Opening executes nothing. What is read is at most a small multiple of the files; both are held against hashes, and every
program is brought to types once before anything is handed out.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.ir import saved
from ..engine.ir.graph import Graph
from ..engine.opened import OpenGraph
from ..engine.ops.tables import Table
from ..engine.types import DType, TensorType, dtype_of, int64
from ..framework import safetensors
from ..framework.atomic import write_atomically
from ..framework.source import Broken, Source

__all__: list[str] = []

FORMAT, VERSION = "openpaddle-program", 1
JSON, WEIGHTS = ".json", ".pdiparams"
MOST_JSON_BYTES = 1 << 28
EXAMPLE = "example:"  # begins the names of recorded arrays among the weights
KEY = TensorType((2,), int64)


@dataclass
class Weight:
    """A tensor that programs read.

    Attributes:
        array: its value.
        dtype: its element type.
        parameter: it is a Parameter; else a buffer, or a constant of the program.
        trainable: gradients flow to it.
        persistable: it is part of the state of a Layer.
    """

    array: np.ndarray
    dtype: DType
    parameter: bool = True
    trainable: bool = True
    persistable: bool = True


@dataclass
class Example:
    """Recorded arrays: what comes out for what comes in, within a tolerance."""

    inputs: list[np.ndarray]
    outputs: list[np.ndarray]
    rtol: float
    atol: float


@dataclass
class Method:
    """One program.

    Attributes:
        program: the graph. Its inputs are feeds, weights and random keys; its outputs results, then new weights.
        roles: of each input of the graph: "feed", "key", or ("weight", name).
        outputs: names of the results.
        updates: weights that take a new value in each run: in the order of the outputs that follow the results.
        structure: of the result, see docs/saved-models.md. None: a Tensor.
        example: recorded arrays, or None.
        sizes: open sizes that the program is known to take.
    """

    program: OpenGraph
    roles: list[Any]
    outputs: list[str]
    sizes: tuple[int, ...] = ()
    updates: list[str] = field(default_factory=list)
    structure: Any = None
    example: Example | None = None

    @property
    def feeds(self) -> list[int]:
        """The inputs of the graph that are fed, in order."""
        return [i for i, r in enumerate(self.roles) if r == "feed"]

    @property
    def names(self) -> list[str]:
        """The names of the feeds."""
        return [self.program.names[i] for i in self.feeds]


@dataclass
class SavedProgram:
    """What a pair of files holds.

    Attributes:
        methods: programs by name; "forward" is that of a Layer's call.
        weights: by name.
        training: whether the Layer was in training mode.
    """

    methods: dict[str, Method]
    weights: dict[str, Weight]
    training: bool = False


# ---- writing ----------------------------------------------------------------------------------
def pieces(program: SavedProgram) -> tuple[bytes, list[Any]]:
    """The bytes of the `.json` file, and what the `.pdiparams` file consists of.

    Raises:
        ValueError: a weight has an element type that the format has no word for.
    """
    arrays: dict[str, tuple[DType, np.ndarray]] = {}
    for name, w in program.weights.items():
        if name.startswith(EXAMPLE):
            raise errors.invalid_argument("save: the name of a weight is taken.", received=name)
        arrays[name] = (w.dtype, w.array)
    methods = {}
    for name, m in program.methods.items():
        told: Any = None
        if m.example is not None:
            told = {"rtol": m.example.rtol, "atol": m.example.atol, "inputs": [], "outputs": []}
            for kind in ("inputs", "outputs"):
                for i, a in enumerate(getattr(m.example, kind)):
                    label = f"{EXAMPLE}{name}:{kind}:{i}"
                    arrays[label] = (dtype_of(a.dtype), a)
                    told[kind].append(label)
        methods[name] = {
            "roles": [list(r) if isinstance(r, tuple) else r for r in m.roles],
            "outputs": m.outputs, "updates": m.updates, "structure": m.structure, "example": told,
            "sizes": list(m.sizes), "program": m.program.data,
        }  # fmt: skip
    table = {}
    for name, (d, a) in arrays.items():
        if safetensors.code_of(d) is None:
            raise errors.invalid_argument(
                "save: safetensors has no word for an element type.",
                expected="a real, integer, bool or complex64 dtype",
                received=f"{name}: {d.name}",
                hint="cast it before.",
            )
        table[name] = {"shape": list(a.shape), "dtype": d.name, "sha256": _hash_of(a)}
        w = program.weights.get(name)
        if w is not None:
            table[name].update(parameter=w.parameter, trainable=w.trainable, persistable=w.persistable)
    body = {"training": program.training, "methods": methods, "tensors": table}
    text = _text(body)
    head = json.dumps({"format": FORMAT, "version": VERSION, "sha256": hashlib.sha256(text).hexdigest()})
    whole = head[:-1].encode() + b', "body": ' + text + b"}"
    return whole, list(safetensors.pieces(arrays))


def write(path: str, program: SavedProgram) -> None:
    """Writes `path` + ".json" and `path` + ".pdiparams": both, or none where writing fails.

    Raises:
        ValueError: as `pieces`. OSError: a file cannot be written; then both are what they were.
    """
    write_files(path + JSON, path + WEIGHTS, program)


def write_files(json_path: str, weights_path: str, program: SavedProgram) -> None:
    """Writes two files of any names, as `write` does."""
    text, data = pieces(program)

    def write_weights(f: Any) -> None:
        for piece in data:
            f.write(piece)

    def write_json(f: Any) -> None:  # complete before the weights are replaced, and renamed right after them
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
        write_atomically(weights_path, write_weights)

    write_atomically(json_path, write_json)


def _text(body: Any) -> bytes:
    return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()


def _hash_of(a: np.ndarray) -> str:
    a = np.ascontiguousarray(a)
    h = hashlib.sha256()
    if a.nbytes:
        h.update(memoryview(a.reshape(-1).view(np.uint8)))
    return h.hexdigest()


# ---- reading ----------------------------------------------------------------------------------
def read(path: str) -> SavedProgram:
    """Reads `path` + ".json" and `path` + ".pdiparams".

    Raises:
        ValueError: there are no such files.
        ValueError, which is a RuntimeError too: the files are damaged, of another version, or do not belong together.
        NotImplementedError: the files are Paddle's.
    """
    if not os.path.isfile(path + JSON):
        if os.path.isfile(path + ".pdmodel"):
            raise paddles(path + ".pdmodel", "protobuf")
        raise errors.invalid_argument(
            "load: there is no such model.", expected=f"the files {path}{JSON} and {path}{WEIGHTS}",
            received=f"no file {path}{JSON}", hint="give the path that jit.save got, without an ending.",
        )  # fmt: skip
    return read_files(path + JSON, path + WEIGHTS)


def read_files(json_path: str, weights_path: str) -> SavedProgram:
    """Reads two files of any names, as `read` does."""
    with open(json_path, "rb") as f:
        size = os.fstat(f.fileno()).st_size
        if size > MOST_JSON_BYTES:
            raise _damaged(json_path, f"it has {size} bytes; {MOST_JSON_BYTES} at most are read")
        text = f.read(MOST_JSON_BYTES + 1)
    if not os.path.isfile(weights_path):
        body = _body(text, json_path)
        if body["tensors"]:
            raise errors.invalid_argument(
                "load: the weights are missing.", expected=f"the file {weights_path}", received="no such file"
            )
        return _checked(body, None, json_path, weights_path)
    with open(weights_path, "rb") as f:
        return _checked(_body(text, json_path), f, json_path, weights_path)


def read_bytes(text: bytes, weights: bytes) -> SavedProgram:
    """Reads what two files hold, from memory."""
    return _checked(_body(text, "the program"), io.BytesIO(weights), "the program", "the weights")


def paddles(name: str, kind: str) -> Exception:
    """The error for a program that Paddle has written."""
    return errors.unimplemented(
        "load: this is a program that Paddle has written; reading these is not there yet.",
        expected="a program saved by this project (paddle.jit.save)", received=f"{name}: {kind}",
        hint="load the weights into the Layer's source, with paddle.load of a .pdparams file, and save it here.",
    )  # fmt: skip


def _damaged(name: str, fact: str, hint: str = "") -> Exception:
    return errors.damaged(
        "load: the saved program cannot be read.", expected="files as jit.save wrote them", received=f"{name}: {fact}",
        hint=hint,
    )  # fmt: skip


def _body(text: bytes, name: str) -> dict[str, Any]:
    """What the JSON file holds, once its hash is right."""
    if text[:1] != b"{":
        if text[:1] in (b"\x0a", b"\x12"):  # the first field of a ProgramDesc, as protobuf has it
            raise paddles(name, "protobuf")
        raise _damaged(name, "it is no JSON")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise _damaged(name, f"it is no JSON: {str(e)[:100]}") from None
    if "base_code" in data:
        raise paddles(name, "JSON of PIR")
    if data.get("format") != FORMAT:
        raise _damaged(name, f"its format is {str(data.get('format'))[:40]!r}, not {FORMAT!r}")
    if data.get("version") != VERSION:
        raise _damaged(
            name,
            f"its version is {str(data.get('version'))[:40]}; this reads {VERSION}",
            "a newer OpenPaddle may read it.",
        )
    body = data.get("body")
    try:
        right = isinstance(body, dict) and hashlib.sha256(_text(body)).hexdigest() == data.get("sha256")
    except (ValueError, RecursionError):
        right = False
    if not right:
        raise _damaged(name, "its hash is another than it says: it was changed or cut off")
    return body


def _checked(body: dict[str, Any], f: Any, json_name: str, weights_name: str) -> SavedProgram:
    try:
        arrays = _read_arrays(body, f)
    except Broken as e:
        raise _damaged(weights_name, str(e)) from None
    try:
        return _program(body, arrays)
    except NotImplementedError:
        raise
    except ValueError as e:
        raise _damaged(json_name, str(e)) from None
    except (TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, ArithmeticError) as e:
        raise _damaged(json_name, f"{type(e).__name__}: {str(e)[:200]}") from None


def _read_arrays(body: dict[str, Any], f: Any) -> dict[str, np.ndarray]:
    table = body.get("tensors")
    if not isinstance(table, dict):
        raise Broken("the program has no table of tensors")
    arrays: dict[str, np.ndarray] = {}
    if f is not None:
        source = Source(f)
        if not safetensors.is_one(source.peek(9)):
            raise Broken(
                "it is not of the format safetensors" + (", but Paddle's own" if source.peek(4) == bytes(4) else "")
            )
        arrays = safetensors.read(source)
    if arrays.keys() != table.keys():
        other = sorted(arrays.keys() ^ table.keys())[0]
        raise Broken(f"it does not belong to the program: {other[:80]!r} is in one of them only")
    for name, told in table.items():
        a = arrays[name]
        if (
            not isinstance(told, dict)
            or told.get("shape") != list(a.shape)
            or told.get("dtype") != dtype_of(a.dtype).name
        ):
            raise Broken(f"{name[:80]!r} has another type than the program says")
        if _hash_of(a) != told.get("sha256"):
            raise Broken(
                f"the hash of {name[:80]!r} is another than the program says: it was changed, or is of another save"
            )
    return arrays


def _program(body: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> SavedProgram:
    weights = {}
    for name, told in body["tensors"].items():
        if not name.startswith(EXAMPLE):
            flags = [_flag(told, k) for k in ("parameter", "trainable", "persistable")]
            weights[name] = Weight(arrays[name], dtype_of(told["dtype"]), *flags)
    methods = {}
    if not isinstance(body.get("methods"), dict):
        raise ValueError("there are no methods")
    for name, told in body["methods"].items():
        if not name.isidentifier() or name.startswith("__"):
            raise ValueError(f"{name[:80]!r} is no name of a method")
        methods[name] = _method(told, weights, arrays)
    return SavedProgram(methods, weights, _flag(body, "training"))


def _method(told: dict[str, Any], weights: dict[str, Weight], arrays: Mapping[str, np.ndarray]) -> Method:
    program = OpenGraph(told["program"])
    roles = [tuple(r) if type(r) is list else r for r in saved.list_in(told, "roles")]
    if len(roles) != len(program.inputs):
        raise ValueError(f"{len(roles)} roles of {len(program.inputs)} inputs")
    for i, role in enumerate(roles):
        shape, dtype = program.shape(i), program.inputs[i][1]
        if role == "feed":
            continue
        if role == "key":
            fits = shape == KEY.shape and dtype is KEY.dtype
        elif type(role) is tuple and len(role) == 2 and role[0] == "weight" and role[1] in weights:
            fits = shape == weights[role[1]].array.shape and dtype is weights[role[1]].dtype
        else:
            raise ValueError(f"an input has no role: {str(role)[:80]}")
        if not fits:
            raise ValueError(f"the input {str(role)[:80]} has another type in the program")
    outputs, updates = saved.list_in(told, "outputs"), saved.list_in(told, "updates")
    if not all(type(x) is str for x in (*outputs, *updates)) or len(outputs) + len(updates) != len(program.outputs):
        raise ValueError("the names of the outputs are not those of the program")
    for name, (_, shape, dtype) in zip(updates, program.outputs[len(outputs) :]):
        if name not in weights or weights[name].array.shape != shape or weights[name].dtype is not dtype:
            raise ValueError(f"the weight {name[:80]!r} cannot take its new value")
    sizes = tuple(saved.list_in(told, "sizes"))
    if len(sizes) != program.count or not all(type(n) is int and 0 <= n < 1 << 32 for n in sizes):
        raise ValueError("the sizes are none")
    method = Method(program, roles, outputs, sizes, updates, told.get("structure"))
    if method.names != list(dict.fromkeys(method.names)):
        raise ValueError("two inputs have one name")
    example = told.get("example")
    if example is not None:
        ins, outs = ([arrays[n] for n in saved.list_in(example, k)] for k in ("inputs", "outputs"))
        rtol, atol = (float(example[k]) for k in ("rtol", "atol"))
        if not (math.isfinite(rtol) and math.isfinite(atol)) or len(outs) != len(outputs):
            raise ValueError("the example does not fit the program")
        method.example = Example(ins, outs, rtol, atol)
        program.sizes_of(types_for(method, [TensorType(a.shape, dtype_of(a.dtype)) for a in ins]))
    program.graph(sizes)  # it can be brought to types
    return method


def types_for(method: Method, feeds: Sequence[TensorType]) -> list[TensorType]:
    """The types of all inputs of the graph, where the feeds have these."""
    given = iter(feeds)
    program, found = method.program, []
    if len(feeds) != len(method.feeds):
        raise errors.invalid_argument(
            "program: the number of inputs is another.",
            expected=f"{len(method.feeds)}: {', '.join(method.names)}", received=str(len(feeds)),
        )  # fmt: skip
    for i, role in enumerate(method.roles):
        found.append(next(given) if role == "feed" else TensorType(program.shape(i), program.inputs[i][1]))
    return found


def settled(graph: Graph) -> tuple[Graph, list[np.ndarray]]:
    """The graph with its tables as further inputs, as there is nothing else that they depend on; and their values."""
    arrays: list[np.ndarray] = []

    def visit(new: Graph, node: Any, inputs: Any) -> Any:
        if not isinstance(node.op, Table):
            return None
        arrays.append(node.op.numpy())
        return (new.input(node.outputs[0].type),)

    if any(isinstance(n.op, Table) for n in graph.nodes):
        graph = graph.rebuild(visit)
    return graph, arrays


def _flag(told: dict[str, Any], name: str) -> bool:
    if type(told.get(name)) is not bool:
        raise ValueError(f"{name!r} is neither true nor false")
    return told[name]
