"""Training of tables whose gradient is by rows: the same as dense, at a cost that their rows do not matter for."""

import tracemalloc

import numpy as np
import pytest

import paddle
from paddle import nn

TIERS = ["never", "always"]


@pytest.fixture(params=TIERS)
def tier(request):
    before = paddle.get_flags("FLAGS_eager_compile")
    paddle.set_flags({"FLAGS_eager_compile": request.param})
    yield request.param
    paddle.set_flags(before)


def train(optimizer, sparse, rows=30, steps=8, read=False, **more):
    """Weights of table and layer after some steps, and the optimizer's states."""
    rng = np.random.default_rng(0)
    table = nn.Embedding(rows, 3, sparse=sparse, padding_idx=0)
    table.weight.set_value(rng.normal(size=(rows, 3)).astype("float32"))
    fc = nn.Linear(3, 1)
    fc.weight.set_value(rng.normal(size=(3, 1)).astype("float32"))
    params = [*table.parameters(), *fc.parameters()]
    opt = getattr(paddle.optimizer, optimizer)(learning_rate=0.1, parameters=params, **more)
    touched = np.zeros(rows, bool)
    for _ in range(steps):
        ids = rng.integers(0, rows // 2, (4, 5))
        touched[ids] = True
        loss = (fc(table(paddle.to_tensor(ids))).tanh() ** 2).mean()
        if read:
            float(loss)
        loss.backward()
        opt.step()
        opt.clear_grad()
    states = [t.numpy() for t in opt.state_dict().values() if isinstance(t, paddle.Tensor)]
    return [table.weight.numpy(), fc.weight.numpy(), *states], touched


SETTINGS = [
    ("SGD", {}), ("SGD", {"weight_decay": 0.1}), ("Momentum", {}), ("Adagrad", {}), ("Adagrad", {"weight_decay": 0.1}),
    ("Adam", {}), ("AdamW", {}), ("RMSProp", {}), ("Lamb", {}),
    ("SGD", {"grad_clip": nn.ClipGradByGlobalNorm(0.05)}), ("SGD", {"grad_clip": nn.ClipGradByNorm(0.05)}),
    ("Adagrad", {"grad_clip": nn.ClipGradByValue(0.01)}), ("Adagrad", {"read": True}),
]  # fmt: skip


@pytest.mark.parametrize("name, more", SETTINGS, ids=lambda s: s if isinstance(s, str) else "-".join(s) or "plain")
def test_the_same_as_dense(tier, name, more):
    dense, _ = train(name, False, **more)
    by_rows, _ = train(name, True, **more)
    for a, b in zip(dense, by_rows, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["Adam", "AdamW"])
@pytest.mark.parametrize("more", [{}, {"amsgrad": True}])
def test_lazy_mode_leaves_other_rows_alone(tier, name, more):
    (table, _, *states), touched = train(name, True, steps=1, lazy_mode=True, **more)
    (same, *_), _ = train(name, False, steps=1, lazy_mode=True, **more)
    np.testing.assert_allclose(table[touched], same[touched], rtol=1e-5, atol=1e-6)  # a first step is as if dense
    before = np.random.default_rng(0).normal(size=(30, 3)).astype("float32")
    np.testing.assert_array_equal(table[~touched], before[~touched])


def test_lazy_mode_by_its_definition(tier):
    table = nn.Embedding(6, 2, sparse=True)
    w = np.arange(12, dtype="float64").reshape(6, 2)
    table.weight.set_value(w.astype("float32"))
    opt = paddle.optimizer.Adam(0.1, parameters=table.parameters(), lazy_mode=True)
    m, v = np.zeros((6, 2)), np.zeros((6, 2))
    for t, ids in enumerate(([1, 1, 3], [3, 0], [1, 3]), 1):
        (table(paddle.to_tensor(ids)) ** 2).sum().backward()
        opt.step()
        opt.clear_grad()
        g = np.zeros((6, 2))
        np.add.at(g, ids, 2 * w[ids])
        at = np.unique(ids)
        m[at] = 0.9 * m[at] + 0.1 * g[at]
        v[at] = 0.999 * v[at] + 0.001 * g[at] ** 2
        w[at] -= 0.1 * (m[at] / (1 - 0.9**t)) / (np.sqrt(v[at] / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose(table.weight.numpy(), w, rtol=1e-5)


def test_by_the_meaning_of_operators():
    want, _ = train("Adagrad", True)
    paddle.set_flags({"FLAGS_reference": True})
    try:
        got, _ = train("Adagrad", True)
    finally:
        paddle.set_flags({"FLAGS_reference": False})
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_low_precision_with_master_weights(tier):
    found = []
    for sparse in (False, True):
        table = nn.Embedding(20, 4, sparse=sparse, weight_attr=nn.initializer.Constant(0.5))
        table.to(dtype="bfloat16")
        opt = paddle.optimizer.SGD(0.1, parameters=table.parameters(), multi_precision=True)
        for _ in range(4):
            (table(paddle.to_tensor([1, 1, 3])) ** 2).sum().backward()
            opt.step()
            opt.clear_grad()
        found.append(opt.state_dict()["master_weights"][table.weight.name].numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=2e-2)


def test_gradients_that_change_their_kind(tier):
    """Rows in one step, dense in the next, none in the third."""
    table = nn.Embedding(5, 2, sparse=True, weight_attr=nn.initializer.Constant(1.0))
    opt = paddle.optimizer.SGD(1.0, parameters=table.parameters())
    for _ in range(2):
        for loss in (lambda: table(paddle.to_tensor([1, 2, 3, 3, 1])).sum(), lambda: table.weight.sum(), None):
            if loss is not None:
                loss().backward()
            opt.step()
            opt.clear_grad()
    np.testing.assert_array_equal(table.weight.numpy()[:, 0], [-1.0, -5.0, -3.0, -5.0, -1.0])


def test_number_of_rows_that_changes(tier):
    table = nn.Embedding(9, 2, sparse=True, weight_attr=nn.initializer.Constant(0.0))
    opt = paddle.optimizer.SGD(1.0, parameters=table.parameters())
    want = np.zeros(9)
    for ids in ([1, 1], [8], [], [0, 1, 2, 2], [3, 3]):
        table(paddle.to_tensor(np.array(ids, "int64"))).sum().backward()
        opt.step()
        opt.clear_grad()
        np.subtract.at(want, np.array(ids, "int64"), 1)
        np.testing.assert_array_equal(table.weight.numpy()[:, 1], want)


def test_accumulated_gradients(tier):
    table = nn.Embedding(5, 2, sparse=True, weight_attr=nn.initializer.Constant(0.0))
    opt = paddle.optimizer.SGD(1.0, parameters=table.parameters())
    for _ in range(3):
        for ids in ([1, 2], [2, 3]):
            table(paddle.to_tensor(ids)).sum().backward()
        opt.step()
        opt.clear_grad()
    np.testing.assert_array_equal(table.weight.numpy()[:, 0], [0, -3, -6, -3, 0])


def test_loss_scaling():
    table = nn.Embedding(5, 2, sparse=True, weight_attr=nn.initializer.Constant(0.0))
    opt = paddle.optimizer.SGD(1.0, parameters=table.parameters())
    scaler = paddle.amp.GradScaler(init_loss_scaling=8.0)
    scaler.scale(table(paddle.to_tensor([1, 3, 3])).sum()).backward()
    scaler.step(opt)
    scaler.update()
    np.testing.assert_array_equal(table.weight.numpy()[:, 0], [0, -1, 0, -2, 0])


def test_adam_refuses_a_penalty_with_rows():
    table = nn.Embedding(5, 2, sparse=True)
    opt = paddle.optimizer.Adam(0.1, parameters=table.parameters(), weight_decay=0.1)
    table(paddle.to_tensor([1])).sum().backward()
    with pytest.raises(RuntimeError, match="gradient by rows"):
        opt.step()


def test_a_bad_index_leaves_table_and_states_as_they_were(tier):
    table = nn.Embedding(5, 2, sparse=True)
    opt = paddle.optimizer.Adagrad(0.1, parameters=table.parameters())

    def step(ids):
        loss = table(ids).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return float(loss)

    for _ in range(3):
        step(paddle.to_tensor([1, 2]))
    before = table.weight.numpy().copy()
    with pytest.raises(IndexError):
        step(paddle.to_tensor([3, 4]) + 1)
    np.testing.assert_array_equal(table.weight.numpy(), before)
    step(paddle.to_tensor([3, 4]))
    assert (table.weight.numpy()[3:] != before[3:]).all()
    np.testing.assert_array_equal(table.weight.numpy()[:3], before[:3])


@pytest.mark.parametrize(
    "name, more", [("SGD", {}), ("Adagrad", {}), ("Adam", {"lazy_mode": True}), ("AdamW", {"lazy_mode": True}),
                   ("Adagrad", {"grad_clip": nn.ClipGradByGlobalNorm(1.0)})],
    ids=["SGD", "Adagrad", "Adam", "AdamW", "clipped"],
)  # fmt: skip
def test_a_step_does_not_depend_on_the_rows_of_the_table(tier, name, more):
    peaks = []
    for rows in (20_000, 200_000):
        table = nn.Embedding(rows, 8, sparse=True, weight_attr=nn.initializer.Constant(0.1))
        opt = getattr(paddle.optimizer, name)(0.1, parameters=table.parameters(), **more)
        rng = np.random.default_rng(0)

        def step():
            loss = (table(paddle.to_tensor(rng.integers(0, rows, 200))) ** 2).sum()  # noqa: B023
            loss.backward()
            opt.step()  # noqa: B023
            opt.clear_grad()  # noqa: B023
            return float(loss)

        for _ in range(4):
            step()
        places = {table.weight.data_ptr()}
        moments = {t.data_ptr() for k, t in opt.state_dict().items() if "moment" in k}
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(4):
            step()
            places.add(table.weight.data_ptr())
        peaks.append(tracemalloc.get_traced_memory()[1] - before)
        tracemalloc.stop()
        assert len(places) == 1, "the table moved"
        assert moments == {t.data_ptr() for k, t in opt.state_dict().items() if "moment" in k}
    assert peaks[1] < peaks[0] + 100_000, f"{peaks} bytes; a table of 200,000 rows has 6,400,000"
