"""Training with several processes."""

from . import parallel
from .communication import Group, ReduceOp
from .parallel import (
    DataParallel,
    ParallelEnv,
    get_rank,
    get_world_size,
    init_parallel_env,
    is_available,
    is_initialized,
)

__all__ = [
    "ParallelEnv",
    "ReduceOp",
    "get_rank",
    "get_world_size",
    "init_parallel_env",
    "is_available",
    "is_initialized",
]
