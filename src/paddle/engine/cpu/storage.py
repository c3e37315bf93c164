"""Arrays whose values are expected to stay: who relies on them, and what ends that.

Values never change while their array is watched: whoever writes over an array says so before (`written`), and an array
that is gone takes its watch with it, so that another one at the same address is not mistaken for it.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence

import numpy as np

from ..arrays import Memory, root_of

watches: dict[int, Watch] = {}  # by the id of the array
_exposed: dict[int, weakref.ref[np.ndarray]] = {}  # arrays whose address is known outside
MOST_SETS = 4  # of weights for which a program keeps what it has prepared
PATIENT, RUNS_BETWEEN = 6, 8  # preparations at once; runs after which one more is granted
serial = 0  # of the last watch: who has found none on some arrays need not look again while it stays


class Watch:
    """An array that somebody relies on.

    Attributes:
        array: a weak reference. users: what is worth nothing once the values are others.
    """

    __slots__ = ("array", "users", "__weakref__")

    def __init__(self, a: np.ndarray):
        key = id(a)
        self.users: weakref.WeakSet[Prepared] = weakref.WeakSet()

        def gone(_: object, watch: weakref.ref[Watch] = weakref.ref(self)) -> None:
            known = watch()
            if known is not None:
                if watches.get(key) is known:
                    del watches[key]
                known.end()

        self.array = weakref.ref(a, gone)

    def end(self) -> None:
        for user in list(self.users):
            user.drop()
        self.users.clear()


class Prepared:
    """What was made of some arrays, for as long as they stay as they are.

    Attributes:
        memory: holds the results; None before they are made, and when they are worth nothing any more.
        over: the arrays are others now.
    """

    __slots__ = ("memory", "over", "watches", "__weakref__")

    def __init__(self, watches: Sequence[Watch]):
        self.memory: np.ndarray | None = None
        self.over = False
        self.watches = tuple(watches)
        for w in self.watches:
            w.users.add(self)
        alive.add(self)

    def made_of(self, arrays: Sequence[np.ndarray]) -> bool:
        return self.memory is not None and all(w.array() is a for w, a in zip(self.watches, arrays))

    def keep(self, memory: np.ndarray | None) -> None:
        if not self.over:
            self.memory = memory

    def drop(self) -> None:
        self.over, self.memory = True, None


class Preparations:
    """What a program keeps, for the sets of weights that it runs with.

    Attributes:
        current: of the last run. runs: so far.
        steady: False from when the weights have changed often: nothing is kept any more.
    """

    def __init__(self) -> None:
        self.current: Prepared | None = None
        self.runs = 0
        self.steady = True
        self._ready: list[Prepared] = []
        self._credit, self._last = PATIENT, 0

    def find(self, arrays: Sequence[np.ndarray]) -> Prepared | None:
        """What was made of these arrays, or room for it; None where nothing is to be kept."""
        self._ready = [p for p in self._ready if p.memory is not None]
        self.current = next((p for p in self._ready if p.made_of(arrays)), None)
        if self.current is None and self.steady:
            self._credit = min(PATIENT, self._credit + (self.runs - self._last) // RUNS_BETWEEN) - 1
            self._last, self.steady = self.runs, self._credit >= 0
            held = [watch(a) for a in arrays] if self.steady else []
            if held and all(w is not None for w in held):
                self.current = Prepared([w for w in held if w is not None])
                self._ready = [*self._ready[-MOST_SETS + 1 :], self.current]
            elif not self.steady:
                self._ready.clear()
        return self.current


alive: weakref.WeakSet[Prepared] = weakref.WeakSet()  # for reports on memory


def watch(a: np.ndarray) -> Watch | None:
    """The watch on an array; None where something outside the engine may write to it."""
    global serial
    known = watches.get(id(a))
    if known is not None and known.array() is a:
        return known
    if not is_own(a):
        return None
    made = watches[id(a)] = Watch(a)
    serial += 1
    return made


def is_watched(known: Watch, a: np.ndarray) -> bool:
    """Whether a has had this watch all the time."""
    return known.array() is a and watches.get(id(a)) is known


def is_own(a: np.ndarray) -> bool:
    """Whether nobody but the engine can reach the memory of an array."""
    if _exposed and any(ref() is not None and np.may_share_memory(ref(), a) for ref in list(_exposed.values())):
        return False
    a = root_of(a)
    return a.flags.owndata or isinstance(a.base, (Memory, bytes))


def written(arrays: Iterable[np.ndarray]) -> None:
    """Tells that arrays are about to be written over."""
    for a in arrays:
        known = watches.get(id(a))
        if known is not None and known.array() is a:
            del watches[id(a)]
            known.end()


def expose(a: np.ndarray) -> None:
    """Tells that the address of an array leaves the engine: from now on it may change at any time."""
    a = root_of(a)
    key = id(a)
    _exposed[key] = weakref.ref(a, lambda _: _exposed.pop(key, None))
    for known in list(watches.values()):
        b = known.array()
        if b is not None and np.may_share_memory(a, b):
            written((b,))
