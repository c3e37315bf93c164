"""What is recorded, where the time is said to go, and files."""

import json
import threading

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from paddle.io import DataLoader, Dataset
from paddle.profiler import Profiler, RecordEvent, export_chrome_tracing, export_protobuf, load_profiler_result
from paddle.profiler import accounts as accounting
from paddle.profiler.recorder import Event, Recording
from paddle.profiler.result import ProfilerResult


class Rows(Dataset):
    def __getitem__(self, i):
        return np.full(3, i, "float32"), paddle.ones([2])

    def __len__(self):
        return 6


def kinds(prof):
    return [e.kind for e in prof.profiler_result.events]


def split(prof):
    r = prof.profiler_result.recording
    return {k: a for k, a in accounting.accounts(r).items() if a.calls or a.ns}, r


def test_a_flush_with_what_lies_inside_it(profiled):
    x = paddle.ones([8, 16])
    w = paddle.ones([16, 4])

    def step(_):
        return F.relu(x @ w).sum().item()

    prof = profiled(step, 2)
    events = prof.profiler_result.events
    flushes = [e for e in events if e.kind == "flush"]
    assert len(flushes) == 2
    first, second = ([e for e in events if f.start <= e.start and e.end <= f.end and e is not f] for f in flushes)
    assert [e.kind for e in first if e.kind != "profiler"][:2] == ["new", "prepare"]
    assert [e.name for e in second if e.kind == "kernel"] == ["matmul", "relu", "sum"]
    assert {e.kind for e in second} <= {"kernel", "profiler"}
    product = next(e for e in second if e.name == "matmul")
    assert product.detail["operations"] == 2 * 8 * 16 * 4
    assert product.detail["read"] == 4 * (8 * 16 + 16 * 4) and product.detail["written"] == 4 * 8 * 4
    assert product.detail["line"] == [__file__, step.__code__.co_firstlineno + 1]
    assert flushes[1].detail["line"][0] == __file__
    (new,) = [e for e in events if e.kind == "new"]
    assert new.detail["cause"] == "first" and new.detail["operations"] == 3


def test_results_are_the_same_as_without(profiled, flag):
    flag("FLAGS_eager_compile", "always")
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(5, 7)).astype("float32"))
    found = []

    def step(_):
        y = F.softmax(x, axis=1).cumsum(axis=0)
        found.append((y.numpy(), paddle.sort(y, axis=1).numpy()))

    step(0)
    prof = profiled(step, 2)
    for y, s in found[1:]:
        np.testing.assert_array_equal(y, found[0][0])
        np.testing.assert_array_equal(s, found[0][1])
    tiers = {(e.kind, e.detail["tier"]) for e in prof.profiler_result.events if e.kind in ("kernel", "host")}
    assert tiers == {("kernel", "compiled"), ("host", "host")}


def test_a_training_goes_on_the_same_under_a_profiler():
    def losses(profile):
        paddle.seed(3)
        net = paddle.nn.Sequential(paddle.nn.Linear(6, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 2))
        opt = paddle.optimizer.Adam(parameters=net.parameters())
        x = paddle.to_tensor(np.linspace(-1, 1, 24).reshape(4, 6).astype("float32"))
        found = []
        prof = Profiler(scheduler=(2, 5), on_trace_ready=lambda p: None)
        if profile:
            prof.start()
        for _ in range(8):
            loss = (net(x) ** 2).mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
            found.append(float(loss))
            if profile:
                prof.step()
        if profile:
            prof.stop()
        return found

    assert losses(True) == losses(False)


def test_errors_of_kernels_are_those_of_the_user(profiled):
    def step(_):
        with pytest.raises(ValueError, match="gather") as caught:
            paddle.gather(paddle.ones([2]), paddle.to_tensor([9])).numpy()
        assert "test_recording.py" in str(caught.value)

    assert "kernel" in kinds(profiled(step))


def test_the_rows_add_up_to_the_time(profiled):
    loader = DataLoader(Rows(), batch_size=2)

    def step(_):
        for x, y in loader:
            with RecordEvent("mine"):
                float((F.relu(x) @ paddle.ones([3, 4])).sum() + paddle.sort(y, axis=0).sum())

    found, r = split(profiled(step, 3))
    assert sum(a.ns for a in found.values()) == r.end - r.start
    assert found["data"].calls == 9 and found["new"].calls >= 1
    assert {"first", "host", "dispatch", "python", "prepare"} <= set(found)


def test_accounts_of_events_inside_one_another():
    def event(kind, start, end, thread=1, **detail):
        return Event(kind, kind, start, end, thread, detail)

    events = [
        event("step", 0, 100), event("data", 0, 30), event("flush", 5, 20), event("kernel", 6, 9, tier="first"),
        event("user", 30, 95), event("flush", 40, 90), event("new", 40, 50), event("compile", 50, 60),
        event("kernel", 60, 75, tier="compiled"), event("host", 75, 80, tier="host"),
        event("kernel", 0, 50, 2, tier="first"),
    ]  # fmt: skip
    r = Recording(events, 0, 120, 1, {1: "a", 2: "b"}, {"call_ns": 4})
    found = {k: (a.calls, a.ns) for k, a in accounting.accounts(r).items() if a.calls or a.ns}
    assert found == {
        "data": (1, 30), "new": (1, 10), "compile": (1, 10), "compiled": (1, 15), "host": (1, 5),
        "dispatch": (1, 6), "profiler": (0, 4), "python": (0, 40),
    }  # fmt: skip


def test_what_bounds_a_kernel(peak):
    def kernel(operations, nbytes, tasks=8, ns=1000, tier="first", bits=32):
        d = {"tier": tier, "shapes": ["float32[2]"], "line": None, "tasks": tasks, "bits": bits, "name": "k",
             "operations": operations, "read": nbytes, "written": 0}  # fmt: skip
        (k,) = accounting.kernels([Event("host" if tier == "host" else "kernel", "k", 0, ns, 1, d)] * 2, peak)
        return k.bound, round(k.off, 3), k.gflops, k.gbytes

    assert kernel(1e6, 100, ns=20_000) == ("compute", 2.0, 50.0, 0.005)
    assert kernel(1e6, 100, ns=20_000, bits=64) == ("compute", 1.0, 50.0, 0.005)
    assert kernel(1e6, 100, ns=20_000, tasks=1) == ("compute", 1.0, 50.0, 0.005)  # one thread of two
    assert kernel(1e3, 10**7, ns=2_000_000) == ("memory", 2.0, 0.0005, 5.0)
    assert kernel(1e3, 10**5, ns=4_000) == ("memory", 2.0, 0.25, 25.0)  # from the caches
    assert kernel(10, 40, ns=3_000) == ("dispatch", 3.0, 10 / 3000, 40 / 3000)
    assert kernel(None, 100, tier="host")[:3] == ("host", 0.0, None)


def test_waiting_for_data_by_the_threads_that_wait(profiled):
    def step(_):
        def read():
            for _ in DataLoader(Rows(), batch_size=3):
                pass

        t = threading.Thread(target=read)
        t.start()
        t.join()
        for _ in DataLoader(Rows(), batch_size=2, num_workers=1):
            pass

    prof = profiled(step)
    waits = [(e.thread == threading.get_ident(), e.detail) for e in prof.profiler_result.events if e.kind == "data"]
    assert waits == [(False, {"workers": 0})] * 2 + [(True, {"workers": 1})] * 3
    assert split(prof)[0]["data"].calls == 3


def test_programs_by_numpy_have_a_row(profiled, flag):
    flag("FLAGS_reference", True)
    x = paddle.ones([3])
    found, _ = split(profiled(lambda _: float((x * 2).sum())))
    assert found["reference"].calls == 1 and "first" not in found


# ---- files ------------------------------------------------------------------------------------
@pytest.fixture
def recorded(profiled):
    loader = DataLoader(Rows(), batch_size=2)

    def step(_):
        for x, _ in loader:
            with RecordEvent("mine"):
                float((x * 2).sum())

    return profiled(step)


def test_a_trace_is_json_with_all_events(recorded, tmp_path):
    path = tmp_path / "trace.json"
    recorded.export(str(path))
    data = json.loads(path.read_text())
    events = data["traceEvents"]
    assert {e["ph"] for e in events} == {"M", "X"}
    shown = [e for e in events if e["ph"] == "X"]
    assert {"ProfileStep#0", "DataLoader", "mine", "flush", "multiply", "sum"} <= {e["name"] for e in shown}
    assert all(e["ts"] >= 0 and e["dur"] >= 0 and {"pid", "tid", "cat", "args"} <= set(e) for e in shown)
    assert len(shown) == len(recorded.profiler_result.events)
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names[threading.get_ident()] == "MainThread" and {e["tid"] for e in shown} <= set(names)
    inside = next(e for e in shown if e["name"] == "multiply")
    outside = next(e for e in shown if e["name"] == "flush")
    assert outside["ts"] <= inside["ts"] and inside["ts"] + inside["dur"] <= outside["ts"] + outside["dur"]


@pytest.mark.parametrize("format", ["json", "pb"])
def test_files_are_read_back(recorded, tmp_path, format):
    path = str(tmp_path / f"trace.{format}")
    recorded.export(path, format=format)
    loaded = load_profiler_result(path)
    assert isinstance(loaded, ProfilerResult)
    before, after = recorded.profiler_result.recording, loaded.recording
    assert [(e.kind, e.name, e.thread, e.detail) for e in after.events] == [
        (e.kind, e.name, e.thread, json.loads(json.dumps(e.detail))) for e in before.events
    ]
    for a, b in zip(after.events, before.events):
        assert abs(a.start - b.start) <= 1 and abs(a.end - b.end) <= 2
    assert (after.start, after.end, after.thread, after.threads) == (
        before.start, before.end, before.thread, before.threads
    )  # fmt: skip
    assert after.about == before.about
    again = str(tmp_path / "again.json")
    loaded.save(again)
    assert len(load_profiler_result(again).events) == len(before.events)


def test_handlers_write_files(tmp_path):
    for handler, ending in ((export_chrome_tracing, "json"), (export_protobuf, "pb")):
        folder = tmp_path / ending
        with Profiler(on_trace_ready=handler(str(folder), "me")):
            float(paddle.ones([2]).sum())
        (file,) = folder.iterdir()
        assert file.name.startswith("me_time_") and file.name.endswith(f".paddle_trace.{ending}")
        assert load_profiler_result(str(file)).events


def test_a_file_of_upstream_is_read(tmp_path):
    from paddle.profiler.protobuf import _message

    root = _message((1, "root node"), (2, 7), (3, 0), (4, -1), (5, 0), (6, 0))
    step = _message((1, "ProfileStep#1"), (2, 2), (3, 10_000), (4, 30_000), (5, 42), (6, 43))
    mine = _message((1, "mine"), (2, 14), (3, 12_000), (4, 20_000), (5, 42), (6, 43))
    nodes = [(2, _message((1, i), (2, i - 1), (3, e))) for i, e in enumerate((root, step, mine))]
    extra = [(4, _message((1, "43"), (2, "MainThread"))), (4, _message((1, "Process Cpu Utilization"), (2, "0.5")))]
    path = tmp_path / "theirs.pb"
    path.write_bytes(_message((1, "1.0.2"), (2, 0), (3, _message((1, 43), *nodes)), *extra))
    loaded = load_profiler_result(str(path))
    assert [(e.kind, e.name, e.start, e.end) for e in loaded.events] == [
        ("step", "ProfileStep#1", 10_000, 30_000), ("user", "mine", 12_000, 20_000)
    ]  # fmt: skip
    (root,) = loaded.get_data().values()
    assert root.children_node[0].children_node[0].type is paddle.profiler.TracerEventType.PythonUserDefined
    assert loaded.get_extra_info()["43"] == "MainThread"


def test_nodes_have_what_upstreams_have(recorded):
    (root,) = recorded.profiler_result.get_data().values()
    assert root.name == "root node" and root.end_ns == 2**64 - 1
    (step,) = root.children_node
    assert [n.type.name for n in step.children_node] == ["Dataloader", "PythonUserDefined"] * 3
    (flush,) = step.children_node[1].children_node
    product = next(n for n in flush.children_node if n.name == "multiply")
    assert product.type.name == "Operator" and product.input_shapes == {"X": [[2, 3], []]}
    assert product.dtypes == {"X": ["float32", "float32"]} and "test_recording.py" in product.callstack
    assert recorded.profiler_result.get_extra_info()[str(product.thread_id)] == "MainThread"


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"{not json", b"\x0a\xff\xff", b"\x08\x01", b"plain text"])
def test_other_files_are_rejected(tmp_path, data):
    path = tmp_path / "other"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="holds no result of a profiler"):
        load_profiler_result(str(path))


def test_no_file_and_no_format(recorded, tmp_path):
    with pytest.raises(FileNotFoundError):
        load_profiler_result(str(tmp_path / "none.json"))
    with pytest.raises(ValueError, match="no such format"):
        recorded.export(str(tmp_path / "x"), format="xml")
    assert not (tmp_path / "x").exists()
