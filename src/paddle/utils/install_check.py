"""`run_check`: what this installation runs on, and whether it works."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import version
from ..engine import errors, flags

__all__ = ["run_check"]

# What decides how kernels are written, in LLVM's words.
_FEATURES = "sse2 avx avx2 fma f16c avx512f avx512bw avx512dq avx512vl avx512bf16 neon sve".split()
_STEPS, _RATE = 20, 0.1


def run_check() -> None:
    """Checks the installation and prints what it found: versions, the processor, its measured speed, the cache.

    Compiles and runs a kernel, and trains a small network whose values are compared with numpy's. Takes about a second.

    Raises:
        RuntimeError: something does not work; the message says what.

    Examples:
        >>> paddle.utils.run_check()
        Running verify PaddlePaddle program ...
        versions   OpenPaddle for the API of PaddlePaddle ...
        processor  ...
        code for   ...
        threads    ...
        measured   ...
        cache      ...
        compiler   ...
        training   ...
        OpenPaddle works well on 1 CPU.
        PaddlePaddle is installed successfully! Let's start deep learning with PaddlePaddle now.
    """
    print("Running verify PaddlePaddle program ...")
    for name, told in findings():
        print(f"{name:<10} {told}")
    print("OpenPaddle works well on 1 CPU.")
    print("PaddlePaddle is installed successfully! Let's start deep learning with PaddlePaddle now.")


def findings() -> Iterator[tuple[str, str]]:
    """Each check by name with what it found, in order."""
    import llvmlite
    import llvmlite.binding

    from ..engine.cpu import jit, runtime
    from ..engine.cpu.peak import measured_peak

    llvm = ".".join(map(str, llvmlite.binding.llvm_version_info))
    yield (
        "versions",
        (
            f"OpenPaddle for the API of PaddlePaddle {version.full_version}; Python {platform.python_version()}, "
            f"numpy {np.__version__}, llvmlite {llvmlite.__version__} (LLVM {llvm})"
        ),
    )
    yield "processor", f"{cpu_name()} ({platform.system()} {platform.machine()})"
    used = [f for f in _FEATURES if jit.has(f)]
    yield "code for", f"{jit.target()[1]} with {', '.join(used)}; vectors of {jit.vector_bytes() * 8} bits"
    set_by = " (FLAGS_cpu_threads)" if flags.get("FLAGS_cpu_threads") > 0 else ""
    yield "threads", f"{runtime.thread_count()} of {os.cpu_count() or 1} processors{set_by}"
    peak = measured_peak()
    yield (
        "measured",
        (f"{peak.gflops:,.0f} Gflop/s of multiply-adds in float32, {peak.gbytes:,.1f} GB/s read from memory"),
    )
    yield "cache", cache_text()
    yield "compiler", f"a kernel compiled and run in {check_compiler() * 1e3:.0f} ms"
    yield "training", f"a small network learns as numpy says, to {check_training():.0e}"


def cpu_name() -> str:
    """The processor as its maker calls it, as far as the system tells."""
    if os.name == "nt":
        import winreg

        with winreg.OpenKey(  # type: ignore[attr-defined]
            winreg.HKEY_LOCAL_MACHINE,  # type: ignore[attr-defined]
            r"HARDWARE\DESCRIPTION\System\CentralProcessor\0",
        ) as key:
            return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip()  # type: ignore[attr-defined]
    if sys.platform == "darwin":
        import subprocess

        done = subprocess.run(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True)
        return done.stdout.strip() or platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() in ("model name", "Processor") and value.strip():
                    return value.strip()
    except OSError:  # no such file on this system
        pass
    return platform.processor() or platform.machine()


def cache_text() -> str:
    """Where compiled objects are kept, and how much that is."""
    from ..engine.cpu.cache import object_cache
    from ..engine.cpu.stages import size_text

    cache = object_cache()
    if cache.limit_bytes <= 0:
        return "off (FLAGS_cache_bytes is 0): every process compiles anew"
    nbytes, count = 0, 0
    try:
        with os.scandir(cache.folder) as files:
            for file in files:
                try:
                    nbytes, count = nbytes + file.stat().st_size, count + 1
                except FileNotFoundError:  # another process removed it
                    continue
    except OSError as e:
        return f"{cache.folder} cannot be used ({e.strerror}); every process compiles anew"
    return f"{cache.folder}: {size_text(nbytes)} in {count:,} files, at most {size_text(cache.limit_bytes)}"


def check_compiler() -> float:
    """Compiles, loads and calls a kernel that is not in the cache. Returns the seconds that this took."""
    import ctypes

    from ..engine.cpu import jit

    began = time.perf_counter()
    text = "define i64 @check(i64 %x) {\n  %y = mul i64 %x, 3\n  ret i64 %y\n}\n"
    code = jit.load(jit.compile_object(text), ["check"])
    found = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.addresses["check"])(14)
    seconds = time.perf_counter() - began
    if found != 42:
        raise errors.precondition("run_check: compiled code gives a wrong result.", expected="42", received=str(found))
    return seconds


def check_training() -> float:
    """Trains two layers with compiled programs, and by numpy. Returns the greatest relative difference of weights."""
    import paddle

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(16, 8)).astype("float32"), rng.normal(size=(16, 1)).astype("float32")
    start = [rng.normal(size=s).astype("float32") * 0.5 for s in ((8, 12), (12,), (12, 1), (1,))]
    mode = flags.get("FLAGS_eager_compile")
    flags.set_("FLAGS_eager_compile", "always")
    try:
        with paddle.utils.unique_name.guard("run_check_"):
            weights: list[Any] = [paddle.nn.Parameter(paddle.to_tensor(w)) for w in start]
            a, b, c, d = weights
            optimizer = paddle.optimizer.SGD(_RATE, parameters=weights)
            losses = []
            for _ in range(_STEPS):
                out = paddle.tanh(paddle.to_tensor(x) @ a + b) @ c + d
                loss = paddle.nn.functional.mse_loss(out, paddle.to_tensor(y))
                loss.backward()
                optimizer.step()
                optimizer.clear_grad()
                losses.append(float(loss))
        found = [w.numpy() for w in weights]
    finally:
        flags.set_("FLAGS_eager_compile", mode)
    wanted = train_by_numpy(x, y, start)
    worst = max(float(np.abs(f - w).max() / np.abs(w).max()) for f, w in zip(found, wanted))
    if not worst < 1e-4 or not losses[-1] < losses[0]:
        raise errors.precondition(
            "run_check: the values of a small network differ from numpy's.",
            expected="a loss that falls, and weights within 1e-4",
            received=f"losses from {losses[0]:.4g} to {losses[-1]:.4g}, weights off by {worst:.2g}",
            hint="please report it with what was printed above.",
        )
    return worst


def train_by_numpy(x: np.ndarray, y: np.ndarray, start: list[np.ndarray]) -> list[np.ndarray]:
    """The same training, written out in float64."""
    a, b, c, d = (w.astype(np.float64) for w in start)
    for _ in range(_STEPS):
        h = np.tanh(x @ a + b)
        g = 2 * (h @ c + d - y) / y.size
        back = (g @ c.T) * (1 - h * h)
        a, b = a - _RATE * x.T @ back, b - _RATE * back.sum(0)
        c, d = c - _RATE * h.T @ g, d - _RATE * g.sum(0)
    return [a, b, c, d]
