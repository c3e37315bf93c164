"""`jit.save` and `jit.load`."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.trace import from_array
from ..nn.layer.layers import Layer
from ..static.input import InputSpec
from ..tensor.tensor import Tensor
from . import files
from .export import Exporter, evaluating, plain
from .program import StaticFunction
from .structure import put_back
from .translated_layer import PirTranslatedLayer, TranslatedLayer, check_example

__all__ = ["load", "save"]

_SAVE_OPTIONS = ("output_spec", "with_hook", "combine_params", "clip_extra", "skip_forward", "input_names_after_prune",
                 "skip_prune_program")  # fmt: skip
_LOAD_OPTIONS = ("model_filename", "params_filename", "keep_name_table", "verify")


def save(layer: Any, path: str, input_spec: Any = None, **configs: Any) -> None:
    """Saves a Layer or a function as a program that runs without its source.

    Two files are written: `path` + ".json", the program, and `path` + ".pdiparams", its weights in the format
    safetensors; docs/saved-models.md describes them. The program is that of inference: dropout is off and batch norm
    uses its statistics, whatever mode the Layer is in, as in Paddle.

    Args:
        layer (Layer|callable): what is saved. Of a Layer `forward`, and every other method with `to_static`.
        path (str): the files without their endings; folders are made.
        input_spec (list, optional): for each argument of forward an InputSpec, a Tensor that is like the inputs, or a
            value that is fixed; lists and dicts of these stand for arguments that are such. Sizes that are None stay
            open. Default: that of `to_static`, or the arguments of the last call where forward is a `to_static` one.
        **configs: `output_spec` (list of int, or of InputSpec with a name): which of the results are kept.
            `with_hook` (bool): hooks of the Layer's call are part of the program. `skip_forward` (bool): only
            the other methods are saved. `combine_params`, `clip_extra`: accepted; there is one way to write.

    Raises:
        TypeError: neither a Layer nor a function, or input_spec is no list.
        ValueError: no file name in path, an unknown configuration, no input_spec where one is needed, or what the
            program does depends on an open size.
        RuntimeError: the function asks for the value of a Tensor.

    Examples:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "double")
        >>> def double(x):
        ...     return x * 2
        >>> paddle.jit.save(double, path, [paddle.static.InputSpec([None], "float32")])
        >>> paddle.jit.load(path)(paddle.to_tensor([1.0, 2.0])).tolist()
        [2.0, 4.0]

    Source: https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/jit/save_en.html
    """
    for name in configs:
        if name not in _SAVE_OPTIONS:
            raise errors.invalid_argument(
                f"jit.save: the configuration {name} is not known.", expected=", ".join(_SAVE_OPTIONS), received=name
            )
    layer = getattr(layer, "_layers", layer) if type(layer).__name__ == "DataParallel" else layer
    if not isinstance(layer, Layer) and not callable(layer):
        raise errors.invalid_type(
            "jit.save: this can be neither captured nor called.", expected="a Layer or a function",
            received=type(layer).__name__,
        )  # fmt: skip
    path = _path(path)
    if not os.path.basename(path):
        raise errors.invalid_argument(
            "jit.save: the path names no file.", expected="folder/name, without an ending", received=f"path: {path!r}"
        )
    if input_spec is not None and not isinstance(input_spec, (list, tuple)):
        raise errors.invalid_type(
            "jit.save: input_spec is no list.", expected="a list", received=type(input_spec).__name__
        )
    if isinstance(layer, Layer):
        program = _of_layer(layer, input_spec, configs)
    else:
        program = _of_function(layer, input_spec)
    if configs.get("output_spec") is not None:
        _pruned(program, configs["output_spec"])
    files.write(path, program)


def _path(path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise errors.invalid_type("jit: the path is no text.", expected="str", received=type(path).__name__)
    return os.fspath(path)


def _of_layer(layer: Layer, input_spec: Any, configs: dict[str, Any]) -> files.SavedProgram:
    others = {}
    for name in dir(type(layer)):
        if name != "forward" and isinstance(getattr(type(layer), name, None), StaticFunction):
            others[name] = getattr(layer, name)
    if others and input_spec is not None:
        raise errors.invalid_argument(
            "jit.save: an input_spec for several methods.",
            expected="the input_spec of each in its to_static, where methods beside forward are saved",
            received=f"input_spec, and the methods {', '.join(others)}",
        )
    named = {**dict(layer.named_parameters()), **dict(layer.named_buffers())}
    state = layer.state_dict()
    hidden = [n for n, t in named.items() if n not in state]
    exporter = Exporter(named, hidden)
    with evaluating(layer):
        if not configs.get("skip_forward"):
            forward = layer.forward
            function = forward
            if configs.get("with_hook") and (layer._forward_pre_hooks or layer._forward_post_hooks):
                function = _with_hooks(layer, forward)
            exporter.add("forward", function, _arguments(forward, input_spec, type(layer).__name__ + ".forward"))
        for name, method in others.items():
            if method.input_spec is not None or method.concrete_programs:
                exporter.add(name, method, _arguments(method, None, f"{type(layer).__name__}.{name}"))
    if not exporter.methods:
        raise errors.invalid_argument("jit.save: there is nothing to save.", expected="forward, or a to_static method")
    return exporter.program(layer.training)


def _with_hooks(layer: Layer, forward: Any) -> Any:
    """The call of a Layer with its hooks."""
    function = plain(forward)

    @functools.wraps(forward)
    def called(*args: Any) -> Any:
        known = layer.__dict__.get("forward")
        layer.__dict__["forward"] = function
        try:
            return layer._call_with_hooks(args, {})
        finally:
            if known is None:
                del layer.__dict__["forward"]
            else:
                layer.__dict__["forward"] = known

    return called


def _of_function(function: Any, input_spec: Any) -> files.SavedProgram:
    owner = function.instance if isinstance(function, StaticFunction) else getattr(function, "__self__", None)
    layer = owner if isinstance(owner, Layer) else None
    named = {} if layer is None else {**dict(layer.named_parameters()), **dict(layer.named_buffers())}
    hidden = [] if layer is None else [n for n in named if n not in layer.state_dict()]
    exporter = Exporter(named, hidden)
    with evaluating(layer):
        label = getattr(function, "__name__", type(function).__name__)
        exporter.add("forward", function, _arguments(function, input_spec, label))
    return exporter.program(False if layer is None else layer.training)


def _arguments(function: Any, input_spec: Any, label: str) -> list[Any]:
    """What stands for the arguments: what was given, what to_static was told, or the last call."""
    static = isinstance(function, StaticFunction)
    given = function.input_spec if static and input_spec is None else input_spec
    if given is not None:
        return list(given) if isinstance(given, (list, tuple)) else [given]
    last = function._latest if static else None
    if last is not None and not last[1]:
        specs = [InputSpec(t.shape, t.dtype, None, sg) for t, sg in last[2]]
        return list(put_back(last[0], specs, [0]))
    raise errors.invalid_argument(
        "jit.save: it is not known what the inputs are.", expected=f"input_spec, for {label}", received="none",
        hint="give input_spec here or in to_static, or call the to_static function once before.",
    )  # fmt: skip


def _pruned(program: files.SavedProgram, output_spec: Any) -> None:
    """Keeps some results of forward."""
    method = program.methods["forward"]
    wanted = []
    for spec in output_spec:
        name = getattr(spec, "name", None)
        i = spec if type(spec) is int else method.outputs.index(name) if name in method.outputs else -1
        if not 0 <= i < len(method.outputs):
            raise errors.invalid_argument(
                "jit.save: output_spec names no result.",
                expected=f"numbers below {len(method.outputs)}, or InputSpecs named as {', '.join(method.outputs)}",
                received=repr(spec),
            )
        wanted.append(i)
    from ..engine.opened import pruned

    count = len(method.outputs)
    method.program, kept = pruned(method.program, [*wanted, *range(count, len(method.program.outputs))], method.feeds)
    method.roles = [method.roles[i] for i in kept]
    method.outputs = [method.outputs[i] for i in wanted]
    method.structure = {"list": [None] * len(wanted)}
    if method.example is not None:
        method.example.outputs = [method.example.outputs[i] for i in wanted]


def load(path: str, **configs: Any) -> TranslatedLayer:
    """Loads what `save` has written. Nothing from the files is executed as Python.

    Args:
        path (str): the files without their endings.
        **configs: `model_filename`, `params_filename` (str): other names for the files, in the folder `path`.
            `verify` (bool): runs the recorded inputs, and compares with the recorded results. Default: False.
            `keep_name_table`: accepted; names are always kept.

    Returns:
        TranslatedLayer: in evaluation mode.

    Raises:
        ValueError: there are no such files, an unknown configuration, or the recorded results are not met.
        RuntimeError: the files are damaged, or of another version (it is a ValueError too).
        NotImplementedError: the files are programs that Paddle has written.

    Examples:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "fc")
        >>> paddle.jit.save(paddle.nn.Linear(3, 2), path, [paddle.static.InputSpec([None, 3])])
        >>> paddle.jit.load(path, verify=True)(paddle.ones([1, 3])).shape
        paddle.Size([1, 2])

    Source: https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/jit/load_en.html
    """
    for name in configs:
        if name not in _LOAD_OPTIONS:
            raise errors.invalid_argument(
                f"jit.load: the configuration {name} is not known.", expected=", ".join(_LOAD_OPTIONS), received=name
            )
    path = _path(path)
    model, params = configs.get("model_filename"), configs.get("params_filename")
    if model is not None or params is not None:
        first = os.path.join(path, model or "__model__")
        second = os.path.join(path, params or "__params__")
        if not os.path.isfile(first):
            raise errors.invalid_argument(
                "jit.load: there is no such model.", expected=f"the file {first}", received="no such file"
            )
        programs = files.read_files(first, second)
    else:
        programs = files.read(path)
    layer = PirTranslatedLayer(programs)
    if configs.get("verify"):
        check_example(programs, lambda name, arrays: _arrays(layer._runner(name)([from_array(a) for a in arrays])))
    return layer


def _arrays(found: Any) -> list[np.ndarray]:
    return [t.array() for t in ([found] if isinstance(found, Tensor) else found)]
