"""Special functions under the names that scientific libraries use."""

from .tensor.math import expm1
from .tensor.reduction import logsumexp

__all__ = ["expm1", "logsumexp"]
