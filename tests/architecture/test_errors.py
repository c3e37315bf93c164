"""Every error that the package makes says what was expected and what came."""

import ast
from pathlib import Path

import pytest

import paddle
from paddle.engine import errors

SOURCE = Path(paddle.__file__).parent
MAKERS = {n for n, f in vars(errors).items() if callable(f) and "The caller raises it." in (f.__doc__ or "")}
PARTS = ("nn", "optimizer", "amp", "metric", "tensor", "autograd", "engine/ops", "engine/eager", "regularizer.py")
FILES = [f for p in PARTS for f in ([SOURCE / p] if p.endswith(".py") else sorted((SOURCE / p).rglob("*.py")))]


def name_of(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def bare(node):
    """Whether an exception of Python's own is raised with a plain sentence."""
    made = node.exc
    first = made.args[0] if isinstance(made, ast.Call) and made.args else None
    plain = isinstance(first, ast.JoinedStr) or (
        isinstance(first, ast.Constant) and not str(first.value).startswith("(")
    )
    return plain and name_of(made) in ("AssertionError", "ValueError", "TypeError", "RuntimeError", "IndexError")


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(SOURCE)))
def test_errors_are_whole(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        where = f"{file.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Call) and name_of(node) in MAKERS:
            if any(isinstance(n, ast.Call) and name_of(n) == "offending" for n in ast.walk(node)):
                continue  # which tells both
            lacks = {"expected", "received"} - {k.arg for k in node.keywords}
            assert not lacks or None in {k.arg for k in node.keywords}, f"{where}: the error has no {sorted(lacks)}"
        elif isinstance(node, ast.Raise) and "engine" not in str(file.relative_to(SOURCE)):
            assert not bare(node), f"{where}: use one of engine/errors.py's, which tell the user's line"
