"""Groups of processes, and how they reduce."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class ReduceOp:
    """How values of several processes become one."""

    SUM = 0
    MAX = 1
    MIN = 2
    PROD = 3
    AVG = 4


class Group:
    """Some processes, in order.

    Args:
        rank_in_group (int): This process's place in the group, -1 outside it.
        id (int): Number of the group.
        ranks (list of int): The processes.
        pg (optional): What carries its messages.
        name (str, optional): Of the group.
    """

    def __init__(self, rank_in_group: int, id: int, ranks: Sequence[int], pg: Any = None, name: str | None = None):
        self._rank_in_group, self._id, self._ranks, self._pg, self._name = rank_in_group, id, list(ranks), pg, name

    @property
    def rank(self) -> int:
        return self._rank_in_group

    @property
    def ranks(self) -> list[int]:
        return self._ranks

    @property
    def nranks(self) -> int:
        return len(self._ranks)

    @property
    def world_size(self) -> int:
        return self.nranks if self._rank_in_group >= 0 else -1

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def process_group(self) -> Any:
        return self._pg

    @property
    def id(self) -> int:
        return self._id

    def is_member(self) -> bool:
        """Whether this process belongs to the group."""
        return self._rank_in_group >= 0

    def get_group_rank(self, rank: int) -> int:
        """The place of process `rank` in the group, -1 outside it."""
        return self._ranks.index(rank) if rank in self._ranks else -1

    def get_global_rank(self, rank: int) -> int:
        """The process at place `rank` of the group."""
        return self._ranks[rank]

    def __repr__(self) -> str:
        ranks = ",".join(map(str, self._ranks))
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {ranks}; name: {self.name}"
