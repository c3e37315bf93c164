"""Names of upstream's compiled core that user code reaches for."""

from __future__ import annotations

from .random import Generator, GeneratorState, default_generator

__all__ = ["Generator", "GeneratorState", "default_cpu_generator", "default_cuda_generator"]

default_cpu_generator = default_generator


def default_cuda_generator(device_id: int = 0) -> Generator:
    """The generator of an accelerator: keys do not depend on the device, so it is the default one."""
    return default_generator()
