"""Optimizers and learning rate schedules."""

from . import lr
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .rules import (
    ASGD,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lamb,
    Momentum,
    NAdam,
    RAdam,
    RMSProp,
    Rprop,
)

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
