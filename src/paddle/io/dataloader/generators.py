"""The generators that order and samples are drawn from: numpy's, Python's and Paddle's, taken down and set again."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ...engine import errors
from ...framework.random import GeneratorState, default_generator


def take() -> dict[str, Any]:
    """What the three generators go on from."""
    return {
        "numpy": np.random.get_state(legacy=False),
        "python": random.getstate(),
        "paddle": default_generator().get_state(),
    }


def put(state: dict[str, Any]) -> None:
    """Sets those of the generators that `state` has, to what `take` or `from_plain` gave."""
    if "numpy" in state:
        np.random.set_state(state["numpy"])
    if "python" in state:
        random.setstate(state["python"])
    if "paddle" in state:
        default_generator().set_state(state["paddle"])


def to_plain(state: dict[str, Any]) -> dict[str, Any]:
    """The same in numbers, strings, lists and dictionaries, for a file."""
    paddle = state["paddle"]
    return {
        "numpy": _lists(state["numpy"]),
        "python": _lists(state["python"]),
        "paddle": [paddle.seed, paddle.offset, paddle.branches],
    }


def from_plain(state: Any) -> dict[str, Any]:
    """What `to_plain` gave, for `put`.

    Raises:
        ValueError: it is something else.
    """
    try:
        version, words, gauss = state["python"]
        return {
            "numpy": state["numpy"],
            "python": (version, tuple(words), gauss),
            "paddle": GeneratorState(*state["paddle"]),
        }
    except (KeyError, TypeError, ValueError):
        raise errors.invalid_argument(
            "set_state_dict: the states of the generators are wrong.", expected="what state_dict() gave"
        ) from None


def seed_worker(base: int, worker: int) -> None:
    """Seeds the three generators of a worker, as upstream does."""
    import paddle

    random.seed(base + worker)
    paddle.seed(base + worker)
    words = np.random.SeedSequence([worker, base & 0xFFFFFFFF, base >> 32, 0])
    np.random.seed(words.generate_state(4))


def base_seed() -> int:
    """A new seed for the workers of a loader: from Paddle's generator, or numpy's where nobody called `paddle.seed`."""
    # In any case a number is drawn, as upstream does: so its orders are ours.
    drawn = int(np.random.randint(0, np.iinfo(np.int64).max, dtype=np.int64))
    branch = default_generator().branch()
    return drawn if branch is None else branch


def _lists(data: Any) -> Any:
    if isinstance(data, dict):
        return {k: _lists(v) for k, v in data.items()}
    if isinstance(data, np.ndarray):
        return data.tolist()
    return [_lists(v) for v in data] if isinstance(data, (list, tuple)) else data
