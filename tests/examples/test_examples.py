"""The programs in examples/ run at their small size, write nothing to stderr, and learn what they are to learn."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
LEARNED = {  # the figures of the last line, and what holds for them
    "image_classification": ("mistakes", lambda wrong, of, *_: wrong < 0.15 * of),
    "text_classification": ("accuracy", lambda accuracy, *_: accuracy > 0.9),
    "character_model": ("bits", lambda bits, by_frequency: bits < by_frequency - 1.0),
    "sequence_tagging": ("accuracy", lambda accuracy, ambiguous: accuracy > 0.97 and ambiguous > 0.95),
    "wide_and_deep": ("area", lambda area: area > 0.77),
    "gan": ("distance", lambda made, real, noise: made < 0.4 * real + 0.6 * noise),
}


def run(name, folder, *arguments):
    command = [sys.executable, "-W", "error", EXAMPLES / f"{name}.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=300)


def test_every_example_is_tested():
    assert {f.stem for f in EXAMPLES.glob("*.py")} == set(LEARNED)
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [name for name in LEARNED if f"({name}.py)" not in readme] == []


@pytest.mark.parametrize("name", LEARNED)
def test_example(name, tmp_path):
    done = run(name, tmp_path, "--small")
    assert done.returncode == 0 and done.stderr == "", done.stdout + done.stderr
    word, holds = LEARNED[name]
    last = done.stdout.splitlines()[-1]
    assert last.startswith(word), done.stdout
    assert holds(*(float(x) for x in re.findall(r"\d+(?:\.\d+)?", last))), last
    if name == "gan" and "picture" in done.stdout:
        assert (tmp_path / "gan.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_option_is_refused(tmp_path):
    done = run("character_model", tmp_path, "--samll")
    assert done.returncode == 2 and "--samll" in done.stderr
