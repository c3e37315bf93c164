"""The processes of a job, and data parallel training.

A launcher tells each process its place through the environment: PADDLE_TRAINER_ID, PADDLE_TRAINERS_NUM,
PADDLE_CURRENT_ENDPOINT, PADDLE_TRAINER_ENDPOINTS. Without one there is a single process, rank 0 of 1.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from typing import Any

from ..engine import errors
from ..nn import Layer
from ..tensor.tensor import Tensor
from .communication import Group

__all__ = ["DataParallel", "ParallelEnv", "get_rank", "get_world_size", "init_parallel_env"]


class ParallelEnv:
    """This process's place in the job, read from the environment.

    Examples:
        >>> env = paddle.distributed.ParallelEnv()
        >>> env.rank, env.world_size
        (0, 1)
    """

    def __init__(self) -> None:
        self._rank = int(os.getenv("PADDLE_TRAINER_ID", "0"))
        self._world_size = int(os.getenv("PADDLE_TRAINERS_NUM", "1"))
        self._device_type = os.getenv("PADDLE_XCCL_BACKEND", "")
        self._device_id = int(os.getenv("PADDLE_LOCAL_DEVICE_IDS", "0").split(",")[0])
        self._trainer_endpoints = os.getenv("PADDLE_TRAINER_ENDPOINTS", "").split(",")
        self._current_endpoint = os.getenv("PADDLE_CURRENT_ENDPOINT", "")
        self._nrings = int(os.getenv("FLAGS_nccl_nrings", "1"))
        self._pg_timeout = int(os.getenv("PADDLE_DISTRI_TIMEOUT_MS", str(1800 * 1000)))

    @property
    def rank(self) -> int:
        """Number of this process, from 0."""
        return self._rank

    @property
    def world_size(self) -> int:
        """Number of processes."""
        return self._world_size

    @property
    def device_id(self) -> int:
        """Number of the accelerator that this process uses."""
        return self._device_id

    @property
    def device_type(self) -> str:
        """Kind of a third party's accelerator, or ""."""
        return self._device_type

    @property
    def current_endpoint(self) -> str:
        """host:port of this process, or ""."""
        return self._current_endpoint

    @property
    def trainer_endpoints(self) -> list[str]:
        """host:port of all processes."""
        return self._trainer_endpoints

    @property
    def nrings(self) -> int:
        """Number of communication rings."""
        return self._nrings

    @property
    def pg_timeout(self) -> int:
        """How long a collective may wait: milliseconds."""
        return self._pg_timeout

    local_rank = rank
    nranks = world_size
    dev_id = device_id


def get_rank(group: Group | None = None) -> int:
    """Number of this process, in the job or in a group.

    Args:
        group (Group, optional): Default: the whole job.

    Returns:
        int: from 0 on; -1 if this process is not in the group.

    Examples:
        >>> paddle.distributed.get_rank()
        0
    """
    return ParallelEnv().rank if group is None else group.rank


def get_world_size(group: Group | None = None) -> int:
    """Number of processes, of the job or of a group.

    Args:
        group (Group, optional): Default: the whole job.

    Returns:
        int: 1 without a launcher; -1 if this process is not in the group.

    Examples:
        >>> paddle.distributed.get_world_size()
        1
    """
    return ParallelEnv().world_size if group is None else group.world_size


def is_available() -> bool:
    """Whether this build can run several processes. Processes that exchange data come with a later release: False."""
    return False


def is_initialized() -> bool:
    """Whether a group of several processes was started, see `init_parallel_env`.

    Examples:
        >>> paddle.distributed.is_initialized()
        False
    """
    return False


def init_parallel_env(nccl_config: Any = None) -> None:
    """Joins the processes of the job. A single process has nothing to join: it is told so and goes on.

    Args:
        nccl_config (optional): Options of a GPU's transport; without effect on others.

    Raises:
        NotImplementedError: The environment speaks of several processes.
    """
    env = ParallelEnv()
    if env.world_size > 1:
        raise errors.unimplemented(
            "init_parallel_env: several processes cannot exchange data yet.",
            expected="one process (PADDLE_TRAINERS_NUM unset or 1)",
            received=f"PADDLE_TRAINERS_NUM={env.world_size}",
        )
    warnings.warn("init_parallel_env: there is only one process, nothing to do.", stacklevel=2)


class DataParallel(Layer):
    """A layer whose gradients are averaged over all processes. In a single process it is the layer itself.

    Args:
        layers (Layer): What is trained.
        strategy (optional), comm_buffer_size (int): MB, last_comm_buffer_size (int): MB: upstream's hints for its
            messages; of use with several processes alone.
        find_unused_parameters (bool): Parameters may take no part in a loss. Default: False.
        group (Group, optional): The processes. Default: all.

    Examples:
        >>> model = paddle.DataParallel(paddle.nn.Linear(2, 3))
        >>> list(model.state_dict())
        ['weight', 'bias']
    """

    def __init__(
        self,
        layers: Layer,
        strategy: Any = None,
        comm_buffer_size: int = 25,
        last_comm_buffer_size: int = 1,
        find_unused_parameters: bool = False,
        group: Group | None = None,
    ):
        super().__init__(layers.full_name() + "_data_parallel")
        self._layers = layers
        self.find_unused_parameters, self.group, self._strategy = find_unused_parameters, group, strategy
        self.comm_buffer_size, self.last_comm_buffer_size = comm_buffer_size, last_comm_buffer_size
        self.grad_need_sync = True
        self.init_reducer()

    def init_reducer(self) -> None:
        """Checks that every parameter can be trained in step.

        Raises:
            NotImplementedError: The job has several processes.
        """
        if get_world_size(self.group) > 1:
            raise errors.unimplemented("DataParallel: several processes cannot exchange data yet.")

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Gradients of backward passes inside stay with this process, until one outside."""
        before, self.grad_need_sync = self.grad_need_sync, False
        try:
            yield
        finally:
            self.grad_need_sync = before

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)

    def scale_loss(self, loss: Tensor) -> Tensor:
        """The loss itself; gradients are averaged where they are summed up. Kept for older code."""
        return loss

    def apply_collective_grads(self) -> None:
        """Nothing is left to be done: `backward` averages the gradients. Kept for older code."""

    def state_dict(
        self, destination: Any = None, include_sublayers: bool = True, structured_name_prefix: str = ""
    ) -> Any:
        """The state of the layer inside, under its own names; see `Layer.state_dict`."""
        return self._layers.state_dict(
            destination=destination,
            include_sublayers=include_sublayers,
            structured_name_prefix=structured_name_prefix,
        )

    def set_state_dict(self, state_dict: Any, use_structured_name: bool = True) -> Any:
        """Sets the state of the layer inside; see `Layer.set_state_dict`."""
        return self._layers.set_state_dict(state_dict, use_structured_name=use_structured_name)

    set_dict = set_state_dict
    load_dict = set_state_dict
