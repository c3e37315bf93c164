"""The tables of benchmarks/run.py, from measurements that are made up."""

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def run(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("benchmarks_run", FOLDER / "run.py")
    module = importlib.util.module_from_spec(spec)
    path = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = path
    yield module
    for name in [n for n in sys.modules if n.split(".")[0] == "workloads"]:
        del sys.modules[name]


class Measured:
    """A runner that measures nothing: seconds by kind and workload, in rounds."""

    def __init__(self, known, **values):
        self.known, self.values, self.python = known, values, dict.fromkeys(values, "python")

    def once(self, kind, name, round_):
        found = self.values[kind]
        return (found[name] if isinstance(found, dict) else found)[round_]


def test_the_median_is_held_against_the_best_rival(run, capsys):
    runner = Measured(
        run.workloads.load(), paddle=[1.0, 9.0, 2.0], torch=[4.0] * 3, compiled=[3.0] * 3, numpy=[2.5] * 3
    )
    (row,) = run.rows(runner, ["product_1024"], 3)
    assert row["paddle"] == 2.0 and row["ratio"] == pytest.approx(2.0 / 2.5) and not row["missed"]
    assert "80%" in run.line(row, row["flops"] / 1.6) and "below the goal" in run.line(row, row["flops"] / 1.6)
    assert "reaches the goal" in run.line(row, row["flops"] / 1.9)


def test_only_named_rivals_count(run, capsys):
    runner = Measured(run.workloads.load(), paddle=[1.0], torch=[1.5], compiled=[0.1])
    (row,) = run.rows(runner, ["operations"], 1)
    assert row["ratio"] == pytest.approx(1 / 1.5) and not row["missed"]
    runner = Measured(run.workloads.load(), paddle=[2.0 * 2**20], torch=[2**20], compiled=[0])
    (row,) = run.rows(runner, ["resnet50_memory"], 1)
    assert row["missed"] and "compiled" not in row and "2.000" in run.line(row, 0.0)


def test_a_bound_on_our_own_other_workload(run, capsys):
    ours = {"transformer": [1.0], "transformer_bf16": [0.8]}
    runner = Measured(run.workloads.load(), paddle=ours, torch=[2.0], compiled=[2.0])
    plain, half = run.rows(runner, ["transformer", "transformer_bf16"], 1)
    assert half["ratio"] == pytest.approx(0.4) and half["missed"] and not plain["missed"]
    assert "0.80 of our transformer" in run.line(half, 0.0)


def test_rows_that_ask_a_rival_for_the_same_share_it(run, tmp_path):
    asked = []

    class Counting(run.Runner):
        def child(self, kind, name, cache):
            asked.append((kind, name))
            return {"value": 1.0}

    runner = Counting({"paddle": "python", "compiled": "python"}, 2, tmp_path, 1.0)
    run.rows(runner, ["resnet50_first_step_cold", "resnet50_compiled_tier"], 1)
    assert [k for k, _ in asked].count("compiled") == 1 and [k for k, _ in asked].count("paddle") == 2


def test_every_workload_is_measured_by_somebody(run):
    for name, w in run.workloads.load().items():
        assert set(w.rivals) <= set(run.COLUMNS) and w.kinds()[0] == "paddle", name
        assert all(callable(w.step_of(k)) for k in w.kinds()), name
