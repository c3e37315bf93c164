"""Programs and their variables on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.capture import Captured
from ..engine.types import TensorType
from ..framework.param import Parameter
from ..tensor.tensor import Tensor
from . import sizes
from .executor import _place, needed_steps, value_of
from .program import Program, default_main_program, left, program_guard
from .program import data as data_of
from .scope import Scope, global_scope, is_variable, to_nowhere

__all__ = [
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "normalize_program",
    "save",
    "save_inference_model",
    "save_to_file",
    "serialize_persistables",
    "serialize_program",
    "set_program_state",
]


# -- states -------------------------------------------------------------------------------------
def _a_program(program: Any, who: str) -> Program:
    program = getattr(program, "_program", program)
    if not isinstance(program, Program):
        raise errors.invalid_type(f"{who}: this is no program.", expected="a Program", received=type(program).__name__)
    return program


def _file_name(path: Any, who: str) -> str:
    path = os.fspath(path)
    if not os.path.basename(path):
        raise errors.asserted(
            f"{who}: the path names no file.", expected="folder/name, without an ending", received=f"path: {path!r}"
        )
    return path


def put_state(program: Program, state: dict[str, Any], scope: Scope) -> list[str]:
    """Gives variables of a program the values of arrays. Returns the names that the program does not have."""
    variables = program._state()
    unknown = []
    with left():
        for name, value in state.items():
            t = variables.get(name)
            if t is None:
                unknown.append(name)
                continue
            a = np.array(value.numpy() if isinstance(value, Tensor) else value)
            if a.dtype == np.uint16 and t.type.dtype.name == "bfloat16":
                a = a.view(t.type.dtype.np)
            if a.shape != t.type.shape:
                raise errors.asserted(
                    f"set_state_dict: {name} does not fit.", expected=f"{t.type}", received=f"{a.dtype}{list(a.shape)}"
                )
            a = np.array(a, t.type.dtype.np, order="C")
            if is_variable(t):
                scope._put(name, a)
            else:
                t.set_value(a)  # type: ignore[attr-defined]
    return unknown


def _arrays(program: Program, mode: str, scope: Scope) -> dict[str, np.ndarray]:
    return {n: np.array(value_of(t, scope).numpy()) for n, t in program._state(mode).items()}


def save(program: Any, model_path: str, protocol: int = 4, **configs: Any) -> None:
    """Saves the values of a program's variables: parameters in `model_path` + ".pdparams", the rest in ".pdopt".

    Args:
        program (Program): whose variables; they are taken from the global scope.
        model_path (str): the files without their endings; folders are made.
        protocol (int): of pickle, 2 to 4. Default: 4.
        **configs: accepted as by `paddle.save`.

    Raises:
        AssertionError: the path names no file. ValueError: protocol is out of range. RuntimeError: no values yet.
    """
    from ..framework.io import save as write

    program = _a_program(program, "static.save")
    path = _file_name(model_path, "static.save")
    with left():
        write(_arrays(program, "param", global_scope()), path + ".pdparams", protocol=protocol)
        write(_arrays(program, "opt", global_scope()), path + ".pdopt", protocol=protocol)


def load_program_state(model_path: str, var_list: Sequence[Tensor] | None = None) -> dict[str, np.ndarray]:
    """Arrays by name, as `save` wrote them.

    Args:
        model_path (str): the files without their endings.
        var_list (list[Tensor], optional): variables whose values are wanted. Default: all.

    Raises:
        ValueError: there are no such files.
    """
    from ..framework.io import load as read

    path = os.fspath(model_path)
    for ending in (".pdparams", ".pdopt", ".pdmodel", ".json"):
        path = path.removesuffix(ending)
    if not os.path.exists(path + ".pdparams"):
        raise errors.not_found(
            "load_program_state: there are no such files.",
            expected="what static.save wrote",
            received=path + ".pdparams",
        )
    with left():
        state = dict(read(path + ".pdparams", return_numpy=True))
        if os.path.exists(path + ".pdopt"):
            state.update(read(path + ".pdopt", return_numpy=True))
    if var_list is not None:
        names = {v.name for v in var_list}  # type: ignore[attr-defined]
        state = {n: a for n, a in state.items() if n in names}
    return state


def set_program_state(program: Any, state_dict: dict[str, np.ndarray]) -> None:
    """Gives variables of a program values by name. Names that it does not have are told in a warning.

    Args:
        program (Program): whose variables, in the global scope.
        state_dict (dict): arrays by name.

    Raises:
        AssertionError: an array has another shape.
    """
    unknown = put_state(_a_program(program, "set_program_state"), state_dict, global_scope())
    if unknown:
        errors.warn(f"set_program_state: the program has no variables of these names: {', '.join(unknown)}.")


def load(program: Any, model_path: str, executor: Any = None, var_list: Sequence[Tensor] | None = None) -> None:
    """Gives variables of a program the values that `save` wrote.

    Args:
        program (Program): whose variables, in the global scope.
        model_path (str): the files without their endings.
        executor (Executor, optional): not needed: variables are made where there are none.
        var_list (list[Tensor], optional): variables that are loaded. Default: all.

    Raises:
        ValueError: there are no such files. AssertionError: an array has another shape.
        RuntimeError: a variable is not in the files.
    """
    program = _a_program(program, "static.load")
    state = load_program_state(model_path, var_list)
    wanted = program._state() if var_list is None else {v.name: v for v in var_list}  # type: ignore[attr-defined]
    missing = [n for n in wanted if n not in state]
    if missing:
        raise errors.precondition(
            "static.load: a variable is not in the files.", expected=", ".join(missing[:8]), received=", ".join(state)
        )
    put_state(program, {n: a for n, a in state.items() if n in program._state()}, global_scope())


# -- models -------------------------------------------------------------------------------------
def _listed(value: Any, who: str, label: str) -> list[Tensor]:
    found = list(value) if isinstance(value, (list, tuple)) else [value]
    if not found or not all(isinstance(t, Tensor) for t in found):
        raise errors.invalid_type(
            f"{who}: {label} is of the wrong type.",
            expected="a Tensor of the program, or a list of these",
            received=", ".join(type(t).__name__ for t in found) or "nothing",
        )
    return found


def _exported(program: Program, feed_vars: list[Tensor], fetch_vars: list[Tensor], scope: Scope, who: str) -> Any:
    """The saved form of a program that gives the results, as in evaluation."""
    from ..jit.export import Exporter, _Told
    from ..jit.files import Method, Weight
    from ..jit.samples import opened

    program = program.clone(for_test=True)
    captured = program._view()
    by_id = {id(t): n for n, (t, _) in program._feeds.items()}
    names = []
    for v in feed_vars:
        name = by_id.get(id(v)) or (v.name if v.name in program._feeds else None)  # type: ignore[attr-defined]
        if name is None:
            raise errors.invalid_argument(
                f"{who}: this is no input of the program.",
                expected="what static.data gave",
                received=f"feed_vars: {v.name}",  # type: ignore[attr-defined]
            )
        names.append(name)
    places = [_place(program, captured, v) for v in fetch_vars]
    wanted: list[Any] = places
    steps = needed_steps(captured.steps, {p for p in places if type(p) is int})
    used = {s.slot for s in steps if s.op is None}
    fed = {t.slot: n for n, (t, _) in program._feeds.items()}
    missing = [n for s, n in fed.items() if s in used and n not in names]
    if missing:
        raise errors.invalid_argument(
            f"{who}: the results need an input that is not among feed_vars.",
            expected=", ".join(repr(n) for s, n in fed.items() if s in used),
            received=", ".join(map(repr, names)),
        )

    class _OfScope(Exporter):
        def _take_weights(self, names: list[str]) -> None:
            for name in names:
                if name not in self.weights:
                    t = self.known[name]
                    parameter = isinstance(t, Parameter)
                    a = np.array(value_of(t, scope).numpy())
                    self.weights[name] = Weight(a, t.type.dtype, parameter, not t.stop_gradient, True)

    exporter = _OfScope({t.name: t for t, _ in captured.externals if is_variable(t)})  # type: ignore[attr-defined]
    feeds = [program._feeds[n][0] for n in names]

    def make(types: list[TensorType]) -> Any:
        by_slot = {t.slot: type_ for t, type_ in zip(feeds, types)}
        part = Captured()
        trace, known = program._recording.trace, sizes.Sizes()
        for t, type_ in zip(feeds, types):
            known.learn(t.type, type_)
        part.steps = sizes.resized(steps, by_slot, trace.numbers, trace.rules, known)
        unused = [t.slot for t in feeds if t.slot not in used]
        part.steps = [sizes.leaf_of(s, by_slot[s]) for s in unused] + part.steps
        part.inputs = [t.slot for t in feeds]
        part.externals, part.keys, part.epoch = captured.externals, captured.keys, captured.epoch
        extra = [p for p in places if type(p) is not int]
        graph, roles = exporter._graph_of(part, wanted, extra)
        return graph, (roles, len(wanted), (), _Told(None if len(wanted) == 1 else {"list": [None] * len(wanted)}))

    described = [(tuple(-1 if n is None else n for n in program._feeds[n_][1]), t.dtype) for n_, t in zip(names, feeds)]
    with left():
        opened_program, found, told = opened(make, described, names, exporter.avoid)
        roles, results, _, shown = told
        exporter._take_weights([r[1] for r in roles if type(r) is tuple])
        exporter.methods["forward"] = Method(
            opened_program, list(roles), [f"fetch_name_{i}" for i in range(results)], found, [], shown.form
        )
        return exporter.program(False)


def save_inference_model(path_prefix: str, feed_vars: Any, fetch_vars: Any, executor: Any, **kwargs: Any) -> None:
    """Saves the part of a program that gives some results of some inputs, with its parameters.

    It is written as by `paddle.jit.save`: `path_prefix` + ".json" and ".pdiparams". The program is that of evaluation:
    dropout is off, and batch normalization uses its running statistics.

    Args:
        path_prefix (str): the files without their endings; folders are made.
        feed_vars (Tensor|list[Tensor]): inputs.
        fetch_vars (Tensor|list[Tensor]): results.
        executor (Executor): not needed; parameters are taken from the global scope.
        **kwargs: `program` (Program): which. Default: the default main program.
            `clip_extra`, `legacy_format`: accepted.

    Raises:
        TypeError: feed_vars or fetch_vars are no Tensors. ValueError: they do not fit together.
        RuntimeError: a parameter has no value yet.
    """
    from ..jit import files

    path = _file_name(path_prefix, "save_inference_model")
    program = _a_program(kwargs.get("program") or default_main_program(), "save_inference_model")
    files.write(path, _serialized(program, feed_vars, fetch_vars, "save_inference_model"))


def _serialized(program: Program, feed_vars: Any, fetch_vars: Any, who: str) -> Any:
    feeds, fetches = _listed(feed_vars, who, "feed_vars"), _listed(fetch_vars, who, "fetch_vars")
    return _exported(program, feeds, fetches, global_scope(), who)


def load_inference_model(path_prefix: str | None, executor: Any, **kwargs: Any) -> list[Any]:
    """Reads what `save_inference_model` or `paddle.jit.save` wrote. Parameters go into the global scope.

    Args:
        path_prefix (str): the files without their endings.
        executor (Executor): runs the program later.
        **kwargs: `model_filename`, `params_filename` (str): the two files, in the folder `path_prefix`.

    Returns:
        list: the program, names of its inputs, its results.

    Raises:
        ValueError: there are no such files, or they do not hold a program.
    """
    from ..jit import files

    model, params = kwargs.get("model_filename"), kwargs.get("params_filename")
    if path_prefix is None:
        raise errors.invalid_argument("load_inference_model: no path.", expected="a str", received="path_prefix: None")
    path = os.fspath(path_prefix)
    if model is not None or params is not None:
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        model = model or os.path.basename(path) + files.JSON
        params = params or os.path.basename(path) + files.WEIGHTS
        saved = files.read_files(os.path.join(folder, model), os.path.join(folder, params))
    else:
        saved = files.read(path)
    program, names, results = _rebuilt(saved)
    _put_weights(saved, program, global_scope())
    return [program, names, results]


def _rebuilt(saved: Any) -> tuple[Program, list[str], list[Tensor]]:
    from ..jit.translated_layer import Runner

    method = saved.methods["forward"]
    program = Program()
    with program_guard(program, Program()):
        weights = {}
        for name, w in saved.weights.items():
            t: Any = object.__new__(Parameter if w.parameter else Tensor)
            t.type, t.gnode, t.leaf, t.kin = TensorType(tuple(w.array.shape), w.dtype), None, None, None
            t.sg = not w.trainable
            to_nowhere(t)
            if w.parameter:
                t.__init__(name=name)
            else:
                t.name, t.persistable = name, w.persistable
            program._add_variable(t)
            weights[name] = t
        opened = method.program
        inputs = [data_of(opened.names[i], opened.shape(i), opened.inputs[i][1]) for i in method.feeds]
        found = Runner(method, "forward", weights.__getitem__)(inputs)
    return program, list(method.names), found if isinstance(found, list) else [found]


def _put_weights(saved: Any, program: Program, scope: Scope) -> None:
    with left():
        for name, w in saved.weights.items():
            scope._put(name, np.array(w.array, order="C"))


# -- bytes --------------------------------------------------------------------------------------
def _bytes_of(saved: Any) -> tuple[bytes, bytes]:
    import tempfile

    from ..jit import files

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        files.write(path, saved)
        return load_from_file(path + files.JSON), load_from_file(path + files.WEIGHTS)


def serialize_program(feed_vars: Any, fetch_vars: Any, **kwargs: Any) -> bytes:
    """The bytes of a program as `save_inference_model` writes them.

    Args:
        feed_vars, fetch_vars (Tensor|list[Tensor]): inputs and results.
        **kwargs: `program` (Program): which. Default: the default main program.
    """
    program = _a_program(kwargs.get("program") or default_main_program(), "serialize_program")
    return _bytes_of(_serialized(program, feed_vars, fetch_vars, "serialize_program"))[0]


def serialize_persistables(feed_vars: Any, fetch_vars: Any, executor: Any, **kwargs: Any) -> bytes:
    """The bytes of a program's parameters as `save_inference_model` writes them.

    Args:
        feed_vars, fetch_vars (Tensor|list[Tensor]): inputs and results.
        executor (Executor): not needed.
        **kwargs: `program` (Program): which. Default: the default main program.
    """
    program = _a_program(kwargs.get("program") or default_main_program(), "serialize_persistables")
    return _bytes_of(_serialized(program, feed_vars, fetch_vars, "serialize_persistables"))[1]


def normalize_program(program: Any, feed_vars: Any, fetch_vars: Any, **kwargs: Any) -> Program:
    """A program of evaluation that gives some results of some inputs.

    Args:
        program (Program): which.
        feed_vars, fetch_vars (Tensor|list[Tensor]): inputs and results.
        **kwargs: `skip_prune_program` (bool): accepted; nothing that is not needed runs.

    Raises:
        TypeError: an argument is of the wrong type. ValueError: the results need other inputs.
    """
    program = _a_program(program, "normalize_program")
    feeds = _listed(feed_vars, "normalize_program", "feed_vars")
    fetches = _listed(fetch_vars, "normalize_program", "fetch_vars")
    made = program.clone(for_test=True)
    captured = made._view()
    needed_steps(captured.steps, {p for p in (_place(made, captured, v) for v in fetches) if type(p) is int})
    unknown = [v.name for v in feeds if v.name not in made._feeds]  # type: ignore[attr-defined]
    if unknown:
        raise errors.invalid_argument(
            "normalize_program: this is no input of the program.", expected=", ".join(made._feeds), received=unknown[0]
        )
    return made


def save_to_file(path: str, content: bytes) -> None:
    """Writes bytes.

    Args:
        path (str): the file.
        content (bytes): what is written.

    Raises:
        ValueError: content is not bytes.
    """
    if not isinstance(content, bytes):
        raise errors.invalid_argument("save_to_file: no bytes.", expected="bytes", received=type(content).__name__)
    with open(path, "wb") as f:
        f.write(content)


def load_from_file(path: str) -> bytes:
    """Reads bytes.

    Args:
        path (str): the file.
    """
    with open(path, "rb") as f:
        return f.read()
