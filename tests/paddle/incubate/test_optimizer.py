"""Against what PaddlePaddle 3.3.1 gives for the same steps."""

import numpy as np
import pytest

import paddle

X = [[1.0, 2.0], [3.0, -1.0]]


def start():
    net = paddle.nn.Linear(2, 1)
    net.weight.set_value(np.array([[1.0], [2.0]], "float32"))
    net.bias.set_value(np.array([0.5], "float32"))
    return net, paddle.optimizer.SGD(0.1, parameters=net.parameters())


def backward(net):
    (net(paddle.to_tensor(X)) ** 2).mean().backward()


def test_look_ahead():
    net, inner = start()
    optimizer = paddle.incubate.LookAhead(inner, alpha=0.2, k=3)
    seen = []
    for _ in range(7):
        backward(net)
        optimizer.step()
        optimizer.clear_grad()
        seen.append(net.weight.numpy().ravel())
    want = [[0.0, 1.05], [0.185, 0.545], [0.0321, 0.9035], [0.18159, 0.47777], [0.162045, 0.285611],
            [0.05930813, 0.76158094], [0.17895316, 0.41242003]]  # fmt: skip
    np.testing.assert_allclose(seen, want, rtol=1e-5, atol=1e-6)
    other, inner = start()
    again = paddle.incubate.LookAhead(inner, alpha=0.2, k=3)
    state = {k.replace(net.weight.name, other.weight.name).replace(net.bias.name, other.bias.name): v
             for k, v in optimizer.state_dict().items()}  # fmt: skip
    again.set_state_dict(state)
    other.set_state_dict(net.state_dict())
    for n, o in ((net, optimizer), (other, again)):
        for _ in range(3):
            backward(n)
            o.step()
            o.clear_grad()
    np.testing.assert_array_equal(net.weight.numpy(), other.weight.numpy())


def test_model_average():
    net, optimizer = start()
    average = paddle.incubate.ModelAverage(0.15, net.parameters(), min_average_window=2, max_average_window=4)
    seen = []
    for _ in range(5):
        backward(net)
        optimizer.step()
        average.step()
        optimizer.clear_grad()
        own = net.weight.numpy()
        with average.apply():
            seen.append(net.weight.numpy().ravel())
        np.testing.assert_array_equal(net.weight.numpy(), own)
    want = [[0.0, 1.05], [0.0925, 0.7975], [0.11516666, 0.6375], [0.16422498, 0.26317495], [0.16555832, 0.22813495]]
    np.testing.assert_allclose(seen, want, rtol=1e-5)
    with average.apply(need_restore=False):
        pass
    np.testing.assert_array_equal(net.weight.numpy().ravel(), seen[-1])
    average.restore()
    np.testing.assert_array_equal(net.weight.numpy(), own)


def test_bad_arguments():
    _, inner = start()
    for call in (lambda: paddle.incubate.LookAhead(None), lambda: paddle.incubate.LookAhead(inner, alpha=2.0),
                 lambda: paddle.incubate.LookAhead(inner, k=0)):  # fmt: skip
        with pytest.raises(AssertionError):
            call()
    with pytest.raises(ValueError):
        paddle.incubate.ModelAverage(0.1)


def test_steps_around_nodes():
    row = paddle.to_tensor([3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7])
    colptr = paddle.to_tensor([0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13])
    src, dst, nodes, at = paddle.incubate.graph_khop_sampler(row, colptr, paddle.to_tensor([0, 8]), [5, 5])
    edges = {(nodes[a].item(), nodes[b].item()) for a, b in zip(src.ravel().tolist(), dst.ravel().tolist())}
    assert nodes.tolist()[:2] == [0, 8] and at.tolist() == [0, 1]
    assert {(3, 0), (7, 0), (9, 8), (7, 8), (4, 3)} <= edges
