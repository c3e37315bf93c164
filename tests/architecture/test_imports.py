"""Who may import whom: directions inside the engine, and libraries that are loaded only when needed."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import paddle

SOURCE = Path(paddle.__file__).parent
LAYERS = [
    ("types", "errors", "flags", "arrays"),
    ("ir",),
    ("ops",),
    ("sizes", "passes"),
    ("cpu", "xla", "opened"),
    ("eager",),
]  # low to high
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
COMPILERS = {"llvmlite": "cpu", "jax": "xla", "jaxlib": "xla"}  # and the only folder that may import each
HEAVY = (
    "llvmlite ml_dtypes PIL scipy rich typer jax torch pandas matplotlib safetensors google.protobuf opt_einsum "
    "multiprocessing asyncio unittest doctest pydoc cProfile"
).split()


def imports(file: Path) -> list[tuple[int, str]]:
    """Line and absolute name of every import in a file of the package, those inside functions too."""
    package = ["paddle", *file.relative_to(SOURCE).parent.parts]
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, a.name) for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module.split(".") if node.module else [])])
            # `from . import a`: a may be a module
            found += [(node.lineno, f"{module}.{a.name}") for a in node.names]
    return found


def part(name: str) -> str:
    """The folder or file of the engine that an absolute name lies in, "" if it is outside."""
    words = name.split(".")
    return words[2] if words[:2] == ["paddle", "engine"] and len(words) > 2 else ""


ENGINE = sorted((SOURCE / "engine").rglob("*.py"))


@pytest.mark.parametrize("file", ENGINE, ids=lambda f: str(f.relative_to(SOURCE)))
def test_engine_imports_go_down(file):
    here = file.relative_to(SOURCE / "engine").parts[0].removesuffix(".py")
    if here == "__init__":
        assert not imports(file), "the engine's folders are imported one by one"
        return
    for line, name in imports(file):
        where = f"{file.relative_to(SOURCE)}:{line} imports {name}"
        if name.split(".")[0] == "paddle":
            target = part(name)
            assert target, f"{where}: the engine knows nothing of the public modules"
            assert LEVEL[target] <= LEVEL[here], f"{where}, which lies above {here}"
            assert target == here or LEVEL[target] < LEVEL[here] or LEVEL[here] == 0, f"{where}, beside {here}"
        library = COMPILERS.get(name.split(".")[0], here)
        assert library == here, f"{where}: only {library}/ may"


@pytest.mark.parametrize("library", HEAVY)
def test_import_paddle_does_not_load(library, loaded):
    assert library not in loaded, f"`import paddle` loads {library}; import it in the function that needs it"


@pytest.fixture(scope="module")
def loaded():
    """Names of the modules that a fresh process holds after `import paddle`."""
    code = "import sys, paddle; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_map_of_the_engine_is_whole():
    """Every folder has a level, and every file a line in the README."""
    names = {f.relative_to(SOURCE / "engine").parts[0].removesuffix(".py") for f in ENGINE}
    assert names <= {*LEVEL, "__init__"}
    told = set(re.findall(r"`(\w+\.py)`", (SOURCE / "engine" / "README.md").read_text(encoding="utf-8")))
    files = {f.name for f in ENGINE} - {"__init__.py"}
    assert told == files, f"README.md lacks {sorted(files - told)} and has too much {sorted(told - files)}"
