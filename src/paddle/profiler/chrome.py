"""Recordings as traces in JSON, which chrome://tracing and ui.perfetto.dev show."""

from __future__ import annotations

import json
from typing import Any

from .recorder import Event, Recording

__all__ = ["read", "write"]

_COLORS = {"data": "terrible", "compile": "bad", "prepare": "bad", "new": "bad", "host": "yellow", "kernel": "good"}


def write(r: Recording) -> bytes:
    """The JSON text."""
    pid = r.about["pid"]
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": "python"}},
        *({"ph": "M", "name": "thread_name", "pid": pid, "tid": t, "args": {"name": n}} for t, n in r.threads.items()),
    ]
    for e in r.events:
        x = {
            "ph": "X", "name": e.name, "cat": e.kind, "pid": pid, "tid": e.thread,
            "ts": (e.start - r.start) / 1e3, "dur": e.duration / 1e3, "args": e.detail,
        }  # fmt: skip
        if e.kind in _COLORS:
            x["cname"] = _COLORS[e.kind]
        events.append(x)
    whole = {"start_ns": r.start, "end_ns": r.end, "thread": r.thread, "about": r.about}
    data = {
        "schemaVersion": "1.0.2",
        "displayTimeUnit": "ms",
        "traceEvents": events,
        "otherData": {"openpaddle": whole},
    }
    return json.dumps(data, separators=(",", ":")).encode()


def read(data: bytes) -> Recording | None:
    """What `write` has written, None if it is something else."""
    try:
        found = json.loads(data)
        whole = found["otherData"]["openpaddle"]
        start = whole["start_ns"]
        events, threads = [], {}
        for x in found["traceEvents"]:
            if x["ph"] == "X":
                began = start + round(x["ts"] * 1e3)
                events.append(Event(x["cat"], x["name"], began, began + round(x["dur"] * 1e3), x["tid"], x["args"]))
            elif x["name"] == "thread_name":
                threads[x["tid"]] = x["args"]["name"]
        return Recording(events, start, whole["end_ns"], whole["thread"], threads, whole["about"])
    except (KeyError, TypeError, ValueError):
        return None
