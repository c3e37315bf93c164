import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.amp import GradScaler


def problem(bad=False):
    """A layer with weight 1, its optimizer, and a loss with gradient 3 (or infinite)."""
    fc = nn.Linear(1, 1, weight_attr=nn.initializer.Constant(1.0), bias_attr=False)
    x = np.array([[np.inf if bad else 3.0]], "float32")
    return fc, paddle.optimizer.SGD(0.1, parameters=fc.parameters()), lambda: fc(paddle.to_tensor(x)).sum()


def test_a_step_is_that_of_the_unscaled_loss():
    fc, optimizer, loss = problem()
    scaler = GradScaler(init_loss_scaling=1024.0)
    for i in range(1, 4):
        scaled = scaler.scale(loss())
        assert float(scaled) == pytest.approx(1024 * 3 * fc.weight.item())
        scaled.backward()
        assert fc.weight.grad.item() == 3072.0
        scaler.step(optimizer)
        scaler.update()
        assert fc.weight.grad.item() == 3.0
        optimizer.clear_grad()
        assert fc.weight.item() == pytest.approx(1 - 0.3 * i)


def test_unscaled_gradients_can_be_clipped():
    fc, optimizer, loss = problem()
    scaler = GradScaler(init_loss_scaling=8.0)
    scaler.scale(loss()).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(fc.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    assert fc.weight.item() == pytest.approx(0.9, abs=1e-5)


def test_minimize():
    fc, optimizer, loss = problem()
    scaler = GradScaler(init_loss_scaling=8.0, incr_every_n_steps=1)
    scaled = scaler.scale(loss())
    scaled.backward()
    scaler.minimize(optimizer, scaled)
    assert fc.weight.item() == pytest.approx(0.7)
    assert scaler.state_dict()["scale"].tolist() == [16.0]


@pytest.mark.parametrize("how", ["step", "minimize"])
def test_overflow_leaves_the_step_out_and_shrinks_the_factor(how):
    fc, optimizer, loss = problem(bad=True)
    scaler = GradScaler(init_loss_scaling=8.0, decr_ratio=0.25, decr_every_n_nan_or_inf=2)
    for expected in (8.0, 2.0, 2.0, 0.5):
        scaled = scaler.scale(loss())
        scaled.backward()
        if how == "step":
            scaler.step(optimizer)
            scaler.update()
        else:
            assert scaler.minimize(optimizer, scaled) == (None, None)
        optimizer.clear_grad()
        assert scaler.state_dict()["scale"].tolist() == [expected]
    assert fc.weight.item() == 1.0


def test_good_steps_in_a_row_let_the_factor_grow():
    fc, optimizer, loss = problem()
    scaler = GradScaler(init_loss_scaling=8.0, incr_ratio=4.0, incr_every_n_steps=2)
    factors = []
    for _ in range(4):
        scaler.scale(loss()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        factors.append(scaler.state_dict()["scale"].item())
    assert factors == [8.0, 32.0, 32.0, 128.0]


def test_a_fixed_factor():
    _, optimizer, loss = problem(bad=True)
    scaler = GradScaler(init_loss_scaling=8.0, use_dynamic_loss_scaling=False)
    scaler.scale(loss()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.state_dict()["scale"].item() == 8.0
    assert not scaler.is_use_dynamic_loss_scaling()


def test_float16_gradients_that_would_vanish():
    weights = []
    for factor in (1.0, 2.0**14):
        fc = nn.Linear(1, 1, weight_attr=nn.initializer.Constant(1.0), bias_attr=False)
        optimizer = paddle.optimizer.SGD(1e4, parameters=fc.parameters())
        scaler = GradScaler(init_loss_scaling=factor)
        with paddle.amp.auto_cast(dtype="float16"):
            loss = (fc(paddle.to_tensor([[1.0]])) * 1e-4).sum() * 1e-5  # the gradient is 1e-9
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        weights.append(fc.weight.item())
    assert weights[0] == 1.0
    assert weights[1] == pytest.approx(1 - 1e-5, abs=1e-6)


def test_two_optimizers_and_one_scaler():
    (a, first, loss_a), (b, second, loss_b) = problem(), problem()
    scaler = GradScaler(init_loss_scaling=8.0)
    scaler.scale(loss_a() + loss_b()).backward()
    scaler.step(first)
    scaler.step(second)
    scaler.update()
    assert a.weight.item() == b.weight.item() == pytest.approx(0.7)


def test_a_parameter_without_gradient_is_left_alone():
    fc, spare = nn.Linear(1, 1), nn.Linear(1, 1)
    optimizer = paddle.optimizer.SGD(0.1, parameters=[*fc.parameters(), *spare.parameters()])
    scaler = GradScaler()
    scaler.scale(fc(paddle.ones([1, 1])).sum()).backward()
    scaler.step(optimizer)
    assert spare.weight.grad is None


def test_order_of_calls():
    _, optimizer, loss = problem()
    scaler = GradScaler()
    scaler.scale(loss()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="unscale_ was called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="GradScaler.step"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="step was called"):
        scaler.unscale_(optimizer)
    scaler.update()


def test_switched_off():
    fc, optimizer, loss = problem()
    scaler = GradScaler(enable=False)
    out = loss()
    assert scaler.scale(out) is out
    out.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert fc.weight.item() == pytest.approx(0.7)
    assert scaler.state_dict() == {} and not scaler.is_enable() and not scaler.is_use_dynamic_loss_scaling()


def test_state():
    scaler = GradScaler(init_loss_scaling=32.0, incr_ratio=3.0, decr_ratio=0.1, incr_every_n_steps=7)
    scaler._incr_count = 5
    other = GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    assert list(scaler.state_dict()) == ["scale", "incr_ratio", "decr_ratio", "incr_every_n_steps",
                                         "decr_every_n_nan_or_inf", "incr_count", "decr_count",
                                         "use_dynamic_loss_scaling"]  # fmt: skip
    with pytest.raises(RuntimeError, match="empty"):
        other.load_state_dict({})
    GradScaler(enable=False).load_state_dict({})


def test_settings():
    scaler = GradScaler()
    for name, value in (("init_loss_scaling", 4.0), ("incr_ratio", 3.0), ("decr_ratio", 0.2), ("incr_every_n_steps", 9),
                        ("decr_every_n_nan_or_inf", 3)):  # fmt: skip
        getattr(scaler, f"set_{name}")(value)
        assert getattr(scaler, f"get_{name}")() == value
    assert scaler.scale(paddle.ones([2])).tolist() == [4.0, 4.0]
    for call in (lambda: GradScaler(incr_ratio=1.0), lambda: GradScaler(decr_ratio=1.0),
                 lambda: scaler.set_incr_ratio(0.5), lambda: scaler.set_decr_ratio(2.0)):  # fmt: skip
        with pytest.raises(AssertionError):
            call()
    with pytest.raises(TypeError, match="not a Tensor"):
        scaler.scale(1.0)


@pytest.mark.parametrize("level", ["O1", "O2"])
def test_gradients_by_rows(level):
    table = nn.Embedding(5, 2, sparse=True, weight_attr=nn.initializer.Constant(1.0))
    optimizer = paddle.optimizer.SGD(0.5, parameters=table.parameters())
    paddle.amp.decorate(table, optimizer, level=level, dtype="bfloat16", master_grad=True)
    scaler = GradScaler(init_loss_scaling=16.0)
    for _ in range(2):
        with paddle.amp.auto_cast(level=level, dtype="bfloat16"):
            loss = table(paddle.to_tensor([1, 3, 3])).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
    assert table.weight.astype("float32")[:, 0].tolist() == [1.0, 0.0, 1.0, -1.0, 1.0]
