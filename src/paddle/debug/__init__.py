"""Looking inside: what was recorded, what became of it, and what holds memory. Ours; upstream has no such module."""

from .memory import MemoryOwners, memory_owners
from .recorded import Recorded, Recording, capture, graph

__all__ = ["MemoryOwners", "Recorded", "Recording", "capture", "graph", "memory_owners"]
