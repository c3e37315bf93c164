"""Programs for aarch64 on another machine: kernels and the driver run under an emulator, all else here.

Inside `machine()` the compiler takes this machine for one of aarch64. What it loads is placed at low addresses of this
process. A run writes that memory and the buffers of the program into a static executable; the emulator maps the code at
the same addresses, and the buffers come back through its standard output.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import mmap
import os
import platform
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

from paddle.engine import flags
from paddle.engine.cpu import driver, elf, executor, jit, kernels, runtime

EMULATOR = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
CODE, DATA = 0x20_0000_0000, 0x20_1000_0000  # free here and there; near, for an emulator has a table of what is between
PAGE = 4096
LIMIT_S = 100

# What LLVM may call of its own accord. Compiled as it stands, so that a loop does not become a call of itself.
LOOP = """
define ptr @{name}(ptr %to, {source}, i64 %n) nounwind {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %j, %body ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %done
body:
  {byte}
  %q = getelementptr i8, ptr %to, i64 %i
  store i8 %x, ptr %q
  %j = add i64 %i, 1
  br label %head
done:
  ret ptr %to
}}
"""
COPY = "%p = getelementptr i8, ptr %from, i64 %i\n  %x = load i8, ptr %p"
LIBRARY = LOOP.format(name="memcpy", source="ptr %from", byte=COPY) + LOOP.format(
    name="memset", source="i32 %v", byte="%x = trunc i32 %v to i8"
)


class Guest:
    """Memory that code lies in, at the same addresses here and in the emulator."""

    following = CODE

    def __init__(self) -> None:
        self.regions: dict[int, int] = {}

    def allocate(self, nbytes: int) -> int:
        kinds = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        base = elf._libc().mmap(Guest.following, nbytes, mmap.PROT_READ | mmap.PROT_WRITE, kinds, -1, 0)
        assert CODE <= base and base + nbytes <= DATA, f"{base:x}: other addresses than wished for"
        Guest.following = base + nbytes
        self.regions[base] = nbytes
        return base

    def free(self, base: int, nbytes: int) -> None:
        self.regions.pop(base, None)  # it may be another guest's
        elf._libc().munmap(base, nbytes)

    @functools.cached_property
    def library(self) -> elf.Loaded:
        return elf.link(jit.compile_object(LIBRARY, optimize=False), ["memcpy", "memset"], lambda name: None)

    @functools.cached_property
    def driver(self) -> elf.Loaded:
        return elf.link(jit.compile_object(driver.text(False), optimize=False), ["run"], lambda name: None)

    def run(self, program: runtime.Program, bases: np.ndarray, buffers: dict[int, int]) -> None:
        """Runs a program. buffers: bytes by address, for those that `bases` holds."""
        places, end = {}, DATA
        for address, nbytes in buffers.items():
            places[address] = end
            end = -(-(end + nbytes) // 64) * 64
        data = bytearray(end - DATA)
        for address, at in places.items():
            data[at - DATA : at - DATA + buffers[address]] = ctypes.string_at(address, buffers[address])
        words = program.words.tobytes()
        table = np.array([places.get(int(b), 0) for b in bases], np.int64).tobytes()
        entry = begin(self.driver.addresses["run"], (end, program.count, end + len(words)), (DATA, len(data)))
        segments = [(base, ctypes.string_at(base, n)) for base, n in self.regions.items()]
        done = execute([*segments, (DATA, bytes(data) + words + table)], entry)
        assert len(done) == len(data), f"{len(done)} bytes came back, not {len(data)}"
        for address, at in places.items():
            ctypes.memmove(address, done[at - DATA : at - DATA + buffers[address]], buffers[address])


def begin(function: int, arguments: tuple[int, ...], data: tuple[int, int]) -> bytes:
    """Machine code that calls a function, writes data (address, bytes) to standard output, and exits."""

    def put(register: int, value: int) -> list[int]:  # movz, then movk for the higher parts
        parts = [value >> 16 * i & 0xFFFF for i in range(4)]
        return [0xF2800000 ^ (not i) << 29 | i << 21 | part << 5 | register for i, part in enumerate(parts)]

    def call(number: int, *arguments: int) -> list[int]:
        return [*(w for i, x in enumerate(arguments) for w in put(i, x)), *put(8, number), 0xD4000001]  # svc

    code = [w for i, x in enumerate(arguments) for w in put(i, x)] + [*put(16, function), 0xD63F0200]  # blr x16
    code += [*call(64, 1, *data), *call(94, 0)]  # write, exit_group
    return struct.pack(f"<{len(code)}I", *code)


def execute(segments: list[tuple[int, bytes]], entry: bytes) -> bytes:
    """What a static executable of these segments writes that starts with this code."""
    segments = [(CODE - PAGE, entry), *segments]
    size = -(-(64 + 56 * len(segments)) // PAGE) * PAGE
    headers, parts = b"", b""
    for address, content in segments:
        place = size + len(parts), address, address, len(content), len(content)
        headers += struct.pack("<IIQQQQQQ", 1, 7, *place, PAGE)  # to be loaded; to be read, written, executed
        parts += content.ljust(-(-len(content) // PAGE) * PAGE, b"\0")
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 2, 183, 1, CODE - PAGE, 64, 0, 0, 64, 56, len(segments), 0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "program")
        with open(file, "wb") as out:
            out.write((head + headers).ljust(size, b"\0") + parts)
        os.chmod(file, 0o700)
        assert EMULATOR is not None
        return subprocess.run([EMULATOR, file], stdout=subprocess.PIPE, timeout=LIMIT_S, check=True).stdout


class Plan(executor.Plan):
    """A plan whose launches run in the emulator."""

    guest: Guest

    def __init__(self, description: dict[str, Any], *rest: Any):
        super().__init__(description, *rest)
        self.runtime = self  # type: ignore[assignment]
        outs = [p for s in description["steps"] if "host" in s for p in s["out"] if p[0] == "host"]
        self.sizes = {self.host_base + p[1]: nbytes(p[3], p[4]) for p in outs}
        self.sizes.update({0: self.status.nbytes, 1: self.arena, self.kept_base: self.kept})
        self.sizes.update({2 + self.inputs + j: nbytes(*self.outputs[j]) for j, _, _ in self.made})

    def run(self, program: runtime.Program, address: int) -> int:
        assert address == self.bases_address
        sizes = dict(self.sizes)
        sizes.update({2 + i: a.nbytes for i, known in enumerate(self.known) if (a := known()) is not None})
        buffers: dict[int, int] = {}
        for i in used(program):
            at = int(self.bases[i])
            buffers[at] = max(sizes[i], buffers.get(at, 0))
        self.guest.run(program, self.bases, buffers)
        return int(self.status[0])


def used(program: runtime.Program) -> set[int]:
    """The bases that the pointers of a program are relative to; the others may be of memory that is gone."""
    words, at, found = program.words.tolist(), 0, set()
    for _ in range(program.count):
        pointers, dims = words[at + 3 : at + 5]
        found.update(words[at + 5 : at + 5 + 2 * pointers : 2])
        at += 5 + 2 * pointers + dims
    return found


def nbytes(shape: Any, dtype: Any) -> int:
    return int(np.prod(shape)) * executor.dtype_of(dtype).itemsize


@contextlib.contextmanager
def machine() -> Iterator[Guest]:
    """Within the block programs are compiled for aarch64 and run in the emulator."""
    runtime.runtime()  # the pool is this machine's
    guest = Guest()
    before = flags.get("FLAGS_cpu_features")
    known = [(kernels, "_kernels", {}), (kernels, "_launches", {}), (elf, "_allocate", guest.allocate)]
    known += [(elf, "_free", guest.free), (elf, "_protect", lambda base, n: None), (Plan, "guest", guest)]
    known += [(executor, "Plan", Plan), (platform, "machine", lambda: "aarch64"), (runtime, "runtime", None)]
    known += [(jit, "resolve", lambda name: guest.library.addresses.get(name))]
    with contextlib.ExitStack() as stack:
        for place, name, value in known:
            stack.enter_context(mock.patch.object(place, name, value, create=place is Plan))
        for forget in (jit._target.cache_clear, elf._machine.cache_clear):
            forget()
            stack.callback(forget)
        flags.set_("FLAGS_cpu_features", "generic")
        stack.callback(flags.set_, "FLAGS_cpu_features", before)
        yield guest
