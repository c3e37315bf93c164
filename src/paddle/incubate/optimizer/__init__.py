"""Optimizers around other optimizers."""

from ...optimizer import LBFGS
from .lookahead import LookAhead
from .modelaverage import ModelAverage

__all__ = ["LBFGS"]
