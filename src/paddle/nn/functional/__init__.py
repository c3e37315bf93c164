"""Functions of neural networks: `paddle.nn.functional`."""

from . import activation, common, conv, distance, input, loss, norm, pooling
from .activation import *  # noqa: F403
from .common import *  # noqa: F403
from .conv import *  # noqa: F403
from .distance import *  # noqa: F403
from .input import *  # noqa: F403
from .loss import *  # noqa: F403
from .norm import *  # noqa: F403
from .pooling import *  # noqa: F403

__all__ = [
    name for module in (activation, common, conv, distance, input, loss, norm, pooling) for name in module.__all__
]
