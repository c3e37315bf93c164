"""The life of a compiler process; `workers` starts it and speaks with it.

Each message is a length in eight bytes, then that many bytes. First comes an empty one from here: ready. Then, for
every job, the settings (JSON) and the payload come in, and one goes out: a byte 0 and an object, or 1 and the text of
an error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from typing import BinaryIO

from .. import flags
from . import jit


def main(entry: str) -> None:
    """Serves jobs until the input closes.

    Args:
        entry (str): "module:function" from bytes to bytes.
    """
    if hasattr(os, "nice"):
        os.nice(5)
    # What anything prints must not end up among the messages.
    with os.fdopen(os.dup(0), "rb") as source, os.fdopen(os.dup(1), "wb") as sink:
        os.dup2(2, 1)
        module, name = entry.split(":")
        function = getattr(importlib.import_module(module), name)
        jit.prepare()
        try:
            _send(sink, b"")
            while (settings := _receive(source)) is not None and (payload := _receive(source)) is not None:
                _send(sink, _answer(function, settings, payload))
        except BrokenPipeError:
            sys.exit(0)


def _answer(function: object, settings: bytes, payload: bytes) -> bytes:
    try:
        for name, value in json.loads(settings).items():
            if flags.get(name) != value:
                flags.set_(name, value)
        return b"\0" + function(payload)  # type: ignore[operator]
    except Exception:
        return b"\1" + traceback.format_exc().encode()


def _send(sink: BinaryIO, data: bytes) -> None:
    sink.write(len(data).to_bytes(8, "little") + data)
    sink.flush()


def _receive(source: BinaryIO) -> bytes | None:
    head = source.read(8)
    if len(head) < 8:
        return None
    data = source.read(int.from_bytes(head, "little"))
    return data if len(data) == int.from_bytes(head, "little") else None
