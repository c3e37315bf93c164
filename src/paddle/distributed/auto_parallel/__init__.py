"""How tensors lie on several processes."""

from . import placement_type, process_mesh
