"""`paddle.Model`: a network with its optimizer, loss and metrics."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..io import DataLoader, Dataset, DistributedBatchSampler
from ..metric import Metric
from ..nn import Layer
from ..static.input import InputSpec
from ..tensor.tensor import Tensor
from ..utils.explain import describe
from ..utils.public import guard
from . import resume
from .callbacks import CallbackList, config_callbacks

__all__ = ["Model"]


def to_list(value: Any) -> list[Any]:
    """None as no elements, a list or tuple as a list, anything else as its only element."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


class Logs(dict):
    """What callbacks get. Values that `later` promises are put in when somebody looks.

    So the loss is read from the device when it is shown, not at every step, and the program can run ahead.
    """

    def __init__(self) -> None:
        super().__init__()
        self.later: Any = None

    def promise(self, names: Iterable[str], later: Any) -> None:
        """`later()` gives a dict with the values of `names`."""
        for name in names:
            super().setdefault(name, None)
        self.later = later

    def settle(self) -> "Logs":
        if self.later is not None:
            later, self.later = self.later, None
            super().update(later())
        return self

    def __getitem__(self, key: Any) -> Any:
        if key not in ("step", "batch_size"):
            self.settle()
        return super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default

    def __iter__(self) -> Iterator[Any]:  # so that dict(logs) and {**logs} ask for each value
        return super().__iter__()

    def items(self) -> Any:
        return super(Logs, self.settle()).items()

    def values(self) -> Any:
        return super(Logs, self.settle()).values()

    def pop(self, *args: Any) -> Any:
        return super(Logs, self.settle()).pop(*args)

    def copy(self) -> dict[Any, Any]:
        return dict(self.items())

    def __eq__(self, other: object) -> bool:
        return super(Logs, self.settle()).__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __reduce__(self) -> Any:
        return dict, (self.copy(),)

    def __repr__(self) -> str:
        return super(Logs, self.settle()).__repr__()


class Model:
    """Trains, evaluates and applies a network.

    Args:
        network (Layer): The network.
        inputs (InputSpec|list|dict, optional): Its inputs, with names. Default: the arguments of its `forward`.
        labels (InputSpec|list|dict, optional): Its labels. Default: all fields of a sample after the inputs.

    Examples:
        >>> model = paddle.Model(paddle.nn.Linear(4, 2))
        >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), paddle.nn.CrossEntropyLoss())
        >>> losses = model.train_batch([np.ones((8, 4), "float32")], [np.zeros((8, 1), "int64")])
        >>> losses[0].shape
        ()
    """

    @guard
    def __init__(self, network: Layer, inputs: Any = None, labels: Any = None):
        self.mode = "train"
        self.network = network
        self.stop_training = False
        forward = network.forward
        self._inputs = _specs(inputs, "inputs", forward)
        self._labels = _specs(labels, "labels")
        self._optimizer: Any = None
        self._loss: Any = None
        self._metrics: list[Metric] = []
        self._pending: list[tuple[Metric, list[Any]]] = []  # results of metrics that were not read yet
        self._prepared = False
        self._running: resume.Run | None = None  # the fit under way
        self._resumed: dict[str, Any] | None = None  # what the next fit goes on with

    # -- preparation --
    @guard
    def prepare(self, optimizer: Any = None, loss: Any = None, metrics: Any = None, amp_configs: Any = None) -> None:
        """Sets what training and evaluation need.

        Args:
            optimizer (Optimizer, optional): For training.
            loss (Layer|callable, optional): Called with outputs and labels; gives a Tensor or several.
            metrics (Metric|list, optional): Computed besides.
            amp_configs (str|dict, optional): "O0", "O1" or "O2", or a dict with `level`. As in upstream, mixed
                precision is off on the CPU.

        Raises:
            TypeError: loss cannot be called. AssertionError: a metric is no Metric. ValueError: unknown amp_configs.
        """
        if loss is not None and not callable(loss):
            raise errors.invalid_type(
                "Model.prepare: loss cannot be called.", expected="Layer or callable", received=type(loss).__name__
            )
        for m in to_list(metrics):
            if not isinstance(m, Metric):
                raise errors.asserted("Model.prepare: not a Metric.", expected="a Metric", received=type(m).__name__)
        _check_amp(amp_configs)
        self._optimizer, self._loss, self._metrics = optimizer, loss, to_list(metrics)
        self._prepared = True

    def _need_prepared(self, what: str) -> None:
        if not self._prepared:
            raise errors.no_attribute(
                f"Model.{what}: the model is not prepared.",
                expected="model.prepare(optimizer, loss, metrics) before",
                received=f"a call of {what} without it",
            )

    def parameters(self, *args: Any, **kwargs: Any) -> list[Tensor]:
        """The parameters of the network; see `Layer.parameters`."""
        return self.network.parameters(*args, **kwargs)

    # -- one batch --
    @guard
    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """One step of training.

        Args:
            inputs (array|Tensor|list): Of the network.
            labels (array|Tensor|list, optional): Of the loss and the metrics.
            update (bool): False only adds up gradients. Default: True.

        Returns:
            list of array: the losses; with metrics a pair of it and the list of their values for the batch.

        Raises:
            AssertionError: `prepare` was given no optimizer and loss.
        """
        losses = self._train(to_list(inputs), to_list(labels), update)
        return self._result(losses)

    @guard
    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """Loss and metrics of one batch, without training; arguments and result as in `train_batch`."""
        self._need_prepared("eval_batch")
        return self._result(self._evaluate(to_list(inputs), to_list(labels)))

    @guard
    def predict_batch(self, inputs: Any) -> list[np.ndarray]:
        """The outputs for one batch.

        Args:
            inputs (array|Tensor|list): Of the network.

        Returns:
            list of array: the outputs.
        """
        return [o.numpy() for o in self._predict(to_list(inputs))]

    def _forward(self, inputs: Sequence[Any]) -> list[Tensor]:
        return to_list(self.network(*(_tensor(x) for x in inputs)))

    def _train(self, inputs: list[Any], labels: list[Any], update: bool) -> list[Tensor]:
        if self._optimizer is None or self._loss is None:
            make = errors.asserted if self._optimizer is None else errors.invalid_type
            raise make(
                "Model: training needs an optimizer and a loss.",
                expected="prepare(optimizer, loss) before",
                received=f"optimizer: {describe(self._optimizer)}, loss: {describe(self._loss)}",
            )
        self._set_mode("train")
        outputs, labels = self._forward(inputs), [_tensor(y) for y in labels]
        losses = to_list(self._loss(*outputs, *labels))
        total = losses[0]
        for more in losses[1:]:
            total = total + more
        total.backward()
        if update:
            self._optimizer.step()
            self._optimizer.clear_grad()
        self._measure(outputs, labels)
        return losses

    def _evaluate(self, inputs: list[Any], labels: list[Any]) -> list[Tensor]:
        import paddle

        self._set_mode("eval")
        with paddle.no_grad():
            outputs, labels = self._forward(inputs), [_tensor(y) for y in labels]
            losses = to_list(self._loss(*outputs, *labels)) if self._loss is not None else []
            self._measure(outputs, labels)
        return losses

    def _predict(self, inputs: list[Any]) -> list[Tensor]:
        import paddle

        self._set_mode("predict")
        with paddle.no_grad():
            return self._forward(inputs)

    def _set_mode(self, mode: str) -> None:
        if self.mode != mode or self.network.training != (mode == "train"):
            self.mode = mode
            self.network.train() if mode == "train" else self.network.eval()

    def _measure(self, outputs: list[Tensor], labels: list[Tensor]) -> None:
        for m in self._metrics:
            self._pending.append((m, to_list(m.compute(*outputs, *labels))))
        if len(self._pending) > 256:  # metrics that keep whole outputs must not fill the memory
            self._settle()

    def _settle(self) -> list[Any]:
        """Hands waiting results to their metrics; gives what each metric says about its last batch."""
        pending, self._pending = self._pending, []
        values: dict[int, Any] = {}
        for m, results in pending:
            values[id(m)] = m.update(*(r.numpy() if isinstance(r, Tensor) else r for r in results))
        return [values.get(id(m)) for m in self._metrics]

    def _result(self, losses: list[Tensor]) -> Any:
        read = [loss.numpy() for loss in losses]
        values = self._settle()
        return (read, values) if self._metrics and read else values if self._metrics else read

    # -- many batches --
    @guard
    def fit(
        self,
        train_data: Any = None,
        eval_data: Any = None,
        batch_size: int = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: str | None = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Any = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:
        """Trains. After `load` of a `.pdstate` file it goes on where that was saved, bit for bit; see `save`.

        Args:
            train_data (Dataset|DataLoader|Iterable): What to learn from.
            eval_data (Dataset|DataLoader|Iterable, optional): What to evaluate on between epochs.
            batch_size (int): For a Dataset. Default: 1.
            epochs (int): Passes over the data. Default: 1.
            eval_freq (int): Epochs between evaluations. Default: 1.
            log_freq (int): Steps between two lines of the log. Default: 10.
            save_dir (str, optional): Folder for the model after each epoch and at the end.
            save_freq (int): Epochs between two savings. Default: 1.
            verbose (int): 0 nothing, 1 a bar, 2 lines, 3 lines with times. Default: 2.
            drop_last (bool), shuffle (bool), num_workers (int): For a Dataset; see DataLoader.
            callbacks (Callback|list, optional): Called at events.
            accumulate_grad_batches (int): Batches whose gradients are added up for one update. Default: 1.
            num_iters (int, optional): Steps in all, instead of epochs.

        Raises:
            AssertionError: no train_data, or `prepare` was given no optimizer and loss.
        """
        if train_data is None:
            raise errors.asserted(
                "Model.fit: there is no train_data.", expected="a Dataset or DataLoader", received="None"
            )
        self._need_prepared("fit")
        train = self._loader(train_data, batch_size, shuffle, drop_last, num_workers)
        test = None if eval_data is None else self._loader(eval_data, batch_size, False, False, num_workers)
        steps = _length(train)
        if num_iters is not None:
            steps = num_iters if steps is None else min(steps, num_iters)
            epochs = max(1, -(-num_iters // steps)) if steps else epochs
        calls = config_callbacks(
            callbacks, self, batch_size, epochs, steps, log_freq, verbose, save_freq, save_dir, self._metric_names()
        )
        self.stop_training = False
        left = num_iters
        logs = Logs()
        run = self._running = resume.Run(self, train, calls, logs)
        resumed, self._resumed = self._resumed, None
        try:
            calls.begin("train")
            if resumed is not None:
                run.go_on(resumed)
                left = None if left is None else max(left - run.done, 0)
                if self.stop_training or left == 0:
                    epochs = 0
            for epoch in range(run.epoch, epochs):
                calls.on_epoch_begin(epoch)
                left = self._run(train, calls, "train", logs, left, accumulate_grad_batches, run)
                calls.on_epoch_end(epoch, logs)
                if test is not None and epoch % eval_freq == 0:
                    self._run_evaluation(test, calls, logs)
                if self.stop_training or left == 0:
                    break
                run.at(epoch + 1, 0)
            calls.end("train", logs)
            run.at(run.epoch, run.step)
        finally:
            self._running = None

    @guard
    def evaluate(
        self,
        eval_data: Any,
        batch_size: int = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Any = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """Loss and metrics on other data; arguments as in `fit`.

        Returns:
            dict: "loss" with the losses of the last batch, and each metric over all batches under its name.
        """
        self._need_prepared("evaluate")
        loader = self._loader(eval_data, batch_size, False, False, num_workers)
        calls = config_callbacks(
            callbacks,
            self,
            batch_size,
            1,
            _length(loader),
            log_freq,
            verbose,
            metrics=self._metric_names(),
            mode="eval",
        )
        logs = Logs()
        self._run_evaluation(loader, calls, logs, num_iters)
        return {k: v for k, v in logs.items() if k not in ("step", "batch_size")}

    @guard
    def predict(
        self,
        test_data: Any,
        batch_size: int = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Any = None,
    ) -> list[Any]:
        """Outputs for all data; arguments as in `fit`.

        Args:
            stack_outputs (bool): Join the batches. Default: False.

        Returns:
            list: for each output the tuple of its batches, or with stack_outputs one array.
        """
        loader = self._loader(test_data, batch_size, False, False, num_workers)
        steps = _length(loader)
        calls = config_callbacks(callbacks, self, batch_size, 1, steps, 10, verbose, mode="predict")
        batches: list[list[np.ndarray]] = []
        calls.begin("predict", {"steps": steps})
        logs = Logs()
        for step, data in enumerate(loader):
            inputs, _ = self._split(data)
            calls.batch_begin("predict", step, logs)
            batches.append([o.numpy() for o in self._predict(inputs)])
            logs.update(step=step, batch_size=_batch_size(inputs))
            calls.batch_end("predict", step, logs)
        calls.end("predict", logs)
        outputs = list(zip(*batches))
        return [np.concatenate(o, axis=0) if o[0].ndim else np.vstack(o) for o in outputs] if stack_outputs else outputs

    def _loader(self, data: Any, batch_size: int, shuffle: bool, drop_last: bool, num_workers: int) -> Any:
        if not isinstance(data, Dataset):
            return data
        sampler = DistributedBatchSampler(data, batch_size, shuffle=shuffle, drop_last=drop_last)
        return DataLoader(data, batch_sampler=sampler, num_workers=num_workers, return_list=True)

    def _run_evaluation(self, loader: Any, calls: CallbackList, logs: Logs, num_iters: int | None = None) -> None:
        steps = _length(loader)
        if num_iters is not None:
            steps = num_iters if steps is None else min(steps, num_iters)
        calls.begin("eval", {"steps": steps, "metrics": self._metric_names()})
        self._run(loader, calls, "eval", logs, num_iters)
        calls.end("eval", logs)

    def _run(
        self,
        loader: Any,
        calls: CallbackList,
        mode: str,
        logs: Logs,
        left: int | None,
        accumulate: int = 1,
        run: resume.Run | None = None,
    ) -> int | None:
        """One pass. `left`: steps that may still be made; what is left of them is returned."""
        logs.settle()
        self._pending = []
        for m in self._metrics:
            m.reset()
        names = self._metric_names()
        steps = _length(loader)
        if run is not None:
            run.metrics()
        if left == 0:
            return left
        for step, data in enumerate(loader if run is None else run.batches(), 0 if run is None else run.step):
            inputs, labels = self._split(data)
            calls.batch_begin(mode, step, logs)
            if mode == "train":
                update = (step + 1) % accumulate == 0 or step + 1 == steps
                losses = self._train(inputs, labels, update)
            else:
                losses = self._evaluate(inputs, labels)
            logs.promise(names, lambda losses=losses: self._read(losses))
            logs.update(step=step, batch_size=_batch_size(inputs))
            calls.batch_end(mode, step, logs)
            left = None if left is None else left - 1
            if run is not None:
                run.done += 1
                if update:
                    run.at(run.epoch, step + 1)
            if left == 0:
                break
        logs.settle()
        return left

    def _read(self, losses: list[Tensor]) -> dict[str, Any]:
        self._settle()
        found: dict[str, Any] = {"loss": [float(loss.mean()) for loss in losses]} if losses else {}
        for m in self._metrics:
            names, values = to_list(m.name()), m.accumulate()
            found.update(zip(names, to_list(values) if len(names) > 1 else [values]))
        return found

    def _metric_names(self) -> list[str]:
        names = ["loss"] if self._loss is not None else []
        return names + [n for m in self._metrics for n in to_list(m.name())]

    def _split(self, data: Any) -> tuple[list[Any], list[Any]]:
        """A batch as inputs and labels."""
        fields = [f for field in to_list(data) for f in to_list(field)]
        n = len(self._inputs)
        return fields[:n], fields[n:]

    # -- files --
    @guard
    def save(self, path: str, training: bool = True) -> None:
        """Saves the network and the optimizer.

        A path that ends in `.pdstate` is one file with all that a training depends on: besides these the random
        generators, the position in the data, and what metrics and callbacks have counted. Within `fit`, as from a
        callback, it is written when the step or epoch is over, after all callbacks. After `load` of it, the next
        `fit` with the same arguments goes on there.

        Args:
            path (str): Without extension; folders are made. Writes `<path>.pdparams` and, if the optimizer has state,
                `<path>.pdopt`. Or with the extension `.pdstate`, see above.
            training (bool): False saves a program for inference, through `paddle.jit.save`. Default: True.

        Examples:
            >>> model = paddle.Model(paddle.nn.Linear(2, 2))
            >>> model.save("/tmp/openpaddle_example/model")
            >>> model.load("/tmp/openpaddle_example/model")
        """
        import paddle

        if training and path.endswith(resume.SUFFIX):
            if self._running is not None:
                self._running.wanted.append(path)
            else:
                resume.write(self, path, None)
            return
        if not training:
            paddle.jit.save(self.network, path, input_spec=self._inputs)
            return
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        paddle.save(self.network.state_dict(), path + ".pdparams")
        state = self._optimizer.state_dict() if self._optimizer is not None else None
        if state:
            paddle.save(state, path + ".pdopt")

    @guard
    def load(self, path: str, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Loads what `save` saved.

        Args:
            path (str): Without extension (.pdparams is taken off), or a `.pdstate` file, with which the next `fit`
                goes on.
            skip_mismatch (bool): Leave parameters that are missing or have another shape as they are, with a
                warning. Default: False.
            reset_optimizer (bool): Do not load the optimizer's state, nor go on. Default: False.

        Raises:
            AssertionError: there is no such file. ValueError: a parameter is missing or has another shape.
            RuntimeError: a `.pdstate` file, and no optimizer was given to `prepare`.
        """
        import paddle

        whole = path.endswith(resume.SUFFIX)
        stem = path[: -len(".pdparams")] if path.endswith(".pdparams") else path
        file = path if whole else stem + ".pdparams"
        if not os.path.exists(file):
            raise errors.asserted("Model.load: there is no such file.", expected=file, received=f"path: {path!r}")
        state = resume.read(path) if whole else {"network": paddle.load(file)}
        found = state["network"]
        matching = {}
        for name, value in self.network.state_dict().items():
            problem = _mismatch(name, value, found)
            if problem is None:
                matching[name] = found[name]
            elif skip_mismatch:
                matching[name] = value
                warnings.warn(f"Model.load: {name} stays as it is: {problem}", stacklevel=2)
            else:
                raise errors.invalid_argument(
                    f"Model.load: {problem}",
                    expected="a checkpoint of this network",
                    received=path,
                    hint="skip_mismatch=True leaves it as it is.",
                )
        self.network.set_state_dict(matching)
        if whole:
            if not reset_optimizer:
                resume.set_training(self, state)
            return
        if not reset_optimizer and self._optimizer is not None and os.path.exists(stem + ".pdopt"):
            self._optimizer.set_state_dict(paddle.load(stem + ".pdopt"))

    @guard
    def summary(self, input_size: Any = None, dtype: Any = None) -> dict[str, int]:
        """Prints the layers with their shapes and sizes; see `paddle.summary`.

        Args:
            input_size (tuple|InputSpec|list, optional): Default: the specified inputs, or those of the last batch.
            dtype (str, optional): Of the inputs.

        Returns:
            dict: total_params, trainable_params.
        """
        from .model_summary import summary

        if input_size is None:
            input_size = [s for s in self._inputs if s is not None] or None
        return summary(self.network, input_size, dtype)


def _specs(specs: Any, what: str, forward: Any = None) -> list[Any]:
    """A list of InputSpec, one None per argument of `forward` if nothing is specified."""
    if specs is None:
        arguments = inspect.getfullargspec(forward).args if forward is not None else []
        return [None for a in arguments if a != "self"]
    if isinstance(specs, dict):
        specs = (
            [specs[a] for a in inspect.getfullargspec(forward).args if a != "self"] if forward else [*specs.values()]
        )
    listed = isinstance(specs, (list, tuple))
    specs = to_list(specs)
    for i, s in enumerate(specs):
        if not isinstance(s, InputSpec):
            make = errors.no_attribute if listed and not hasattr(s, "shape") else errors.asserted
            raise make(f"Model: {what}[{i}] is no InputSpec.", expected="an InputSpec", received=describe(s))
        if s.name is None and forward is not None:
            raise errors.invalid_argument(
                f"Model: {what}[{i}] has no name.", expected="InputSpec(shape, dtype, name)", received=repr(s)
            )
    return specs


def _check_amp(configs: Any) -> None:
    if configs is None:
        return
    known = {"level", "init_loss_scaling", "incr_ratio", "decr_ratio", "incr_every_n_steps",
             "decr_every_n_nan_or_inf", "use_dynamic_loss_scaling", "custom_white_list", "custom_black_list",
             "custom_black_varnames", "use_pure_fp16", "use_fp16_guard"}  # fmt: skip
    given = {"level": configs} if isinstance(configs, str) else dict(configs)
    if set(given) - known:
        raise errors.invalid_argument(
            "Model.prepare: amp_configs has unknown keys.",
            expected=f"keys among {sorted(known)}",
            received=", ".join(sorted(set(given) - known)),
        )
    if given.get("level", "O1") not in ("O0", "O1", "O2"):
        raise errors.invalid_argument(
            "Model.prepare: there is no such level of mixed precision.",
            expected="'O0', 'O1' or 'O2'",
            received=repr(given["level"]),
        )
    if given.get("level", "O1") != "O0":
        warnings.warn("Model.prepare: amp_configs has no effect on the CPU, where float32 stays.", stacklevel=3)


def _tensor(x: Any) -> Tensor:
    if isinstance(x, Tensor):
        return x
    import paddle

    return paddle.to_tensor(x)


def _length(loader: Any) -> int | None:
    try:
        return len(loader)
    except Exception:  # an IterableDataset raises ValueError, others whatever they like
        return None


def _batch_size(inputs: Sequence[Any]) -> int:
    return int(inputs[0].shape[0]) if inputs and len(inputs[0].shape) else 1


def _mismatch(name: str, value: Tensor, found: dict[str, Any]) -> str | None:
    if name not in found:
        return f"{name} is not in the file."
    shape = list(np.shape(found[name]) if not isinstance(found[name], Tensor) else found[name].shape)
    if shape != list(value.shape):
        return f"{name} has shape {shape} in the file, {list(value.shape)} in the network."
    return None
