"""Static programs: recorded once, run by an Executor, against the same code in eager mode."""

import gc

import numpy as np
import pytest

import paddle
from paddle import nn, static


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    with static.scope_guard(static.Scope()), static.program_guard(static.Program(), static.Program()):
        yield
    paddle.disable_static()


def started():
    exe = static.Executor(paddle.CPUPlace())
    exe.run(static.default_startup_program())
    return exe


def network():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))


def batch(i, n=16):
    rng = np.random.default_rng(i)
    return rng.standard_normal((n, 4)).astype("float32"), rng.integers(0, 2, (n, 1))


def eager_training(make):
    paddle.disable_static()
    try:
        paddle.seed(3)
        model = network()
        optimizer = make(model.parameters())
        losses = []
        for i in range(25):
            x, y = map(paddle.to_tensor, batch(i))
            loss = nn.functional.cross_entropy(model(x), y).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
            if not isinstance(optimizer._learning_rate, float):
                optimizer._learning_rate.step()
        return losses, [p.numpy() for p in model.state_dict().values()]
    finally:
        paddle.enable_static()


OPTIMIZERS = {
    "sgd": lambda p: paddle.optimizer.SGD(paddle.optimizer.lr.StepDecay(0.1, 3), p),
    "momentum": lambda p: paddle.optimizer.Momentum(0.1, 0.9, p, weight_decay=0.01),
    "adam": lambda p: paddle.optimizer.Adam(0.01, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    "adamw": lambda p: paddle.optimizer.AdamW(paddle.optimizer.lr.CosineAnnealingDecay(0.01, 10), parameters=p),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_25_steps_are_bit_for_bit_those_of_eager_mode(name):
    make = OPTIMIZERS[name]
    wanted, weights = eager_training(make)
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x, y = static.data("x", [None, 4]), static.data("y", [None, 1], "int64")
        model = network()
        loss = nn.functional.cross_entropy(model(x), y).mean()
        optimizer = make(None)
        optimizer.minimize(loss)
    exe = static.Executor()
    paddle.seed(3)
    exe.run(startup)
    found = []
    for i in range(25):
        a, b = batch(i)
        found.append(float(exe.run(main, feed={"x": a, "y": b}, fetch_list=[loss])[0]))
        if not isinstance(optimizer._learning_rate, float):
            optimizer._learning_rate.step()
    assert found == wanted
    scope = static.global_scope()
    for p, value in zip(model.state_dict().values(), weights):
        assert np.array_equal(np.array(scope.find_var(p.name).get_tensor()), value), p.name


def test_sizes_that_are_open_may_be_any():
    x = static.data("x", [None, None, 6])
    assert x.shape == [-1, -1, 6] and str(x.shape) == "paddle.Size([-1, -1, 6])"
    parts = [
        x.mean(),
        x.mean(axis=1),
        x.var(),
        x.reshape([0, 0, 2, 3]).transpose([0, 2, 1, 3]).flatten(2),
        x[:, -1],
        x[:, 1:] - x[:, :-1],
        paddle.concat([x, x], axis=1),
        x.reshape([-1, 3]),
        paddle.nn.functional.pad(x, [1, 2], data_format="NLC"),
        paddle.arange(0, x.type.shape[1]),
        paddle.expand(x.mean(axis=1, keepdim=True), [-1, 5, -1]),
        paddle.nn.functional.max_pool1d(x.transpose([0, 2, 1]), 3, stride=2, padding=1).flatten(1).mean(axis=-1),
        (x * (x.shape[1] + 1)).sum(axis=-1),
    ]
    program, exe = static.default_main_program(), static.Executor()

    def eager(a):
        x = paddle.to_tensor(a)
        return [
            x.mean(),
            x.mean(axis=1),
            x.var(),
            x.reshape([0, 0, 2, 3]).transpose([0, 2, 1, 3]).flatten(2),
            x[:, -1],
            x[:, 1:] - x[:, :-1],
            paddle.concat([x, x], axis=1),
            x.reshape([-1, 3]),
            paddle.nn.functional.pad(x, [1, 2], data_format="NLC"),
            paddle.arange(0, x.shape[1]),
            paddle.expand(x.mean(axis=1, keepdim=True), [-1, 5, -1]),
            paddle.nn.functional.max_pool1d(x.transpose([0, 2, 1]), 3, stride=2, padding=1).flatten(1).mean(axis=-1),
            (x * (x.shape[1] + 1)).sum(axis=-1),
        ]

    for shape in ((2, 5, 6), (3, 8, 6), (1, 2, 6), (4, 4, 6)):
        a = np.random.default_rng(0).standard_normal(shape).astype("float32")
        found = exe.run(program, feed={"x": a}, fetch_list=parts)
        paddle.disable_static()
        wanted = [t.numpy() for t in eager(a)]
        paddle.enable_static()
        for i, (f, w) in enumerate(zip(found, wanted)):
            assert f.shape == w.shape and np.allclose(f, w, atol=1e-5), (shape, i)


def test_what_is_fed_is_checked():
    x = static.data("x", [None, 3])
    y = static.data("y", [2], "int64")
    out, other = x * 2, y + 1
    exe = static.Executor()
    a = np.ones((2, 3), "float32")
    assert exe.run(feed={"x": a}, fetch_list=[out])[0].tolist() == [[2.0] * 3] * 2
    assert exe.run(feed={"x": a.tolist(), "y": [1, 2]}, fetch_list=[out, other])[1].tolist() == [2, 3]
    with pytest.raises(KeyError, match="'y' is not fed"):
        exe.run(feed={"x": a}, fetch_list=[other])
    with pytest.warns(UserWarning, match="'z' is no input of the program.*'x', 'y'"):
        exe.run(feed={"x": a, "z": a}, fetch_list=[out])
    with pytest.raises(ValueError, match="(?s)another element type.*float32.*float64"):
        exe.run(feed={"x": a.astype("float64")}, fetch_list=[out])
    with pytest.raises(AssertionError, match="fetch_list is no list"):
        exe.run(feed={"x": a}, fetch_list={"out": out})
    with pytest.raises(ValueError, match=r"(?s)does not fit.*\[-1, 3\].*\[2, 4\]"):
        exe.run(feed={"x": np.ones((2, 4), "float32")}, fetch_list=[out])
    with pytest.raises(ValueError, match="(?s)another element type.*float32.*bool"):
        exe.run(feed={"x": a > 0}, fetch_list=[out])
    with pytest.raises(TypeError, match="feed is no dictionary"):
        exe.run(feed=a, fetch_list=[out])
    with pytest.raises(ValueError, match="no such variable"):
        exe.run(feed={"x": a}, fetch_list=["nowhere"])
    with pytest.raises(TypeError, match="cannot be fetched"):
        exe.run(feed={"x": a}, fetch_list=[3])
    with pytest.raises(AttributeError, match="this is no program"):
        exe.run(3)
    with pytest.raises(ValueError, match="another input already"):
        static.data("y", [3], "int64")
    with pytest.raises(TypeError, match="len: the size of axis 0 is open"):
        list(x)
    assert len(y) == 2
    exe.close()
    with pytest.raises(RuntimeError, match="was closed"):
        exe.run(feed={"x": a}, fetch_list=[out])


def test_values_do_not_exist_while_a_program_is_recorded():
    x = static.data("x", [None, 3])
    for read in (lambda: x.numpy(), lambda: bool(x.sum() > 0), lambda: float(x.sum()), lambda: (x + 1).tolist()):
        with pytest.raises(RuntimeError, match="test_program.py"):
            read()
    assert repr(x) == "Value(define_op_name=pd_op.data, index=0, dtype=tensor<-1x3xf32>, stop_gradient=True)"
    assert "pd_op.sum" in str(x.sum()) and "tensor<f32>" in str(x.sum()) and "tensor<-1x3xb>" in str(x > 0)
    weight = nn.Linear(3, 2).weight
    assert "builtin.parameter" in str(weight) and "stop_gradient=False" in str(weight)
    with pytest.raises(RuntimeError, match="no value of its own"):
        weight.numpy()


def test_parameters_have_values_after_the_startup_program_only():
    x = static.data("x", [None, 3])
    out = nn.Linear(3, 2)(x)
    exe = static.Executor()
    feed = {"x": np.ones((1, 3), "float32")}
    with pytest.raises(RuntimeError, match="has no value"):
        exe.run(feed=feed, fetch_list=[out])
    startup = static.default_startup_program()
    found = []
    for seed in (1, 1, 2):
        startup.random_seed = seed
        exe.run(startup)
        found.append(exe.run(feed=feed, fetch_list=[out])[0].tolist())
    assert found[0] == found[1] != found[2]
    with static.scope_guard(static.Scope()), pytest.raises(RuntimeError, match="has no value"):
        exe.run(feed=feed, fetch_list=[out])


def test_programs_share_variables_by_name():
    def build():
        x = static.data("x", [None, 3])
        return static.nn.fc(x, 1, weight_attr=paddle.ParamAttr(name="shared"), bias_attr=False)

    loss = build().mean()
    paddle.optimizer.SGD(0.5).minimize(loss)
    test = static.Program()
    with static.program_guard(test, static.Program()):
        out = build()
    exe = started()
    a = np.ones((1, 3), "float32")
    before = exe.run(test, feed={"x": a}, fetch_list=[out])[0]
    assert exe.run(feed={"x": a}, fetch_list=[loss])[0] == before[0, 0]
    after = exe.run(test, feed={"x": a}, fetch_list=[out])[0]
    assert np.allclose(after, before - 1.5)


def test_a_clone_for_test_updates_nothing():
    x, y = static.data("x", [None, 4]), static.data("y", [None, 1], "int64")
    model = network()
    out = model(x)
    loss = nn.functional.cross_entropy(out, y).mean()
    test = static.default_main_program().clone(for_test=True)
    again = static.default_main_program().clone().clone()
    paddle.optimizer.Adam(0.01).minimize(loss)
    exe = started()
    a, b = batch(0)
    feed = {"x": a, "y": b}
    first, second = (exe.run(test, feed=feed, fetch_list=[out])[0] for _ in range(2))
    assert np.array_equal(first, second)
    one, two = (exe.run(again, feed=feed, fetch_list=[out])[0] for _ in range(2))
    assert not np.array_equal(one, two)  # dropout, and running statistics
    assert not np.array_equal(first, exe.run(test, feed=feed, fetch_list=[out])[0])  # the clone has moved them
    exe.run(feed=feed, fetch_list=[loss])
    paddle.disable_static()
    twin = network()
    for p, q in zip(twin.state_dict().values(), model.state_dict().values()):
        p.set_value(np.array(static.global_scope().find_var(q.name).get_tensor()))
    twin.eval()
    wanted = twin(paddle.to_tensor(a)).numpy()
    paddle.enable_static()
    assert np.array_equal(exe.run(test, feed=feed, fetch_list=[out])[0], wanted)


def test_gradients_of_inputs_and_of_results_in_between():
    x = static.data("x", [None, 3])
    x.stop_gradient = False
    h = x * x
    y = h.exp().sum()
    (dx,) = static.gradients(y, x)
    dh, none = static.gradients([y], [h, static.data("u", [1])])
    assert none is None
    (ddx,) = static.gradients(dx.sum(), [x])
    a = np.array([[0.1, -0.2, 0.3]], "float32")
    found = static.Executor().run(feed={"x": a}, fetch_list=[dx, dh, ddx])
    e = np.exp(a * a)
    for f, w in zip(found, (2 * a * e, e, (2 + 4 * a * a) * e)):
        assert np.allclose(f, w, atol=1e-6)
    with pytest.raises(TypeError, match=r"targets\[0\] is no Tensor"):
        static.gradients(3, x)
    with pytest.raises(ValueError, match="more than one number"):
        static.append_backward(h)


def test_a_program_is_gone_on_with():
    main = static.default_main_program()
    x = static.data("x", [2])
    y = x + 1
    exe = static.Executor()
    feed = {"x": np.zeros(2, "float32")}
    assert exe.run(main, feed=feed, fetch_list=[y])[0].tolist() == [1.0, 1.0]
    ops = len(main.global_block().ops)
    with static.program_guard(static.Program()):
        assert static.default_main_program() is not main
    z = y * 3
    assert len(main.global_block().ops) == ops + 1
    assert exe.run(main, feed=feed, fetch_list=[z, y])[0].tolist() == [3.0, 3.0]
    assert "multiply" in str(main) and main.num_blocks == 1
    assert [v.shape for v in main.list_vars()] == [[2]] * 3 and list(main.global_block().vars) == ["x"]
    assert main.global_block().var("x") is x and main.global_block().has_var("x")
    with pytest.raises(ValueError, match="no such variable"):
        main.global_block().var("nowhere")
    paddle.disable_static()
    assert (paddle.ones([2]) * 2).tolist() == [2.0, 2.0]
    assert exe.run(main, feed=feed, fetch_list=[z])[0].tolist() == [3.0, 3.0]
    paddle.enable_static()


def test_variables_keep_their_values_from_run_to_run():
    count = static.create_global_var([1], 2.0, "float32", persistable=True, name="count")
    paddle.increment(count, 1.0)
    exe = started()
    assert [float(exe.run(fetch_list=[count])[0][0]) for _ in range(3)] == [3.0, 4.0, 5.0]
    static.global_scope().find_var("count").get_tensor().set(np.array([9.0], "float32"), paddle.CPUPlace())
    assert float(exe.run(fetch_list=["count"])[0][0]) == 10.0


def test_many_runs_hold_no_more_memory():
    x = static.data("x", [None, 4])
    loss = nn.Linear(4, 4)(x).mean()
    paddle.optimizer.Adam(0.01).minimize(loss)
    exe = started()
    run = lambda n: exe.run(feed={"x": np.ones((n, 4), "float32")}, fetch_list=[loss])
    for _ in range(20):
        run(3)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(100):
        run(3)
    gc.collect()
    assert len(gc.get_objects()) - before < 50


def test_mode():
    assert not paddle.in_dynamic_mode()
    paddle.disable_static()
    assert paddle.in_dynamic_mode()
    with pytest.raises(TypeError, match="main_program is no program"), static.program_guard(3):
        pass
    with pytest.raises(RuntimeError, match="operations run at once"):
        static.data("x", [1])
    paddle.enable_static()
