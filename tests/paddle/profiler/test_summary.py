"""The tables, and the words on what is slow: each situation is brought about by a small program."""

import re
import threading
import time

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from paddle.io import DataLoader, Dataset
from paddle.profiler import RecordEvent, SortedKeys, SummaryView


def columns(tables, title):
    """Rows of a table: cells by the first one."""
    lines = tables[tables.index(f" {title}") :].splitlines()
    rules = [i for i, line in enumerate(lines) if re.fullmatch(r"[- ]+", line) and "-" in line]
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines[rules[0] + 1 : rules[1]]]
    return {row[0]: row[1:] for row in rows}


def a_step(_):
    x = paddle.ones([64, 32])
    return float((F.relu(x @ paddle.ones([32, 16])) + paddle.sort(x, axis=1)[:, :16]).sum())


def test_all_views(profiled, said):
    prof = profiled(lambda i: RecordEvent("mine")(a_step)(i), 3)
    prof.profile_memory = prof.with_flops = prof.record_shapes = True
    tables, words = said(prof)
    titles = re.findall(r"^-+ ([A-Z].*?) -+$", tables, re.M)
    assert titles == ["Device", "Where the time went", "New programs, and why", "Steps", "Kernels", "Operators",
                      "Memory", "Marked by the program"]  # fmt: skip
    kernels = columns(tables, "Kernels")
    name = next(k for k in kernels if k.startswith("matmul"))
    assert name == "matmul float32[64, 32] float32[32, 16] -> float32[64, 16]"
    assert kernels[name][0] == f"test_summary.py:{a_step.__code__.co_firstlineno + 2}"
    assert kernels[name][1:3] == ["first", "3"] and kernels[name][-2] in ("compute", "dispatch")
    sort = next(k for k in kernels if "sort" in k)
    assert kernels[sort][1] == "host" and kernels[sort][-1] == "host" and "-" in kernels[sort]
    operators = columns(tables, "Operators")
    assert operators["matmul"][0] == "3" and operators["matmul"][-1] == str(3 * 2 * 64 * 32 * 16)
    assert columns(tables, "Memory")["matmul"][:2] == ["3", f"{3 * 4 * (64 * 32 + 32 * 16 + 64 * 16) / 1e6:.3f}"]
    read, written = 3 * 4 * (64 * 32 + 32 * 16) / 1e6, 3 * 4 * 64 * 16 / 1e6
    assert columns(tables, "Memory")["matmul"][3:5] == [f"{read:.3f}", f"{written:.3f}"]
    at_most, share = columns(tables, "Memory")["matmul"][5:]
    assert abs(float(share[:-1]) - 100 * (read + written) / float(at_most)) < 5
    assert columns(tables, "Marked by the program")["mine"][0] == "3"
    assert list(columns(tables, "Steps")) == [f"ProfileStep#{i}" for i in range(3)]
    assert "The kernel that took longest is" in words


def test_the_words_tell_what_the_largest_program_holds(profiled, said):
    x = paddle.ones([1024, 1024])
    words = said(profiled(lambda i: float(((x + 1) * 2).sum()), 2))[1]
    assert "holds 12.0 MiB while it runs: 4.0 MiB of inputs, 4 B of new results and a work area of 8.0 MiB." in words


def test_rows_of_the_overview_and_of_kernels_add_up(profiled, said):
    tables, _ = said(profiled(a_step, 3), time_unit="ns", views=[SummaryView.OverView, SummaryView.KernelView])
    rows = columns(tables, "Where the time went")
    time_of = {name: int(cells[-3]) for name, cells in rows.items()}
    whole = time_of.pop("all")
    assert sum(time_of.values()) == whole
    shares = [float(cells[-2][:-1]) for name, cells in rows.items() if name != "all"]
    assert abs(sum(shares) - 100) < 0.1 * len(shares)
    kernels = columns(tables, "Kernels")
    total = kernels.pop("all")
    assert sum(int(c[3]) for c in kernels.values()) == int(total[1])
    assert sum(int(c[2]) for c in kernels.values()) == int(total[0])
    launched = time_of["kernels, operator by operator"] + time_of["operators on the host (numpy)"]
    assert launched == int(total[1])


def test_a_view_alone_and_the_order_of_rows(profiled, said):
    prof = profiled(a_step, 2)
    tables, words = said(prof, views=SummaryView.OperatorView)
    assert re.findall(r"^-+ ([A-Z].*?) -+$", tables, re.M) == ["Operators"] and words
    for key, column in (("CPUTotal", 1), ("CPUAvg", 2), ("CPUMax", 3), ("CPUMin", 4), ("GPUMax", 3)):
        tables, _ = said(
            prof, sorted_by=SortedKeys[key], views=SummaryView.OperatorView, op_detail=False, time_unit="ns"
        )
        values = [int(cells[column]) for cells in columns(tables, "Operators").values()]
        assert values == sorted(values, reverse=True)
    for view in (SummaryView.DistributedView, SummaryView.MemoryManipulationView):
        assert said(prof, views=view)[0] == ""


def test_operators_by_thread(profiled, said):
    def step(_):
        t = threading.Thread(target=lambda: (paddle.ones([3]) * 2).numpy(), name="helper")
        t.start()
        t.join()
        float(paddle.ones([4]).sum())

    tables, _ = said(profiled(step), thread_sep=True)
    assert "Operators, thread MainThread" in tables and "Operators, thread thread " in tables
    assert re.search(r"Other threads ran kernels for [\d.]+ ms", tables)


def test_units_and_bad_input(profiled, said):
    prof = profiled(a_step)
    for unit in ("s", "ms", "us", "ns"):
        assert f"time, {unit}" in said(prof, time_unit=unit)[0]
    with pytest.raises(ValueError, match="no such unit"):
        prof.summary(time_unit="min")


def test_names_and_causes_of_new_programs(profiled, said):
    xs = [paddle.ones([n, 3]) for n in (2, 4)]
    for x in xs:
        x.numpy()
    tables, _ = said(profiled(lambda i: float((xs[i] * 2).sum()), 2))
    rows = columns(tables, "New programs, and why")
    assert "a Tensor float32[4, 3], before float32[2, 3]" in rows
    assert rows["a Tensor float32[4, 3], before float32[2, 3]"][0].startswith("test_summary.py:")


# ---- words ------------------------------------------------------------------------------------
def test_words_on_waiting_for_data(told):
    class Slow(Dataset):
        def __getitem__(self, i):
            a = np.random.default_rng(i).normal(size=(120, 120))
            return np.linalg.svd(a)[1].astype("float32")

        def __len__(self):
            return 6

    def step(_):
        for x in DataLoader(Slow(), batch_size=2):
            float(x.sum())

    step(0)
    words = told(lambda _: step, r"Waiting for data took \d+% of the time, [\d.]+ ms for each of 3 batches\.")
    assert "num_workers of the DataLoader" in words


def test_words_on_recompilation_and_its_cause(told):
    def make(attempt):
        xs = [paddle.ones([n, 16 + attempt]) for n in range(2, 14)]
        for x in xs:
            x.numpy()
        layer = paddle.nn.Linear(16 + attempt, 16)
        float(layer.weight.sum())

        def step(i):
            loss = F.gelu(layer(xs[i])).sum()
            loss.backward()
            return float(loss)

        return step

    words = told(
        make, r"1[123] programs were new, 1\d of them for the same reason, as: a Tensor float32\[13, \d+\], before", 12
    )
    assert "drop_last=True" in words and "(test_summary.py:" in words


def test_words_on_arguments_that_change(told):
    def make(attempt):
        x = paddle.ones([10, 30 + attempt])
        x.numpy()
        return lambda i: float(F.gelu(x * 0.5)[: i + 1].sum())

    words = told(make, r"\d programs were new, \d of them for the same reason, as: slice: ", 8)
    assert "pass numbers that change as Tensors, and keep other arguments the same" in words


def test_words_on_first_steps(told):
    def make(attempt):
        layer = paddle.nn.Linear(20 + attempt, 16)
        x = paddle.ones([2, 20 + attempt])
        float(x.sum() + layer.weight.sum())
        return lambda i: float(F.gelu(layer(x)).sum())

    told(make, r"1 program was new: making and compiling them took \d+% of the time\. That passes")


def test_words_on_the_host(told):
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=200_000).astype("float32"))

    def step(_):
        return float(paddle.sort(x)[0])

    step(0)
    what = r"argsort \(test_summary\.py:\d+\).* on the host by numpy, on one thread, which took \d+% of the"
    assert "runs on the host." in told(lambda _: step, what, 3)


def test_words_on_small_kernels(told, flag):
    flag("FLAGS_eager_compile", "always")
    x, w = paddle.ones([4, 4]), paddle.full([4, 4], 0.25)
    float(x.sum() + w.sum())

    def step(_):
        y = x
        for _ in range(100):
            y = y @ w
        return float(y.sum())

    step(0)
    told(lambda _: step, r"Small kernels: \d+ of 40\d launches take less than 5 microseconds", 4)


def test_words_on_values_that_are_read_again_and_again(told):
    x = paddle.ones([4])
    x.numpy()

    def step(_):
        for _ in range(50):
            float(x.max())

    step(0)
    place = rf"\(test_summary\.py:{step.__code__.co_firstlineno + 2}\)"
    words = told(lambda _: step, rf"Values are read 50 times in a step, most of them at one place {place}", 4)
    assert "Python took" not in words


def test_words_on_programs_that_are_not_compiled_yet(told):
    x = paddle.ones([4])
    x.numpy()

    def step(_):
        y = x
        for _ in range(60):
            y = y * 1.5 + x
        return float(y.sum())

    step(0)
    told(lambda _: step, r"within \d+ more steps\. Record later", 3)


@pytest.mark.parametrize(
    "busy, words",
    [
        (1.0, "recording operators and the program's own code"),
        (0.0, "with the processor at rest"),  # as where it waits for a file or the network
    ],
)
def test_words_on_python(profiled, said, busy, words):
    def step(_):
        float(paddle.ones([4]).sum())
        end = time.perf_counter() + 0.05
        while time.perf_counter() < end:
            sum(range(1000))

    step(0)
    prof = profiled(step, 2)
    r = prof.profiler_result.recording
    r.about["cpu_ns"] = busy * (r.end - r.start)  # other processes may have had the cores
    assert words in said(prof)[1]


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("FLAGS_reference", True, "operator by operator, as FLAGS_reference is set: unset it"),
        ("FLAGS_check_nan_inf", True, "operator by operator, as FLAGS_check_nan_inf is set: unset it"),
        ("FLAGS_eager_sync", True, "FLAGS_eager_sync is set: each operator runs at once"),
        ("FLAGS_eager_compile", "never", "FLAGS_eager_compile is never: programs run operator by operator"),
    ],
)
def test_words_on_settings(told, flag, name, value, words):
    flag(name, value)
    a = paddle.ones([100, 100])
    told(lambda _: lambda i: float((F.gelu(a) @ a).sum()), words, 2)


def test_words_where_all_is_well(told, flag):
    flag("FLAGS_eager_compile", "always")
    a = paddle.ones([512, 512])
    a.numpy()

    def step(_):
        return (a @ a).numpy()

    step(0)
    what = r"^Nothing stands out\. The kernel that took longest is matmul float32\[512, 512\].*(compute|the cores)"
    told(lambda _: step, what, 3)


def test_words_without_a_kernel(profiled, said):
    prof = profiled(lambda i: None)
    assert "No kernel ran while the profiler recorded." in said(prof)[1]


def test_words_on_waiting_for_the_compiler(flag, tmp_path, told):
    flag("FLAGS_cache_dir", str(tmp_path))

    def make(attempt):
        flag("FLAGS_eager_compile", "auto")
        x = paddle.ones([5 + attempt, 7])
        x.numpy()

        def step(_):
            return float((F.gelu(x) * F.tanh(x) + F.softmax(x)).sum())

        step(0)
        flag("FLAGS_eager_compile", "always")
        return step

    told(make, r"Waiting for the compiler took \d+% of the time", 3)
