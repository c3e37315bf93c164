"""Functions of neural networks: `paddle.nn.functional`."""

from . import (
    activation,
    attention,
    common,
    conv,
    distance,
    extension,
    input,
    loss,
    margin_loss,
    norm,
    pooling,
    resize,
    vision,
)
from .activation import *  # noqa: F403
from .attention import *  # noqa: F403
from .common import *  # noqa: F403
from .conv import *  # noqa: F403
from .distance import *  # noqa: F403
from .extension import *  # noqa: F403
from .input import *  # noqa: F403
from .loss import *  # noqa: F403
from .margin_loss import *  # noqa: F403
from .norm import *  # noqa: F403
from .pooling import *  # noqa: F403
from .resize import *  # noqa: F403
from .vision import *  # noqa: F403

_modules = (
    activation,
    attention,
    common,
    conv,
    distance,
    extension,
    input,
    loss,
    margin_loss,
    norm,
    pooling,
    resize,
    vision,
)
__all__ = [name for module in _modules for name in module.__all__]
