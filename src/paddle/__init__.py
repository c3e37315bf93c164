"""OpenPaddle: deep learning in Python, compiled on the spot."""

import math as _math

from .engine.cpu import tile as _tile  # noqa: F401  (what the first flush needs is here by then)
from .engine.eager import materialize as _materialize  # noqa: F401
from . import autograd, device, framework, nn, optimizer, regularizer, version
from .autograd import grad
from .framework.dtype import *
from .framework.grad_mode import *
from .framework.io import async_save, clear_async_save_task_queue, load, save
from .framework.mode import disable_signal_handler, get_flags, in_dynamic_mode, set_flags
from .framework.param import ParamAttr, create_parameter
from .framework.place import *
from .framework.random import *
from .framework import core as _core
from . import functional, linalg, random, special
from .nn.functional import adaptive_avg_pool1d, conv1d, conv2d, conv3d, group_norm, layer_norm, pdist
from .nn.functional.compat import softmax
from .nn.initializer.lazy_init import LazyGuard
from .tensor import *
from .tensor.tensor import Size, Tensor
from .utils import dlpack as _dlpack
from . import amp, io, metric, static, distributed, hapi, callbacks, vision, jit
from .amp.auto_cast import get_autocast_cpu_dtype, get_autocast_dtype, get_autocast_gpu_dtype, is_autocast_enabled
from .distributed.parallel import DataParallel
from .hapi import Model, flops, summary

__version__ = version.full_version
__git_commit__ = version.commit
inf, nan, pi, e, newaxis = _math.inf, _math.nan, _math.pi, _math.e, None

_LATE = (
    "audio",
    "debug",
    "distribution",
    "fft",
    "geometric",
    "incubate",
    "inference",
    "profiler",
    "signal",
)  # modules that few programs need, imported when they are first named


def __getattr__(name):
    if name in _LATE:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name in ("enable_static", "disable_static"):
        from .static import program

        return getattr(program, name)
    if name == "MmapStorage":
        from .framework.mmap_storage import MmapStorage

        return MmapStorage
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _settle():
    """Looks at once at all that was loaded, so that Python need not do it in the midst of the first step."""
    import gc

    if gc.isenabled():
        gc.collect()


_settle()
