"""Metrics.

`compute` is part of the network's program and stays on its device; `update` reads its result and keeps sums.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..tensor.tensor import Tensor
from ..utils.public import guard_class, public

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]


def _array(x: Any, what: str) -> np.ndarray:
    if isinstance(x, Tensor):
        return x.numpy()
    if not isinstance(x, np.ndarray):
        raise errors.invalid_argument(
            f"Metric: {what} is neither a Tensor nor an array.",
            expected="Tensor or numpy.ndarray",
            received=f"{what}: {x!r:.60}",
        )
    return x


class Metric(abc.ABC):
    """Base of metrics: `reset`, then per batch `update(compute(outputs, labels))`, then `accumulate`.

    Examples:
        >>> class Count(paddle.metric.Metric):
        ...     def reset(self): self.n = 0
        ...     def update(self, pred, label): self.n += len(pred)
        ...     def accumulate(self): return self.n
        ...     def name(self): return "count"
    """

    def __init__(self) -> None:
        super().__init__()

    def _no_more(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raises for arguments that nobody knows."""
        if args or kwargs:
            told = ", ".join([*map(repr, args), *(f"{k}={v!r}" for k, v in kwargs.items())])
            raise errors.invalid_type(f"{type(self).__name__}: unknown arguments.", expected="none", received=told)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard_class(cls, "compute", "update")

    @abc.abstractmethod
    def reset(self) -> None:
        """Forgets what was seen."""

    @abc.abstractmethod
    def update(self, *args: Any) -> Any:
        """Takes in a batch; the arguments are the results of `compute`, as arrays."""

    @abc.abstractmethod
    def accumulate(self) -> Any:
        """The metric over all batches since the last `reset`."""

    @abc.abstractmethod
    def name(self) -> Any:
        """The name, or a list of names if there are several values."""

    def compute(self, *args: Any) -> Any:
        """What `update` needs, from outputs and labels as Tensors. Default: the arguments themselves."""
        return args


class Accuracy(Metric):
    """The share of samples whose label is among the k best scores.

    Args:
        topk (tuple of int): Values of k. Default: (1,).
        name (str, optional): Default: "acc"; with several k, the names are acc_top1, ...

    Examples:
        >>> m = paddle.metric.Accuracy()
        >>> scores = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]])
        >>> float(m.update(m.compute(scores, paddle.to_tensor([[1], [1]]))))
        0.5
    """

    def __init__(self, topk: Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any):
        super().__init__()
        self._no_more(args, kwargs)
        self.topk = topk
        self.maxk = max(topk)
        prefix = name or "acc"
        self._name = [prefix] if self.maxk == 1 else [f"{prefix}_top{k}" for k in topk]
        self.reset()

    def compute(self, pred: Tensor, label: Tensor, *args: Any) -> Tensor:
        """Which of the best `max(topk)` classes are the label.

        Args:
            pred (Tensor): Scores [..., C].
            label (Tensor): Class indices [...] or [..., 1], or one-hot [..., C].

        Returns:
            Tensor: float32 [..., max(topk)], 1 where right.
        """
        import paddle

        best = paddle.argsort(pred, axis=-1, descending=True)[..., : self.maxk]
        if label.ndim == 1 or (label.ndim == pred.ndim - 1 and label.shape[-1] != 1):
            label = label.unsqueeze(-1)
        elif label.shape[-1] != 1:
            label = paddle.argmax(label, axis=-1, keepdim=True)
        return (best == label.astype("int64")).astype("float32")

    def update(self, correct: Any, *args: Any) -> Any:
        """Takes in the result of `compute`.

        Returns:
            float, or list of float: accuracy of this batch for each k.
        """
        correct = _array(correct, "correct")
        samples = int(np.prod(correct.shape[:-1]))
        rates = []
        for i, k in enumerate(self.topk):
            hits = correct[..., :k].sum()
            self.total[i] += hits
            self.count[i] += samples
            rates.append(np.float64(hits) / samples if samples else np.float64(0.0))
        return rates[0] if len(self.topk) == 1 else rates

    def reset(self) -> None:
        self.total: list[Any] = [0.0] * len(self.topk)
        self.count = [0] * len(self.topk)

    def accumulate(self) -> Any:
        rates = [np.float64(t) / n if n else 0.0 for t, n in zip(self.total, self.count)]
        return rates[0] if len(self.topk) == 1 else rates

    def name(self) -> list[str]:
        return self._name


class _Counter(Metric):
    """Counts right and wrong predictions of two classes; a score above 0.5 says positive."""

    _default_name = ""

    def __init__(self, name: str = "", *args: Any, **kwargs: Any):
        super().__init__()
        self._no_more(args, kwargs)
        self._name = name or self._default_name
        self.reset()

    def name(self) -> str:
        return self._name

    @staticmethod
    def _decide(preds: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
        p, y = _array(preds, "preds"), _array(labels, "labels")
        if p.size != y.size:
            raise errors.invalid_argument(
                "Metric: preds and labels differ in number.",
                expected="one score per label",
                received=f"preds: {list(p.shape)}, labels: {list(y.shape)}",
            )
        return np.floor(p.reshape(-1) + 0.5).astype("int64") == 1, y.reshape(-1) == 1


class Precision(_Counter):
    """The share of positive predictions that are right: tp / (tp + fp).

    Args:
        name (str): Default: "precision".

    Examples:
        >>> m = paddle.metric.Precision()
        >>> m.update(np.array([0.9, 0.8, 0.2]), np.array([1, 0, 1]))
        >>> m.accumulate()
        0.5
    """

    _default_name = "precision"

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any):
        super().__init__(name, *args, **kwargs)

    def update(self, preds: Any, labels: Any) -> None:
        """Takes in scores in [0, 1] and labels 0 or 1, of shape [N] or [N, 1]."""
        positive, true = self._decide(preds, labels)
        self.tp += int((positive & true).sum())
        self.fp += int((positive & ~true).sum())

    def reset(self) -> None:
        self.tp = self.fp = 0

    def accumulate(self) -> float:
        said = self.tp + self.fp
        return self.tp / said if said else 0.0


class Recall(_Counter):
    """The share of positive samples that are found: tp / (tp + fn).

    Args:
        name (str): Default: "recall".

    Examples:
        >>> m = paddle.metric.Recall()
        >>> m.update(np.array([0.9, 0.8, 0.2, 0.1]), np.array([1, 1, 1, 1]))
        >>> m.accumulate()
        0.5
    """

    _default_name = "recall"

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any):
        super().__init__(name, *args, **kwargs)

    def update(self, preds: Any, labels: Any) -> None:
        """Takes in scores in [0, 1] and labels 0 or 1, of shape [N] or [N, 1]."""
        positive, true = self._decide(preds, labels)
        self.tp += int((positive & true).sum())
        self.fn += int((~positive & true).sum())

    def reset(self) -> None:
        self.tp = self.fn = 0

    def accumulate(self) -> float:
        there = self.tp + self.fn
        return self.tp / there if there else 0.0


class Auc(Metric):
    """The area under the ROC curve, from histograms of the scores.

    Args:
        curve (str): "ROC"; others are computed as ROC too, as in upstream.
        num_thresholds (int): Steps of the histograms. Default: 4095.
        name (str): Default: "auc".

    Examples:
        >>> m = paddle.metric.Auc()
        >>> m.update(np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([[1], [0]]))
        >>> float(m.accumulate())
        1.0
    """

    def __init__(self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc", *args: Any, **kwargs: Any):
        super().__init__()
        self._no_more(args, kwargs)
        self._curve, self._num_thresholds, self._name = curve, num_thresholds, name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Takes in a batch.

        Args:
            preds (array|Tensor): [N, 2] probabilities of both classes, in [0, 1].
            labels (array|Tensor): [N, 1] or [N], 0 or 1.
        """
        p, y = _array(preds, "preds"), _array(labels, "labels").reshape(-1).astype(bool)
        if p.ndim != 2 or p.shape[1] < 2:
            raise errors.out_of_range(
                "Auc: preds has no column for the positive class.",
                expected="[N, 2]",
                received=f"preds: {list(p.shape)}",
            )
        score = p[:, 1]
        if ((score < 0) | (score > 1) | np.isnan(score)).any():
            wrong = ~((score >= 0) & (score <= 1))
            raise errors.asserted(
                "Auc: " + errors.offending("a score is out of range", wrong, score, "[0, 1]", "preds")
            )
        bins = (score * self._num_thresholds).astype("int64")
        self._stat_pos += np.bincount(bins[y], minlength=self._num_thresholds + 1)
        self._stat_neg += np.bincount(bins[~y], minlength=self._num_thresholds + 1)

    @staticmethod
    def trapezoid_area(x1: float, x2: float, y1: float, y2: float) -> float:
        """Area under the line from (x1, y1) to (x2, y2)."""
        return abs(x1 - x2) * (y1 + y2) / 2.0

    def accumulate(self) -> Any:
        pos, neg = np.cumsum(self._stat_pos[::-1]), np.cumsum(self._stat_neg[::-1])
        if not pos[-1] or not neg[-1]:
            return 0.0
        heights = (pos + np.concatenate([[0.0], pos[:-1]])) / 2
        return np.float64((heights * self._stat_neg[::-1]).sum() / (pos[-1] * neg[-1]))

    def reset(self) -> None:
        self._stat_pos = np.zeros(self._num_thresholds + 1)
        self._stat_neg = np.zeros(self._num_thresholds + 1)

    def name(self) -> str:
        return self._name


@public(guarded=True)
def accuracy(
    input: Tensor,
    label: Tensor,
    k: int = 1,
    correct: Tensor | None = None,
    total: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """The share of samples whose label is among the k best scores.

    Args:
        input (Tensor): Scores [N, C].
        label (Tensor): Class indices [N, 1], int32 or int64.
        k (int): How many of the best count. Default: 1.
        correct (Tensor, optional): Receives the number of right samples.
        total (Tensor, optional): Receives the number of samples.
        name (str, optional): Shown in printed programs.

    Returns:
        Tensor: float32 of shape [].

    Raises:
        ValueError: label is not [N, 1], or k is larger than C.

    Examples:
        >>> scores = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]])
        >>> float(paddle.metric.accuracy(scores, paddle.to_tensor([[1], [1]])))
        0.5
    """
    import paddle

    if input.dtype.name not in ("float16", "bfloat16", "float32", "float64"):
        raise errors.invalid_type(
            "accuracy: input is not floating.",
            expected="float16, bfloat16, float32 or float64",
            received=f"{input.type}",
        )
    if label.ndim != 2 or label.shape != [input.shape[0], 1]:
        raise errors.invalid_argument(
            "accuracy: label does not match input.",
            expected="input [N, C], label [N, 1]",
            received=f"input: {input.type}, label: {label.type}",
        )
    _, best = paddle.topk(input, k)
    right = (best == label.astype("int64")).any(axis=-1).astype("float32")
    if correct is not None:
        paddle.assign(right.sum().astype(correct.dtype).reshape(correct.shape), correct)
    if total is not None:
        paddle.assign(paddle.full(total.shape, input.shape[0], total.dtype), total)
    return right.mean()
