"""Tensors and functions of tensors."""

from ..utils.public import METHODS
from . import indexing, operators
from .attribute import *
from .creation import *
from .joining import *
from .manipulation import *
from .logic import *
from .math import *
from .random import *
from .reduction import *
from .search import *
from .stat import *
from .repeating import *
from .diagonal import *
from .gathering import *
from .tensor import Tensor
from .to_string import *

for _name, _function in METHODS.items():
    setattr(Tensor, _name, _function)
