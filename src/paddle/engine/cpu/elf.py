"""Places a relocatable ELF object in memory, ready to call: a small linker for what LLVM emits for our text.

ELF is the object format on every system, also where the system's own is another: the object never meets the
system's tools. An object that asks for anything unknown here (a symbol, a relocation) is refused with an exception;
LLVM's own loader would end the process.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import struct
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..errors import unavailable

_ALLOC, _WRITE, _EXEC = 2, 1, 4
_NOBITS, _RELA, _SYMTAB, _INIT_ARRAY = 8, 4, 2, 14
_X86_64, _AARCH64 = 62, 183
_PAGE = mmap.PAGESIZE
_MAX_BYTES, _MAX_ALIGN = 1 << 31, 4096


class _Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int
    is_global: bool


class Loaded:
    """Machine code in memory. Calling an address after `release` is undefined; whoever calls keeps this object.

    Attributes:
        addresses: of the names asked for.
        nbytes: memory held.
    """

    __slots__ = ("_base", "addresses", "nbytes")

    def __init__(self, base: int, nbytes: int, addresses: dict[str, int]) -> None:
        self._base, self.nbytes, self.addresses = base, nbytes, addresses

    def release(self) -> None:
        """Gives the memory back. A second call does nothing."""
        base, self._base = self._base, 0
        if base:
            _free(base, self.nbytes)

    def keep(self) -> Loaded:
        """Makes the code live as long as the process: for code that threads of ours may be inside of at exit."""
        self._base = 0
        return self

    def __del__(self, _is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not _is_finalizing():
            self.release()


def link(data: bytes, names: Iterable[str], resolve: Callable[[str], int | None]) -> Loaded:
    """Places the object `data` in executable memory.

    Args:
        data (bytes): an ELF object for the CPU of this process.
        names (Iterable[str]): functions whose addresses are wanted.
        resolve (Callable): gives the address of a symbol that the object refers to but lacks, or None.

    Returns:
        Loaded: the code and the addresses.

    Raises:
        RuntimeError: the object is malformed, is for another CPU, or asks for something that is not there.
    """
    try:
        return _Image(data, resolve).load(names)
    except (struct.error, IndexError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, ValueError) and str(error).startswith("("):
            raise
        raise unavailable("machine code: the object is malformed.", received=f"{len(data)} bytes ({error})") from error


class _Image:
    """One object on its way into memory: sections first, then stubs, the address table, and writable data."""

    def __init__(self, data: bytes, resolve: Callable[[str], int | None]) -> None:
        if data[:6] != b"\x7fELF\x02\x01":
            raise unavailable("machine code: this is no 64-bit little-endian ELF object.", received=repr(data[:6]))
        self.data = data
        self.resolve = resolve
        kind, self.machine = struct.unpack_from("<HH", data, 16)
        if kind != 1 or self.machine != _machine():
            raise unavailable(
                "machine code: the object is not for this process.",
                expected=f"a relocatable object for machine {_machine()}",
                received=f"type {kind}, machine {self.machine}",
            )
        (table,) = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        self.sections = [_Section(*struct.unpack_from("<IIQQQQIIQQ", data, table + i * size)) for i in range(count)]
        for section in self.sections:
            size = 0 if section.type == _NOBITS else section.size
            if section.offset + size > len(data) or section.size > _MAX_BYTES or section.align > _MAX_ALIGN:
                raise ValueError("a section is out of bounds")
        (strings,) = struct.unpack_from("<H", data, 62)
        self.names = self.sections[strings]
        self.symbols = self._read_symbols()
        self.place: dict[int, int] = {}
        self.externals: dict[str, int] = {}

    def _string(self, table: _Section, at: int) -> str:
        start = table.offset + at
        return self.data[start : self.data.index(b"\0", start)].decode()

    def _read_symbols(self) -> list[_Symbol]:
        symbols = []
        for section in self.sections:
            if section.type == _SYMTAB:
                strings = self.sections[section.link]
                raw = self.data[section.offset : section.offset + section.size]
                for name, info, _, index, value, _ in struct.iter_unpack("<IBBHQQ", raw):
                    symbols.append(_Symbol(self._string(strings, name), index, value, info >> 4 != 0))
        return symbols

    def _relocations(self) -> list[tuple[int, list[tuple[int, int, int]]]]:
        """(target section, [(offset, info, addend)]) of every section that is placed."""
        found = []
        for section in self.sections:
            if section.type == _RELA and section.info in self.place:
                raw = self.data[section.offset : section.offset + section.size]
                found.append((section.info, list(struct.iter_unpack("<QQq", raw))))
        return found

    def _lay_out(self) -> tuple[int, int]:
        """Gives each section its offset. Returns the end of the executable part, and of the whole, in bytes."""
        end = 0
        for writable in (0, _WRITE):
            if writable:
                self.stubs = _up(end, 16)
                self.table = self.stubs + 16 * len(self.externals)
                code_end = end = _up(self.table + 8 * len(self.externals) + 8 * len(self.symbols), _PAGE)
            for i, section in enumerate(self.sections):
                if section.flags & _ALLOC and section.flags & _WRITE == writable and not self._unneeded(section):
                    if section.type == _INIT_ARRAY:
                        raise unavailable("machine code: the object has static constructors.")
                    end = _up(end, max(section.align, 1))
                    self.place[i] = end
                    end += section.size
        return code_end, max(_up(end, _PAGE), code_end)

    def _unneeded(self, section: _Section) -> bool:
        """Nothing unwinds through a kernel."""
        return self._string(self.names, section.name) == ".eh_frame"

    def load(self, names: Iterable[str]) -> Loaded:
        undefined = [s.name for s in self.symbols if s.section == 0 and s.name]
        for name in undefined:
            address = self.resolve(name)
            if address is None:
                raise unavailable(
                    f"machine code: there is no function {name}.",
                    expected="calls to the C functions that the engine lists, and no others",
                )
            self.externals[name] = address
        code_bytes, nbytes = self._lay_out()
        image = bytearray(nbytes)
        for i, offset in self.place.items():
            section = self.sections[i]
            if section.type != _NOBITS:
                image[offset : offset + section.size] = self.data[section.offset : section.offset + section.size]
        base = _allocate(nbytes)
        try:
            self._relocate(image, base)
            defined = {s.name: base + self.place[s.section] + s.value for s in self.symbols if s.section in self.place}
            missing = [name for name in names if name not in defined]
            if missing:
                raise unavailable(f"machine code: the object does not define {', '.join(missing)}.")
            ctypes.memmove(base, (ctypes.c_char * nbytes).from_buffer(image), nbytes)
            _protect(base, code_bytes)
        except BaseException:
            _free(base, nbytes)
            raise
        return Loaded(base, nbytes, {name: defined[name] for name in names})

    def _relocate(self, image: bytearray, base: int) -> None:
        stub_of: dict[str, int] = {}
        jump = _STUBS[self.machine]
        for i, (name, address) in enumerate(self.externals.items()):
            at = self.stubs + 16 * i
            image[at : at + 16] = jump + struct.pack("<Q", address)
            stub_of[name] = base + at
        slots: dict[int, int] = {}

        def slot(index: int) -> int:
            if index not in slots:
                slots[index] = self.table + 8 * len(slots)
                struct.pack_into("<Q", image, slots[index], value(index, False))
            return base + slots[index]

        def value(index: int, call: bool) -> int:
            symbol = self.symbols[index]
            if symbol.section in self.place:
                return base + self.place[symbol.section] + symbol.value
            if symbol.name in self.externals:
                return stub_of[symbol.name] if call else self.externals[symbol.name]
            if symbol.section == 0xFFF1:
                return symbol.value
            raise unavailable(f"machine code: the symbol {symbol.name!r} has no place.")

        apply = _apply_x86_64 if self.machine == _X86_64 else _apply_aarch64
        for target, entries in self._relocations():
            start = self.place[target]
            for offset, info, addend in entries:
                apply(image, start + offset, base + start + offset, info & 0xFFFFFFFF, info >> 32, addend, value, slot)


# Sixteen bytes with the address in the last eight: a jump to anywhere.
_STUBS = {
    _X86_64: bytes.fromhex("ff250200000066 90".replace(" ", "")),  # jmp [rip+2]; 2 bytes of filling
    _AARCH64: struct.pack("<II", 0x58000050, 0xD61F0200),  # ldr x16, .+8; br x16
}

_Value = Callable[[int, bool], int]
_Slot = Callable[[int], int]


def _apply_x86_64(
    image: bytearray, at: int, place: int, kind: int, symbol: int, addend: int, value: _Value, slot: _Slot
) -> None:
    if kind == 1:  # 64
        struct.pack_into("<Q", image, at, (value(symbol, False) + addend) & (1 << 64) - 1)
    elif kind in (2, 4):  # PC32, PLT32
        _signed32(image, at, value(symbol, kind == 4) + addend - place)
    elif kind in (9, 41, 42):  # GOTPCREL and its relaxable forms
        _signed32(image, at, slot(symbol) + addend - place)
    elif kind == 24:  # PC64
        struct.pack_into("<q", image, at, value(symbol, False) + addend - place)
    else:
        raise _unknown(kind)


_AARCH64_SCALE = {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4}  # ADD and LDST{8,16,32,64,128}_ABS_LO12_NC


def _apply_aarch64(
    image: bytearray, at: int, place: int, kind: int, symbol: int, addend: int, value: _Value, slot: _Slot
) -> None:
    if kind == 257:  # ABS64
        struct.pack_into("<Q", image, at, (value(symbol, False) + addend) & (1 << 64) - 1)
        return
    if kind == 260:  # PREL64
        struct.pack_into("<q", image, at, value(symbol, False) + addend - place)
        return
    if kind == 261:  # PREL32
        _signed32(image, at, value(symbol, False) + addend - place)
        return
    (word,) = struct.unpack_from("<I", image, at)
    if kind in (275, 311):  # ADR_PREL_PG_HI21, ADR_GOT_PAGE
        target = slot(symbol) if kind == 311 else value(symbol, False) + addend
        pages = (target >> 12) - (place >> 12)
        if not -(1 << 20) <= pages < 1 << 20:
            raise _too_far()
        word |= (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5
    elif kind in _AARCH64_SCALE:
        word |= (value(symbol, False) + addend & 0xFFF) >> _AARCH64_SCALE[kind] << 10
    elif kind == 312:  # LD64_GOT_LO12_NC
        word |= (slot(symbol) & 0xFFF) >> 3 << 10
    elif kind in (282, 283):  # JUMP26, CALL26
        distance = value(symbol, True) + addend - place >> 2
        if not -(1 << 25) <= distance < 1 << 25:
            raise _too_far()
        word |= distance & 0x3FFFFFF
    else:
        raise _unknown(kind)
    struct.pack_into("<I", image, at, word)


def _signed32(image: bytearray, at: int, distance: int) -> None:
    if not -(1 << 31) <= distance < 1 << 31:
        raise _too_far()
    struct.pack_into("<i", image, at, distance)


def _unknown(kind: int) -> Exception:
    return unavailable(f"machine code: relocation {kind} is unknown.")


def _too_far() -> Exception:
    return unavailable("machine code: a reference is too far away.")


def _up(n: int, align: int) -> int:
    return (n + align - 1) // align * align


@functools.cache
def _machine() -> int:
    import platform

    return _AARCH64 if platform.machine().lower() in ("aarch64", "arm64") else _X86_64


if os.name == "nt":

    def _allocate(nbytes: int) -> int:
        base = _windows().VirtualAlloc(None, ctypes.c_size_t(nbytes), 0x3000, 0x04)
        return base or _no_memory(nbytes)

    def _protect(base: int, nbytes: int) -> None:
        old = ctypes.c_ulong()
        if not _windows().VirtualProtect(ctypes.c_void_p(base), ctypes.c_size_t(nbytes), 0x20, ctypes.byref(old)):
            raise _not_executable()

    def _free(base: int, nbytes: int) -> None:
        _windows().VirtualFree(ctypes.c_void_p(base), ctypes.c_size_t(0), 0x8000)

    @functools.cache
    def _windows() -> Any:
        kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
        kernel.VirtualAlloc.restype = ctypes.c_void_p
        return kernel

else:

    def _allocate(nbytes: int) -> int:
        # Raw calls, not mmap objects: those unmap when the interpreter ends, while threads may still be inside.
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        base = _libc().mmap(None, nbytes, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        return _no_memory(nbytes) if base in (None, ctypes.c_void_p(-1).value) else base

    def _protect(base: int, nbytes: int) -> None:
        if _libc().mprotect(base, nbytes, mmap.PROT_READ | mmap.PROT_EXEC):
            raise _not_executable()
        if sys.platform == "darwin":
            _libc().sys_icache_invalidate(ctypes.c_void_p(base), ctypes.c_size_t(nbytes))
        # Linux on aarch64 cleans the caches itself when a fresh page turns executable.

    def _free(base: int, nbytes: int) -> None:
        _libc().munmap(base, nbytes)

    @functools.cache
    def _libc() -> Any:
        libc = ctypes.CDLL(None, use_errno=True)
        word, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        libc.mmap.argtypes = [word, size, number, number, number, ctypes.c_long]
        libc.mmap.restype = word
        libc.mprotect.argtypes = [word, size, number]
        libc.munmap.argtypes = [word, size]
        return libc


def _no_memory(nbytes: int) -> int:
    raise MemoryError(f"{nbytes} bytes for machine code")


def _not_executable() -> Exception:
    return unavailable(
        "machine code: the system does not let this process run code that it makes.",
        hint="FLAGS_reference=1 runs without compiled code.",
    )
