"""Functions of neural networks: `paddle.nn.functional`."""

from . import activation, conv, pooling
from .activation import *  # noqa: F403
from .conv import *  # noqa: F403
from .pooling import *  # noqa: F403

__all__ = [*activation.__all__, *conv.__all__, *pooling.__all__]
