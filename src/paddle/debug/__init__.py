"""Looking inside: what was recorded, what became of it, what holds memory and will hold it.

Ours; upstream has no such module.
"""

from .memory import MemoryOwners, memory_owners
from .peak import PeakMemory, peak_memory
from .recorded import Recorded, Recording, capture, graph

__all__ = ["MemoryOwners", "PeakMemory", "Recorded", "Recording", "capture", "graph", "memory_owners", "peak_memory"]
