"""The public names: each module's `__all__` is true, explained, and the most used signatures stay as they are."""

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import paddle

TABLE = (
    Path(__file__).parent / "signatures.tsv"
)  # the parameters of the names that most code uses, as upstream has them
KINDS = inspect.Parameter


def modules():
    """Public modules of the package."""
    found = ["paddle"]
    for m in pkgutil.walk_packages(paddle.__path__, "paddle."):
        if not m.name.startswith("paddle.engine") and not any(w.startswith("_") for w in m.name.split(".")):
            found.append(m.name)
    return found


@pytest.mark.parametrize("name", modules())
def test_names_exist_and_are_explained(name):
    module = importlib.import_module(name)
    assert (module.__doc__ or "").strip(), f"{name} has no docstring"
    offered = getattr(module, "__all__", [])
    assert len(set(offered)) == len(offered), "a name is listed twice"
    for word in offered:
        assert hasattr(module, word), f"{name}.__all__ lists {word}, which does not exist"
        thing = getattr(module, word)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            assert (thing.__doc__ or "").strip(), f"{name}.{word} has no docstring"


def find(path):
    """The object at a dotted path."""
    found, rest = paddle, path.split(".")[1:]
    for i, word in enumerate(rest):
        if not hasattr(found, word) and inspect.ismodule(found):
            importlib.import_module(".".join(["paddle", *rest[: i + 1]]))
        found = getattr(found, word)
    return found


def shape(parameters, method):
    """What callers depend on: positional names in order without the receiver, keyword-only names, and the stars."""
    places = [n for n, k in parameters if k in (KINDS.POSITIONAL_ONLY, KINDS.POSITIONAL_OR_KEYWORD)]
    names = {n for n, k in parameters if k is KINDS.KEYWORD_ONLY}
    stars = {k for _, k in parameters if k in (KINDS.VAR_POSITIONAL, KINDS.VAR_KEYWORD)}
    return places[1:] if method else places, names, stars


def parse(text):
    """Parameters of a written signature."""
    a = ast.parse(f"def f{text}: pass").body[0].args
    out = [(p.arg, KINDS.POSITIONAL_OR_KEYWORD) for p in a.args] + [(p.arg, KINDS.KEYWORD_ONLY) for p in a.kwonlyargs]
    out += [(a.vararg.arg, KINDS.VAR_POSITIONAL)] if a.vararg else []
    return out + ([(a.kwarg.arg, KINDS.VAR_KEYWORD)] if a.kwarg else [])


ROWS = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]]


@pytest.mark.parametrize("name, kind, written", ROWS, ids=[r[0] for r in ROWS])
def test_signature(name, kind, written):
    have = [(p.name, p.kind) for p in inspect.signature(find(name)).parameters.values()]
    want = parse(written)
    method = kind == "method"
    assert shape(have, method) == shape(want, method), f"{name}: have {have}, upstream has {written}"
