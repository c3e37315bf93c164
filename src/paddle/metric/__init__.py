"""Metrics: how good predictions are, summed up over batches."""

from . import metrics
from .metrics import Accuracy, Auc, Metric, Precision, Recall, accuracy

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]
