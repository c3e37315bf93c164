"""What all tests share: snapshots that are kept as files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-snapshots", action="store_true", help="accept what came out as the new snapshots")


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with a file beside the test; `--update-snapshots` writes the file, and the diff is reviewed."""

    def check(name: str, text: str) -> None:
        file = request.path.parent / name
        known = file.read_text(encoding="utf-8") if file.exists() else ""
        if text == known:
            return
        if request.config.getoption("--update-snapshots"):
            file.write_text(text, encoding="utf-8")
            return
        diff = "\n".join(difflib.unified_diff(known.splitlines(), text.splitlines(), name, "now", lineterm="", n=2))
        pytest.fail(f"{name} differs; if that is meant, run with --update-snapshots and review.\n{diff}", pytrace=False)

    return check


@pytest.fixture(autouse=True)
def same_numbers():
    """Each test meets the same random numbers and names, alone or among others."""
    import paddle

    paddle.seed(20240)
    with paddle.utils.unique_name.guard():
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The name of a test is the same in each process: pytest-xdist refuses to run tests whose names differ."""
    for item in items:
        if re.search(r" at 0x[0-9a-f]+", item.nodeid):
            raise pytest.UsageError(f"{item.nodeid}: the name holds an address; give this parameter an id")
