"""Optimizers and learning rate schedules."""

from . import lr
from .adagrad import Adadelta, Adagrad, RMSProp
from .adam import Adam, Adamax, AdamW, Lamb, NAdam, RAdam
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .sgd import ASGD, SGD, Momentum, Rprop

__all__ = [
    "ASGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Lamb",
    "Momentum",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSProp",
    "Rprop",
    "SGD",
    "lr",
]
