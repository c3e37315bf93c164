"""Exchange of tensors with other libraries, without the detour over numpy."""

from ..tensor.attribute import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
