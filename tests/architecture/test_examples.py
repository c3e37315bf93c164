"""The examples in docstrings run, with `paddle` and `np` at hand, each from the same random state."""

import ast
import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import numpy as np
import pytest

import paddle

SOURCE = Path(paddle.__file__).parent
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def written():
    """Docstrings with examples in the source: name, text, file and line."""
    for file in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        module = ".".join(["paddle", *file.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__")
        todo = [(module, tree)]
        while todo:
            name, node = todo.pop()
            text = ast.get_docstring(node, clean=True) or ""
            if ">>>" in text:
                yield name, text, str(file), node.body[0].lineno
            todo += [(f"{name}.{n.name}", n) for n in ast.iter_child_nodes(node) if isinstance(n, DOCUMENTED)]


def made():
    """Docstrings with examples that families of functions get when they are made, which no source holds."""
    seen = {text.strip() for _, text, _, _ in written()}
    for m in pkgutil.walk_packages(paddle.__path__, "paddle."):
        if m.name.startswith("paddle.engine") or m.name.endswith("__main__"):
            continue
        module = importlib.import_module(m.name)
        for word in getattr(module, "__all__", ()):
            thing = getattr(module, word)
            text = inspect.cleandoc(thing.__doc__ or "") if callable(thing) else ""
            if ">>>" in text and text.strip() not in seen:
                seen.add(text.strip())
                yield f"{m.name}.{word}", text, module.__file__, 1


EXAMPLES = [*written(), *made()]


@pytest.mark.parametrize("name, text, file, line", EXAMPLES, ids=[e[0].removeprefix("paddle.") for e in EXAMPLES])
def test_example(name, text, file, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paddle.seed(0)
    np.random.seed(0)
    dtype = paddle.get_default_dtype()
    example = doctest.DocTestParser().get_doctest(text, {"paddle": paddle, "np": np}, name, file, line - 1)
    report = []
    try:
        doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=report.append)
    finally:
        paddle.set_default_dtype(dtype)
    assert not report, "".join(report)
