"""`paddle.save` and `paddle.load`: Paddle's files of parameters, states and nested objects.

A file is a pickle in which Tensors are numpy arrays: of a state dictionary by name, with the names of the Tensors
under `StructuredToParameterName@@`; elsewhere as (name, array). Such files are read without running code from them.
"""

from __future__ import annotations

import io
import os
import pickle
import struct
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.eager.trace import from_array
from ..engine.types import dtype_of
from ..tensor.tensor import Tensor

__all__ = ["load", "save"]

_NAMES = "StructuredToParameterName@@"
_BIG = "UnpackBigParamInfor@@"
_BIG_BYTES = 2**30  # pickle protocols 2 and 3 cannot hold longer arrays


# ---- saving -----------------------------------------------------------------------------------
def _plain(t: Tensor) -> np.ndarray:
    """The values as numpy without ml_dtypes: bfloat16 as uint16, float8 as int8, as upstream stores them."""
    a = t.array()
    if t.type.dtype is types.bfloat16:
        return a.view(np.uint16)
    return a.view(np.int8) if t.type.dtype.name.startswith("float8") else a


class _Pickler(pickle.Pickler):
    """Writes Tensors as (name, array)."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return tuple, ((obj.name, _plain(obj)),)
        return NotImplemented


def _holds(obj: Any, kind: Any) -> bool:
    if isinstance(obj, kind):
        return True
    if isinstance(obj, dict):
        return any(_holds(v, kind) for v in obj.values())
    if isinstance(obj, (list, tuple, set)):
        return any(_holds(v, kind) for v in obj)
    return False


def _is_state_dict(obj: Any) -> bool:
    """A dictionary of Tensors, and of dictionaries without Tensors."""
    if not isinstance(obj, dict):
        return False
    for value in obj.values():
        if isinstance(value, dict):
            if any(_holds(v, Tensor) for v in value.values()):
                return False
        elif not isinstance(value, Tensor):
            return False
    return True


def _state_dict_to_plain(obj: dict[Any, Any], protocol: int) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    names: dict[Any, str] = {}
    for key, value in obj.items():
        if isinstance(value, Tensor):
            out[key], names[key] = _plain(value), value.name
        else:
            out[key] = value
    out[_NAMES] = names
    if protocol < 4:
        _split_big(out)
    return out


def _split_big(out: dict[Any, Any]) -> None:
    parts: dict[Any, Any] = {}
    for key in list(out):
        a = out[key]
        if isinstance(a, np.ndarray) and a.nbytes > _BIG_BYTES:
            n = max(_BIG_BYTES // a.itemsize, 1)
            flat = a.ravel()
            names = []
            for i in range(0, a.size, n):
                names.append(f"{key}@@.{i // n}")
                out[names[-1]] = flat[i : i + n]
            parts[key] = {"OriginShape": a.shape, "slices": names}
            del out[key]
    if parts:
        out[_BIG] = parts


def _write_atomically(path: str, write: Callable[[Any], None]) -> None:
    """The file holds either what it held before or all of what `write` wrote."""
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as f:
            write(f)
            f.flush()
            os.fsync(f.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        try:
            os.unlink(temporary)
        except FileNotFoundError:
            pass  # the replacement has happened
        raise
    if hasattr(os, "O_DIRECTORY"):
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        except OSError:
            pass  # some file systems cannot; the file itself is safe
        finally:
            os.close(directory)


def save(obj: Any, path: str | os.PathLike[str] | io.BytesIO, protocol: int = 4, **configs: Any) -> None:
    """Saves an object made of Tensors, numbers, strings, lists and dictionaries.

    A crash while saving leaves the file that was there before.

    Args:
        obj (Any): a state dictionary, a Tensor, or nested lists and dictionaries of them. No Layer: its state_dict().
        path (str|PathLike|BytesIO): where to; folders are made.
        protocol (int): of pickle, 2 to 4. Default: 4.
        **configs: `use_binary_format` (bool): one Tensor without pickle. `pickle_protocol` (int): as protocol.

    Raises:
        ValueError: a Layer, a path that names no file, an unknown configuration.

    Examples:
        >>> import tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "fc.pdparams")
        >>> paddle.save(paddle.nn.Linear(2, 3).state_dict(), path)
        >>> list(paddle.load(path))
        ['weight', 'bias']
    """
    for key in configs:
        if key not in ("use_binary_format", "pickle_protocol"):
            raise errors.invalid_argument(
                f"save: the configuration {key} is not known.", expected="use_binary_format", received=key
            )
    protocol = configs.get("pickle_protocol", protocol)
    if not isinstance(protocol, int) or isinstance(protocol, bool) or not 1 < protocol < 5:
        raise errors.invalid_argument(
            "save: the protocol is not supported.", expected="an int from 2 to 4", received=f"protocol: {protocol!r}"
        )
    if isinstance(path, (str, os.PathLike)):
        path = os.fspath(path)
        if not os.path.basename(path):
            raise errors.invalid_argument(
                "save: the path names no file.", expected="folder/file", received=f"path: {path!r}"
            )
    elif not hasattr(path, "write"):
        raise errors.invalid_argument(
            "save: this is no place to save to.", expected="a path or a BytesIO", received=type(path).__name__
        )
    from ..nn.layer.layers import Layer

    if _holds(obj, Layer):
        raise errors.invalid_argument(
            "save: a Layer cannot be saved as an object.",
            expected="Tensors, numbers, strings, lists, dictionaries",
            received="a Layer",
            hint="save layer.state_dict(), or use paddle.jit.save.",
        )
    if configs.get("use_binary_format"):
        if not isinstance(obj, Tensor):
            raise errors.unimplemented(
                "save: the binary format holds one Tensor.", expected="a Tensor", received=type(obj).__name__
            )
        write: Callable[[Any], None] = lambda f: f.write(_to_binary(obj))
    else:
        plain = _state_dict_to_plain(obj, protocol) if _is_state_dict(obj) else obj
        write = lambda f: _Pickler(f, protocol).dump(plain)
    if isinstance(path, str):
        _write_atomically(path, write)
    else:
        write(path)


# ---- loading ----------------------------------------------------------------------------------
class _Kind:
    """Stands for a numpy dtype while a file is read: numbers only, so that no state of a file reaches numpy's own."""

    def __init__(self, name: Any = None, align: Any = False, copy: Any = False) -> None:
        kind = np.dtype(name) if isinstance(name, str) else None
        if kind is None or kind.kind not in "biufcSU" or kind.fields:
            raise pickle.UnpicklingError(f"an element type {name!r}")
        self.kind = kind

    def __setstate__(self, state: Any) -> None:
        order = state[1]
        if order in ("<", ">", "="):
            self.kind = self.kind.newbyteorder(order)


class _Array:
    """Stands for a numpy array while a file is read. Made by `_reconstruct`, filled by its state."""

    value: np.ndarray = np.zeros(0)

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, fortran, raw = state
        raw = raw.encode("latin1") if isinstance(raw, str) else raw
        self.value = np.frombuffer(raw, kind.kind).reshape(shape, order="F" if fortran else "C")


def _reconstruct(subtype: Any, shape: Any, kind: Any) -> _Array:
    if subtype is not _Array:
        raise pickle.UnpicklingError(f"an array of class {subtype!r}")
    return _Array()


def _scalar(kind: Any, raw: Any = None) -> Any:
    raw = raw.encode("latin1") if isinstance(raw, str) else raw
    return np.frombuffer(raw, kind.kind, 1)[0]


def _from_buffer(raw: Any, kind: Any, shape: Any, order: Any) -> _Array:
    out = _Array()
    out.value = np.frombuffer(bytes(raw), kind.kind).reshape(shape, order=order)
    return out


def _latin1(text: str, encoding: str = "latin1") -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError(f"the encoding {encoding!r}")
    return text.encode("latin1")


def _bytearray(raw: Any = b"", encoding: str = "latin1") -> bytearray:
    return bytearray(_latin1(raw, encoding) if isinstance(raw, str) else bytes(memoryview(raw)))


def _bytes() -> bytes:
    return b""


_ARRAYS = {"_reconstruct": _reconstruct, "scalar": _scalar, "_frombuffer": _from_buffer}
_HARMLESS: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Kind,
    ("collections", "OrderedDict"): OrderedDict,
    ("_codecs", "encode"): _latin1,
    **{(f"numpy.{c}.{m}", n): f for c in ("core", "_core") for m in ("multiarray", "numeric")
       for n, f in _ARRAYS.items()},
    **{(b, n): t for b in ("builtins", "__builtin__")
       for n, t in (("tuple", tuple), ("set", set), ("frozenset", frozenset), ("complex", complex),
                    ("bytearray", _bytearray), ("bytes", _bytes))},
}  # fmt: skip


class _Unpickler(pickle.Unpickler):
    """Makes plain containers, numbers and arrays; refuses every other class or function."""

    def find_class(self, module: str, name: str) -> Any:
        found = _HARMLESS.get((module, name))
        if found is None:
            raise _Refused(f"{module}.{name}")
        return found

    def persistent_load(self, pid: Any) -> Any:
        raise _Refused(f"the persistent object {pid!r}")


class _Refused(pickle.UnpicklingError):
    """The file names something that could run code."""


def _name_of(path: Any) -> str:
    return path if isinstance(path, str) else type(path).__name__


def _read(f: Any, path: Any) -> Any:
    try:
        return _Unpickler(f, encoding="latin1").load()
    except _Refused as e:
        raise errors.invalid_argument(
            f"load: {_name_of(path)} asks for {e}, which is not loaded from files: it could run code.",
            expected="Tensors, arrays, numbers, strings, lists, tuples, dictionaries",
            received=str(e),
            hint="do not use this file unless you know where it comes from.",
        ) from None
    except MemoryError:
        raise
    except Exception as e:
        raise _unreadable(path, e) from None


def _unreadable(path: Any, e: Exception) -> Exception:
    return errors.invalid_argument(
        f"load: {_name_of(path)} cannot be read.",
        expected="a whole file written by paddle.save",
        received=f"{type(e).__name__}: {e}",
        hint="the file is cut off, or of another format.",
    )


def _to_tensor(a: np.ndarray, name: str | None = None) -> Tensor:
    if a.dtype == np.uint16:
        a = a.view(types.bfloat16.np)
    kind = dtype_of(a.dtype)
    owned = np.array(a, kind.np, order="C")
    t: Any = from_array(owned)
    if name is not None:
        t.name = name
    return t


def _is_pair(obj: Any) -> bool:
    return isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[0], str) and isinstance(obj[1], _Array)


def _revive(obj: Any, as_numpy: bool, name: str | None = None) -> Any:
    """Tensors, or arrays, in place of what stands for them."""
    if _is_pair(obj):
        name, obj = obj
    if isinstance(obj, _Array):
        a = obj.value
        return np.array(a) if as_numpy or a.dtype.kind not in "biufc" else _to_tensor(a, name)
    if isinstance(obj, dict):
        return type(obj)((k, _revive(v, as_numpy)) for k, v in obj.items())
    if isinstance(obj, (list, tuple, set)):
        return type(obj)(_revive(v, as_numpy) for v in obj)
    return obj


def _from_state_dict(obj: dict[Any, Any], as_numpy: bool, keep_names: bool) -> dict[Any, Any]:
    for key, info in obj.pop(_BIG, {}).items():
        whole = obj[key] = _Array()
        whole.value = np.concatenate([obj.pop(n).value for n in info["slices"]]).reshape(info["OriginShape"])
    names = obj.get(_NAMES) or {}
    return {k: _revive(v, as_numpy, names.get(k)) for k, v in obj.items() if k != _NAMES or keep_names}


def load(path: str | os.PathLike[str] | io.BytesIO, **configs: Any) -> Any:
    """Loads what `save`, here or in PaddlePaddle, has written. No code from the file is run.

    Args:
        path (str|PathLike|BytesIO): where from.
        **configs: `return_numpy` (bool): arrays rather than Tensors. `keep_name_table` (bool): keeps the names of a
            state dictionary's Tensors under `StructuredToParameterName@@`.

    Returns:
        Any: as it was saved. Tensors have stop_gradient True.

    Raises:
        ValueError: there is no such file, it is cut off, of another format, or asks for something that could run code.

    Examples:
        >>> import io
        >>> f = io.BytesIO()
        >>> paddle.save({"step": 3, "x": paddle.ones([2])}, f)
        >>> _ = f.seek(0)
        >>> paddle.load(f)["step"]
        3
    """
    for key in configs:
        if key not in ("return_numpy", "keep_name_table", "model_filename", "params_filename"):
            raise errors.invalid_argument(
                f"load: the configuration {key} is not known.",
                expected="return_numpy, keep_name_table",
                received=key,
            )
    as_numpy, keep = bool(configs.get("return_numpy")), bool(configs.get("keep_name_table"))
    if isinstance(path, (str, os.PathLike)):
        path = os.fspath(path)
        if not os.path.isfile(path):
            near = [path + s for s in (".pdparams", ".pdopt") if os.path.isfile(path + s)]
            raise errors.invalid_argument(
                f"load: there is no file {path}.",
                expected="the path of a file",
                received=f"path: {path!r}" + (" (a folder)" if os.path.isdir(path) else ""),
                hint=f"did you mean {' or '.join(near)}?" if near else "",
            )
        with open(path, "rb") as f:
            return _load(f, path, as_numpy, keep)
    if hasattr(path, "read"):
        return _load(path, path, as_numpy, keep)
    raise errors.invalid_type(
        "load: this is no place to load from.", expected="a path or a BytesIO", received=type(path).__name__
    )


def _load(f: Any, path: Any, as_numpy: bool, keep: bool) -> Any:
    start = f.read(4)
    f.seek(-len(start), os.SEEK_CUR)
    if start == b"\0\0\0\0":
        a = _from_binary(f.read(), path)
        return a if as_numpy else from_array(a)
    obj = _read(f, path)
    try:
        if isinstance(obj, dict) and (_NAMES in obj or _BIG in obj):
            return _from_state_dict(obj, as_numpy, keep)
        return _revive(obj, as_numpy)
    except (AttributeError, KeyError, TypeError, ValueError) as e:
        raise _unreadable(path, e) from None


# ---- the binary form of one tensor ------------------------------------------------------------
# uint32 0, uint64 levels of detail (0), uint32 0, int32 length, description, data. The description is a protocol
# buffer: field 1 the element type, field 2 (repeated) the sizes. Everything is little endian.
_CODES = {"bool": 0, "int16": 1, "int32": 2, "int64": 3, "float16": 4, "float32": 5, "float64": 6, "uint8": 20,
          "int8": 21, "bfloat16": 22, "complex64": 23, "complex128": 24}  # fmt: skip


def _varint(n: int) -> bytes:
    n &= 2**64 - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def _to_binary(t: Tensor) -> bytes:
    code = _CODES.get(t.type.dtype.name)
    if code is None:
        raise errors.unimplemented(f"save: the binary format has no {t.type.dtype.name}.")
    description = b"\x08" + _varint(code) + b"".join(b"\x10" + _varint(n) for n in t.type.shape)
    return struct.pack("<IQIi", 0, 0, 0, len(description)) + description + t.array().tobytes()


def _from_binary(raw: bytes, path: Any) -> np.ndarray:
    try:
        _, levels, _, length = struct.unpack_from("<IQIi", raw)
        at, end = 20, 20 + length
        if levels or length < 0 or end > len(raw):
            raise ValueError("the header is wrong")
        code, shape = None, []
        while at < end:
            tag = raw[at]
            at, value, shift = at + 1, 0, 0
            while True:
                byte = raw[at]
                value |= (byte & 127) << shift
                at, shift = at + 1, shift + 7
                if byte < 128:
                    break
            if tag == 0x08:
                code = value
            elif tag == 0x10:
                shape.append(value)
            else:
                raise ValueError(f"the field {tag} is not known")
        kind = dtype_of({c: n for n, c in _CODES.items()}[code])  # type: ignore[index]
        return np.array(np.frombuffer(raw, kind.np, int(np.prod(shape, dtype=np.int64)), end).reshape(shape))
    except (ValueError, KeyError, IndexError, struct.error, TypeError) as e:
        raise _unreadable(path, e) from None
