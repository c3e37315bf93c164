"""Functions under the names that other libraries keep in a module `functional`."""

from .tensor.creation import meshgrid
from .tensor.manipulation import atleast_1d, atleast_2d, atleast_3d
from .tensor.norms import norm
from .tensor.products import einsum
from .tensor.repeating import broadcast_shapes
from .tensor.search import unique_consecutive

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes", "einsum", "meshgrid", "norm", "unique_consecutive",
]  # fmt: skip
