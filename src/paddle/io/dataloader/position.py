"""How far a loader has come in its data, so that a later process goes on from there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...engine import errors
from . import generators


@dataclass
class Turns:
    """Which worker makes which batch: the same in every run, whichever worker is first.

    Attributes:
        workers (int): how many. ahead (int): batches per worker that are asked for before they are needed.
        ended (list of int): numbers of batches that an iterable dataset no longer had, up to `next`.
        next (int): number of the batch that the loop gets next.
        owner: worker by number, of batches that were asked for.
        asked (int): numbers given out.
    """

    workers: int
    ahead: int
    ended: list[int] = field(default_factory=list)
    next: int = 0
    asked: int = 0
    owner: dict[int, int] = field(default_factory=dict)
    live: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.live = list(range(self.workers))

    def anew(self) -> Turns:
        """Those of the next pass with the same workers."""
        return Turns(self.workers, self.ahead)

    def room(self) -> bool:
        """Whether one more batch should be asked for."""
        return self.asked < self.next + self.ahead * len(self.live)

    def ask(self) -> tuple[int, int]:
        """A number, and the worker that is to make its batch."""
        number, worker = self.asked, self.live[self.asked % len(self.live)]
        self.owner[number] = worker
        self.asked += 1
        return number, worker

    def took(self, ended: bool) -> None:
        """The loop has taken note of batch `next`, or that there is none."""
        worker = self.owner.pop(self.next)
        if ended:
            self.ended.append(self.next)
            if worker in self.live:
                self.live.remove(worker)
        self.next += 1


class Pass:
    """One pass over a loader's data.

    Attributes:
        epoch (int): passes before it.
        batches (int): that the loop was given.
        done (bool): whether the loop has seen the end.
        start: the generators before the order was drawn. sampler: the state of the sampler then.
        seed: base of the workers' seeds. turns: who makes which batch; None without workers.
        points: per worker batches made in this pass, and the generators then (None: as the seed makes them).
        pool: the workers, where they go on from pass to pass and know what their generators were before this one.
    """

    def __init__(self, epoch: int):
        self.epoch, self.batches, self.done = epoch, 0, False
        self.start: dict[str, Any] | None = None
        self.sampler: Any = None
        self.seed: int | None = None
        self.turns: Turns | None = None
        self.points: list[tuple[int, Any]] = []
        self.pool: Any = None

    def to_plain(self) -> dict[str, Any]:
        """The pass as numbers, strings, lists and dictionaries."""
        turns = self.turns
        if self.pool is not None and not self.pool.closed:
            self.points = [(0, g) if p == (0, None) else p for p, g in zip(self.points, self.pool.answers())]
        return {
            "epoch": self.epoch,
            "batches": self.batches,
            "start": None if self.start is None else generators.to_plain(self.start),
            "sampler": self.sampler,
            "workers": None
            if turns is None
            else {
                "seed": self.seed,
                "count": turns.workers,
                "ahead": turns.ahead,
                "next": turns.next,
                "ended": list(turns.ended),
                "points": [[n, None if g is None else generators.to_plain(g)] for n, g in self.points],
            },
        }


def from_plain(state: dict[str, Any]) -> Pass:
    """The pass that `to_plain` wrote; of its turns only what is needed to take them again."""
    found = Pass(state["epoch"])
    found.batches, found.sampler = state["batches"], state["sampler"]
    found.start = None if state["start"] is None else generators.from_plain(state["start"])
    workers = state["workers"]
    if workers is not None:
        found.seed = workers["seed"]
        found.turns = Turns(workers["count"], workers["ahead"], list(workers["ended"]), workers["next"])
        found.points = [(n, None if g is None else generators.from_plain(g)) for n, g in workers["points"]]
    return found


def sampler_state(sampler: Any) -> Any:
    """What an order depends on besides the generators; None if nothing is known of it."""
    if hasattr(sampler, "state_dict") and hasattr(sampler, "set_state_dict"):
        return sampler.state_dict()
    epoch = getattr(sampler, "epoch", None)  # as samplers have it that follow DistributedBatchSampler
    return {"epoch": epoch} if isinstance(epoch, int) else None


def set_sampler_state(sampler: Any, state: Any) -> None:
    """Sets what `sampler_state` gave."""
    if hasattr(sampler, "set_state_dict"):
        sampler.set_state_dict(state)
    elif isinstance(state, dict) and "epoch" in state and isinstance(getattr(sampler, "epoch", None), int):
        sampler.epoch = state["epoch"]


def beyond(wanted: int, found: int) -> Exception:
    """The error where an order has fewer batches than were read from it before."""
    return errors.invalid_argument(
        "DataLoader: the position that was set lies beyond the end of the data.",
        expected=f"at least {wanted} batches, as there were when state_dict() was called",
        received=f"{found} batches",
        hint="the dataset, the sampler and the batch size must be those of the checkpoint.",
    )
