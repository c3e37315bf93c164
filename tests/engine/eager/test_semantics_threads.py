"""Tensors that a thread has made outlive it."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

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
