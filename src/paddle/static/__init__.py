"""Static programs: operations are recorded first, and run by an `Executor`."""

import importlib as _importlib

from .input import InputSpec

_PLACES = {
    "backward": ("append_backward", "gradients"),
    "executor": ("BuildStrategy", "CompiledProgram", "Executor"),
    "io": (
        "load", "load_from_file", "load_inference_model", "load_program_state", "normalize_program", "save",
        "save_inference_model", "save_to_file", "serialize_persistables", "serialize_program", "set_program_state",
    ),
    "averaging": ("ExponentialMovingAverage",),
    "metric": ("accuracy", "auc"),
    "printing": ("Print", "cpu_places"),
    "program": (
        "Program", "data", "default_main_program", "default_startup_program", "device_guard", "name_scope",
        "program_guard",
    ),
    "scope": ("Scope", "global_scope", "scope_guard"),
    "variables": ("Variable", "create_global_var", "create_parameter", "is_persistable"),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = ["InputSpec", "nn", *sorted(_MODULE_OF)]


def __getattr__(name):
    if name == "nn":
        return _importlib.import_module(f"{__name__}.nn")
    if name in _MODULE_OF:  # few programs are static: what they need is imported when it is first named
        found = getattr(_importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
