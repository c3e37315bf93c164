import numpy as np
import pytest

import paddle
from paddle import amp, nn

bf16, f16, f32 = paddle.bfloat16, paddle.float16, paddle.float32


def net():
    return nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.BatchNorm1D(4), nn.Linear(4, 2))


def types_of(model):
    return [p.dtype for p in model.parameters() if not p.stop_gradient]


def test_what_is_converted():
    assert types_of(amp.decorate(net(), level="O2", dtype="bfloat16")) == [bf16] * 4 + [f32] * 2 + [bf16] * 2
    assert types_of(amp.decorate(net(), level="O2", dtype="float16")) == [f16] * 2 + [f32] * 4 + [f16] * 2
    assert types_of(amp.decorate(net(), level="O1")) == [f32] * 8


@pytest.mark.parametrize("excluded", [lambda m: m[0], lambda m: [m[0]], lambda m: [m[0], nn.Conv2D]])
def test_excluded_layers(excluded):
    model = net()
    amp.decorate(model, level="O2", dtype="bfloat16", excluded_layers=excluded(model))
    assert types_of(model) == [f32] * 2 + [bf16] * 2 + [f32] * 2 + [bf16] * 2
    assert types_of(amp.decorate(net(), level="O2", excluded_layers=nn.Linear)) == [f32] * 8


def test_what_comes_back():
    a, b = net(), net()
    optimizer = paddle.optimizer.SGD(0.1, parameters=a.parameters())
    assert amp.decorate(a, level="O2") is a
    assert amp.decorate([b], level="O2")[0] is b
    models, optimizers = amp.decorate(models=a, optimizers=optimizer, level="O2")
    assert models is a and optimizers is optimizer


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("master_grad", [False, True])
def test_training_keeps_float32_weights(dtype, master_grad):
    model = nn.Linear(4, 1)
    optimizer = paddle.optimizer.SGD(1e-4, parameters=model.parameters())
    amp.decorate(model, optimizer, level="O2", dtype=dtype, master_grad=master_grad)
    start = model.weight.astype("float32").numpy()
    for _ in range(20):
        with amp.auto_cast(level="O2", dtype=dtype):
            loss = model(paddle.ones([2, 4])).sum()
        loss.backward()
        assert model.weight.grad.dtype is (f32 if master_grad else model.weight.dtype)
        optimizer.step()
        optimizer.clear_grad()
    master = optimizer.state_dict()["master_weights"][model.weight.name]
    assert master.dtype is f32
    # single steps are below the resolution of the 16-bit weight
    np.testing.assert_allclose(master.numpy(), start - 20 * 2e-4, atol=1e-6)
    np.testing.assert_allclose(model.weight.astype("float32").numpy(), master.numpy(), rtol=0.01)


def test_no_float32_weights_where_none_are_wanted():
    model = nn.Linear(2, 1)
    optimizer = paddle.optimizer.Adam(0.1, parameters=model.parameters())
    amp.decorate(model, optimizer, level="O2", dtype="bfloat16", master_weight=False)
    model(paddle.ones([1, 2], "bfloat16")).sum().backward()
    optimizer.step()
    assert "master_weights" not in optimizer.state_dict()


def test_master_grad_accumulates_in_float32():
    model = amp.decorate(nn.Linear(1, 1, bias_attr=False), level="O2", dtype="bfloat16", master_grad=True)
    for x in (256.0, 1.0):  # 257 is no bfloat16
        model(paddle.to_tensor([[x]]).astype("bfloat16")).sum().backward()
    assert model.weight.grad.tolist() == [[257.0]]


def test_saved_type(tmp_path):
    model = amp.decorate(net(), level="O2", dtype="bfloat16", save_dtype="float32")
    state = model.state_dict()
    assert {t.dtype for t in state.values()} == {f32}
    assert state["0.weight"].name == model[0].weight.name
    assert model[0].weight.dtype is bf16
    paddle.save(state, str(tmp_path / "net.pdparams"))
    other = net()
    other.set_state_dict(paddle.load(str(tmp_path / "net.pdparams")))
    np.testing.assert_array_equal(other[0].weight.numpy(), model[0].weight.astype("float32").numpy())


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: amp.decorate(net(), level="O4"), ValueError),
        (lambda: amp.decorate(net(), level="O2", dtype="int8"), ValueError),
        (lambda: amp.decorate(net(), level="O2", save_dtype="int8"), ValueError),
        (lambda: amp.decorate("net", level="O2"), TypeError),
        (lambda: amp.decorate(net(), "sgd", level="O2"), TypeError),
        (lambda: amp.decorate(net(), level="O2", excluded_layers=["fc"]), TypeError),
        (lambda: amp.decorate(net().double(), level="O2"), RuntimeError),
    ],
)
def test_bad_arguments(call, error):
    with pytest.raises(error, match="decorate"):
        call()
