"""`paddle.save` and `paddle.load`: Paddle's files of parameters, states and nested objects, and safetensors.

A file of Paddle's is a pickle in which Tensors are numpy arrays: of a state dictionary by name, with the names of the
Tensors under `StructuredToParameterName@@`; elsewhere as (name, array). Files are read without running code from them.
"""

from __future__ import annotations

import io
import os
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.trace import from_array
from ..engine.types import DType
from ..tensor.tensor import Size, Tensor
from .param import Parameter as EagerParamBase  # noqa: F401  (programs look for it here)

__all__ = ["async_save", "clear_async_save_task_queue", "load", "save"]

_NAMES = "StructuredToParameterName@@"
_BIG = "UnpackBigParamInfor@@"
_MOST_BYTES = 2**30 - 1  # of one array in pickles of protocols 2 and 3, which cannot hold much longer ones


# ---- saving -----------------------------------------------------------------------------------
def _plain(t: Tensor) -> np.ndarray:
    """The values as numpy without ml_dtypes: bfloat16 as uint16, float8 as int8, as upstream stores them."""
    return _stored(t.array())


def _stored(a: np.ndarray) -> np.ndarray:
    if a.dtype.isbuiltin == 1:
        return a
    return a.view(np.uint16 if a.dtype.itemsize == 2 else np.int8)


class _Pickler(pickle.Pickler):
    """Writes Tensors as (name, array), and their shapes as lists."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return tuple, ((obj.name, _plain(obj)),)
        if isinstance(obj, Size):
            return list, (tuple(obj),)
        return NotImplemented


def _holds(obj: Any, kind: Any) -> bool:
    """Whether a nest of containers holds an object of a kind."""
    seen, parts = set(), [obj]
    while parts:
        part = parts.pop()
        if isinstance(part, kind):
            return True
        if isinstance(part, (dict, list, tuple, set)) and id(part) not in seen:
            seen.add(id(part))
            parts.extend(part.values() if isinstance(part, dict) else part)
    return False


def _is_state_dict(obj: Any) -> bool:
    """A dictionary of Tensors, and of dictionaries without Tensors."""
    return isinstance(obj, dict) and all(
        not _holds(value, Tensor) if isinstance(value, dict) else isinstance(value, Tensor) for value in obj.values()
    )


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


def _cuts(size: int, itemsize: int) -> list[tuple[int, int]]:
    """Where an array is cut that is too long for one piece: first element, and element after the last; or nothing."""
    n = _MOST_BYTES // itemsize
    return [(i, min(i + n, size)) for i in range(0, size, n)] if size > n else []


def _split_big(out: dict[Any, Any]) -> None:
    parts: dict[Any, Any] = {}
    for key in list(out):
        a = out[key]
        cuts = _cuts(a.size, a.itemsize) if isinstance(a, np.ndarray) else []
        if cuts:
            names = [f"{key}@@.{i}" for i in range(len(cuts))]
            parts[key] = {"OriginShape": a.shape, "slices": names}
            flat = a.ravel()
            del out[key]
            out.update((name, flat[begin:end]) for name, (begin, end) in zip(names, cuts))
    if parts:
        out[_BIG] = parts


def save(obj: Any, path: str | os.PathLike[str] | io.BytesIO, protocol: int = 4, **configs: Any) -> None:
    """Saves an object made of Tensors, numbers, strings, lists and dictionaries.

    A crash while saving leaves the file that was there before.

    Args:
        obj (Any): a state dictionary, a Tensor, or nested lists and dictionaries of them. No Layer: its state_dict().
        path (str|PathLike|BytesIO): where to; folders are made. A path that ends in `.safetensors` gives a file of
            that format, which holds Tensors by name and nothing else.
        protocol (int): of pickle, 2 to 4. Default: 4.
        **configs: `safetensors` (bool): that format for any path, or False: a pickle even so.
            `use_binary_format` (bool): one Tensor without pickle. `pickle_protocol` (int): as protocol.

    Raises:
        ValueError: a Layer, a path that names no file, an unknown configuration; for safetensors: something else
            than a dictionary of Tensors, or an element type that the format has no word for.
        OSError: the file cannot be written.

    Examples:
        >>> import tempfile, os
        >>> folder = tempfile.mkdtemp()
        >>> fc = paddle.nn.Linear(2, 3)
        >>> paddle.save(fc.state_dict(), os.path.join(folder, "fc.pdparams"))
        >>> paddle.save(fc.state_dict(), os.path.join(folder, "fc.safetensors"))
        >>> list(paddle.load(os.path.join(folder, "fc.safetensors")))
        ['weight', 'bias']
    """
    path = _place_to_save(path)
    _put(path, _writer(obj, path, protocol, configs))


def _place_to_save(path: Any) -> Any:
    if isinstance(path, (str, os.PathLike)):
        path = os.fspath(path)
        if not os.path.basename(path):
            raise errors.invalid_argument(
                "save: the path names no file.", expected="folder/file", received=f"path: {path!r}"
            )
    elif not hasattr(path, "write") or isinstance(path, io.TextIOBase):
        raise errors.invalid_argument(
            "save: this is no place to save to.",
            expected="a path, or a stream of bytes such as a BytesIO",
            received=type(path).__name__,
            hint='open the file with mode "wb".' if isinstance(path, io.TextIOBase) else "",
        )
    return path


def _put(path: Any, write: Callable[[Any], None]) -> None:
    if isinstance(path, str):
        from .atomic import write_atomically

        write_atomically(path, write)
        return
    start = path.tell() if hasattr(path, "seekable") and path.seekable() else None
    try:
        write(path)
    except BaseException:
        if start is not None and hasattr(path, "truncate"):  # leave no half of an object
            path.seek(start)
            path.truncate()
        raise


def _writer(obj: Any, path: Any, protocol: int, configs: dict[str, Any]) -> Callable[[Any], None]:
    """What writes the object to a stream. All that can be wrong with the arguments is found here."""
    for key in configs:
        if key not in ("use_binary_format", "pickle_protocol", "safetensors"):
            raise errors.invalid_argument(
                f"save: the configuration {key} is not known.",
                expected="safetensors, use_binary_format, pickle_protocol",
                received=key,
            )
    given = configs.get("pickle_protocol")
    protocol = protocol if given is None else given
    if not isinstance(protocol, int) or isinstance(protocol, bool) or not 1 < protocol < 5:
        raise errors.invalid_argument(
            "save: the protocol is not supported.", expected="an int from 2 to 4", received=f"protocol: {protocol!r}"
        )
    in_binary = configs.get("use_binary_format", False)
    if not isinstance(in_binary, bool):
        raise errors.invalid_type(
            "save: use_binary_format is of the wrong type.", expected="a bool", received=type(in_binary).__name__
        )
    from ..nn.layer.layers import Layer

    if _holds(obj, Layer):
        raise errors.invalid_argument(
            "save: a Layer cannot be saved as an object.",
            expected="Tensors, numbers, strings, lists, dictionaries",
            received="a Layer",
            hint="save layer.state_dict(), or use paddle.jit.save.",
        )
    if in_binary:
        return _binary_writer(obj)
    named = isinstance(path, str) and path.lower().endswith(".safetensors")
    if configs.get("safetensors", named):
        return _safetensors_writer(obj)
    plain = _state_dict_to_plain(obj, protocol) if _is_state_dict(obj) else obj
    return lambda f: _Pickler(f, protocol).dump(plain)


def _binary_writer(obj: Any) -> Callable[[Any], None]:
    from . import binary

    if not isinstance(obj, Tensor):
        raise errors.unimplemented(
            "save: the binary format holds one Tensor.", expected="a Tensor", received=type(obj).__name__
        )
    if not binary.has_code(obj.type.dtype):
        raise errors.unimplemented(f"save: the binary format has no {obj.type.dtype.name}.")
    a = obj.array()
    return lambda f: _write_all(f, binary.pieces(obj.type.dtype, a))


def _write_all(f: Any, pieces: Any) -> None:
    for piece in pieces:
        f.write(piece)


def _safetensors_writer(obj: Any) -> Callable[[Any], None]:
    from . import safetensors

    def refuse(received: str) -> Exception:
        return errors.invalid_argument(
            "save: safetensors holds Tensors by name, and nothing else.",
            expected="a dictionary of strings and Tensors",
            received=received,
            hint="use a path that ends in .pdparams, or safetensors=False, for anything else.",
        )

    if not isinstance(obj, dict):
        raise refuse(type(obj).__name__)
    arrays: dict[str, tuple[DType, np.ndarray]] = {}
    for key, t in obj.items():
        if not isinstance(key, str) or key == "__metadata__":
            raise refuse(f"the name {key!r}")
        if not isinstance(t, Tensor):
            raise refuse(f"{key!r}: {type(t).__name__}")
        if safetensors.code_of(t.type.dtype) is None:
            raise refuse(f"{key!r}: {t.type}")
        arrays[key] = t.type.dtype, t.array()
    return lambda f: _write_all(f, safetensors.pieces(arrays))


# ---- saving beside other work -----------------------------------------------------------------
_tasks: list[tuple[threading.Thread, list[BaseException]]] = []


def async_save(obj: Any, path: Any, protocol: int = 4, sync_other_task: bool = False, **configs: Any) -> None:
    """`save` that returns before the file is written. The values are those at the call, whatever happens to them later.

    Args:
        obj (dict|Tensor): a state dictionary or a Tensor.
        path (str|PathLike|BytesIO): where to.
        protocol (int): of pickle, 2 to 4. Default: 4.
        sync_other_task (bool): waits until the files of earlier calls are written. Default: False.
        **configs: without effect, as upstream; a warning says so.

    Raises:
        TypeError: obj is neither a dictionary nor a Tensor.

    Examples:
        >>> import tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "fc.pdparams")
        >>> paddle.async_save(paddle.nn.Linear(2, 3).state_dict(), path)
        >>> paddle.clear_async_save_task_queue()
        >>> list(paddle.load(path))
        ['weight', 'bias']
    """
    if not isinstance(obj, (dict, Tensor)):
        raise errors.invalid_type(
            "async_save: the object is of the wrong type.", expected="a dict or a Tensor", received=type(obj).__name__
        )
    if configs:
        warnings.warn(f"async_save: {', '.join(configs)} has no effect.", stacklevel=2)
    if sync_other_task:
        clear_async_save_task_queue()
    path = _place_to_save(path)
    memory = io.BytesIO()
    _writer(obj, path, protocol, {})(memory)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            _put(path, lambda f: f.write(memory.getbuffer()))
        except BaseException as e:
            failures.append(e)

    thread = threading.Thread(target=work, name="paddle.async_save")
    _tasks.append((thread, failures))
    thread.start()


def clear_async_save_task_queue() -> None:
    """Waits until the files of all calls of `async_save` are written.

    Raises:
        OSError: one of them could not be written.
    """
    failures: list[BaseException] = []
    while _tasks:
        thread, failed = _tasks.pop(0)
        thread.join()
        failures += failed
    if failures:
        raise failures[0]


# ---- loading ----------------------------------------------------------------------------------
_SIGNS = {
    b"PK\x03\x04": "a zip archive, as torch.save and numpy.savez write",
    b"\x1f\x8b": "compressed with gzip",
    b"\x89HDF": "a file of HDF5",
    b"\x93NUMPY": "an array that numpy.load reads",
    b"\x89PNG": "a picture",
    b"version https://git-lfs": "a pointer of Git LFS, not the file itself",
    b"<": "a page of HTML or XML: the download may have failed",
    b"{": "JSON",
}


def _name_of(path: Any) -> str:
    return path if isinstance(path, str) else type(path).__name__


def _unreadable(path: Any, why: str, start: bytes) -> Exception:
    kind = next((kind for sign, kind in _SIGNS.items() if start.startswith(sign)), "")
    return errors.invalid_argument(
        f"load: {_name_of(path)} cannot be read.",
        expected="a whole file written by paddle.save",
        received=why,
        hint=f"it looks like {kind}." if kind else "the file is cut off, damaged, or of another format.",
    )


def _refused(path: Any, name: str) -> Exception:
    return errors.invalid_argument(
        f"load: {_name_of(path)} asks for {name}, which is not loaded from files: it could run code.",
        expected="Tensors, arrays, numbers, strings, lists, tuples, dictionaries",
        received=name,
        hint="do not use this file unless you know where it comes from.",
    )


def load(path: str | os.PathLike[str] | io.BytesIO, **configs: Any) -> Any:
    """Loads what `save`, here or in PaddlePaddle, has written, and safetensors. No code from the file is run.

    Args:
        path (str|PathLike|BytesIO): where from. Files of safetensors are recognized by what they hold.
        **configs: `return_numpy` (bool): arrays rather than Tensors. `keep_name_table` (bool): keeps the names of a
            state dictionary's Tensors under `StructuredToParameterName@@`. `safetensors` (bool): the file must be of
            that format.

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
        if key not in ("return_numpy", "keep_name_table", "model_filename", "params_filename", "safetensors"):
            raise errors.invalid_argument(
                f"load: the configuration {key} is not known.",
                expected="return_numpy, keep_name_table, safetensors",
                received=key,
            )
    if isinstance(path, (str, os.PathLike)):
        path = os.fspath(path)
        if not os.path.isfile(path):
            near = [path + s for s in (".pdparams", ".pdopt", ".safetensors") if os.path.isfile(path + s)]
            raise errors.invalid_argument(
                f"load: there is no file {path}.",
                expected="the path of a file",
                received=f"path: {path!r}" + (" (a folder)" if os.path.isdir(path) else ""),
                hint=f"did you mean {' or '.join(near)}?" if near else "",
            )
        with open(path, "rb") as f:
            return _load(f, path, configs)
    if hasattr(path, "read") and not isinstance(path, io.TextIOBase):
        return _load(path, path, configs)
    raise errors.invalid_type(
        "load: this is no place to load from.",
        expected="a path, or a stream of bytes such as a BytesIO",
        received=type(path).__name__,
    )


def _load(f: Any, path: Any, configs: dict[str, Any]) -> Any:
    from . import binary, pickled, safetensors
    from .revive import revive
    from .source import Broken, Source

    as_numpy = bool(configs.get("return_numpy"))
    source = Source(f)
    start = source.peek(32)
    named = isinstance(path, str) and path.lower().endswith(".safetensors") and start[:1] != b"\x80"
    try:
        if not start:
            raise Broken("nothing: it is empty")
        if configs.get("safetensors") or named or safetensors.is_one(start[:9]):
            arrays = safetensors.read(source)
            found: Any = {k: _stored(a) if as_numpy else from_array(a) for k, a in arrays.items()}
        elif start.startswith(b"\0\0\0\0"):
            a = binary.read(source)
            found = _stored(a) if as_numpy else from_array(a)
        else:
            found = revive(pickled.read(source), as_numpy, bool(configs.get("keep_name_table")))
    except Broken as e:
        if isinstance(e, pickled.Refused) and not any(start.startswith(sign) for sign in _SIGNS):
            raise _refused(path, str(e)) from None
        raise _unreadable(path, str(e), start) from None
    source.close()
    return found
