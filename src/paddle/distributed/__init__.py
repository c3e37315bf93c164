"""Training with several processes."""

from . import auto_parallel, parallel
from .auto_parallel.placement_type import Partial, Placement, ReduceType, Replicate, Shard
from .auto_parallel.process_mesh import ProcessMesh, get_mesh, set_mesh
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
    "Partial",
    "Placement",
    "ProcessMesh",
    "ReduceOp",
    "ReduceType",
    "Replicate",
    "Shard",
    "get_mesh",
    "get_rank",
    "get_world_size",
    "init_parallel_env",
    "is_available",
    "is_initialized",
    "set_mesh",
]
