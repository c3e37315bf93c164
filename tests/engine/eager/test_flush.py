"""The flush: what runs, what survives, what is overwritten, and what happens when it fails."""

import itertools
import os
import signal
import sys
import threading
import weakref

import numpy as np
import pytest

import paddle
from paddle.engine import flags
from paddle.engine.cpu import executor
from paddle.engine.eager import materialize
from paddle.engine.eager import trace as tracing
from paddle.engine.eager.trace import current, from_array, rebind, trie
from paddle.engine.ops import elementwise as ew
from paddle.engine.ops.indexing import Gather
from paddle.engine.ops.join import Concat
from paddle.engine.ops.reduction import Sum


@pytest.fixture
def flag():
    before = {}

    def set_(name, value):
        before.setdefault(name, flags.get(name))
        flags.set_(name, value)

    yield set_
    for name, value in before.items():
        flags.set_(name, value)


def leaf(*values, dtype="float32", sg=True):
    return from_array(np.array(values, dtype), sg)


def programs_run(monkeypatch):
    """Records how many outputs each program gives."""
    seen = []
    original = materialize.make_program

    def spy(node, slots, donated, values):
        seen.append((slots, donated))
        return original(node, slots, donated, values)

    monkeypatch.setattr(materialize, "make_program", spy)
    return seen


def test_nothing_runs_before_a_value_is_read():
    x = leaf(1.0, 2.0)
    y = x + x
    assert y.buffer is None
    np.testing.assert_array_equal(y.array(), [2.0, 4.0])
    assert y.buffer is not None


def test_only_reachable_values_are_computed(monkeypatch):
    seen = programs_run(monkeypatch)
    x = leaf(1.0, 2.0)
    kept = x * 3.0
    dropped = kept + 1.0
    out = dropped * 2.0
    slot_out, slot_kept = out.slot, kept.slot
    del dropped
    np.testing.assert_array_equal(out.array(), [8.0, 14.0])
    assert seen[-1][0] == (slot_kept, slot_out)
    np.testing.assert_array_equal(kept.buffer, [3.0, 6.0])


def test_in_place_update_reuses_the_buffer_when_nobody_else_holds_it(flag):
    flag("FLAGS_eager_compile", "always")
    x = leaf(*range(100))
    address = x.buffer.ctypes.data
    for i in range(3):
        rebind(x, x + 1.0)
        x.array()
        assert x.buffer.ctypes.data == address, i
    np.testing.assert_array_equal(x.buffer, np.arange(100) + 3)


def test_a_training_comes_down_to_two_programs(monkeypatch):
    """The first step, which makes the optimizer's states, and all others."""
    model = paddle.nn.Sequential(paddle.nn.Linear(3, 5), paddle.nn.Linear(5, 3))
    optimizer = paddle.optimizer.Momentum(0.1, 0.9, parameters=model.parameters())
    x = paddle.ones([2, 3])
    x.numpy()
    seen = programs_run(monkeypatch)
    made = []
    for _ in range(4):
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        float(loss)
        made.append(len({id(p.run) for p in materialize._programs if any(p.home[1] == key for key in seen)}))
    assert made[0] < made[1] == made[3], made


def test_in_place_update_leaves_what_others_hold(flag):
    flag("FLAGS_eager_compile", "always")
    x = leaf(1.0, 2.0)
    held = ew.Detach()(x)
    array = x.buffer
    rebind(x, x + 1.0)
    np.testing.assert_array_equal(x.array(), [2.0, 3.0])
    np.testing.assert_array_equal(held.array(), [1.0, 2.0])
    np.testing.assert_array_equal(array, [1.0, 2.0])


def test_saved_activations_are_not_overwritten_by_in_place_operations():
    w = leaf(1.0, 2.0, sg=False)
    x = w * 3.0
    y = x * x
    rebind(x, x + 100.0)
    Sum((0,))(y).backward()
    np.testing.assert_allclose(w.grad.numpy(), 2 * 9 * np.array([1.0, 2.0]))


def test_numbers_that_vary_become_inputs():
    x = leaf(1.0, 2.0)
    for _ in range(2):
        (x * 0.5 + 0.25).array()
    sizes = []
    for i in range(50):
        got = (x * (1.0 / (i + 3))).array()
        np.testing.assert_allclose(got, np.array([1.0, 2.0], "float32") / (i + 3), rtol=1e-6)
        sizes.append(trie.size)
    assert sizes[-1] == sizes[10], "a changing number makes a new program"


def test_numbers_keep_their_type_and_sign():
    x = leaf(2.0)
    n = leaf(7, dtype="int64")
    assert (x + 1).type.dtype.name == "float32"
    assert (n + 1).type.dtype.name == "int64"
    assert (n + 1.0).type.dtype.name == "float32"
    assert (n + True).type.dtype.name == "int64"
    for zero in (0.0, -0.0, 0.0, -0.0):
        assert np.signbit((x * zero).array()[0]) == np.signbit(zero)
    for _ in range(5):
        assert np.isnan((x * float("nan")).array()[0])


def test_tiers_agree_and_take_over_at_a_visit_that_follows_from_the_program(flag):
    def step(a, b):
        return ew.tanh(a * b + 1.0).array()

    rng = np.random.default_rng(0)
    arrays = rng.normal(size=(2, 37)).astype("float32")
    results = {}
    for mode in ("never", "always", "auto"):
        flag("FLAGS_eager_compile", mode)
        trie.clear()
        materialize._runs.clear()
        current().restart()
        results[mode] = [step(from_array(arrays[0].copy()), from_array(arrays[1].copy())) for _ in range(70)]
    np.testing.assert_allclose(results["never"][0], results["always"][0], rtol=1e-6)
    for mode in ("never", "always"):
        assert all((r == results[mode][0]).all() for r in results[mode])
    compiled = [(r == results["always"][0]).all() for r in results["auto"]]
    assert compiled[-1]


def test_patience_follows_from_the_graph_alone(flag):
    x = leaf(*range(8))
    y = x + x
    graph, _ = materialize.graph_of(materialize.path_to(current().node), (y.slot,))
    assert executor.patience(graph) == executor.patience(graph)
    assert 4 <= executor.patience(graph) <= 64
    y.array()


def test_caches_are_bounded(flag):
    flag("FLAGS_eager_programs", 8)
    flag("FLAGS_eager_trie_nodes", 200)
    flag("FLAGS_eager_compile", "never")
    for n in range(1, 60):
        x = from_array(np.ones(n, "float32"))
        y = x + x
        for _ in range(6):
            y = y * x
        y.array()
        assert len(materialize._programs) <= 8
        assert trie.size <= 200 + 16


def test_a_long_trace_is_flushed(flag):
    flag("FLAGS_eager_max_trace", 100)
    x = leaf(1.0, 2.0)
    y = x
    for _ in range(350):
        y = y + x
    assert len(current().values) < 120
    np.testing.assert_array_equal(y.array(), [351.0, 702.0])


def test_a_long_trace_ends_at_the_same_place_on_each_visit(flag):
    flag("FLAGS_eager_max_trace", 100)

    def visit():
        t = from_array(np.ones(3, np.float32))
        for _ in range(250):
            t = ew.tanh(t)
        return t.array()

    first = visit()
    visit()
    known = trie.size
    for _ in range(3):
        np.testing.assert_allclose(visit(), first, rtol=1e-6)
    assert trie.size == known, "a visit recorded what was recorded before"


def test_an_operator_may_have_more_arguments_than_a_trace_has_operations(flag):
    flag("FLAGS_eager_max_trace", 4)
    parts = [from_array(np.full(1, k, np.float32)) for k in range(9)]
    assert Concat(0)(*parts).array().tolist() == list(range(9))


def test_sync_mode_runs_each_operation(flag):
    flag("FLAGS_eager_sync", True)
    x = leaf(1.0)
    assert (x + x).buffer is not None


def test_values_are_freed_with_their_tensors():
    x = leaf(1.0, 2.0)
    y = x + x
    y.array()
    gone = weakref.ref(y)
    del y
    assert gone() is None


def test_index_out_of_range_names_operator_line_and_value_and_leaves_the_engine_usable(flag):
    for mode in ("never", "always"):
        flag("FLAGS_eager_compile", mode)
        x = from_array(np.arange(12, dtype="float32").reshape(4, 3))
        bad = from_array(np.array([0, 9], "int64"))
        y = Gather(0)(x, bad)  # the user's line
        with pytest.raises(IndexError) as e:
            (y * 2.0).array()
        assert "gather" in str(e.value) and "9" in str(e.value), str(e.value)
        assert "test_flush.py" in str(e.value)
        with pytest.raises(RuntimeError, match="lost"):
            y.array()
        np.testing.assert_array_equal((x + 1.0).array(), x.buffer + 1)


def test_a_failed_check_inside_a_fused_kernel_names_its_own_operator_and_line(flag):
    flag("FLAGS_eager_compile", "always")
    x = from_array(np.arange(12, dtype="float32").reshape(4, 3))
    picked = Gather(0)(x, from_array(np.array([1, -7], "int64")))  # where the index is
    with pytest.raises(IndexError, match="(?s)gather: .*-7.*where the index is"):
        Sum((0, 1))(ew.exp(picked * 2.0)).array()


def test_a_value_of_another_thread_is_read_without_disturbing_it():
    x = leaf(1.0, 2.0)
    y = x * 2.0
    found = []
    reader = threading.Thread(target=lambda: found.append((y.array().copy(), (y + 1.0).array())))
    reader.start()
    reader.join()
    np.testing.assert_array_equal(found[0][0], [2.0, 4.0])
    np.testing.assert_array_equal(found[0][1], [3.0, 5.0])
    z = y + x
    np.testing.assert_array_equal(z.array(), [3.0, 6.0])


def test_threads_compute_side_by_side():
    x = from_array(np.arange(1000, dtype="float32"))
    failures = []

    def work(k):
        for i in range(30):
            got = (x * float(k) + float(i % 3)).array()
            if not np.array_equal(got, x.buffer * np.float32(k) + np.float32(i % 3)):
                failures.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_threads_share_parameters():
    """Inference with one set of weights: each thread's trace has slots of its own for them."""
    rng = np.random.default_rng(3)
    weights = [from_array(rng.normal(size=(5, 5)).astype("float32")) for _ in range(4)]
    inputs = [rng.normal(size=(5, 5)).astype("float32") for _ in range(3)]
    wanted = []
    for a in inputs:
        for w in weights:
            a = np.tanh(a * w.buffer + w.buffer)
        wanted.append(a)
    failures = []

    def work(k):
        for i in range(150):
            y = from_array(inputs[k].copy())
            for w in weights:
                y = ew.tanh(y * w + w)
            if not np.allclose(y.array(), wanted[k], rtol=1e-5, atol=1e-6):
                failures.append((k, i))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(before)
    assert not failures


def test_a_step_that_a_thread_still_writes_down_is_not_met_by_another(monkeypatch):
    x, found = from_array(np.arange(3, dtype="float32")), []

    def compute():
        return ew.exp(x * 0.0).array()

    def meanwhile():
        """The user's line is asked for while a step is made: another thread comes by then."""
        if threading.current_thread() is threading.main_thread() and current().node is not tracing.STUCK:
            other = threading.Thread(target=lambda: found.append(compute()))
            other.start()
            other.join()
        return "test_flush.py", 1  # one place, so that both threads record one program

    tracing.forget_programs()
    monkeypatch.setattr(tracing.errors, "user_frame", meanwhile)
    np.testing.assert_array_equal(compute(), [1, 1, 1])
    assert found
    np.testing.assert_array_equal(found, np.ones((len(found), 3)))


def test_a_program_that_a_thread_prepares_is_left_alone_by_others(monkeypatch):
    """The thread that prepared it takes its graph apart; a second one that comes by then has one of its own."""
    x = from_array(np.arange(3, dtype="float32"))
    compute = lambda: (x * x + x).array()  # one line: one program
    launches, order, found = executor.launches, [], []

    def meanwhile(steps, code):
        order.append(None)
        if len(order) == 1:
            other = threading.Thread(target=lambda: found.append(compute()))
            other.start()
            other.join()
        return launches(steps, code)

    monkeypatch.setattr(executor, "launches", meanwhile)
    monkeypatch.setattr(executor, "EARLY", 0)  # nothing comes from the cache
    tracing.forget_programs()
    materialize._runs.clear()
    np.testing.assert_array_equal(compute(), [0, 2, 6])
    assert len(order) == 2
    np.testing.assert_array_equal(found, [[0, 2, 6]])


@pytest.fixture
def interruptible():
    """Ctrl-C as Python handles it: where the tests run in the background, it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupt_during_a_flush_comes_after_it(monkeypatch, interruptible):
    x = from_array(np.arange(10, dtype="float32"))
    y = x + 1.0
    run = executor.Plan.__call__

    def interrupted(self, arrays):
        out = run(self, arrays)
        os.kill(os.getpid(), signal.SIGINT)
        return out

    monkeypatch.setattr(executor.Plan, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        y.array()
    monkeypatch.undo()
    np.testing.assert_array_equal(y.array(), np.arange(10) + 1)
    np.testing.assert_array_equal((y + 1.0).array(), np.arange(10) + 2)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_computes_what_was_recorded():
    x = from_array(np.arange(5000, dtype="float32"))
    (x + 2.0).array()
    y = x * 3.0
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            total = float((y + 1.0).array().sum())
            os.write(write, str(total).encode())
        finally:
            os._exit(0)
    os.close(write)
    text = os.read(read, 100)
    os.waitpid(child, 0)
    os.close(read)
    assert float(text) == float((np.arange(5000, dtype="float32") * 3 + 1).sum())
    np.testing.assert_array_equal(y.array()[:2], [0.0, 3.0])


def test_results_do_not_depend_on_the_number_of_threads(flag):
    rng = np.random.default_rng(1)
    a = rng.normal(size=(257, 301)).astype("float32")
    found = []
    for mode in ("never", "always"):
        flag("FLAGS_eager_compile", mode)
        for threads in (1, 2, 3):
            flag("FLAGS_cpu_threads", threads)
            x = from_array(a.copy())
            y = ew.exp(x * 0.1)
            found.append([Sum((0,))(y).array().tobytes(), Sum((1,))(y).array().tobytes(),
                          Sum((0, 1))(y).array().tobytes()])  # fmt: skip
        assert found[-1] == found[-2] == found[-3], mode


def test_checking_for_nan_names_the_operation_and_the_line(flag):
    x = leaf(1.0, 0.0)
    np.testing.assert_array_equal((1.0 / x).array(), [1.0, np.inf])
    flag("FLAGS_check_nan_inf", True)
    bad = 1.0 / x  # the user's line
    with pytest.raises(RuntimeError, match="(?s)divide.*1 of 2 elements.*test_flush.py.*the user's line"):
        (bad + 1.0).array()
    flag("FLAGS_check_nan_inf", False)
    np.testing.assert_array_equal((1.0 / x).array(), [1.0, np.inf])


def test_a_program_that_cannot_be_compiled_runs_on_and_says_so(flag, monkeypatch):
    from paddle.engine.cpu import compiler, workers

    def refuse(payload):
        raise workers.CompileError("the compiler fell over", crashed=True)

    monkeypatch.setattr(compiler, "compile_payload", refuse)
    flag("FLAGS_eager_compile", "always")
    x = from_array(np.arange(7, dtype="float64"))
    with pytest.warns(RuntimeWarning, match="could not be compiled"):
        got = (x * 1.0625 - 0.375).array()
    np.testing.assert_array_equal(got, np.arange(7) * 1.0625 - 0.375)


def test_first_plans_are_kept_for_the_next_process(flag, monkeypatch, tmp_path):
    """Numbers, results and the line of an error are those of the process that runs, not of the one that stored."""
    flag("FLAGS_cache_dir", str(tmp_path))
    flag("FLAGS_eager_compile", "never")

    def run(row):
        trie.clear()
        materialize._runs.clear()
        monkeypatch.setattr(executor, "_made", itertools.count())
        x = from_array(np.arange(12, dtype="float32").reshape(4, 3))
        y = Gather(0)(x, from_array(np.array([0, row], "int64")))  # the row
        return ((y + 0.5) * 2.25).array()

    want = run(2)
    monkeypatch.setattr(executor, "single_steps", None)  # from here on plans come from the cache
    np.testing.assert_array_equal(run(2), want)
    with pytest.raises(IndexError, match="(?s)gather.*9.*the row"):
        run(9)


def test_trace_registry_does_not_grow():
    before = len(tracing._traces)
    for _ in range(100):
        (leaf(1.0) + 1.0).array()
    assert len(tracing._traces) <= before + 1


def test_an_interrupt_right_after_a_program_has_run(monkeypatch, flag):
    flag("FLAGS_eager_compile", "always")
    w, v = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])
    leave = materialize.uninterrupted.__exit__

    def interrupted(self, *exception):
        leave(self, *exception)
        raise KeyboardInterrupt

    for i in range(6):
        w.scale_(2.0)
        v.add_(w)
        if i >= 3:
            monkeypatch.setattr(materialize.uninterrupted, "__exit__", interrupted)
            with pytest.raises(KeyboardInterrupt):
                v.numpy()
            monkeypatch.undo()
        assert w.tolist() == [2.0 ** (i + 1), 2.0 ** (i + 2)]
        assert v.tolist() == [3 + 2.0 ** (i + 2) - 2, 4 + 2.0 ** (i + 3) - 4]


def test_state_stays_in_its_buffer():
    """Parameters are written over in place, and not moments in their stead: addresses are known run after run."""
    from paddle import nn

    layer = nn.Sequential(nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 40))
    optimizer = paddle.optimizer.Adam(1e-3, parameters=layer.parameters())
    x = paddle.ones([8, 40])
    was = flags.get("FLAGS_eager_compile")
    flags.set_("FLAGS_eager_compile", "always")
    try:
        places = []
        for _ in range(6):
            loss = layer(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            float(loss)
            places.append([p.buffer.__array_interface__["data"][0] for p in layer.parameters()])
    finally:
        flags.set_("FLAGS_eager_compile", was)
    assert places[3] == places[4] == places[5]
