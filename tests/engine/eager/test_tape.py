"""The tape: gradients against finite differences, and what users see of the graph."""

import gc
import threading

import numpy as np
import pytest

import paddle
from paddle.engine.eager import tape
from paddle.engine.eager import trace as tracing
from paddle.engine.eager.trace import current, from_array

RNG = np.random.default_rng(7)


def leaf(*shape, values=None):
    a = RNG.normal(size=shape) if values is None else np.array(values, "float64")
    return from_array(np.ascontiguousarray(a, "float64") if np.ndim(a) else np.asarray(a, "float64"), sg=False)


def numeric(f, arrays, i, eps=1e-6):
    """The gradient of the sum of f for arrays[i], by central differences in float64."""
    base = [a.copy() for a in arrays]
    out = np.zeros_like(base[i])
    for at in np.ndindex(base[i].shape):
        values = []
        for sign in (1, -1):
            changed = [a.copy() for a in base]
            changed[i][at] += sign * eps
            with paddle.no_grad():
                values.append(f(*(from_array(a) for a in changed)).array().sum())
        out[at] = (values[0] - values[1]) / (2 * eps)
    return out


FUNCTIONS = {
    "chain": lambda x, y: ((x * y).tanh() + x).sum(),
    "broadcast": lambda x, y: (x + y[0]).sum() * (x * y).sum(),
    "matrix": lambda x, y: paddle.matmul(x, y.t()).exp().sum(),
    "used twice": lambda x, y: (x * x * y + x / (y * y + 2.0)).sum(),
    "views": lambda x, y: (x.transpose([1, 0]) * y.t()).reshape([-1])[1:5].sum() + x[0, 1] * y[1, 0],
    "reduction": lambda x, y: (x.mean(axis=0) * y.sum(axis=0)).sum() + (x * y).max(),
    "softmax": lambda x, y: (paddle.nn.functional.softmax(x) * y).sum(),
    "unused branch": lambda x, y: (x * 3.0).sum() + (y * 0.0).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("flushed", [False, True])
def test_first_order(name, flushed):
    f = FUNCTIONS[name]
    x, y = leaf(2, 3), leaf(2, 3)
    loss = f(x, y)
    if flushed:
        loss.array()
    loss.backward()
    for i, t in enumerate((x, y)):
        np.testing.assert_allclose(t.grad.array(), numeric(f, [x.array(), y.array()], i), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["chain", "matrix", "used twice", "views", "softmax"])
@pytest.mark.parametrize("flushed", [False, True])
def test_second_and_third_order(name, flushed):
    f = FUNCTIONS[name]
    x, y = leaf(2, 2, 1)[:, :, 0].detach(), leaf(2, 3)
    x = leaf(2, 3)
    w = from_array(RNG.normal(size=(2, 3)))

    def first(x, y):
        (g,) = paddle.grad(f(x, y), x, create_graph=True, allow_unused=True)
        return (g * w).sum()

    def second(x, y):
        (g,) = paddle.grad(first(x, y), x, create_graph=True, allow_unused=True)
        return (g * w).sum() if g is not None else from_array(np.zeros(()))

    def on(h):
        def call(*arrays):
            with paddle.enable_grad():
                ts = [from_array(a.array(), sg=False) for a in arrays]
                return h(*ts)

        return call

    for h in (first, second):
        out = h(x, y)
        if out.stop_gradient:
            continue
        if flushed:
            out.array()
        dx, dy = paddle.grad(out, [x, y], allow_unused=True)
        for i, g in enumerate((dx, dy)):
            expected = numeric(on(h), [x.array(), y.array()], i)
            found = np.zeros_like(expected) if g is None else g.array()
            np.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-6)


def test_leaves_accumulate_in_place():
    x = leaf(values=[1.0, 2.0])
    (x * x).sum().backward()
    first = x.grad
    (x * 3.0).sum().backward()
    assert x.grad is first
    np.testing.assert_array_equal(first.array(), [5.0, 7.0])


def test_a_cleared_gradient_reads_as_zeros_and_costs_nothing():
    x = leaf(values=[1.0, 2.0])
    x.sum().backward()
    x.clear_grad()
    assert x.leaf.grad is None
    np.testing.assert_array_equal(x.grad.array(), [0.0, 0.0])
    (x * 2.0).sum().backward()
    np.testing.assert_array_equal(x.grad.array(), [2.0, 2.0])


def test_the_graph_is_freed_and_says_so():
    x = leaf(values=[1.0, 2.0])
    y = (x * x).sum()
    y.backward()
    with pytest.raises(SystemError, match="freed by an earlier backward") as caught:
        y.backward()
    assert isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize("flush", [False, True])
def test_retain_graph_keeps_it(flush):
    x = leaf(values=[1.0, 2.0])
    y = (x * x).sum()
    for n in (1, 2, 3):
        y.backward(retain_graph=True)
        if flush:
            current().flush()
        np.testing.assert_array_equal(x.grad.array(), n * np.array([2.0, 4.0]))
    y.backward()
    with pytest.raises(RuntimeError, match="freed"):
        y.backward()


def test_freed_parts_are_found_from_other_outputs():
    x = leaf(values=[1.0, 2.0])
    z = x * x
    a, b = z.sum(), (z * z).sum()
    a.backward()
    with pytest.raises(RuntimeError, match="freed"):
        b.backward()


def test_repeated_backward_is_one_step_and_gives_the_same():
    results = []
    for i in range(5):
        x, y = leaf(values=[1.0, 2.0]), leaf(values=[3.0, 5.0])
        current().flush()
        before = tracing.trie.size
        loss = ((x * y).tanh() * x).sum()
        loss.backward()
        results.append((x.grad.array(), y.grad.array()))
        if i > 1:
            assert tracing.trie.size == before  # nothing was recorded anew
    for r in results[1:]:
        np.testing.assert_array_equal(r[0], results[0][0])
        np.testing.assert_array_equal(r[1], results[0][1])


def test_the_shortcut_is_not_taken_over_a_value_of_an_earlier_flush():
    # the same program text, but the middle value comes from different leaves
    def run(w, a):
        (a * w).sum().backward()
        return w.grad.array()

    w = leaf(values=[1.0, 2.0])
    a = w + 1.0
    current().flush()
    np.testing.assert_array_equal(run(w, a), [3.0, 5.0])  # a + w
    w2, u = leaf(values=[1.0, 2.0]), leaf(values=[1.0, 2.0])
    b = u + 1.0
    current().flush()
    np.testing.assert_array_equal(run(w2, b), [2.0, 3.0])
    np.testing.assert_array_equal(u.grad.array(), [1.0, 2.0])


def test_backward_of_a_value_that_was_read_is_one_step_too():
    results = []
    for i in range(6):
        x, y = leaf(values=[1.0 + i, 2.0]), leaf(values=[3.0, 5.0])
        z = leaf(values=[1.0, 1.0]).detach()
        loss = ((x * y).tanh() * x + z).sum()
        loss.array()
        before = tracing.trie.size
        loss.backward()
        if i > 2:
            assert tracing.trie.size == before
        again = leaf(values=[1.0 + i, 2.0])
        ((again * y.detach()).tanh() * again).sum().backward()
        np.testing.assert_array_equal(x.grad.array(), again.grad.array())
        results.append(y.grad.array())
    with pytest.raises(RuntimeError, match="freed"):
        loss.backward()


def test_a_value_saved_twice_enters_once():
    x = leaf(values=[1.0, 2.0])
    w = leaf(values=[2.0, 3.0])
    y = (x * w).tanh() * w
    loss = (y * y).sum()
    loss.array()
    loss.backward(retain_graph=True)
    first = w.grad.array().copy()
    w.clear_gradient(False)
    loss.backward()
    np.testing.assert_array_equal(w.grad.array(), first)


def test_hooks_switch_the_shortcut_off_and_on():
    def run(hook):
        x = leaf(values=[1.0, 2.0])
        if hook:
            x.register_hook(lambda g: g * 10.0)
        (x * x).sum().backward()
        return x.grad.array()

    for hook in (False, True, False, True, True, False):
        np.testing.assert_array_equal(run(hook), np.array([2.0, 4.0]) * (10.0 if hook else 1.0))


def test_hooks_run_in_order_once_per_backward():
    x = leaf(values=[1.0])
    seen = []
    z = x * 2.0
    z.register_hook(lambda g: seen.append("a"))
    z.register_hook(lambda g: (seen.append("b"), g * 3.0)[1])
    x.register_hook(lambda g: (seen.append(g.item()), None)[1])
    (z * 1.0 + z * 2.0).sum().backward()
    assert seen == ["a", "b", 18.0]
    assert x.grad.item() == 18.0


def test_retained_gradients():
    x = leaf(values=[1.0, 2.0])
    z = x * 2.0
    z.retain_grads()
    (z * z).sum().backward()
    np.testing.assert_array_equal(z.grad.array(), [4.0, 8.0])


def test_grad_leaves_accumulated_gradients_alone():
    x = leaf(values=[2.0])
    (g,) = paddle.grad((x * x).sum(), x)
    assert x.grad is None and g.item() == 4.0 and g.stop_gradient


def test_grad_for_values_in_between():
    x, y = leaf(values=[2.0]), leaf(values=[3.0])
    z = x * 2.0
    w = z * y + x
    gx, gz = paddle.grad(w, [x, z], retain_graph=True)
    assert (gx.item(), gz.item()) == (7.0, 3.0)


def test_no_grad_vars_bar_the_way():
    x = leaf(values=[2.0])
    z = x * 3.0
    (g,) = paddle.grad((z * x).sum(), x, no_grad_vars=[z])
    assert g.item() == 6.0


def test_unused_inputs():
    x, y = leaf(values=[2.0]), leaf(values=[3.0])
    assert paddle.grad(x * x, [x, y], allow_unused=True)[1] is None
    with pytest.raises(ValueError, match=r"inputs\[1\] takes no part"):
        paddle.grad(x * x, [x, y])


def test_several_outputs_and_their_gradients():
    x = leaf(values=[2.0, 3.0])
    a, b = x * x, x * 5.0
    (g,) = paddle.grad([a, b], x, [from_array(np.array([1.0, 10.0])), None])
    np.testing.assert_array_equal(g.array(), [9.0, 65.0])


def test_a_gradient_of_another_shape_is_rejected():
    x = leaf(values=[2.0, 3.0])
    with pytest.raises(AssertionError, match="does not fit its tensor"):
        (x * x).backward(from_array(np.ones(3)))
    with pytest.raises(AssertionError, match="is not a Tensor"):
        (x * x).backward(3)


def test_in_place_between_forward_and_backward_does_not_change_what_was_saved():
    x = leaf(values=[1.0, 2.0])
    y = x * 1.0
    z = (y * y).sum()
    y.add_(from_array(np.array([10.0, 10.0])))
    z.backward()
    np.testing.assert_array_equal(x.grad.array(), [2.0, 4.0])


def test_in_place_is_differentiated():
    x = leaf(values=[1.0, 2.0])
    y = x * 2.0
    y.multiply_(x)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.array(), [4.0, 8.0])


@pytest.mark.parametrize("flush", [False, True])
def test_a_leaf_changed_without_gradients_is_the_same_leaf(flush):
    x = leaf(values=[1.0, 2.0])
    old = (x * x).sum()
    with paddle.no_grad():
        x.add_(from_array(np.array([1.0, 1.0])))
    if flush:
        current().flush()
    assert x.is_leaf and not x.stop_gradient
    new = (x * x).sum()
    paddle.autograd.backward([old, new])
    np.testing.assert_array_equal(x.grad.array(), [2.0 + 4.0, 4.0 + 6.0])


def test_uses_of_a_value_and_of_the_leaf_that_took_it_are_different_programs():
    for _ in range(3):
        x = leaf(values=[1.0])
        with paddle.no_grad():
            a = x * 2.0
        b = a + 1.0
        assert b.stop_gradient
        y = leaf(values=[1.0])
        with paddle.no_grad():
            c = y * 2.0
            tracing.rebind(y, c)
        d = y + 1.0
        assert not d.stop_gradient
        d.sum().backward()
        assert y.grad.item() == 1.0


def test_detach_and_stop_gradient():
    x = leaf(values=[3.0])
    y = x * x
    (y.detach() * x).sum().backward()
    assert x.grad.item() == 9.0
    x.clear_gradient(False)
    z = x * 2.0
    z.stop_gradient = True
    (z * x).sum().backward()
    assert x.grad.item() == 6.0


def test_long_chains_need_no_recursion():
    x = leaf(values=[1.0, 1.0])
    y = x
    for _ in range(1000):
        y = y * 1.001 + 0.0
    y.sum().backward()
    np.testing.assert_allclose(x.grad.array(), 1.001**1000)
    del y
    gc.collect()


def test_chains_longer_than_a_trace():
    x = leaf(values=[1.0])
    y = x
    for _ in range(6000):
        y = y * 1.0001
    y.sum().backward()
    np.testing.assert_allclose(x.grad.array(), 1.0001**6000)


def test_backward_in_another_thread():
    x = leaf(values=[1.0, 2.0])
    y = x * x  # deferred in this thread
    out = []

    def work():
        (y * 3.0).sum().backward()
        out.append(x.grad.array())

    t = threading.Thread(target=work)
    t.start()
    t.join()
    np.testing.assert_array_equal(out[0], [6.0, 12.0])


def test_threads_record_by_themselves():
    errors = []

    def work(k):
        try:
            for _ in range(20):
                x = leaf(values=[float(k), 2.0])
                (x * x * x).sum().backward()
                np.testing.assert_allclose(x.grad.array(), [3.0 * k * k, 12.0])
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


def test_no_grad_records_nothing():
    x = leaf(values=[1.0])
    with paddle.no_grad():
        y = x * x
    assert y.stop_gradient and y.is_leaf
    with pytest.warns(UserWarning, match="nothing is done"):
        y.backward()
    assert x.grad is None


def test_empty_and_0d():
    x = leaf(0, 3)
    (x * x).sum().backward()
    assert x.grad.shape == [0, 3]
    y = leaf(values=2.0)
    (y * y).backward()
    assert y.grad.item() == 4.0 and y.grad.shape == []


def test_nan_and_infinity_pass_through():
    x = leaf(values=[np.nan, np.inf, 1.0])
    (x * x).sum().backward()
    np.testing.assert_array_equal(x.grad.array(), [np.nan, np.inf, 2.0])


def test_saved_values_do_not_outlive_the_graph():
    x = leaf(values=[1.0, 2.0])
    y = (x * x).sum()
    current().flush()
    node = y.gnode[0]
    y.backward()
    assert node.freed and node.args == ()


def test_update_rebinds_and_is_one_step():
    outs = []
    x = leaf(values=[1.0, 2.0])
    for i in range(4):
        s = tracing.current()
        r = from_array(np.array([0.5, 0.5]))
        before = tracing.trie.size
        s.update(("test", "update"), [r], [x], lambda: [x * 2.0 + r])  # noqa: B023
        s.flush_before_next()
        if i > 1:
            assert tracing.trie.size == before
        outs.append(x.array().copy())
        assert x.is_leaf and not x.stop_gradient
    np.testing.assert_array_equal(outs, [[2.5, 4.5], [5.5, 9.5], [11.5, 19.5], [23.5, 39.5]])


def test_describe_lists_operations():
    x = leaf(values=[1.0, 2.0])
    text = tape.describe([tape.edge_of((x * x).sum())])
    assert text.splitlines()[0].startswith("sum_") and "leaf" in text


def test_grad_says_when_an_input_stops_gradients():
    w = paddle.zeros([2])
    w.stop_gradient = False
    with paddle.no_grad():
        w -= 1.0
    with pytest.raises(ValueError, match="stop_gradient True\n  hint: set stop_gradient to False"):
        paddle.grad((w * w).sum(), [w])


def test_hooks_may_compute_gradients_of_their_own():
    w, x = (paddle.to_tensor([2.0, 3.0], stop_gradient=False) for _ in range(2))

    def hook(g):
        (w * w * g).sum().backward()
        return g * w

    y = x * 3
    y.register_hook(hook)
    y.sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), [4, 6])
    np.testing.assert_allclose(x.grad.numpy(), [6, 9])
    z = x * 3
    z.register_hook(lambda g: g * w)
    (g,) = paddle.grad(z.sum(), x)
    assert g.stop_gradient
