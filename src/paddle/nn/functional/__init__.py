"""Functions of neural networks: `paddle.nn.functional`."""

from ...tensor.diagonal import diag_embed
from ...tensor.math import sigmoid, tanh
from ...tensor.tensor import Tensor as _Tensor
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
from ._check import inplace_of as _inplace_of
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

tanh_ = _inplace_of(tanh)
_Tensor.softmax = activation.softmax

_modules = (
    activation, attention, common, conv, distance, extension, input, loss, margin_loss, norm, pooling, resize, vision,
)  # fmt: skip
__all__ = ["diag_embed", "sigmoid", "tanh", "tanh_", *(name for module in _modules for name in module.__all__)]
