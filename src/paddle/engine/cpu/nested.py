"""Graphs inside operators, as programs of their own that the operator's host step runs."""

from __future__ import annotations

import collections
import threading

from .. import flags
from ..ir.graph import Graph
from .executor import Executor

MOST = 512  # programs that are kept

_programs: "collections.OrderedDict[Graph, Executor]" = collections.OrderedDict()
_lock = threading.Lock()


def program(graph: Graph) -> Executor:
    """What runs a graph. It does not change: the graph of a Body."""
    with _lock:
        found = _programs.get(graph)
        if found is None:
            found = _programs[graph] = Executor(graph, (False,) * len(graph.inputs))
            if len(_programs) > MOST:
                _programs.popitem(last=False)
        else:
            _programs.move_to_end(graph)
    return found


def _forget(_: object) -> None:
    _programs.clear()


for _name in ("FLAGS_cpu_features", "FLAGS_winograd", "FLAGS_eager_constants", "FLAGS_eager_compile"):
    flags.on_change(_name, _forget)
