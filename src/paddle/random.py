"""Seeds and states of random numbers."""

from .framework.random import (
    Generator,
    get_cuda_rng_state,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_cuda_rng_state,
    set_rng_state,
)

__all__ = [
    "Generator", "get_cuda_rng_state", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_cuda_rng_state",
    "set_rng_state",
]  # fmt: skip
