"""Seeds, and where random functions take their keys from."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.eager import capture
from ..engine.eager.trace import from_array, local
from ..engine.ops import random as ops
from ..engine.types import DType
from ..tensor.tensor import Tensor

__all__ = [
    "Generator",
    "seed",
    "manual_seed",
    "get_rng_state",
    "set_rng_state",
    "get_cuda_rng_state",
    "set_cuda_rng_state",
]


@dataclass(frozen=True)
class GeneratorState:
    """What a Generator goes on from.

    Attributes:
        seed: chooses the sequence.
        offset: keys taken from it so far.
        branches: seeds taken from it so far.
        visits: from another process: how often each program ran there, on which its last bits depend.
    """

    seed: int
    offset: int
    branches: int = 0
    visits: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    def current_seed(self) -> int:
        return self.seed

    def __reduce__(self) -> Any:  # in this form `paddle.load` knows it
        from ..engine.eager.materialize import visits

        return GeneratorState, (self.seed, self.offset, self.branches, visits())


class Generator:
    """A sequence of random keys.

    Each call of a random function takes one key, whatever number of elements it makes; the same seed gives the same
    numbers, on every device.

    Args:
        device (str, optional): accepted for compatibility; keys do not depend on it.

    Examples:
        >>> g = paddle.seed(7)
        >>> a = paddle.rand([2])
        >>> g = paddle.seed(7)
        >>> bool((a == paddle.rand([2])).all())
        True
    """

    def __init__(self, device: Any = None):
        self._device = "cpu" if device is None else device
        self._lock = threading.Lock()
        self.seed()

    def manual_seed(self, seed: int) -> "Generator":
        """Starts the sequence of `seed` from its beginning."""
        try:
            value = int(seed) if not isinstance(seed, (str, bytes)) else None
        except (TypeError, ValueError):
            value = None
        if value is None:
            raise errors.invalid_argument(
                "seed: the seed is not an integer.", expected="an int", received=f"seed: {seed!r}"
            )
        with self._lock:
            self._seed, self._offset, self._branches, self._chosen = value, 0, 0, True
        return self

    def seed(self) -> int:
        """Starts a sequence that nobody can foresee; returns its seed."""
        self.manual_seed(int.from_bytes(os.urandom(6), "little"))
        self._chosen = False
        return self._seed

    def initial_seed(self) -> int:
        return self._seed

    def random(self) -> int:
        """One random number of 63 bits."""
        w = ops.words(self.next(), 0, 1)
        return int(w[0][0] | (w[1][0] << np.uint64(32))) >> 1

    def get_state(self) -> GeneratorState:
        return GeneratorState(self._seed, self._offset, self._branches)

    def set_state(self, state: GeneratorState) -> "Generator":
        if not isinstance(state, GeneratorState):
            raise errors.invalid_argument(
                "set_state: not the state of a generator.", expected="what get_state gave", received=repr(state)
            )
        with self._lock:
            self._seed, self._offset, self._branches = state.seed, state.offset, state.branches
            self._chosen = True
        if state.visits:
            from ..engine.cpu import executor
            from ..engine.eager import family

            executor.go_on(state.visits)
            family.go_on(state.visits)
        return self

    def next(self) -> np.ndarray:
        """The next key, int64[2]: seed and offset."""
        with self._lock:
            offset = self._offset
            self._offset = offset + 1
        return np.array([_signed(self._seed), offset], np.int64)

    def branch(self) -> int | None:
        """A seed of 63 bits for a sequence apart from this one, which goes on as if nothing had been taken.

        None if nobody has chosen the seed of this one.
        """
        with self._lock:
            branch, self._branches = self._branches, self._branches + 1
        if not self._chosen:
            return None
        seed = self._seed & (1 << 64) - 1
        words = np.random.SeedSequence([seed & 0xFFFFFFFF, seed >> 32, branch]).generate_state(1, np.uint64)
        return int(words[0]) >> 1

    def __repr__(self) -> str:
        return f"Generator(seed={self._seed}, offset={self._offset})"


def _signed(n: int) -> int:
    """The low 64 bits of n as an int64."""
    n &= (1 << 64) - 1
    return n - (1 << 64) if n >> 63 else n


_default = Generator()


def default_generator() -> Generator:
    """The generator that random functions take their keys from."""
    return _default


def next_key(generator: Generator | None = None) -> Tensor:
    """A fresh key for one random operator: int64[2], an input of the program."""
    source = generator or _default
    if local.trace.abstract:
        return capture.random_key(lambda: from_array(source.next()))  # type: ignore[return-value]
    return from_array(source.next())  # type: ignore[return-value]


def seed(seed: int) -> Generator:
    """Seeds all random functions.

    Args:
        seed (int): any integer; its low 64 bits count.

    Returns:
        Generator: the default generator.

    Raises:
        ValueError: seed is not an integer.

    Examples:
        >>> _ = paddle.seed(42)
        >>> a = paddle.randn([3])
        >>> _ = paddle.seed(42)
        >>> bool((a == paddle.randn([3])).all())
        True
    """
    return _default.manual_seed(seed)


manual_seed = seed


def initial_seed() -> int:
    """The seed that the default generator's sequence began with."""
    return _default.initial_seed()


def get_rng_state(device: Any = None) -> list[GeneratorState]:
    """States of the generators, for `set_rng_state`.

    Examples:
        >>> state = paddle.get_rng_state()
        >>> a = paddle.rand([3])
        >>> paddle.set_rng_state(state)
        >>> bool((a == paddle.rand([3])).all())
        True
    """
    return [_default.get_state()]


def set_rng_state(state_list: Sequence[GeneratorState], device: Any = None) -> None:
    """Sets the generators to states that `get_rng_state` gave.

    Raises:
        ValueError: the list does not hold one state per generator.
    """
    if not isinstance(state_list, (list, tuple)) or len(state_list) != 1:
        raise errors.invalid_argument(
            "set_rng_state: not what get_rng_state gave.", expected="a list of one state", received=repr(state_list)
        )
    _default.set_state(state_list[0])


def get_cuda_rng_state() -> list[GeneratorState]:
    """States of the generators of all accelerators: they share the default generator's keys."""
    return get_rng_state()


def set_cuda_rng_state(state_list: Sequence[GeneratorState]) -> None:
    """Sets what `get_cuda_rng_state` gave."""
    set_rng_state(state_list)


# ---- for other parts of the package -----------------------------------------------------------
def uniform(shape: Sequence[int], low: float = 0.0, high: float = 1.0, dtype: DType = types.float32) -> Tensor:
    """Uniform in [low, high), with a fresh key."""
    return ops.uniform(next_key(), shape, low, high, dtype)


def normal(shape: Sequence[int], mean: float = 0.0, std: float = 1.0, dtype: DType = types.float32) -> Tensor:
    """Normal with the given mean and deviation, with a fresh key."""
    return ops.normal(next_key(), shape, mean, std, dtype)


def keep_mask(shape: Sequence[int], p: float, dtype: DType = types.bool_) -> Tensor:
    """True (or 1) with probability 1 - p, with a fresh key: what dropout keeps."""
    return ops.keep_mask(next_key(), shape, p, dtype)
