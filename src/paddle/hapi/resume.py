"""How a training by `Model.fit` goes on in another process: all that it depends on, in one file."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from ..engine import errors
from ..io.dataloader import generators

__all__: list[str] = []

SUFFIX = ".pdstate"


class Run:
    """A `fit` under way.

    Args:
        model (Model): What is trained.
        loader (Iterable): What it is trained on.
        callbacks (Iterable of Callback): Those of the fit.
        logs (Logs): What callbacks get.

    Attributes:
        epoch, step (int): where it is; step counts those of the epoch that are done.
        done (int): steps in all.
        wanted (list of str): files that were asked for since the last moment that can be gone on from.
    """

    def __init__(self, model: Any, loader: Any, callbacks: Any, logs: Any):
        self.model, self.loader, self.callbacks, self.logs = model, loader, list(callbacks), logs
        self.epoch = self.step = self.done = 0
        self.wanted: list[str] = []
        self._metrics: list[Any] = []

    def at(self, epoch: int, step: int) -> None:
        """Nothing is half done: whatever was asked for is written."""
        self.epoch, self.step = epoch, step
        wanted, self.wanted = self.wanted, []
        for path in wanted:
            write(self.model, path, self.state())

    def state(self) -> dict[str, Any]:
        """Where it is, in numbers, strings, lists, dictionaries and arrays."""
        self.model._settle()
        named = [(type(c).__name__, c.state_dict()) for c in self.callbacks if hasattr(c, "state_dict")]
        return {
            "epoch": self.epoch,
            "step": self.step,
            "done": self.done,
            "stop": self.model.stop_training,
            "loader": self.loader.state_dict() if hasattr(self.loader, "state_dict") else None,
            "generators": generators.to_plain(generators.take()),
            "logs": {k: _plain(v) for k, v in self.logs.items()},
            "metrics": [_state_of(m) for m in self.model._metrics],
            "callbacks": [[name, _plain(state)] for name, state in named if state],
        }

    def go_on(self, state: dict[str, Any]) -> None:
        """Sets everything as `state` had it."""
        self.epoch, self.step, self.done = state["epoch"], state["step"], state["done"]
        self.model.stop_training = state["stop"]
        self._metrics = state["metrics"] if self.step else []
        self.logs.update(state["logs"])
        saved = [(name, values) for name, values in state["callbacks"]]
        for c in self.callbacks:
            for i, (name, values) in enumerate(saved):
                if name == type(c).__name__ and hasattr(c, "set_state_dict"):
                    c.set_state_dict(values)
                    del saved[i]
                    break
        if state["loader"] is not None and hasattr(self.loader, "set_state_dict"):
            self.loader.set_state_dict(state["loader"])
        generators.put(generators.from_plain(state["generators"]))

    def batches(self) -> Any:
        """What is left of the epoch. A source without a state is read from its start, and what was used is left out."""
        if hasattr(self.loader, "set_state_dict"):
            return self.loader
        return islice(self.loader, self.step, None)

    def metrics(self) -> None:
        """After they were reset: what they held in the middle of the epoch."""
        for m, values in zip(self.model._metrics, self._metrics):
            vars(m).update({k: v.numpy() if hasattr(v, "numpy") else v for k, v in values.items()})
        self._metrics = []


def write(model: Any, path: str, fit: dict[str, Any] | None) -> None:
    """Writes all of a training to one file."""
    import paddle

    optimizer = model._optimizer
    scheduled = hasattr(getattr(optimizer, "_learning_rate", None), "step")
    paddle.save(
        {
            "network": model.network.state_dict(),
            "optimizer": None if optimizer is None else optimizer.state_dict(),
            "learning_rate": None if optimizer is None or scheduled else float(optimizer.get_lr()),
            "generator": paddle.get_rng_state(),
            "fit": fit,
        },
        path,
    )


def read(path: str) -> dict[str, Any]:
    """What `write` wrote.

    Raises:
        ValueError: the file is something else.
    """
    import paddle

    state = paddle.load(path)
    if not isinstance(state, dict) or set(state) != {"network", "optimizer", "learning_rate", "generator", "fit"}:
        raise errors.invalid_argument(
            f"Model.load: {path} holds no state of a training.",
            expected=f"a file that Model.save('<name>{SUFFIX}') wrote",
            received=type(state).__name__,
        )
    return state


def set_training(model: Any, state: dict[str, Any]) -> None:
    """Optimizer and generator as they were; the next fit goes on.

    Raises:
        RuntimeError: the model has no optimizer yet.
    """
    import paddle

    if model._optimizer is None:
        raise errors.precondition(
            "Model.load: there is no optimizer whose state could be set.",
            expected="Model.prepare(optimizer, loss) before",
            hint="reset_optimizer=True loads the network alone.",
        )
    if state["optimizer"]:
        model._optimizer.set_state_dict(state["optimizer"])
    if state["learning_rate"] is not None and not hasattr(model._optimizer._learning_rate, "step"):
        model._optimizer.set_lr(state["learning_rate"])
    paddle.set_rng_state(state["generator"])
    model._resumed = state["fit"]


def _state_of(metric: Any) -> dict[str, Any]:
    """What a metric has counted: its attributes that are numbers, or arrays and lists of them."""
    kinds = (int, float, np.generic, np.ndarray)
    return {
        k: np.array(v) if isinstance(v, np.ndarray) else _plain(v)
        for k, v in vars(metric).items()
        if isinstance(v, kinds) or (isinstance(v, (list, tuple)) and all(isinstance(n, kinds) for n in v))
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
