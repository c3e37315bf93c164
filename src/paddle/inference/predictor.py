"""Predictors: saved programs run on arrays."""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import version
from ..engine import errors
from ..engine.cpu import executor
from ..engine.eager import materialize
from ..engine.eager.trace import from_array
from ..engine.types import TensorType, bfloat16, dtype_of
from ..framework.random import default_generator
from ..jit import files
from ..tensor.tensor import Tensor as EagerTensor
from .config import Config
from .kinds import DataType, kind_of

__all__ = [
    "Predictor",
    "PredictorPool",
    "Tensor",
    "create_predictor",
    "get_trt_compile_version",
    "get_trt_runtime_version",
    "get_version",
]

MOST_PROGRAMS = 16  # sets of sizes whose programs are kept: each may hold the weights in an order of its own


class _Model:
    """What the clones of a Predictor share: the weights, and programs for the sizes that came last."""

    def __init__(self, saved: files.SavedProgram, optimize: bool):
        if "forward" not in saved.methods:
            raise errors.invalid_argument(
                "create_predictor: the model has no forward.", expected="a model saved with it",
                received=f"methods: {', '.join(saved.methods)}",
            )  # fmt: skip
        self.method = saved.methods["forward"]
        self.arrays = {name: w.array for name, w in saved.weights.items()}
        self.optimize = optimize
        self.programs: OrderedDict[Any, Any] = OrderedDict()  # by the types of the feeds
        self.lock = threading.Lock()
        self.updating = threading.Lock()
        roles = self.method.roles
        self.feeds, self.keys = self.method.feeds, [i for i, r in enumerate(roles) if r == "key"]
        self.given = [self.arrays[r[1]] if type(r) is tuple else None for r in roles]

    def run(self, feeds: Sequence[np.ndarray]) -> list[np.ndarray]:
        method = self.method
        if not method.updates:
            return self._run(feeds)
        with self.updating:  # one run after another: each begins with what the last one left
            found = self._run(feeds)
            count = len(method.outputs)
            for name, a in zip(method.updates, found[count:]):
                self.arrays[name] = np.array(a)
            self.given = [self.arrays[r[1]] if type(r) is tuple else None for r in method.roles]
            return found[:count]

    def _run(self, feeds: Sequence[np.ndarray]) -> list[np.ndarray]:
        run, tables = self.program(feeds)
        arrays: list[Any] = self.given + tables
        for i, a in zip(self.feeds, feeds):
            arrays[i] = a
        for i in self.keys:
            arrays[i] = default_generator().next()
        found = run(arrays)
        inputs = {id(a) for a in arrays}
        return [np.array(a) if id(a) in inputs or a.base is not None else a for a in found]

    def program(self, feeds: Sequence[np.ndarray]) -> Any:
        """What runs these arrays, and the tables that it takes beside them and the weights."""
        key = tuple([(a.shape, a.dtype) for a in feeds])
        with self.lock:
            found = self.programs.get(key)
            if found is not None:
                self.programs.move_to_end(key)
                return found
            method = self.method
            make = method.program
            sizes = make.sizes_of(files.types_for(method, [TensorType(a.shape, dtype_of(a.dtype)) for a in feeds]))
            graph, tables = files.settled(make.graph(sizes))
            steady = {name for name in self.arrays if name not in method.updates}
            lasting = tuple(type(r) is tuple and r[1] in steady for r in method.roles) + (True,) * len(tables)
            again = lambda: files.settled(make.graph(sizes))[0]  # noqa: E731
            run = materialize.backend(graph, (False,) * len(lasting), again, lasting)
            if isinstance(run, executor.Executor):
                if not self.optimize:
                    run.patience = sys.maxsize
                elif run.looking is not None:
                    run.constant = lasting
            found = self.programs[key] = run, tables
            if len(self.programs) > MOST_PROGRAMS:
                self.programs.popitem(last=False)
            return found

    def forget(self) -> None:
        with self.lock:
            self.programs.clear()


class PaddleInferTensor:
    """An input or a result of a Predictor, by its name; `get_input_handle` and `get_output_handle` give it.

    Arrays go in by `copy_from_cpu` and come out by `copy_to_cpu`; both are copies.
    """

    def __init__(self, name: str, type_: tuple[tuple[int, ...], Any]):
        self._name, self._declared = name, type_
        self._array: np.ndarray | None = None
        self._shared: EagerTensor | None = None
        self._shape: tuple[int, ...] | None = None

    def copy_from_cpu(self, data: np.ndarray) -> None:
        """Sets the value.

        Args:
            data (numpy.ndarray): of the element type and, where they are fixed, the sizes that the program has.

        Raises:
            TypeError: no array, or of elements that Tensors do not have.
        """
        if not isinstance(data, np.ndarray) or data.dtype.kind not in "biufcV":
            received = f"array of {data.dtype}" if isinstance(data, np.ndarray) else type(data).__name__
            raise errors.invalid_type(
                f"copy_from_cpu: {self._name} cannot have this value.", expected="a numpy.ndarray of numbers",
                received=received,
            )  # fmt: skip
        a = np.array(data, order="C")
        if a.dtype == np.uint16 and self._declared[1] is bfloat16:  # as Tensor.numpy() gives it
            a = a.view(bfloat16.np)
        dtype_of(a.dtype)
        self._array, self._shared, self._shape = a, None, data.shape

    def share_external_data(self, data: EagerTensor) -> None:
        """Takes the memory of a Tensor, without a copy; what it holds when the Predictor runs counts.

        Args:
            data (Tensor): stays alive as long as it is the value here.

        Raises:
            TypeError: no Tensor.
        """
        if not isinstance(data, EagerTensor):
            raise errors.invalid_type(
                f"share_external_data: {self._name} cannot have this value.", expected="a Tensor",
                received=type(data).__name__, hint="copy_from_cpu takes an array.",
            )  # fmt: skip
        self._array, self._shared, self._shape = None, data, tuple(data.shape)

    def copy_to_cpu(self) -> np.ndarray:
        """A copy of the value; bfloat16 as uint16.

        Raises:
            RuntimeError: there is none yet.
        """
        a = self._value()
        return np.array(a.view(np.uint16) if self._declared[1] is bfloat16 else a)

    def reshape(self, shape: Sequence[int]) -> None:
        """Says what shape the next value has. Values of that shape stay; others are dropped.

        Args:
            shape (list of int): the sizes.

        Raises:
            TypeError: no list of integers. ValueError: a negative size.
        """
        if not isinstance(shape, (list, tuple)) or not all(isinstance(n, (int, np.integer)) for n in shape):
            raise errors.invalid_type(
                f"reshape: {self._name} cannot have this shape.", expected="a list of int", received=repr(shape)
            )
        if any(n < 0 for n in shape):
            raise errors.invalid_argument(
                f"reshape: {self._name} cannot have this shape.",
                expected="sizes of 0 or more",
                received=f"{list(shape)}",
            )
        sizes = tuple(int(n) for n in shape)
        if self._array is not None and self._array.size == int(np.prod(sizes)):
            self._array = self._array.reshape(sizes)
        elif self._shape != sizes:
            self._array = self._shared = None
        self._shape = sizes

    def shape(self) -> list[int]:
        """The sizes; those that the program has, with -1 where they are open, as long as there is no value."""
        return list(self._declared[0] if self._shape is None else self._shape)

    def type(self) -> DataType:
        """The element type."""
        a = self._array
        return kind_of(dtype_of(a.dtype) if a is not None else self._declared[1])

    def _value(self) -> np.ndarray:
        a = self._shared.array() if self._shared is not None else self._array
        if a is None:
            raise errors.precondition(
                f"Predictor: {self._name} has no value.", expected="copy_from_cpu before run, run before copy_to_cpu",
                received="nothing",
            )  # fmt: skip
        return a

    def _set(self, a: np.ndarray) -> None:
        self._array, self._shared, self._shape = a, None, a.shape


Tensor = PaddleInferTensor


class PaddleInferPredictor:
    """Runs a saved program.

    A program that comes again at the same sizes is compiled whole, with its weights as constants; programs of the last
    sizes are kept. One Predictor runs one thing at a time; clones, which share the weights, run at the same time.

    Args:
        config (Config): the model, and how it is run.

    Raises:
        RuntimeError: there is no such file, or it is damaged.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> path = os.path.join(tempfile.mkdtemp(), "double")
        >>> paddle.jit.save(lambda x: x * 2, path, [paddle.static.InputSpec([None], "float32", "x")])
        >>> config = paddle.inference.Config(path + ".json", path + ".pdiparams")
        >>> predictor = paddle.inference.create_predictor(config)
        >>> predictor.get_input_handle("x").copy_from_cpu(np.ones(3, "float32"))
        >>> predictor.run()
        >>> predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu().tolist()
        [2.0, 2.0, 2.0]
    """

    def __init__(self, config: Config, _model: Any = None):
        self._model = _opened(config) if _model is None else _model
        method = self._model.method
        program = method.program
        self._inputs = {
            program.names[i]: PaddleInferTensor(program.names[i], (program.shape(i), program.inputs[i][1]))
            for i in method.feeds
        }
        self._outputs = {
            name: PaddleInferTensor(name, (shape, dtype))
            for name, (_, shape, dtype) in zip(method.outputs, program.outputs)
        }
        self._config = config
        self._lock = threading.Lock()

    def get_input_names(self) -> list[str]:
        """The names of the inputs, in order."""
        return list(self._inputs)

    def get_output_names(self) -> list[str]:
        """The names of the results, in order."""
        return list(self._outputs)

    def get_input_handle(self, name: str) -> PaddleInferTensor:
        """An input.

        Raises:
            RuntimeError: there is none of this name.
        """
        return _named(self._inputs, name, "input")

    def get_output_handle(self, name: str) -> PaddleInferTensor:
        """A result.

        Raises:
            RuntimeError: there is none of this name.
        """
        return _named(self._outputs, name, "result")

    def run(self, inputs: Sequence[EagerTensor] | None = None) -> list[EagerTensor] | None:
        """Runs the program.

        Args:
            inputs (list of Tensor, optional): the inputs in order. Default: what the handles hold.

        Returns:
            list of Tensor: the results, where inputs were given. Else None: the handles hold them.

        Raises:
            RuntimeError: an input has no value. TypeError: inputs is no list of Tensors.
            ValueError: there are too few or too many inputs, or one does not fit the program.
        """
        if inputs is None:
            with self._lock:
                found = self._model.run([h._value() for h in self._inputs.values()])
                for handle, a in zip(self._outputs.values(), found):
                    handle._set(a)
            return None
        if not isinstance(inputs, (list, tuple)) or not all(isinstance(x, EagerTensor) for x in inputs):
            given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
            raise errors.invalid_type(
                "Predictor.run: these are no Tensors.", expected="a list of Tensors",
                received=f"{type(inputs).__name__} of {', '.join(type(x).__name__ for x in given)}",
                hint="paddle.to_tensor makes one of an array.",
            )  # fmt: skip
        if len(inputs) != len(self._inputs):
            raise errors.invalid_argument(
                "Predictor.run: the number of inputs is another.",
                expected=f"{len(self._inputs)}: {', '.join(self._inputs)}", received=str(len(inputs)),
            )  # fmt: skip
        with self._lock:
            return [from_array(a) for a in self._model.run([x.array() for x in inputs])]

    def clone(self) -> "PaddleInferPredictor":
        """A Predictor with inputs and results of its own, which shares the weights and the compiled programs."""
        return PaddleInferPredictor(self._config, self._model)

    def clear_intermediate_tensor(self) -> None:
        """Gives back the memory in which values between inputs and results lie while a program runs."""
        executor.release_arenas()

    def try_shrink_memory(self) -> int:
        """Gives back memory that can be had again: programs for other sizes, and that of values between.

        Returns:
            int: bytes that are free now, as far as they are counted.
        """
        self._model.forget()
        return executor.release_arenas()


Predictor = PaddleInferPredictor


def _named(handles: dict[str, PaddleInferTensor], name: str, what: str) -> PaddleInferTensor:
    found = handles.get(name) if isinstance(name, str) else None
    if found is None:
        raise errors.precondition(
            f"Predictor: there is no {what} of this name.", expected=", ".join(handles), received=repr(name)
        )
    return found


def _opened(config: Config) -> _Model:
    if not isinstance(config, Config):
        raise errors.invalid_type(
            "create_predictor: this is no Config.", expected="paddle.inference.Config", received=type(config).__name__
        )
    config._apply()
    if config._buffers is not None:
        return _Model(files.read_bytes(*config._buffers), config.ir_optim())
    program, weights = config.prog_file(), config.params_file()
    if config.model_dir():
        program, weights = _only_model(config.model_dir())
    if not program:
        raise errors.precondition(
            "create_predictor: the Config names no model.", expected="Config(program, weights)", received="Config()"
        )
    for name in (program, weights):
        if not os.path.isfile(name):
            raise RuntimeError(
                errors.message(
                    "NotFound", "create_predictor: a file cannot be opened.", "a file of jit.save", f"{name!r}"
                )
            )
    return _Model(files.read_files(program, weights), config.ir_optim())


def _only_model(folder: str) -> tuple[str, str]:
    """The files of the one model in a folder."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    if "__model__" in names:
        raise files.paddles(os.path.join(folder, "__model__"), "protobuf")
    bases = [n[: -len(files.JSON)] for n in names if n.endswith(files.JSON)]
    found = [b for b in bases if b + files.WEIGHTS in names]
    if len(found) != 1:
        raise RuntimeError(
            errors.message(
                "NotFound", "create_predictor: it is not clear which model of a folder is meant.",
                "one pair of files .json and .pdiparams", f"{folder!r}: {', '.join(found) or 'none'}",
                "name both files in the Config.",
            )
        )  # fmt: skip
    base = os.path.join(folder, found[0])
    return base + files.JSON, base + files.WEIGHTS


def create_predictor(config: Config) -> PaddleInferPredictor:
    """A Predictor for a model.

    Args:
        config (Config): the model, and how it is run.

    Returns:
        Predictor: ready to run.

    Raises:
        TypeError: no Config.
        RuntimeError: the Config names no model, there is no such file, or it is damaged.
        NotImplementedError: the model is one that Paddle has written.

    Examples:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "fc")
        >>> paddle.jit.save(paddle.nn.Linear(3, 2), path, [paddle.static.InputSpec([None, 3])])
        >>> config = paddle.inference.Config(path + ".json", path + ".pdiparams")
        >>> [t.shape for t in paddle.inference.create_predictor(config).run([paddle.ones([4, 3])])]
        [paddle.Size([4, 2])]
    """
    return PaddleInferPredictor(config)


class PredictorPool:
    """Several Predictors of one model, which share its weights: one for each thread.

    Args:
        config (Config): the model.
        size (int): how many.

    Raises:
        ValueError: size is less than 1.
    """

    def __init__(self, config: Config, size: int):
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise errors.invalid_argument("PredictorPool: the size is none.", expected="1 or more", received=repr(size))
        first = PaddleInferPredictor(config)
        self._predictors = [first, *(first.clone() for _ in range(size - 1))]

    def retrieve(self, idx: int) -> PaddleInferPredictor:
        """The Predictor of a number.

        Raises:
            ValueError: there is none.
        """
        if isinstance(idx, bool) or not isinstance(idx, int) or not 0 <= idx < len(self._predictors):
            raise errors.invalid_argument(
                "PredictorPool: there is no such Predictor.",
                expected=f"0 to {len(self._predictors) - 1}",
                received=repr(idx),
            )
        return self._predictors[idx]


def get_version() -> str:
    """The version, as text of three lines.

    Examples:
        >>> paddle.inference.get_version().splitlines()[0]
        'version: 3.3.1'
    """
    return f"version: {version.full_version}\ncommit: {version.commit}\nbranch: HEAD\n"


def get_trt_compile_version() -> tuple[int, int, int]:
    """The version of TensorRT that this was built with: zeros, there is none."""
    return 0, 0, 0


def get_trt_runtime_version() -> tuple[int, int, int]:
    """The version of TensorRT that is there: zeros, there is none."""
    return 0, 0, 0
