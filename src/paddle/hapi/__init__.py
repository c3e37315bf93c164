"""Training, evaluation and prediction in a few calls."""

from . import callbacks, dynamic_flops, model, model_summary, progressbar
from .dynamic_flops import flops
from .model import Model
from .model_summary import summary

__all__ = ["Model", "flops", "summary"]
