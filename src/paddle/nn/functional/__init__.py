"""Functions of neural networks: `paddle.nn.functional`."""

import importlib as _importlib

from ...tensor.diagonal import diag_embed
from ...tensor.math import sigmoid, tanh
from ...tensor.tensor import Tensor as _Tensor
from ._check import inplace_of as _inplace_of
from .activation import *  # noqa: F403
from .common import *  # noqa: F403
from .compat import softmax as _softmax_of_dim
from .conv import *  # noqa: F403
from .distance import *  # noqa: F403
from .dropout import *  # noqa: F403
from .extension import *  # noqa: F403
from .flash_attention import *  # noqa: F403
from .input import *  # noqa: F403
from .loss import *  # noqa: F403
from .margin_loss import *  # noqa: F403
from .moe import *  # noqa: F403
from .norm import *  # noqa: F403
from .pooling import *  # noqa: F403
from .resize import *  # noqa: F403
from .sequence_loss import *  # noqa: F403
from .special_pooling import *  # noqa: F403
from .vision import *  # noqa: F403

tanh_ = _inplace_of(tanh)
_Tensor.softmax = _softmax_of_dim  # the form with `dim`, whose default depends on the number of axes, as upstream

__all__ = ["diag_embed", "sigmoid", "tanh", "tanh_"]
for _name in (
    "activation",
    "common",
    "conv",
    "distance",
    "dropout",
    "extension",
    "flash_attention",
    "input",
    "loss",
    "margin_loss",
    "moe",
    "norm",
    "pooling",
    "resize",
    "sequence_loss",
    "special_pooling",
    "vision",
):
    __all__ += _importlib.import_module(f"{__name__}.{_name}").__all__
