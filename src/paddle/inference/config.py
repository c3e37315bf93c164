"""`Config`: which model a Predictor runs, and how."""

from __future__ import annotations

import copy
import os
from typing import Any

from ..engine import errors, flags
from ..engine.cpu.runtime import thread_count
from .kinds import PrecisionType

__all__ = ["Config"]


class Config:
    """Which model a Predictor runs, and how.

    Args:
        *model: the file of the program and the file of the weights (str); or a folder and the name in it, without
            an ending; or a folder with one model; or another Config, which is copied; or nothing, see `set_model`.

    Raises:
        TypeError: something else.

    Examples:
        >>> config = paddle.inference.Config("net.json", "net.pdiparams")
        >>> config.disable_gpu()
        >>> config.use_gpu(), config.ir_optim(), config.params_file()
        (False, True, 'net.pdiparams')
    """

    Precision = PrecisionType

    def __init__(self, *model: Any) -> None:
        self._folder = self._program = self._weights = ""
        self._buffers: tuple[bytes, bytes] | None = None
        self._threads = 0
        self._optimize, self._log, self._memory, self._onednn = True, True, False, True
        self._feed_fetch, self._named, self._new_ir = False, False, True
        if len(model) == 1 and isinstance(model[0], Config):
            self.__dict__.update(copy.copy(model[0].__dict__))
        elif model:
            self.set_model(*model)

    # -- the model --
    def set_model(self, *model: str) -> None:
        """The files of the model.

        Args:
            *model (str): the file of the program and that of the weights; a folder and a name; or a folder.

        Raises:
            TypeError: something else.
        """
        if len(model) not in (1, 2) or not all(isinstance(m, (str, os.PathLike)) for m in model):
            raise errors.invalid_type(
                "Config: these are no names of files.", expected="one folder, or two files",
                received=", ".join(type(m).__name__ for m in model) or "nothing",
            )  # fmt: skip
        names = [os.fspath(m) for m in model]
        self._buffers = None
        if len(names) == 1:
            self._folder, self._program, self._weights = names[0], "", ""
        elif os.path.isdir(names[0]):
            base = os.path.join(names[0], names[1])
            kind = ".pdmodel" if os.path.isfile(base + ".pdmodel") and not os.path.isfile(base + ".json") else ".json"
            self._folder, self._program, self._weights = "", base + kind, base + ".pdiparams"
        else:
            self._folder, self._program, self._weights = "", *names

    def set_prog_file(self, path: str) -> None:
        """The file of the program."""
        self._program = path

    def set_params_file(self, path: str) -> None:
        """The file of the weights."""
        self._weights = path

    def set_model_buffer(self, prog: bytes, prog_size: int, params: bytes, params_size: int) -> None:
        """The model from memory: what the two files hold.

        Args:
            prog (bytes): the program.
            prog_size (int): how many bytes of it count.
            params (bytes): the weights.
            params_size (int): how many bytes of them count.

        Raises:
            TypeError: no bytes.
        """
        given = []
        for data, size in ((prog, prog_size), (params, params_size)):
            if isinstance(data, str):  # as Python's binding of Paddle has it
                data = data.encode("utf-8", "surrogateescape")
            if (
                not isinstance(data, (bytes, bytearray, memoryview))
                or isinstance(size, bool)
                or not isinstance(size, int)
            ):
                raise errors.invalid_type(
                    "Config.set_model_buffer: this is no buffer.", expected="bytes and their number",
                    received=f"{type(data).__name__}, {type(size).__name__}",
                )  # fmt: skip
            given.append(bytes(data[:size]))
        self._buffers = (given[0], given[1])

    def model_dir(self) -> str:
        """The folder of the model, where that was given alone."""
        return self._folder

    def prog_file(self) -> str:
        """The file of the program."""
        return self._program

    def params_file(self) -> str:
        """The file of the weights."""
        return self._weights

    def model_from_memory(self) -> bool:
        """Whether `set_model_buffer` gave the model."""
        return self._buffers is not None

    # -- devices --
    def disable_gpu(self) -> None:
        """Runs on the CPU, as it does anyway."""

    def use_gpu(self) -> bool:
        """False: there is no GPU."""
        return False

    def use_xpu(self) -> bool:
        """False: there is no XPU."""
        return False

    def gpu_device_id(self) -> int:
        """0: there is no GPU."""
        return 0

    def enable_use_gpu(
        self, memory_pool_init_size_mb: int, device_id: int = 0, precision_mode: Any = PrecisionType.Float32
    ) -> None:
        """Asks for a GPU.

        Args:
            memory_pool_init_size_mb (int): MiB of its memory.
            device_id (int): which. Default: 0.
            precision_mode (PrecisionType): Default: Float32.

        Raises:
            RuntimeError: there is none.
        """
        raise _no_engine("enable_use_gpu", "a GPU")

    def enable_xpu(self, *args: Any, **kwargs: Any) -> None:
        """Asks for an XPU.

        Raises:
            RuntimeError: there is none.
        """
        raise _no_engine("enable_xpu", "an XPU")

    def enable_tensorrt_engine(self, *args: Any, **kwargs: Any) -> None:
        """Asks for TensorRT.

        Raises:
            RuntimeError: it is not there.
        """
        raise _no_engine("enable_tensorrt_engine", "TensorRT")

    def tensorrt_engine_enabled(self) -> bool:
        """False: there is no TensorRT."""
        return False

    # -- how it runs --
    def switch_ir_optim(self, x: int = True) -> None:
        """Whether programs are compiled whole.

        Args:
            x (bool): False: they run operator by operator, as they are written. Default: True.
        """
        self._optimize = bool(x)

    def ir_optim(self) -> bool:
        """Whether programs are compiled whole."""
        return self._optimize

    def set_cpu_math_library_num_threads(self, cpu_math_library_num_threads: int) -> None:
        """The number of threads.

        It is that of the process, from the moment when a Predictor is made with this Config. Results do not depend
        on it.

        Args:
            cpu_math_library_num_threads (int): 1 or more.

        Raises:
            TypeError: no integer. ValueError: less than 1.
        """
        n = cpu_math_library_num_threads
        if not isinstance(n, int) or isinstance(n, bool):
            raise errors.invalid_type(
                "Config.set_cpu_math_library_num_threads: this is no number.", expected="int", received=repr(n)
            )
        if n < 1:
            raise errors.invalid_argument(
                "Config.set_cpu_math_library_num_threads: no thread would be left.",
                expected="1 or more",
                received=f"{n}",
            )
        self._threads = n

    def cpu_math_library_num_threads(self) -> int:
        """The number of threads: as set, else one for each core."""
        return self._threads or thread_count()

    def enable_memory_optim(self, x: bool = True) -> None:
        """Accepted: memory is always planned so that values share it."""
        self._memory = bool(x)

    def enable_mkldnn(self) -> None:
        """Accepted: there is one compiler for the CPU, with kernels of its own; oneDNN is not used."""
        self._onednn = True

    def disable_mkldnn(self) -> None:
        """Accepted, see `enable_mkldnn`."""
        self._onednn = False

    def mkldnn_enabled(self) -> bool:
        """What was asked for; oneDNN is not used in any case."""
        return self._onednn

    enable_onednn, disable_onednn, onednn_enabled = enable_mkldnn, disable_mkldnn, mkldnn_enabled

    def set_mkldnn_cache_capacity(self, capacity: int = 0) -> None:
        """Accepted: there is no cache of oneDNN."""

    set_onednn_cache_capacity = set_mkldnn_cache_capacity

    def disable_glog_info(self) -> None:
        """Accepted: nothing is logged."""
        self._log = False

    def glog_info_disabled(self) -> bool:
        """Whether `disable_glog_info` was called."""
        return not self._log

    def switch_use_feed_fetch_ops(self, x: int = True) -> None:
        """Accepted: programs have no operators that feed and fetch."""
        self._feed_fetch = bool(x)

    def use_feed_fetch_ops_enabled(self) -> bool:
        """What was asked for."""
        return self._feed_fetch

    def switch_specify_input_names(self, x: bool = True) -> None:
        """Accepted: inputs always have names."""
        self._named = bool(x)

    def specify_input_name(self) -> bool:
        """What was asked for."""
        return self._named

    def enable_new_ir(self, x: bool = True) -> None:
        """Accepted: there is one form of programs."""
        self._new_ir = bool(x)

    def new_ir_enabled(self) -> bool:
        """What was asked for."""
        return self._new_ir

    def enable_new_executor(self, x: bool = True) -> None:
        """Accepted: there is one way to run."""

    def summary(self) -> str:
        """The settings as a table.

        Examples:
            >>> "net.json" in paddle.inference.Config("net.json", "net.pdiparams").summary()
            True
        """
        rows = [
            ("model_dir", self._folder), ("model_file", self._program), ("params_file", self._weights),
            ("from_memory", str(self.model_from_memory()).lower()), ("use_gpu", "false"),
            ("cpu_math_thread", str(self.cpu_math_library_num_threads())), ("ir_optim", str(self._optimize).lower()),
            ("precision", "as saved"),
        ]  # fmt: skip
        rows = [("Option", "Value"), *(r for r in rows if r[1])]
        a, b = (max(len(r[i]) for r in rows) for i in (0, 1))
        line = f"+{'-' * (a + 2)}+{'-' * (b + 2)}+"
        told = [f"| {name:{a}} | {value:{b}} |" for name, value in rows]
        return "\n".join(["", line, told[0], line, *told[1:], line, ""])

    # -- for the Predictor --
    def _apply(self) -> None:
        if self._threads and flags.get("FLAGS_cpu_threads") != self._threads:
            flags.set_("FLAGS_cpu_threads", self._threads)


def _no_engine(name: str, what: str) -> Exception:
    return errors.unavailable(
        f"Config.{name}: there is no {what.split()[-1]} here.", expected="disable_gpu(), the CPU", received=what
    )
