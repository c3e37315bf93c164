"""Who holds memory, and which line made it."""

import collections
import gc
import sys
import threading
import weakref

import numpy as np

import paddle
from paddle import nn
from paddle.debug import memory_owners

KEPT = []
SIDE = 271  # of matrices that no other test makes


class Holder:
    __slots__ = ("inside", "__weakref__")

    cached = None

    def __init__(self, value):
        self.inside = value


def rows(shape=(SIDE, SIDE)):
    return [r for r in memory_owners().rows if r.shape == tuple(shape)]


def fresh():
    t = paddle.full([SIDE, SIDE], 2.0) * 3
    t.numpy()
    return t


def test_variables_containers_and_objects():
    held = fresh()
    line = fresh.__code__.co_firstlineno + 1
    (row,) = rows()
    assert row.holders == ("held (in test_variables_containers_and_objects)",)
    assert (row.operator, row.line, row.nbytes, row.dtype) == ("multiply", (__file__, line), SIDE * SIDE * 4, "float32")
    assert row.made.startswith(f"multiply at test_memory.py:{line}: t = paddle.full(")
    table = {"a": [None, (held,)]}
    box = Holder(held)
    queue = collections.deque([held])
    call = (lambda inner: lambda: inner.shape)(held)
    del held
    told = " ".join(rows()[0].holders)
    for way in ("table['a'][1][0]", "box.inside", "queue[0]", "variable inner of a closure"):
        assert way in told, told
    del table, box, queue, call
    assert not rows()


def test_globals_class_attributes_and_views():
    KEPT.append(fresh())
    Holder.cached = KEPT[0].detach()  # the same array
    try:
        (row,) = rows()
        assert any(h.endswith("KEPT[0]") for h in row.holders) and any(h.endswith("Holder.cached") for h in row.holders)
    finally:
        KEPT.clear()
        Holder.cached = None
    assert not rows()


def test_a_model_its_gradients_and_its_optimizer():
    model = nn.Sequential(nn.Linear(SIDE, 7), nn.Tanh(), nn.Linear(7, 1))
    opt = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    x = paddle.ones([2, SIDE])
    for _ in range(2):
        opt.clear_grad()
        model(x).sum().backward()
        opt.step()
    model[0].weight.numpy()
    told = {r.holders[0] for r in rows((SIDE, 7))}
    here = "(in test_a_model_its_gradients_and_its_optimizer)"
    name = model[0].weight.name
    assert f"model[0].weight {here}" in told and f"model[0].weight.grad {here}" in told
    assert f"Adam.moment1 of {name} (opt {here})" in told and f"Adam.moment2 of {name} (opt {here})" in told


def test_what_is_saved_for_backward():
    w = paddle.create_parameter([SIDE, SIDE], "float32")
    loss = paddle.tanh(paddle.matmul(w, w)).sum()
    line = sys._getframe().f_lineno - 1
    loss.numpy()
    (row,) = [r for r in rows() if r.operator == "tanh"]
    want = f"the record of tanh at test_memory.py:{line}, for the backward of loss (in test_what_is_saved_for_backward)"
    assert want in row.holders


def test_values_that_are_not_computed_are_not_bytes():
    x = paddle.full([SIDE, SIDE], 1.0)
    x.numpy()
    later = paddle.exp(x)
    owners = memory_owners()
    assert later.buffer is None and owners.deferred >= 1 and owners.deferred_nbytes >= SIDE * SIDE * 4
    assert "not computed yet" in str(owners)


def test_like_rows_are_shown_together():
    history = []
    for i in range(5):
        history.append(paddle.full([SIDE], 1.0) * float(i))
        history[-1].numpy()
    text = memory_owners().text(most=1000)
    assert f"5 × float32[{SIDE}]" in text and "history[" in text and "and the like" in text
    assert text.splitlines()[0].startswith(("0 B", "1", "2", "3", "4", "5", "6", "7", "8", "9"))
    assert "more arrays" in memory_owners().text(most=0)


def test_a_loader_in_a_running_loop():
    def batches():
        yield paddle.to_tensor(np.ones((SIDE, 3), "float32"))
        yield None

    for batch in batches():
        if batch is not None:
            (row,) = rows((SIDE, 3))
            assert row.holders[0].startswith("batch") and row.line is not None


def test_a_cycle_without_a_name():
    gc.collect()
    gc.disable()
    try:
        cycle = [fresh()]
        cycle.append(cycle)
        del cycle
        (row,) = rows()
        assert row.holders[0].startswith("no name") and "gc.collect()" in row.holders[0]
    finally:
        gc.enable()
        gc.collect()
    assert not rows()


def test_other_threads():
    go, done = threading.Event(), threading.Event()

    def work():
        mine = fresh()
        go.set()
        done.wait(10)
        del mine

    thread = threading.Thread(target=work)
    thread.start()
    go.wait(10)
    try:
        (row,) = rows()
    finally:
        done.set()
        thread.join()
    assert row.holders[0] == "mine (in work of another thread)"


def test_nothing_is_kept_alive():
    held = Holder(fresh())
    ref = weakref.ref(held)
    memory_owners()
    del held
    assert ref() is None and not rows()


def test_a_dictionary_from_locals_stays_whole():
    held = fresh()
    mine = locals()
    memory_owners()
    assert mine["held"] is held
