"""Finding where numbers overflow: in one Tensor, in a layer, or in all that is computed."""

from __future__ import annotations

import enum
import functools
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import materialize
from ..engine.eager import trace as tracing
from ..tensor.tensor import Tensor
from .accuracy_compare import compare_accuracy
from .operator_stats import (
    collect_operator_stats,
    disable_operator_stats_collection,
    enable_operator_stats_collection,
    known_as,
)  # fmt: skip

__all__ = [
    "DebugMode",
    "TensorCheckerConfig",
    "check_layer_numerics",
    "check_numerics",
    "collect_operator_stats",
    "compare_accuracy",
    "disable_operator_stats_collection",
    "disable_tensor_checker",
    "enable_operator_stats_collection",
    "enable_tensor_checker",
]

_SHORT = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}
_MOST = float(np.finfo(np.float16).max)


class DebugMode(enum.Enum):
    """What is done about what a check finds: raise at NaN and infinity, print a line for them, print a line for what
    float16 cannot hold too, print a line in any case."""

    CHECK_NAN_INF_AND_ABORT = 0
    CHECK_NAN_INF = 1
    CHECK_ALL_FOR_OVERFLOW = 2
    CHECK_ALL = 3


def check_numerics(
    tensor: Tensor, op_type: str, var_name: str, debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT
) -> tuple[Tensor, Tensor]:
    """Counts NaN, infinities and zeros.

    Args:
        tensor (Tensor): any floating type.
        op_type (str): of the operator that made it, for the report. var_name (str): its name, for the report.
        debug_mode (DebugMode, optional): CHECK_NAN_INF_AND_ABORT raises where there are NaN or infinities;
            CHECK_NAN_INF prints a line; CHECK_ALL_FOR_OVERFLOW also prints where values are beyond float16; CHECK_ALL
            always prints. Default: CHECK_NAN_INF_AND_ABORT.

    Returns:
        tuple: the counts of NaN, infinities and zeros, int64 [3]; the largest, the least and the mean, float32 [3].

    Raises:
        ValueError: not a Tensor. RuntimeError: NaN or infinities were found.

    Examples:
        >>> counts, values = paddle.amp.debugging.check_numerics(paddle.to_tensor([1.0, 0.0, 3.0]), "relu", "h")
        >>> counts.tolist(), [round(v, 3) for v in values.tolist()]
        ([0, 0, 1], [3.0, 0.0, 1.333])
    """
    if not isinstance(tensor, Tensor):
        raise errors.invalid_argument(
            "check_numerics: tensor is not a Tensor.", expected="a Tensor", received=type(tensor).__name__
        )
    for label, name in (("op_type", op_type), ("var_name", var_name)):
        if not isinstance(name, str):
            raise errors.invalid_type(
                f"check_numerics: {label} is no str.", expected="str", received=f"{label}: {type(name).__name__}"
            )
    if not isinstance(debug_mode, DebugMode):
        raise errors.no_attribute(
            "check_numerics: debug_mode is none.", expected="a DebugMode", received=f"debug_mode: {debug_mode!r:.60}"
        )
    if not tensor.type.dtype.is_floating:
        raise errors.precondition(
            "check_numerics: these are no floating numbers.", expected="a floating type", received=f"{tensor.type}"
        )
    counts, values = _look(tensor.array(), tensor.type.dtype, op_type, var_name, debug_mode, print)
    return tracing.from_array(counts), tracing.from_array(values)


def _look(
    a: np.ndarray, dtype: Any, op_type: str, var_name: str, mode: DebugMode, write: Callable[[str], Any], at: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """Counts, and writes or raises what the mode says."""
    wide = a.astype(np.float32) if a.dtype.itemsize < 4 else a
    if wide.dtype.kind == "c":
        wide = np.abs(wide)
    counts = np.array([np.isnan(wide).sum(), np.isinf(wide).sum(), (wide == 0).sum()], np.int64)
    with np.errstate(all="ignore"):
        flat = wide.ravel()  # the greatest and the least of what is a number
        found = [np.fmax.reduce(flat), np.fmin.reduce(flat), flat.mean()] if flat.size else [0, 0, 0]
    values = np.array(found, np.float32)
    where = f"[device=cpu, op={op_type}, tensor={var_name}, dtype={_SHORT.get(dtype.name, dtype.name)}]"
    kinds = f"num_nan={counts[0]}, num_inf={counts[1]}, num_zero={counts[2]}"
    rest = f"max={values[0]:e}, min={values[1]:e}, mean={values[2]:e}"
    if counts[0] or counts[1]:
        write(f"[PRECISION] [ERROR] in {where}, numel={a.size}, {kinds}, {rest}")
        if mode is DebugMode.CHECK_NAN_INF_AND_ABORT:
            raise errors.precondition(
                f"{op_type}: there are NaN or infinities ({kinds}).", received=f"in {where}: {rest}",
                expected="finite numbers", at=at or None,
            )  # fmt: skip
    else:
        fits = dtype.name != "float32" or not wide.size or float(np.abs(values[:2]).max()) <= _MOST
        if mode is DebugMode.CHECK_ALL or (mode is DebugMode.CHECK_ALL_FOR_OVERFLOW and not fits):
            write(f"[PRECISION] in {where}, numel={a.size}, num_zero={counts[2]}, {rest}")
    return counts, values


def check_layer_numerics(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates `forward` of a Layer: NaN or infinities in its first input or in its outputs raise RuntimeError.

    Examples:
        >>> class Root(paddle.nn.Layer):
        ...     @paddle.amp.debugging.check_layer_numerics
        ...     def forward(self, x):
        ...         return x.sqrt()
        >>> Root()(paddle.ones([1])).tolist()
        [1.0]
    """

    @functools.wraps(func)
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not args or not isinstance(args[0], Tensor):
            raise errors.precondition(
                "check_layer_numerics: the first input is not a Tensor.",
                expected="a Tensor",
                received=type(args[0]).__name__ if args else "nothing",
            )
        name = type(self).__name__
        check_numerics(args[0], name, "input")
        out = func(self, *args, **kwargs)
        for i, t in enumerate(out if isinstance(out, (list, tuple)) else [out]):
            if isinstance(t, Tensor) and t.type.dtype.is_floating:
                check_numerics(t, name, f"output {i}")
        return out

    return forward


class TensorCheckerConfig:
    """What `enable_tensor_checker` looks for. If enabled, the seeds of paddle, numpy and random are set to 123.

    Args:
        enable (bool): whether anything is checked.
        debug_mode (DebugMode, optional): what is done about what is found. Default: CHECK_NAN_INF_AND_ABORT.
        output_dir (str, optional): a folder; lines go to a file `worker_cpu` in it instead of being printed.
        checked_op_list (list[str]|tuple[str], optional): names of operators; only these are checked.
        skipped_op_list (list[str]|tuple[str], optional): names of operators that are not checked.
        debug_step (list[int]|tuple[int], optional): (first, end): only steps `first <= step < end` are checked; each
            call of `enable_tensor_checker` begins a step. All are by default.
        stack_height_limit (int, optional): accepted; errors name your line in any case. Default: 1.

    Examples:
        >>> debugging = paddle.amp.debugging
        >>> config = debugging.TensorCheckerConfig(enable=True, debug_mode=debugging.DebugMode.CHECK_NAN_INF)
        AMP Debugging TensorCheckerConfig: seed  123
        >>> debugging.enable_tensor_checker(config)
        >>> y = (paddle.zeros([2]).log() * 2.0).tolist()
        [PRECISION] [ERROR] in [device=cpu, op=log, tensor=, dtype=fp32], numel=2, num_nan=0, num_inf=2, num_zero=0,...
        [PRECISION] [ERROR] in [device=cpu, op=multiply, ...
        >>> debugging.disable_tensor_checker()
    """

    current_step_id = 0

    def __init__(
        self,
        enable: bool,
        debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT,
        output_dir: str | None = None,
        checked_op_list: Any = None,
        skipped_op_list: Any = None,
        debug_step: Any = None,
        stack_height_limit: int = 1,
    ) -> None:
        self.enable, self.debug_mode, self.output_dir = enable, debug_mode, output_dir
        self.checked_op_list, self.skipped_op_list = checked_op_list, skipped_op_list
        self.debug_step, self.stack_height_limit = debug_step, stack_height_limit
        self.start_step: int | None = None
        self.end_step: int | None = None
        self.seed = self.initial_seed = 123
        for label, names in (("checked_op_list", checked_op_list), ("skipped_op_list", skipped_op_list)):
            if names is not None and not isinstance(names, (list, tuple)):
                raise self._refused(errors.invalid_argument, label, names, "a list or tuple of names of operators")
        if debug_step is not None:
            if not isinstance(debug_step, (list, tuple)):
                raise self._refused(errors.invalid_argument, "debug_step", debug_step, "a list or tuple")
            if len(debug_step) != 2 or not debug_step[0] < debug_step[1]:
                raise self._refused(errors.asserted, "debug_step", debug_step, "(first, end) with first < end")
            self.start_step, self.end_step = debug_step
        if not isinstance(debug_mode, DebugMode):
            raise self._refused(errors.no_attribute, "debug_mode", debug_mode, "a DebugMode")
        if enable:
            self._seed_all()

    def _refused(self, make: Any, label: str, value: Any, expected: str) -> Exception:
        return make(
            f"TensorCheckerConfig: {label} is not known.", expected=expected, received=f"{label}: {value!r:.60}"
        )

    def _seed_all(self) -> None:
        from ..framework.random import seed

        seed(self.initial_seed)
        np.random.seed(self.initial_seed)
        random.seed(self.initial_seed)
        print("AMP Debugging TensorCheckerConfig: seed ", self.initial_seed)

    def update_and_check_step_id(self) -> bool:
        """Begins a step; says whether it is checked."""
        if not self.enable or self.start_step is None or self.end_step is None:
            return bool(self.enable)
        step = TensorCheckerConfig.current_step_id
        if step >= self.end_step:
            return False
        TensorCheckerConfig.current_step_id = step + 1
        return self.start_step <= step

    def start_check_nan_inf(self) -> None:
        """Checks what is computed from here on."""
        if not isinstance(self.stack_height_limit, int):
            raise self._refused(errors.invalid_argument, "stack_height_limit", self.stack_height_limit, "an int")
        materialize.inspect(_Checker(self))

    def stop_check_nan_inf(self) -> None:
        """Checks nothing from here on."""
        if materialize.inspector is not None:
            materialize.inspect(None)


class _Checker:
    """Looks at what operators give, as a configuration says."""

    def __init__(self, config: TensorCheckerConfig) -> None:
        self.mode, self.write = config.debug_mode, self.say
        self.failed = -1  # the epoch of the trace that failed
        self.checked, self.skipped = config.checked_op_list, config.skipped_op_list or ()
        if config.output_dir is not None:
            if not isinstance(config.output_dir, str):
                raise config._refused(errors.invalid_type, "output_dir", config.output_dir, "the path of a folder")
            os.makedirs(config.output_dir, exist_ok=True)
            self.path = os.path.join(config.output_dir, "worker_cpu")
            self.write = self.append

    def say(self, line: str) -> None:
        if self.mode is DebugMode.CHECK_NAN_INF_AND_ABORT:
            epoch = tracing.current().epoch
            if epoch == self.failed:  # what failed is computed once more, to find out how far it went
                return
            self.failed = epoch
        print(line)

    def append(self, line: str) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def __call__(self, node: Any, arrays: list[np.ndarray]) -> None:
        names = {node.op.name, known_as(node.op.name)}
        if (self.checked is not None and not names & set(self.checked)) or names & set(self.skipped):
            return
        at = errors.describe_line(*node.line) if node.line else ""
        for v, a in zip(node.outputs, arrays):
            if v.dtype.is_differentiable:
                _look(a, v.dtype, node.op.name, "", self.mode, self.write, at)


def enable_tensor_checker(checker_config: TensorCheckerConfig) -> None:
    """Checks all that is computed for NaN and infinity from here on; begins a step of the configuration.

    Operators run where a value is needed: there lines are printed and errors raised. Errors name the line that has
    recorded the operator.

    Args:
        checker_config (TensorCheckerConfig): what is looked for.
    """
    if not isinstance(checker_config, TensorCheckerConfig):
        raise errors.no_attribute(
            "enable_tensor_checker: this is no configuration.", expected="a TensorCheckerConfig",
            received=type(checker_config).__name__,
        )  # fmt: skip
    if checker_config.update_and_check_step_id():
        checker_config.start_check_nan_inf()
    else:
        checker_config.stop_check_nan_inf()


def disable_tensor_checker() -> None:
    """Ends what `enable_tensor_checker` began."""
    if materialize.inspector is not None:
        materialize.inspect(None)


def set_checked_op_list(checked_op_list: Any) -> None:
    """Restricts the checks that are under way to operators of these names; None checks all."""
    if isinstance(materialize.inspector, _Checker):
        materialize.inspector.checked = checked_op_list


def set_skipped_op_list(skipped_op_list: Any) -> None:
    """Leaves operators of these names out of the checks that are under way."""
    if isinstance(materialize.inspector, _Checker):
        materialize.inspector.skipped = skipped_op_list or ()
