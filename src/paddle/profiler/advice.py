"""What a recording says is slow, and what to do about it, in words."""

from __future__ import annotations

import collections
import os
import textwrap
from typing import Any

from ..engine.cpu.peak import Peak
from ..engine.cpu.stages import size_text
from .accounts import Account, Kernel, news
from .recorder import Event, Recording

__all__ = ["advice"]

_TELL = 0.1  # share of the time from which on something is worth telling
_SMALL_NS = 5_000  # a launch below this is mostly the cost of being one
_RECORD_NS = 20_000  # of Python per launch: above this a program does more than record operators
_WIDTH = 100

_REMEDIES = {
    "shape": "pad batches to one size, or leave out the last smaller one (drop_last=True of the DataLoader)",
    "dtype": "give the inputs one dtype",
    "gradients": "call it in the same gradient mode, with inputs of the same stop_gradient, each time",
    "amp": "keep one auto_cast for the whole step",
    "argument": "pass numbers that change as Tensors, and keep other arguments the same",
    "branch": "take the same way through the code in each step: paddle.where instead of `if` on changing values",
    "reads": "read values (float(), numpy(), print) at the same places in each step",
    "held": "keep the same results from step to step: float(loss) instead of loss in lists",
    "first": "take the same way through the code in each step",
}


def advice(r: Recording, found: dict[str, Account], kernels: list[Kernel], peak: Peak | None) -> str:
    """One paragraph: what takes much of the time, the most first, and what helps."""
    whole = max(1, r.end - r.start - found["profiler"].ns)
    findings = [
        _settings(r, found, whole), _data(r, found, whole), _programs(r, found, whole), _host(found, kernels, whole),
        _small(r, found, kernels, whole),
        _reads(r, found, kernels, whole), _python(r, found, kernels, whole), _first_tier(r, found, whole),
    ]  # fmt: skip
    said = [text for share, text in sorted((f for f in findings if f), key=lambda f: -f[0])]
    if not kernels and not found["reference"].calls:
        said.insert(0, "No kernel ran while the profiler recorded.")
    if not said:
        said = ["Nothing stands out."]
    said += [_greatest(kernels, whole, peak), _held(r)]
    return "\n".join(textwrap.wrap(" ".join(s for s in said if s), _WIDTH, break_on_hyphens=False))


Finding = tuple[float, str] | None


def _share(ns: float, whole: int) -> str:
    return f"{100 * ns / whole:.0f}% of the time"


def _at(line: Any) -> str:
    return f" ({os.path.basename(line[0])}:{line[1]})" if line else ""


def _settings(r: Recording, found: dict[str, Account], whole: int) -> Finding:
    on = r.about["flags"]
    if found["reference"].ns > _TELL * whole:
        name = "FLAGS_check_nan_inf" if on.get("FLAGS_check_nan_inf") else "FLAGS_reference"
        return found["reference"].ns / whole, (
            f"{_share(found['reference'].ns, whole)} ran by numpy, operator by operator, as {name} is set: unset it"
            " where speed counts."
        )
    if on.get("FLAGS_eager_sync"):
        return 1.0, "FLAGS_eager_sync is set: each operator runs at once and nothing is fused or compiled; unset it."
    if on.get("FLAGS_eager_compile") == "never":
        return 1.0, "FLAGS_eager_compile is never: programs run operator by operator; set it to auto."
    return None


def _data(r: Recording, found: dict[str, Account], whole: int) -> Finding:
    a = found["data"]
    if a.ns < _TELL * whole:
        return None
    workers = max((e.detail.get("workers", 0) for e in r.events if e.kind == "data"), default=0)
    cores = r.about["cores"]
    if not workers:
        help_ = f"The batches are made in this process: num_workers of the DataLoader (here {cores} cores) reads ahead."
    elif workers < cores:
        help_ = f"It has {workers} workers on {cores} cores: take more, or make a sample cheaper to read."
    else:
        help_ = f"It has {workers} workers on {cores} cores: make a sample cheaper to read and to transform."
    text = f"Waiting for data took {_share(a.ns, whole)}, {a.ns / 1e6 / a.calls:.1f} ms for each of {a.calls} batches."
    return a.ns / whole, f"{text} {help_}"


def _programs(r: Recording, found: dict[str, Account], whole: int) -> Finding:
    made = news(r)
    ns = found["new"].ns + found["prepare"].ns + found["compile"].ns
    if not made or ns + found["first"].ns < _TELL * whole:
        if found["compile"].ns < _TELL * whole:
            return None
        return found["compile"].ns / whole, (
            f"Waiting for the compiler took {_share(found['compile'].ns, whole)}; it happens once for a program, and"
            " never again in later processes: record after some more steps."
        )
    steps = [e for e in r.events if e.kind == "step"]
    again: dict[Any, list[Event]] = collections.defaultdict(list)
    for e in made:
        if e.detail["cause"] != "first" or len(steps) > 1:
            again[e.detail["cause"], tuple(e.detail["line"] or ())].append(e)
    often = max(again.values(), key=len, default=[])
    if len(often) < 3 or len(steps) > 1 and sum(any(s.start <= e.start < s.end for e in often) for s in steps) < 3:
        return ns / whole, (
            f"{len(made)} {'program was' if len(made) == 1 else 'programs were'} new: making and compiling them took"
            f" {_share(ns, whole)}. That passes: record after the first steps, with scheduler=(10, 20)."
        )
    last = often[-1].detail
    cause = f"{last['text']}{_at(last['line'])}"
    return max(ns, found["first"].ns) / whole, (
        f"{len(made)} programs were new, {len(often)} of them for the same reason, as: {cause}. Each is"
        f" recorded, prepared and compiled anew, which took {_share(ns, whole)}, and runs operator by operator until"
        f" then: {_REMEDIES[last['cause']]}."
    )


def _host(found: dict[str, Account], kernels: list[Kernel], whole: int) -> Finding:
    a = found["host"]
    if a.ns < _TELL * whole:
        return None
    by_name: dict[str, int] = collections.defaultdict(int)
    lines: dict[str, Any] = {}
    for k in kernels:
        if k.tier == "host":
            by_name[k.name] += k.ns
            lines.setdefault(k.name, k.line)
    names = sorted(by_name, key=lambda n: -by_name[n])[:3]
    listed = ", ".join(f"{n}{_at(lines[n])}" for n in names)
    return a.ns / whole, (
        f"{listed} {'runs' if len(names) == 1 else 'run'} on the host by numpy, on one thread, which took"
        f" {_share(a.ns, whole)}: call such operators less often or on less data, outside the inner loop."
    )


def _small(r: Recording, found: dict[str, Account], kernels: list[Kernel], whole: int) -> Finding:
    small = [t for k in kernels if k.tier != "host" for t in k.times if t < _SMALL_NS]
    launches = sum(len(k.times) for k in kernels)
    ns = sum(small) + found["dispatch"].ns + _recording(found, launches)
    if ns < 2 * _TELL * whole or len(small) < 0.5 * launches:
        return None
    text = (
        f"{len(small)} of {launches} launches take less than {_SMALL_NS // 1000} microseconds, and recording and"
        f" starting them took {_share(ns, whole)} with them."
    )
    first, left = sum(len(k.times) for k in kernels if k.tier == "first"), r.about["until_compiled"]
    if first > 0.5 * launches and left > 0:
        return ns / whole, (
            f"{text} Most are single operators, as their programs are not compiled yet: that comes within {left} more"
            " steps. Record later."
        )
    return ns / whole, f"Small kernels: {text} Larger batches give each kernel more to do."


def _recording(found: dict[str, Account], launches: int) -> int:
    """The time of Python, where it is little for each launch, as when it does nothing but record."""
    ns = found["python"].ns
    return ns if launches and ns / launches < _RECORD_NS else 0


def _reads(r: Recording, found: dict[str, Account], kernels: list[Kernel], whole: int) -> Finding:
    """Many flushes of few kernels: the program reads values again and again."""
    flushes = [e for e in r.events if e.kind == "flush"]
    steps = max(1, sum(e.kind == "step" for e in r.events))
    launches = sum(len(k.times) for k in kernels)
    ns = found["python"].ns + found["dispatch"].ns
    if len(flushes) < 8 * steps or launches > 8 * len(flushes) or ns < 0.4 * whole:
        return None
    lines = collections.Counter(tuple(e.detail["line"]) for e in flushes if e.detail.get("line"))
    where = _at(lines.most_common(1)[0][0]) if lines else ""
    return ns / whole, (
        f"Values are read {len(flushes) / steps:.0f} times in a step, most of them at one place{where}, and each time"
        f" only {launches / len(flushes):.1f} kernels run: float(), numpy() and print end what is computed together."
        f" What lies between the kernels took {_share(ns, whole)}: read less often."
    )


def _python(r: Recording, found: dict[str, Account], kernels: list[Kernel], whole: int) -> Finding:
    ns = found["python"].ns
    if ns < 0.4 * whole or _reads(r, found, kernels, whole) or _small(r, found, kernels, whole):
        return None
    used = r.about["cpu_ns"] / whole
    if used < 0.3:
        return ns / whole, (
            f"{_share(ns, whole)} passed outside of paddle, with the processor at rest: the program waits for"
            " something, as files, the network, or a sleep. RecordEvent around its parts shows which."
        )
    return ns / whole, (
        f"Python took {_share(ns, whole)}, recording operators and the program's own code: larger batches spread it"
        " over more samples, and RecordEvent around parts of the step shows which of them it is."
    )


def _first_tier(r: Recording, found: dict[str, Account], whole: int) -> Finding:
    ns = found["first"].ns
    if (
        ns < 0.3 * whole
        or r.about["flags"].get("FLAGS_eager_compile") == "never"
        or r.about["flags"].get("FLAGS_eager_sync")
    ):
        return None
    if len(news(r)) > 3:
        return None  # told with the programs
    left = r.about["until_compiled"]
    if left < 0:
        how = "a program could not be compiled, of which a warning has told."
    else:
        how = "programs are compiled when they have come back some times" + (
            f": these within {left} more steps. Record later." if left else ". Record later steps."
        )
    return ns / whole, f"{_share(ns, whole)} ran operator by operator: {how}"


def _held(r: Recording) -> str:
    """What the largest program held, as its plan says before it runs. Not in files that others have written."""
    held = r.about.get("held")
    if not held or not sum(held.values()):
        return ""
    return (
        f"The program that takes most memory holds {size_text(sum(held.values()))} while it runs:"
        f" {size_text(held['inputs'])} of inputs, {size_text(held['results'])} of new results and a work area of"
        f" {size_text(held['work'])}."
    )


def _greatest(kernels: list[Kernel], whole: int, peak: Peak | None) -> str:
    """The kernel that takes longest, and how far it is from its bound."""
    if not kernels or peak is None:
        return ""
    k = kernels[0]
    total = sum(x.ns for x in kernels)
    text = f"The kernel that took longest is {k.name} {k.shape}{_at(k.line)}, {100 * k.ns / total:.0f}% of all kernels"
    if k.bound == "host":
        return f"{text}; it runs on the host."
    least, most = min(k.times), max(k.times)
    if len(k.times) >= 5 and k.ns > 4 * least * len(k.times):
        return (
            f"{text}; its calls took from {least / 1e3:.1f} to {most / 1e3:.1f} microseconds, as when other work has"
            " the cores meanwhile."
        )
    if k.bound == "dispatch":
        return f"{text}; it has so little to do that its time is that of being started."
    if k.off < 2:
        how = f"it is bound by {k.bound} and close to what the machine can do"
        fewer = {"compute": "less arithmetic", "memory": "fewer or smaller tensors"}[k.bound]
        return f"{text}; {how}: only {fewer} would make it faster."
    return f"{text}; it is bound by {k.bound} and takes {k.off:.1f} times as long as the machine would need."
