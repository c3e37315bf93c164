"""LLVM text to machine code: the target, the optimizer's pipeline, and loading.

LLVM is imported and set up at the first compilation, never for loading: a process whose kernels all come from the
object cache does without it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import platform
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from .. import flags
from ..errors import precondition, unavailable
from .elf import Loaded, link

__all__ = [
    "Loaded",
    "assembly",
    "compile_object",
    "has",
    "is_x86",
    "load",
    "prepare",
    "resolve",
    "target",
    "vector_bytes",
    "versions",
]

# Held around every use of LLVM. A fork waits for it, so that the child does not inherit a half-done LLVM.
_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)

_SSE2 = "sse sse2"
_AVX2 = f"{_SSE2} sse3 ssse3 sse4.1 sse4.2 popcnt avx avx2 fma f16c bmi bmi2 lzcnt movbe"
_AVX512 = f"{_AVX2} avx512f avx512bw avx512cd avx512dq avx512vl"
# Flag value: LLVM's name of the CPU, and what it has.
_LEVELS = {
    "avx512": ("x86-64-v4", frozenset(_AVX512.split())),
    "avx2": ("x86-64-v3", frozenset(_AVX2.split())),
    "sse2": ("x86-64", frozenset(_SSE2.split())),
    "generic": ("x86-64", frozenset(_SSE2.split())),
}


def is_x86() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64")


def target() -> tuple[str, str, str]:
    """The target of code generation, by FLAGS_cpu_features.

    Returns:
        tuple[str, str, str]: triple, CPU and features in LLVM's words.

    Raises:
        ValueError: the flag names no level of this architecture.
    """
    return _target(flags.get("FLAGS_cpu_features"))[:3]


def has(feature: str) -> bool:
    """Whether the target has `feature`, in LLVM's spelling: fma, f16c, avx512f, avx512bf16, neon."""
    return feature in _target(flags.get("FLAGS_cpu_features"))[3]


def vector_bytes() -> int:
    """Bytes in a vector register of the target: 64, 32 or 16."""
    found = _target(flags.get("FLAGS_cpu_features"))[3]
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= found:
        return 64
    return 32 if {"avx2", "fma"} <= found else 16


@functools.cache
def _target(level: str) -> tuple[str, str, str, frozenset[str]]:
    if not level:
        cpu, features = host()
        return _triple(), cpu, features, frozenset(f[1:] for f in features.split(",") if f[:1] == "+")
    if is_x86() and level in _LEVELS:
        cpu, found = _LEVELS[level]
        return _triple(), cpu, "", found
    if not is_x86() and level == "generic":
        return _triple(), "generic", "", frozenset(["neon", "fp-armv8"])
    raise precondition(
        f"FLAGS_cpu_features: {level!r} is no target here.",
        expected="empty for this CPU, or " + ("avx512, avx2, sse2, generic" if is_x86() else "generic"),
    )


def _triple() -> str:
    """Always with ELF objects, for our own loader; the system in it stands for the calling convention."""
    arch = "x86_64" if is_x86() else "aarch64"
    if os.name == "nt":
        return f"{arch}-pc-windows-msvc-elf"
    return f"{arch}-unknown-linux-gnu"


@functools.cache
def host() -> tuple[str, str]:
    """LLVM's name of this CPU and its features. Kept in the object cache by what the system says of the CPU."""
    from .cache import object_cache

    identity = _cpu_identity()
    kept = object_cache().get(f"host {identity}", any_target=True) if identity else None
    if kept is not None:
        name, features = kept.decode().split("\n")
        return name, features
    with _lock:
        llvm = _llvm()
        found = llvm.get_host_cpu_features()
        if sys.platform == "darwin" and not is_x86():
            found["reserve-x18"] = True  # the system's own register, which the Linux triple would use
        name, features = llvm.get_host_cpu_name(), found.flatten()
    if identity:
        object_cache().put(f"host {identity}", f"{name}\n{features}".encode(), any_target=True)
    return name, features


def _cpu_identity() -> str:
    """What the kernel says of the first core, less what varies; "" where there is no such text."""
    wanted = "vendor_id,cpu family,model,model name,stepping,flags,Features,CPU implementer,CPU variant,CPU part"
    try:
        with open("/proc/cpuinfo", "rb") as file:
            lines = file.read(8192).decode(errors="replace").split("\n\n")[0].split("\n")
    except OSError:
        return ""
    keep = [line for line in lines if line.split("\t")[0].strip() in wanted.split(",")]
    return "\n".join(keep) if any(line.startswith(("flags", "Features")) for line in keep) else ""


@functools.cache
def versions() -> str:
    """What, beside the text and the target, an object depends on: the build of LLVM."""
    import llvmlite

    folder = os.path.join(os.path.dirname(llvmlite.__file__), "binding")
    with os.scandir(folder) as entries:
        sizes = sorted(str(e.stat().st_size) for e in entries if e.name.endswith((".so", ".dylib", ".dll")))
    return f"llvmlite {llvmlite.__version__} {' '.join(sizes)}"


@functools.cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


def prepare() -> None:
    """Imports and sets up LLVM now instead of at the first compilation."""
    with _lock:
        _machines(*target())


class _Machine:
    """LLVM's target machine with the header that every module gets, made once per target."""

    def __init__(self, triple: str, cpu: str, features: str) -> None:
        llvm = _llvm()
        self.machine = llvm.Target.from_triple(triple).create_target_machine(
            cpu=cpu, features=features, opt=3, reloc="pic", codemodel="small"
        )
        layout = str(self.machine.target_data)
        self.header = f'target triple = "{triple}"\ntarget datalayout = "{layout}"\n'


_machines = functools.lru_cache(maxsize=8)(_Machine)


def compile_object(text: str, optimize: bool = True, for_target: tuple[str, str, str] | None = None) -> bytes:
    """Compiles a module of LLVM text.

    Args:
        text (str): the module, without target triple and data layout.
        optimize (bool): False for text that is already as it shall be. Default: True.
        for_target (tuple[str, str, str], optional): triple, CPU, features. Default: `target()`.

    Returns:
        bytes: an ELF object.

    Raises:
        RuntimeError: the text is malformed.
    """
    with _prepared(text, optimize, for_target) as (module, machine):
        return machine.emit_object(module)


def assembly(text: str, optimize: bool = True, for_target: tuple[str, str, str] | None = None) -> str:
    """What `compile_object` would give, as assembly text: for tests and for looking at."""
    with _prepared(text, optimize, for_target) as (module, machine):
        return machine.emit_assembly(module)


@contextlib.contextmanager
def _prepared(text: str, optimize: bool, for_target: tuple[str, str, str] | None) -> Iterator[tuple[Any, Any]]:
    """The module, optimized, and the target machine. The module must end before its context, also on errors."""
    with _lock, _llvm().create_context() as context:
        made = _machines(*(for_target or target()))
        with _parsed(made.header + text, context) as module:
            if optimize:
                _optimize(module, made.machine)
            yield module, made.machine


def _parsed(text: str, context: Any) -> Any:
    module = None
    try:
        module = _llvm().parse_assembly(text, context)
        if flags.get("FLAGS_cpu_verify"):
            module.verify()
        return module
    except RuntimeError as error:
        if module is not None:
            module.close()
        raise unavailable("machine code: LLVM does not accept the text.", received=str(error).strip()) from error


def _optimize(module: Any, machine: Any) -> None:
    llvm = _llvm()
    with llvm.create_pipeline_tuning_options(2) as options:
        options.loop_vectorization = True
        options.slp_vectorization = False
        with llvm.create_pass_builder(machine, options) as builder, builder.getModulePassManager() as passes:
            with _without_remarks():
                passes.run(module, builder)
            _free(passes)


@contextlib.contextmanager
def _without_remarks() -> Iterator[None]:
    """Keeps from stderr what LLVM remarks on loops that it could not make of vectors; it has no setting for that.

    What others write in the meantime comes out at the end.
    """
    with contextlib.ExitStack() as stack:
        try:
            kept = os.dup(2)
            stack.callback(os.close, kept)
            file = stack.enter_context(_scratch())
        except OSError:  # there is no stderr, or no room: then so be it
            file = None
        if file is not None:
            os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            if file is not None:
                os.dup2(kept, 2)
                file.seek(0)
                rest = [line for line in file.read().splitlines(True) if not line.startswith(b"remark: ")]
                if rest:
                    os.write(2, b"".join(rest))


def _scratch() -> Any:
    """A file that goes when it is closed."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("remarks"), "w+b")
    import tempfile

    return tempfile.TemporaryFile()


def _free(passes: Any) -> None:
    """Frees a pass manager, 90 KiB: llvmlite's close does nothing where its order of classes hides what frees."""
    from llvmlite.binding.ffi import ObjectRef
    from llvmlite.binding.newpassmanagers import NewPassManager

    if type(passes)._dispose is ObjectRef._dispose:
        NewPassManager._dispose(passes)


# C functions that LLVM may call of its own accord, or that the engine's text calls.
_C_FUNCTIONS = frozenset(
    """memcpy memmove memset memcmp bcmp fmod fmodf
    pthread_mutex_init pthread_mutex_lock pthread_mutex_unlock
    pthread_cond_init pthread_cond_wait pthread_cond_signal pthread_cond_broadcast sched_yield""".split()
)


@functools.cache
def resolve(name: str) -> int | None:
    """Address of a C function that kernels may call, or None: for all others and for what this system lacks."""
    if name not in _C_FUNCTIONS:
        return None
    for library in _libraries():
        try:
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        except AttributeError:
            continue
    return None


@functools.cache
def _libraries() -> list[ctypes.CDLL]:
    names = ["ucrtbase", "msvcrt"] if os.name == "nt" else [None, "libm.so.6", "libpthread.so.0"]
    found = []
    for name in names:
        try:
            found.append(ctypes.CDLL(name))
        except OSError:
            continue
    return found


def load(data: bytes, names: Iterable[str]) -> Loaded:
    """Places an object in memory.

    Args:
        data (bytes): from `compile_object`.
        names (Iterable[str]): functions whose addresses are wanted.

    Returns:
        Loaded: its `addresses` are valid until its `release`.

    Raises:
        RuntimeError: the object is malformed, not for this CPU, lacks a name, or calls what is not allowed.
    """
    _check_runnable(flags.get("FLAGS_cpu_features"))
    return link(data, list(names), resolve)


@functools.cache
def _check_runnable(level: str) -> None:
    """Code for a CPU that has more than this one would end the process at its first unknown instruction."""
    if level and is_x86():
        lacking = _target(level)[3] - _target("")[3]
        if lacking:
            raise precondition(
                f"FLAGS_cpu_features: this CPU cannot run code for {level}.",
                received=f"a CPU without {', '.join(sorted(lacking))}",
            )
