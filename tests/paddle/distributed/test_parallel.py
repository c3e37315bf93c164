import numpy as np
import pytest

import paddle
import paddle.distributed as dist


def test_a_single_process():
    assert (dist.get_rank(), dist.get_world_size(), dist.is_initialized()) == (0, 1, False)
    env = dist.ParallelEnv()
    assert (env.rank, env.nranks, env.local_rank, env.trainer_endpoints) == (0, 1, 0, [""])
    with pytest.warns(UserWarning, match="only one process"):
        dist.init_parallel_env()


def test_the_launcher_tells_the_place(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINER_ID", "2")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "4")
    monkeypatch.setenv("PADDLE_TRAINER_ENDPOINTS", "a:1,b:2")
    assert (dist.get_rank(), dist.get_world_size()) == (2, 4)
    assert dist.ParallelEnv().trainer_endpoints == ["a:1", "b:2"]
    with pytest.raises(NotImplementedError, match="PADDLE_TRAINERS_NUM=4"):
        dist.init_parallel_env()
    with pytest.raises(NotImplementedError):
        paddle.DataParallel(paddle.nn.Linear(2, 2))


def test_groups():
    group = dist.communication.Group(1, 7, [3, 5])
    assert (dist.get_rank(group), dist.get_world_size(group)) == (1, 2)
    assert group.get_group_rank(5) == 1 and group.get_group_rank(4) == -1 and group.get_global_rank(0) == 3
    assert group.is_member() and not dist.communication.Group(-1, 8, [0]).is_member()


def test_data_parallel_is_the_layer_itself():
    layer = paddle.nn.Linear(2, 3)
    model = paddle.DataParallel(layer, find_unused_parameters=True)
    x = paddle.to_tensor(np.ones((4, 2), "float32"))
    np.testing.assert_array_equal(model(x).numpy(), layer(x).numpy())
    assert list(model.state_dict()) == ["weight", "bias"]
    assert [n for n, _ in model.named_parameters()] == ["_layers.weight", "_layers.bias"]
    loss = model(x).sum()
    assert model.scale_loss(loss) is loss
    model.set_state_dict({"weight": np.zeros((2, 3), "float32"), "bias": np.ones(3, "float32")})
    assert model(x).numpy().tolist() == [[1.0] * 3] * 4


def test_no_sync_accumulates_as_ever():
    model = paddle.DataParallel(paddle.nn.Linear(2, 1))
    x = paddle.ones([3, 2])
    with model.no_sync():
        assert not model.grad_need_sync
        model(x).sum().backward()
    model(x).sum().backward()
    model.apply_collective_grads()
    assert model.grad_need_sync and model._layers.weight.grad.tolist() == [[6.0], [6.0]]


def test_data_parallel_rejects_what_is_no_layer():
    with pytest.raises(AttributeError):
        paddle.DataParallel(3)
