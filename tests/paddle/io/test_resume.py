"""A training that goes on in a new process gives the bits of one that was not cut off."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("resume_training.py")


def run(what, folder):
    command = [sys.executable, str(SCRIPT), what, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_ten_steps_or_five_and_five(tmp_path):
    whole, rest = run("save", tmp_path), run("load", tmp_path)
    assert rest == [line for line in whole if line.split()[1] not in "12345"]
    assert sum(len(line.split()) == 3 and line.split()[1].isdigit() for line in rest) == 10
