"""A compiler that is broken on purpose is caught: see `mutations.py`."""

import os
import subprocess
import sys

import mutations
import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each broken compiler is a forked process")
def test_each_mutation_is_noticed():
    run = subprocess.run([sys.executable, mutations.__file__], capture_output=True, text=True)
    lines = [x for x in run.stdout.splitlines() if x.split(": ")[-1] in {*mutations.MUTATIONS, "nothing changed"}]
    assert len(lines) == 1 + len(mutations.MUTATIONS), run.stdout + run.stderr
    assert lines[0] == "not noticed: nothing changed", run.stdout + run.stderr
    missed = [x for x in lines[1:] if not x.startswith("noticed")]
    assert not missed, "\n".join(missed) + f"\n{run.stdout}"
