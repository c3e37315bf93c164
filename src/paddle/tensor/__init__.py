"""Tensors and functions of tensors. The module itself makes a Tensor when it is called: `paddle.tensor([1, 2])`."""

import sys as _sys
import types as _types
from typing import Any as _Any

from ..utils.public import METHODS
from . import indexing, late, operators, selected_rows
from .arithmetic import *
from .attribute import *
from .conversion import *
from .creation import *
from .joining import *
from .manipulation import *
from .linalg import *
from .logic import *
from .math import *
from .random import *
from .norms import *
from .products import *
from .sequences import *
from .reduction import *
from .search import *
from .stat import *
from .repeating import *
from .diagonal import *
from .gathering import *
from .masking import *
from .scattering import *
from .inplace import *
from .tensor import Tensor
from .to_string import *

for _name, _function in METHODS.items():
    setattr(Tensor, _name, _function)
selected_rows.keep_rows()

__all__ = sorted({n for m in list(_sys.modules.values()) if getattr(m, "__package__", None) == __name__ and m is not
                  _sys.modules[__name__] for n in getattr(m, "__all__", ())})  # fmt: skip


class _Callable(_types.ModuleType):
    """A module that is called like `to_tensor`, with torch's keywords."""

    def __call__(self, *args: _Any, **kwargs: _Any) -> Tensor:
        from .conversion import tensor

        return tensor(*args, **kwargs)


_sys.modules[__name__].__class__ = _Callable
