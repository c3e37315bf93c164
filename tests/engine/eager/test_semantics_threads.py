"""Tensors that a thread has made outlive it."""

import os
import queue
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import paddle


def tensor(*shape, seed=0, sg=True):
    return paddle.to_tensor(np.random.RandomState(seed).randn(*shape).astype("float32"), stop_gradient=sg)


def in_thread(f):
    t = threading.Thread(target=f)
    t.start()
    t.join()


def test_values_of_a_thread_that_has_ended():
    made = []

    def work():
        x = tensor(3)
        made.extend([x * 2 + 1, x * 3])

    in_thread(work)
    x = tensor(3).numpy()
    np.testing.assert_allclose(made[0].numpy(), x * 2 + 1)
    np.testing.assert_allclose((made[1] + made[0]).numpy(), x * 5 + 1, rtol=1e-6)


def test_gradients_through_what_a_thread_has_recorded():
    w = tensor(3, sg=False)
    made = []
    in_thread(lambda: made.append((w * w).exp()))
    made[0].sum().backward()
    a = w.numpy()
    np.testing.assert_allclose(w.grad.numpy(), 2 * a * np.exp(a * a), rtol=1e-5)


def test_a_thread_that_prepares_batches():
    q = queue.Queue(2)

    def work():
        for i in range(6):
            q.put(tensor(4, seed=i) * 2 + 1)
        q.put(None)

    t = threading.Thread(target=work)
    t.start()
    got = []
    while (b := q.get()) is not None:
        got.append(b + 1)
    t.join()
    for i, b in enumerate(got):
        np.testing.assert_allclose(b.numpy(), tensor(4, seed=i).numpy() * 2 + 2, rtol=1e-6)


def test_a_pool_of_threads():
    with ThreadPoolExecutor(3) as pool:
        made = list(pool.map(lambda i: tensor(5, seed=i) * i, range(12)))
    for i, t in enumerate(made):
        np.testing.assert_allclose(t.numpy(), tensor(5, seed=i).numpy() * i, rtol=1e-6)


def test_a_thread_that_fails_does_not_harm_others():
    made = []
    in_thread(lambda: made.extend([tensor(3) * 2, paddle.gather(tensor(3), paddle.to_tensor([7]))]))
    np.testing.assert_allclose(made[0].numpy(), tensor(3).numpy() * 2)
    np.testing.assert_allclose((tensor(3) + 1).numpy(), tensor(3).numpy() + 1)


def test_threads_that_read_a_model_while_it_is_trained():
    def train(readers):
        net = paddle.nn.Sequential(paddle.nn.Linear(5, 7), paddle.nn.ReLU(), paddle.nn.Linear(7, 2))
        for i, p in enumerate(net.parameters()):
            p.set_value(tensor(*p.shape, seed=i))
        x, done, trouble = tensor(3, 5, seed=9), threading.Event(), []

        def read():
            try:
                while not done.is_set():
                    with paddle.no_grad():
                        net(x).sum().item()
                    for p in net.parameters():
                        p.detach().numpy()
            except BaseException as e:
                trouble.append(e)

        threads = [threading.Thread(target=read) for _ in range(readers)]
        for t in threads:
            t.start()
        sgd = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
        try:
            for i in range(60):
                net(x).square().mean().backward()
                sgd.step()
                sgd.clear_grad()
                if i % 9 == 0:
                    net[0].bias.set_value(net[0].bias.numpy() * 0.5)
        finally:
            done.set()
            for t in threads:
                t.join()
        assert not trouble, trouble
        return [p.numpy() for p in net.parameters()]

    alone = train(0)
    turns = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(3):
            for a, b in zip(alone, train(2)):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    finally:
        sys.setswitchinterval(turns)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # that it has threads
def test_a_fork_while_threads_compute():
    done = threading.Event()
    w, a = tensor(4, 4, sg=False), tensor(4, 4, seed=1)

    def work():
        while not done.is_set():
            (w.detach() @ a).sum().item()

    threads = [threading.Thread(target=work) for _ in range(2)]
    turns = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    for t in threads:
        t.start()
    try:
        for _ in range(12):
            child = os.fork()
            if not child:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(20)  # a child that waits for a lock of a thread it does not have
                try:
                    (w @ a).sum().backward()
                    (w.detach() @ a).sum().item()
                    os._exit(0 if np.isfinite(w.grad.numpy()).all() else 1)
                finally:
                    os._exit(2)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        for t in threads:
            t.join()
        sys.setswitchinterval(turns)
