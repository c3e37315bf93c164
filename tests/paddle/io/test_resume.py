"""A training that goes on in a new process gives the bits of one that was not cut off."""

import subprocess
import sys
from pathlib import Path


def run(what, folder, script="resume_training.py"):
    command = [sys.executable, str(Path(__file__).with_name(script)), what, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_ten_steps_or_five_and_five(tmp_path):
    whole, rest = run("save", tmp_path), run("load", tmp_path)
    assert rest == [line for line in whole if line.split()[1] not in "12345"]
    assert sum(len(line.split()) == 3 and line.split()[1].isdigit() for line in rest) == 10


def test_lengths_of_every_kind_go_on(tmp_path):
    whole, rest = run("save", tmp_path, "resume_lengths.py"), run("load", tmp_path, "resume_lengths.py")
    assert whole[-1] == rest[-1] == "tiers True True"
    assert rest[:-1] == whole[110:-1]
