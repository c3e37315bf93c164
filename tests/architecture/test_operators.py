"""Every operator says all that is to be known of it, or says why not."""

import inspect

import pytest

import paddle.engine.ops  # noqa: F401  (defines them all)
from paddle.engine.ops.registry import Operator, absent, registry

RULES = ("vjp", "loops", "xla", "spmd", "samples")


@pytest.mark.parametrize("name", sorted(registry))
def test_rules(name):
    cls = registry[name]
    doc = cls.__dict__.get("__doc__")
    assert doc and doc.strip(), f"{cls.__name__} has no docstring"
    assert bool(cls.numpy) != bool(cls.compose), "one of numpy and compose gives the meaning"
    assert cls.infer or cls.compose
    for rule in ("infer", "numpy", "compose", *RULES):
        found = inspect.getattr_static(cls, rule)
        if isinstance(found, absent):
            assert found.reason.strip(), f"{rule} is absent without a reason"
        else:
            assert callable(found) or isinstance(found, classmethod), f"{rule} is {found!r}"
    assert cls.samples, "without samples nothing of it is tested"


def test_absent_rules_are_known(snapshot):
    """A rule that goes missing, or comes, shows as a change of the list."""
    lines = []
    for rule in RULES:
        reasons: dict[str, list[str]] = {}
        for name, cls in sorted(registry.items()):
            found = inspect.getattr_static(cls, rule)
            # a composition is written out down to primitives, so it needs no forms of its own
            if isinstance(found, absent) and not (cls.compose and rule != "samples"):
                reason = f"({found.reason})" if found is Operator.__dict__[rule] else found.reason
                reasons.setdefault(reason, []).append(name)
        lines.append(f"{rule}: {sum(map(len, reasons.values()))} of {len(registry)} operators have none")
        for reason, names in sorted(reasons.items()):
            lines += [f"  {reason}", *(f"    {n}" for n in names)]
    lines.append("In brackets: the reason of the base class, as the operator gives none of its own.")
    snapshot("absent_rules.txt", "\n".join(lines) + "\n")
