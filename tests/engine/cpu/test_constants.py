"""What is made of weights is kept while these stay as they are, and no longer."""

import gc

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.engine import flags
from paddle.engine.cpu import executor, storage
from paddle.engine.eager import materialize
from paddle.nn import functional as F


@pytest.fixture(params=["always", "auto"])
def compiled(request):
    """Programs are compiled at their first visit; at once for weights that stay, or once it is seen which do."""
    before = {name: flags.get(name) for name in ("FLAGS_eager_compile", "FLAGS_eager_constants")}
    paddle.set_flags({"FLAGS_eager_compile": "always", "FLAGS_eager_constants": request.param})
    yield 4 if request.param == "always" else 3 * executor.SAME_RUNS + 2
    paddle.set_flags(before)


def kept():
    return sum(p.memory.nbytes for p in storage.alive if p.memory is not None)


@pytest.fixture(autouse=True)
def nothing_else():
    materialize._settings_changed(None)  # programs of other tests are not gone on with
    gc.collect()
    assert kept() == 0


class Model(nn.Layer):
    """Keeps a kernel in another order, a rounded matrix and what follows from statistics."""

    def __init__(self, seed=0):
        super().__init__()
        paddle.seed(seed)
        self.conv, self.norm = nn.Conv2D(3, 32, 3), nn.BatchNorm2D(32)
        self.linear = nn.Linear(32, 7)
        self.norm._mean.set_value(paddle.rand([32]))
        self.norm._variance.set_value(paddle.rand([32]) + 0.5)
        self.eval()

    def forward(self, x):
        y = F.relu(self.norm(self.conv(x))).mean([2, 3])
        return paddle.matmul(y.astype("bfloat16"), self.linear.weight.astype("bfloat16")).astype("float32")


def data(seed=0):
    return np.random.default_rng(seed).normal(size=(2, 3, 6, 6)).astype("float32")


def run(model, x):
    with paddle.no_grad():
        return model(paddle.to_tensor(x)).numpy()


def expected(model, x):
    """The same in numpy in double precision, written down again: nothing of the engine's is in it."""
    value = {k: v.numpy().astype("float64") for k, v in model.state_dict().items()}
    windows = np.lib.stride_tricks.sliding_window_view(x.astype("float64"), (3, 3), (2, 3))
    y = np.einsum("nchwij,ocij->nohw", windows, value["conv.weight"]) + value["conv.bias"][:, None, None]
    each = lambda name: value[name][:, None, None]  # noqa: E731
    y = (y - each("norm._mean")) / np.sqrt(each("norm._variance") + 1e-5) * each("norm.weight") + each("norm.bias")
    return np.maximum(y, 0).mean((2, 3)) @ value["linear.weight"]


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=0, atol=0.02 * np.abs(want).max())


def settle(model, x, runs):
    for i in range(runs):
        got = run(model, x + i % 2)
    close(got, expected(model, x + i % 2))
    assert kept() > model.conv.weight.numpy().nbytes


def by_optimizer(model):
    rate = paddle.optimizer.SGD(0.2, parameters=model.parameters())
    for _ in range(5):
        (model(paddle.to_tensor(data())) ** 2).mean().backward()
        rate.step()
        rate.clear_grad()


def by_adam(model):
    rate = paddle.optimizer.Adam(0.1, parameters=model.parameters())
    for _ in range(5):
        (model(paddle.to_tensor(data())) ** 2).mean().backward()
        rate.step()
        rate.clear_grad()


def by_training_mode(model):
    model.train()
    for _ in range(3):
        model(paddle.to_tensor(10 * data(3)))
    model.eval()


def in_place(model):
    with paddle.no_grad():
        model.conv.weight.add_(paddle.ones([1]))
        model.linear.weight.scale_(3.0)


def by_index(model):
    with paddle.no_grad():
        model.conv.weight[0] = 7.0
        model.linear.weight[:, 2] = 1.0


def by_set_value(model):
    for p in model.parameters():
        p.set_value(p.numpy() * 2)


def by_filling(model):
    model.norm._variance.fill_(9.0)
    with paddle.no_grad():
        paddle.nn.initializer.Constant(0.25)(model.conv.weight)


def by_state_dict(model):
    model.set_state_dict(Model(5).state_dict())


def by_data(model):
    model.conv.weight.data = model.conv.weight.data * 2.0


def by_copy(model):
    with paddle.no_grad():
        model.linear.weight.copy_(Model(5).linear.weight, False)


def by_get_tensor(model):
    model.norm._mean.get_tensor().set(np.full(32, 2.0, "float32"), paddle.CPUPlace())


def by_detached(model):
    with paddle.no_grad():
        model.conv.weight.detach().multiply_(paddle.to_tensor(2.0))


def by_another_parameter(model):
    model.conv.weight = Model(6).conv.weight


def by_address(model):
    import ctypes

    for p in (model.conv.weight, model.norm._mean):
        place = (ctypes.c_float * p.size).from_address(p.data_ptr())
        np.frombuffer(place, "float32")[:] += 1.0


WAYS = [by_optimizer, by_adam, by_training_mode, in_place, by_index, by_set_value, by_filling, by_state_dict, by_data,
        by_copy, by_get_tensor, by_detached, by_another_parameter, by_address]  # fmt: skip


@pytest.mark.parametrize("change", WAYS)
def test_changes_are_seen(change, compiled):
    model, x = Model(), data()
    settle(model, x, compiled)
    before = expected(model, x)
    for _ in range(3):
        change(model)
        after = expected(model, x)
        close(run(model, x), after)
        close(run(model, x + 1), expected(model, x + 1))
    assert np.abs(after - before).max() > 0.2 * np.abs(after).max()  # else nothing is seen here


def test_a_loaded_file_is_seen(compiled, tmp_path):
    model, x = Model(), data()
    settle(model, x, compiled)
    paddle.save(Model(3).state_dict(), str(tmp_path / "m.pdparams"))
    model.set_state_dict(paddle.load(str(tmp_path / "m.pdparams")))
    close(run(model, x), expected(Model(3), x))


def test_memory_goes_with_the_weights(compiled):
    model, x = Model(), data()
    settle(model, x, compiled)
    (row,) = [r for r in paddle.debug.memory_owners().rows if "weights made ready" in r.holders[0]]
    assert row.nbytes == kept()
    del model
    gc.collect()
    assert kept() == 0
    assert not any("weights made ready" in r.holders[0] for r in paddle.debug.memory_owners().rows)


def test_memory_goes_with_the_program(compiled):
    model, x = Model(), data()
    settle(model, x, compiled)
    materialize._settings_changed(None)
    gc.collect()
    assert kept() == 0


def test_memory_goes_when_a_weight_is_replaced(compiled):
    model, x = Model(), data()
    settle(model, x, compiled)
    model.conv.weight.set_value(paddle.zeros([32, 3, 3, 3]))
    assert kept() == 0


def test_tiles_of_kernels_are_transformed_once(compiled):
    """Small planes, for which it would not pay each time; with the factors of a norm in the kernel."""
    paddle.seed(0)
    model = nn.Sequential(nn.Conv2D(32, 64, 3, padding=1, bias_attr=False), nn.BatchNorm2D(64), nn.ReLU())
    model[1]._mean.set_value(paddle.randn([64]))
    model.eval()
    x = np.random.default_rng(0).normal(size=(3, 32, 16, 16)).astype("float32")
    for _ in range(2):
        for _ in range(compiled):
            got = run(model, x)
        w, mean, bias = (t.numpy().astype("float64") for t in (model[0].weight, model[1]._mean, model[1].bias))
        padded = np.pad(x.astype("float64"), ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        want = np.einsum("nchwij,ocij->nohw", windows, w, optimize=True) - mean[:, None, None]
        want = np.maximum(want / np.sqrt(1 + 1e-5) + bias[:, None, None], 0)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * np.abs(want).max())
        assert kept() >= 16 * 32 * 64 * 4
        model[0].weight.set_value(model[0].weight * 0.5)
        model[1].bias.set_value(paddle.ones([64]))


@pytest.mark.parametrize("groups, stride, dtype", [(1, 2, "float32"), (2, 2, "float32"), (1, 1, "float64"),
                                                   (1, 2, "bfloat16"), (1, (2, 1), "float32")])  # fmt: skip
def test_kernels_lie_in_blocks(groups, stride, dtype, compiled):
    paddle.seed(0)
    conv = nn.Conv2D(64 * groups, 192 * groups, 3, stride, 1, groups=groups)
    if dtype != "float32":
        conv.to(dtype=dtype)
    x = np.random.default_rng(0).normal(size=(2, 64 * groups, 9, 8)).astype("float32")
    steps = stride if isinstance(stride, tuple) else (stride, stride)
    for _ in range(2):
        for _ in range(compiled):
            with paddle.no_grad():
                got = conv(paddle.to_tensor(x).astype(dtype)).astype("float64").numpy()
        w, bias = (t.astype("float64").numpy() for t in (conv.weight, conv.bias))
        padded = np.pad(x.astype("float64"), ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, :: steps[0], :: steps[1]]
        parts = zip(np.split(windows, groups, 1), np.split(w, groups))
        want = np.concatenate([np.einsum("nchwij,ocij->nohw", a, b, optimize=True) for a, b in parts], 1)
        want += bias[:, None, None]
        off = 0.02 if dtype == "bfloat16" else 1e-5
        np.testing.assert_allclose(got, want, rtol=0, atol=off * np.abs(want).max())
        assert kept() >= conv.weight.size * (2 if dtype == "bfloat16" else 4)
        conv.weight.set_value(conv.weight * 0.5)


def test_sets_of_weights_by_turns(compiled):
    models = [Model(seed) for seed in range(3)]
    for m in models:
        settle(m, data(), compiled)
    for _ in range(3):
        for m in models:
            close(run(m, data(1)), expected(m, data(1)))
    assert kept() % 3 == 0
    del models[1]
    gc.collect()
    assert kept() % 2 == 0
    for m in models:
        close(run(m, data(2)), expected(m, data(2)))


def test_many_sets_of_weights_are_not_all_kept(compiled):
    models = [Model(seed) for seed in range(storage.MOST_SETS + 3)]
    settle(models[0], data(), compiled)
    each = kept()
    for _ in range(3):
        for m in models:
            close(run(m, data(1)), expected(m, data(1)))
            assert kept() <= storage.MOST_SETS * each


def test_models_that_share_a_weight(compiled):
    one, two = Model(1), Model(2)
    two.conv.weight = one.conv.weight
    for m in (one, two):
        settle(m, data(), compiled)
    one.conv.weight.set_value(paddle.ones([32, 3, 3, 3]))
    for m in (one, two):
        close(run(m, data(1)), expected(m, data(1)))


def test_weights_that_change_each_time_are_not_kept(compiled):
    model, x = Model(), data()
    settle(model, x, compiled)
    for i in range(3 * executor.SAME_RUNS):
        model.norm.bias.set_value(paddle.full([32], float(i)))
        model.conv.weight.set_value(model.conv.weight * 1.01)
        close(run(model, x), expected(model, x))
    assert kept() == 0
    assert not storage.alive


def test_the_same_bits_for_any_number_of_threads(compiled):
    model, x = Model(), np.random.default_rng(0).normal(size=(4, 3, 40, 40)).astype("float32")
    found = []
    for threads in (1, 2, 3):
        paddle.set_flags({"FLAGS_cpu_threads": threads})
        try:
            settle(model, x, compiled)
            found.append(run(model, x))
        finally:
            paddle.set_flags({"FLAGS_cpu_threads": 0})
    assert all(np.array_equal(found[0], a) for a in found)


def test_threads_that_run_one_program(compiled):
    import threading

    models, wrong = [Model(seed) for seed in range(2)], []
    settle(models[0], data(), compiled)
    wanted = [expected(m, data()) for m in models]

    def work(k):
        for _ in range(10):
            if np.abs(run(models[k], data()) - wanted[k]).max() > 0.02 * np.abs(wanted[k]).max():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in (0, 1, 0)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_inputs_are_never_constant(compiled):
    """The same input again and again: still all that depends on it is computed each time."""
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(64, 64)).astype("float32"))
    for _ in range(compiled):
        with paddle.no_grad():
            (paddle.exp(x) * 2).numpy()
    assert kept() == 0 and not storage.alive


def test_training_keeps_nothing(compiled):
    model, x = Model(), paddle.to_tensor(data())
    model.train()
    rate = paddle.optimizer.Adam(0.01, parameters=model.parameters())
    for _ in range(compiled):
        loss = (model(x) ** 2).mean()
        loss.backward()
        rate.step()
        rate.clear_grad()
        float(loss)
        assert kept() == 0


def test_a_loss_that_is_read_before_the_update(compiled):
    """The forward pass is a program of its own, which writes to no weight: that of the update does."""
    models = [Model(), Model()]
    losses = [[], []]
    for early, model, found in zip((False, True), models, losses):
        rate = paddle.optimizer.SGD(0.1, parameters=model.parameters())
        for _ in range(3 * executor.SAME_RUNS):
            loss = (model(paddle.to_tensor(data())) ** 2).mean()
            if early:
                found.append(float(loss))
            loss.backward()
            rate.step()
            rate.clear_grad()
            found.append(float(loss))
    np.testing.assert_allclose(losses[1][::2], losses[0], rtol=0.02)


def test_an_array_at_the_address_of_another_is_not_mistaken_for_it():
    for _ in range(50):
        a = np.ones(3)
        w = storage.watch(a)
        assert storage.is_watched(w, a)
        made = storage.Prepared([w])
        made.keep(np.ones(2))
        assert made.made_of([a])
        del a
        assert made.memory is None
        b = np.zeros(3)
        assert not made.made_of([b]) and not storage.is_watched(w, b)


def test_memory_that_others_can_write_to_is_not_relied_on():
    buffer = bytearray(80)
    assert storage.watch(np.frombuffer(buffer, "float32")) is None
    assert storage.watch(np.frombuffer(bytes(buffer), "float32")) is not None
    a = np.ones(9)
    view = a[2:4]
    assert storage.watch(view) is not None
    storage.expose(a)
    assert storage.watch(view) is None and storage.watch(a) is None


def test_what_is_written_over_is_not_kept_afterwards():
    a, b = np.ones(3), np.ones(3)
    made = storage.Prepared([storage.watch(a), storage.watch(b)])
    storage.written([b])
    made.keep(np.ones(2))  # made while another thread wrote
    assert made.memory is None


def test_a_profile_tells_what_is_run_for_weights(compiled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from paddle.profiler import Profiler

    model, x = Model(), data()
    settle(model, x, compiled)
    with Profiler(timer_only=False) as p:
        for _ in range(3):
            run(model, x)
            p.step()
    close(run(Model(2), x), expected(Model(2), x))
    close(run(model, x), expected(model, x))
