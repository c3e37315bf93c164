"""Static programs and their variables on disk."""

import numpy as np
import pytest

import paddle
from paddle import nn, static


@pytest.fixture(autouse=True)
def static_mode(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paddle.enable_static()
    with static.scope_guard(static.Scope()), static.program_guard(static.Program(), static.Program()):
        yield
    paddle.disable_static()


def classifier():
    x, y = static.data("x", [None, 4]), static.data("y", [None, 1], "int64")
    h = nn.functional.dropout(nn.BatchNorm1D(8)(static.nn.fc(x, 8, activation="relu")), 0.5)
    out = static.nn.fc(h, 3)
    loss = nn.functional.cross_entropy(out, y).mean()
    paddle.optimizer.Adam(0.01).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    rng = np.random.default_rng(0)
    feed = {"x": rng.standard_normal((6, 4)).astype("float32"), "y": rng.integers(0, 3, (6, 1))}
    exe.run(feed=feed, fetch_list=[loss])
    return x, out, loss, exe, feed


def test_a_model_is_that_of_evaluation_and_takes_any_batch():
    x, out, _, exe, feed = classifier()
    test = static.default_main_program().clone(for_test=True)
    static.save_inference_model("model/clf", x, [out, out.argmax(axis=-1)], exe)
    with static.scope_guard(static.Scope()):
        program, names, results = static.load_inference_model("model/clf", exe)
        assert names == ["x"] and results[0].shape == [-1, 3] and len(program.all_parameters()) == 8
        for n in (6, 1, 4):
            found = exe.run(program, feed={"x": feed["x"][:n]}, fetch_list=results)
            assert found[0].shape == (n, 3) and found[1].tolist() == found[0].argmax(-1).tolist()
            with static.scope_guard(static_scope[0]):
                wanted = exe.run(test, feed={"x": feed["x"][:n]}, fetch_list=[out])[0]
            assert np.allclose(found[0], wanted, atol=1e-6)
    paddle.disable_static()
    layer = paddle.jit.load("model/clf")
    again = layer(paddle.to_tensor(feed["x"]))[0].numpy()
    paddle.enable_static()
    assert np.allclose(again, exe.run(test, feed=feed, fetch_list=[out])[0], atol=1e-6)


static_scope = [None]


@pytest.fixture(autouse=True)
def outer_scope(static_mode):
    static_scope[0] = static.global_scope()


def test_what_a_layer_was_saved_as_runs_in_an_executor():
    paddle.disable_static()
    layer = nn.Sequential(nn.Conv2D(1, 2, 3), nn.ReLU(), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(2, 2))
    paddle.jit.save(layer, "net", [static.InputSpec([None, 1, 8, 8], "float32", "image")])
    a = np.random.default_rng(0).standard_normal((3, 1, 8, 8)).astype("float32")
    wanted = layer(paddle.to_tensor(a)).numpy()
    paddle.enable_static()
    exe = static.Executor()
    program, names, results = static.load_inference_model("net", exe)
    assert np.allclose(exe.run(program, feed={names[0]: a}, fetch_list=results)[0], wanted, atol=1e-6)
    with pytest.raises(ValueError, match=r"\[-1, 1, 8, 8\]"):
        exe.run(program, feed={names[0]: a[:, :, :4]}, fetch_list=results)


def test_what_does_not_fit_together_is_refused():
    x, out, loss, exe, _ = classifier()
    with pytest.raises(ValueError, match="not among feed_vars"):
        static.save_inference_model("m", x, loss, exe)
    with pytest.raises(ValueError, match="no input of the program"):
        static.save_inference_model("m", out, out, exe)
    with pytest.raises(TypeError, match="fetch_vars"):
        static.save_inference_model("m", x, ["out"], exe)
    with pytest.raises(ValueError):
        static.load_inference_model("nowhere", exe)
    with static.scope_guard(static.Scope()), pytest.raises(RuntimeError, match="has no value"):
        static.save_inference_model("m", x, out, exe)


def test_training_goes_on_where_it_was_saved():
    _, _, loss, exe, feed = classifier()
    main = static.default_main_program()
    static.save(main, "ckpt/a")
    state = static.load_program_state("ckpt/a")
    assert set(state) == set(main.state_dict()) and any("moment1" in n for n in state)
    paddle.seed(5)
    wanted = [float(exe.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(3)]
    static.load(main, "ckpt/a", exe)
    paddle.seed(5)
    assert [float(exe.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(3)] == wanted
    static.set_program_state(main, state)
    paddle.seed(5)
    assert float(exe.run(main, feed=feed, fetch_list=[loss])[0]) == wanted[0]
    with pytest.warns(UserWarning, match="no variables of these names: other"):
        static.set_program_state(main, {"other": np.zeros(2)})
    name = main.all_parameters()[0].name
    with pytest.raises(AssertionError, match="does not fit"):
        static.set_program_state(main, {name: np.zeros((9, 9), "float32")})
    with pytest.raises(ValueError, match="no such files"):
        static.load(main, "nowhere")


def test_programs_and_weights_as_bytes():
    x, out, _, exe, _ = classifier()
    program, weights = static.serialize_program([x], [out]), static.serialize_persistables([x], [out], exe)
    static.save_to_file("m.json", program)
    static.save_to_file("m.pdiparams", weights)
    assert static.load_from_file("m.json") == program
    assert static.load_inference_model("m", exe)[1] == ["x"]
    assert static.normalize_program(static.default_main_program(), [x], [out]).num_ops() > 0
    with pytest.raises(ValueError, match="no bytes"):
        static.save_to_file("m", "text")
