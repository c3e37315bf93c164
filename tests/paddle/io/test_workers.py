"""Worker processes: what they send, how they end, and that nothing is left of them."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest

import paddle
from paddle.io import DataLoader, Dataset, IterableDataset, get_worker_info
from paddle.io.dataloader import pool as pools

LINUX = os.path.exists("/proc/self/maps")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the datasets here are local: they need fork")


class Rows(Dataset):
    def __init__(self, n, make):
        self.n, self.make = n, make

    def __getitem__(self, i):
        return self.make(i)

    def __len__(self):
        return self.n


def left_over():
    """What this process still has of workers: children, and mappings or descriptors of shared memory."""
    found = [str(p) for p in multiprocessing.active_children()]
    if LINUX:
        with open("/proc/self/maps") as maps:
            found += [line for line in maps if "paddle-loader" in line]
        for fd in os.listdir("/proc/self/fd"):
            try:
                target = os.readlink(f"/proc/self/fd/{fd}")
            except OSError:
                continue  # that of listdir itself
            if "paddle-loader" in target:
                found.append(target)
    return found


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = left_over()
    yield
    assert [found for found in left_over() if found not in before] == []


def image(i):
    return np.full((40, 40, 9), i, "float32"), i, f"name {i}"


# ---- batches ----
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("workers", [1, 3])
def test_batches_are_those_made_without_workers(workers, shared):
    wanted = list(DataLoader(Rows(23, image), batch_size=4))
    found = list(DataLoader(Rows(23, image), batch_size=4, num_workers=workers, use_shared_memory=shared))
    assert len(found) == len(wanted) == 6
    for (x, y, names), (wx, wy, wnames) in zip(found, wanted):
        np.testing.assert_array_equal(x.numpy(), wx.numpy())
        assert y.tolist() == wy.tolist() and names == wnames


def test_batches_that_are_held_stay_as_they_are():
    """Places of the shared memory and of the loop's own memory are used again, but not while somebody looks."""
    held = []
    for x, _, _ in DataLoader(Rows(60, image), batch_size=4, num_workers=2):
        held.append(x[1:3] if len(held) % 2 else x.numpy()[::2])
    for i, part in enumerate(held):
        first = 4 * i + (1 if i % 2 else 0)
        np.testing.assert_array_equal(np.asarray(part)[0], image(first)[0])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "bool", "complex64", "int8"])
def test_large_arrays_of_every_kind(dtype):
    make = lambda i: paddle.full([200, 300], i % 2, "float32").astype(dtype)
    for (x,) in zip(DataLoader(Rows(4, make), batch_size=2, num_workers=2)):
        assert x.dtype.name == dtype and x.shape == [2, 200, 300]
        assert [v.real for v in (x if dtype == "complex64" else x.astype("float32"))[:, 0, 0].tolist()] == [0, 1]


def test_arrays_that_are_not_in_order_and_what_a_collate_fn_gives():
    big = np.arange(60_000.0).reshape(200, 300)
    join = lambda samples: {"t": samples[0].T, "swapped": samples[0].astype(">f8"), "text": "x" * 100_000, "n": None}
    (batch,) = DataLoader(Rows(1, lambda i: big), batch_size=1, num_workers=1, collate_fn=join)
    np.testing.assert_array_equal(batch["t"].numpy(), big.T)
    np.testing.assert_array_equal(batch["swapped"].numpy(), big)
    assert batch["text"] == "x" * 100_000 and batch["n"] is None


def test_a_collate_fn_may_keep_what_it_gave():
    kept = []

    def join(samples):
        kept.append(np.stack(samples))
        return [kept[-1], kept[0]]

    for i, (new, old) in enumerate(DataLoader(Rows(6, lambda i: np.full(30_000, i)), num_workers=1, collate_fn=join)):
        assert new[0, 0] == i and old[0, 0] == 0


def test_where_memory_is_short_batches_go_through_the_pipe(monkeypatch):
    def refuse(self, size):
        raise OSError("no memory")

    monkeypatch.setattr("paddle.io.dataloader.shared.SharedFile.grow", refuse)
    found = [x[:, 0, 0, 0].tolist() for x, _, _ in DataLoader(Rows(4, image), batch_size=2, num_workers=1)]
    assert found == [[0, 1], [2, 3]]


# ---- what goes wrong ----
def test_an_exception_comes_at_its_turn_with_its_traceback():
    def make(i):
        if i == 5:
            raise LookupError("sample five")
        return i

    seen = []
    with pytest.raises(LookupError, match="sample five") as caught:
        for batch in DataLoader(Rows(20, make), num_workers=3):
            seen.append(batch.tolist()[0])
    assert seen == [0, 1, 2, 3, 4]
    cause = str(caught.value.__cause__)
    assert "worker 2" in cause and "batch 5, indices [5]" in cause and 'raise LookupError("sample five")' in cause


class Two(Exception):
    """Cannot be made again from what pickle keeps of it."""

    def __init__(self, a, b):
        super().__init__(a)


@pytest.mark.parametrize("error", [Two(1, 2), StopIteration(), SystemExit(3), KeyboardInterrupt()])
@pytest.mark.parametrize("iterable", [False, True])
def test_exceptions_that_cannot_be_raised_again_are_told(error, iterable):
    def make(i):
        raise error

    class Stream(IterableDataset):
        def __iter__(self):
            yield make(0)

    with pytest.raises(RuntimeError, match=type(error).__name__):
        list(iter(DataLoader(Stream() if iterable else Rows(3, make), num_workers=1)))


def test_stop_iteration_without_workers_does_not_end_the_loop_early():
    def make(i):
        raise StopIteration

    with pytest.raises(RuntimeError, match="raised StopIteration"):
        list(DataLoader(Rows(3, make)))


def test_what_the_sampler_raises_comes_after_its_batches():
    def order():
        yield [0]
        yield [1]
        raise ArithmeticError("no more order")

    class Order:
        def __iter__(self):
            return order()

    seen = []
    with pytest.raises(ArithmeticError):
        for batch in DataLoader(Rows(9, lambda i: i), batch_sampler=Order(), num_workers=2):
            seen.append(batch.tolist())
    assert seen == [[0], [1]]


def test_what_cannot_be_pickled_is_named():
    with pytest.raises(TypeError, match="cannot be sent from its worker"):
        list(DataLoader(Rows(2, lambda i: i), num_workers=1, collate_fn=lambda samples: lambda: samples))


def test_a_worker_init_fn_that_fails():
    def init(worker):
        raise ValueError(f"worker {worker} does not want to")

    with pytest.raises(ValueError, match="does not want to") as caught:
        list(DataLoader(Rows(4, lambda i: i), num_workers=2, worker_init_fn=init))
    assert "at its start" in str(caught.value.__cause__)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGTERM"])
def test_a_worker_that_is_killed_is_named(name):
    def make(i):
        if i == 3:
            os.kill(os.getpid(), getattr(signal, name))
        return i

    with pytest.raises(RuntimeError, match=rf"worker 1 \(process \d+\) was killed by {name}") as caught:
        list(DataLoader(Rows(6, make), num_workers=2))
    assert "batch 3, indices [3]" in str(caught.value)
    if name == "SIGSEGV":
        assert "Segmentation fault" in str(caught.value) and "in make" in str(caught.value)


def test_a_worker_that_hangs_tells_where():
    def stuck(i):
        threading.Event().wait()

    with pytest.raises(RuntimeError, match="no batch came in time from worker 0") as caught:
        list(DataLoader(Rows(6, stuck), num_workers=2, timeout=0.2))
    assert "in stuck" in str(caught.value) and "timeout=0.2" in str(caught.value)


def test_an_iterator_that_failed_is_at_its_end():
    iterator = iter(DataLoader(Rows(6, lambda i: 1 / i), num_workers=1))
    with pytest.raises(ZeroDivisionError):
        next(iterator)
    assert list(iterator) == []


@pytest.mark.parametrize("case", range(5))
def test_a_worker_killed_at_any_moment_is_noticed_and_leaves_nothing(case):
    rng = np.random.default_rng(case)
    loader = DataLoader(Rows(10**6, image), batch_size=8, num_workers=2, persistent_workers=case % 2 == 0)
    iterator = iter(loader)
    victim = iterator._pool.workers[rng.integers(2)].process.pid
    killer = threading.Timer(rng.uniform(0, 0.1), os.kill, (victim, signal.SIGKILL))
    killer.start()
    with pytest.raises(RuntimeError, match=rf"process {victim}\) was killed by SIGKILL"):
        for _ in iterator:
            pass
    killer.join()
    assert left_over() == []


def test_workers_end_with_the_process_of_the_loop():
    """Also one that hangs in its dataset."""
    code = textwrap.dedent(
        """
        import sys, time
        import paddle
        from paddle.io.dataloader import worker

        worker._LOOK_S = 0.02

        class Slow(paddle.io.Dataset):
            def __getitem__(self, i):
                if i == 1:
                    time.sleep(1000)
                return i

            def __len__(self):
                return 10

        iterator = iter(paddle.io.DataLoader(Slow(), num_workers=2))
        next(iterator)
        print(*(w.process.pid for w in iterator._pool.workers), flush=True)
        time.sleep(1000)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pids = [int(p) for p in process.stdout.readline().split()]
    process.kill()
    process.communicate()
    assert len(pids) == 2
    deadline = time.monotonic() + 20
    while any(alive(p) for p in pids):
        assert time.monotonic() < deadline, "a worker outlives the process of its loop"
        time.sleep(0.01)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if LINUX:  # where nobody waits for it, it stays as a zombie
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    return True


@pytest.fixture
def interruptible():
    """Also where the tests run in the background, which ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_is_for_the_loop(interruptible):
    """Workers do not answer a Ctrl-C at the terminal, which reaches them too; the loop ends them."""

    def make(i):
        if i == 5:
            threading.Timer(0.05, os.kill, (os.getppid(), signal.SIGINT)).start()
            threading.Event().wait()
        return i

    iterator = iter(DataLoader(Rows(9, make), num_workers=2))
    for w in iterator._pool.workers:
        os.kill(w.process.pid, signal.SIGINT)
    seen = []
    with pytest.raises(KeyboardInterrupt):
        for batch in iterator:
            seen.append(batch.tolist()[0])
    assert seen == [0, 1, 2, 3, 4]
    assert list(iterator) == [] and left_over() == []


# ---- several loaders, and loops that end early ----
@pytest.mark.parametrize("persistent", [False, True])
def test_a_loop_that_is_left_ends_its_workers(persistent):
    loader = DataLoader(Rows(100, image), batch_size=2, num_workers=2, persistent_workers=persistent)
    for _ in range(3):
        for batch in loader:
            assert float(batch[0][0].max()) == 0
            break
    assert len(multiprocessing.active_children()) == (2 if persistent else 0)


@pytest.mark.parametrize("persistent", [False, True])
def test_a_loader_inside_a_loop_over_itself(persistent):
    loader = DataLoader(Rows(6, lambda i: i), num_workers=2, persistent_workers=persistent)
    found = [(a.tolist()[0], b.tolist()[0]) for a in loader for b in loader]
    assert found == [(a, b) for a in range(6) for b in range(6)]


def test_two_loaders_at_once():
    a = iter(DataLoader(Rows(9, image), num_workers=2))
    b = iter(DataLoader(Rows(9, lambda i: -i), num_workers=2))
    for i, (x, y) in enumerate(zip(a, b)):
        assert float(x[0].max()) == i and y.tolist() == [-i]
    assert list(b) == [] and list(a) == []


def test_a_process_forked_beside_leaves_the_workers_alone():
    iterator = iter(DataLoader(Rows(30, image), num_workers=2))
    next(iterator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 has an opinion on forks and threads
        pid = os.fork()
    if pid == 0:
        try:
            closed = iterator._pool.closed
            del iterator
            os._exit(0 if closed else 1)
        finally:
            os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0
    assert [int(x[0].max()) for x, *_ in zip(*[iter(list(iterator))])] == list(range(1, 30))


def test_threads_may_share_an_iterator():
    iterator, seen = iter(DataLoader(Rows(40, lambda i: i), num_workers=2)), []
    threads = [threading.Thread(target=lambda: [seen.append(b.tolist()[0]) for b in iterator]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(seen) == list(range(40))


def test_workers_may_not_start_workers():
    make = lambda i: list(DataLoader(Rows(2, lambda j: j), num_workers=1))
    with pytest.raises(RuntimeError, match="may not start workers"):
        list(DataLoader(Rows(2, make), num_workers=1))
    inside = lambda i: sum(int(b) for b in DataLoader(Rows(4, lambda j: j)))
    assert [b.tolist() for b in DataLoader(Rows(2, inside), num_workers=1)] == [[6], [6]]


# ---- streams ----
class Share(IterableDataset):
    def __init__(self, lengths):
        self.lengths = lengths

    def __iter__(self):
        for i in range(self.lengths[get_worker_info().id]):
            yield np.array([get_worker_info().id, i])


@pytest.mark.parametrize("lengths", [(5, 5), (1, 8), (0, 3), (0, 0)])
@pytest.mark.parametrize("persistent", [False, True])
def test_streams_of_different_lengths(lengths, persistent):
    loader = DataLoader(Share(lengths), batch_size=2, num_workers=2, persistent_workers=persistent)
    wanted = sorted((w, i) for w, n in enumerate(lengths) for i in range(n))
    first, second = ([b.tolist() for b in loader] for _ in range(2))
    assert sorted(tuple(row) for b in first for row in b) == wanted and first == second


# ---- seeds ----
def draws(i):
    import random

    info = get_worker_info()
    return np.array([info.id, info.seed % 2**31, random.random(), np.random.random(), float(paddle.rand([1]))])


def test_seeds_of_workers():
    """Other ones per worker and per pass; the same under one paddle.seed; the sequence of the loop is left alone."""
    loader = DataLoader(Rows(4, draws), batch_size=None, num_workers=2)
    paddle.seed(3)
    first, second = ([b.tolist() for b in loader] for _ in range(2))
    drawn = paddle.rand([2]).tolist()
    paddle.seed(3)
    assert drawn == paddle.rand([2]).tolist()
    paddle.seed(3)
    assert [b.tolist() for b in loader] == first
    for column in (1, 2, 3, 4):
        values = [row[column] for row in (first[0], first[1], second[0], second[1])]
        assert len(set(values)) == 4, f"column {column} repeats: {values}"


def test_without_paddle_seed_seeds_come_from_numpy_as_upstream(monkeypatch):
    from paddle.framework.random import default_generator

    monkeypatch.setattr(default_generator(), "_chosen", False)
    loader = DataLoader(Rows(6, lambda i: np.array([np.random.randint(0, 1000), i])), num_workers=2, shuffle=True)
    np.random.seed(0)
    found = [b.tolist()[0] for b in loader]
    assert found == [[522, 4], [234, 2], [297, 1], [407, 3], [434, 0], [586, 5]]  # PaddlePaddle 3.3.1


def test_a_worker_init_fn_may_seed():
    loader = DataLoader(Rows(4, draws), batch_size=None, num_workers=2, worker_init_fn=lambda w: np.random.seed(7 + w))
    found = [b.tolist()[3] for b in loader]
    a, b = np.random.RandomState(7), np.random.RandomState(8)
    assert found == [a.random(), b.random(), a.random(), b.random()]


# ---- processes that are not forked ----
def test_started_workers_do_as_forked_ones(tmp_path):
    """As on systems without fork, and without descriptors that can be handed on."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import numpy as np
            import paddle
            from paddle.io.dataloader import pool

            class Images(paddle.io.Dataset):
                def __getitem__(self, i):
                    return np.full((100, 100), i, "float32"), i

                def __len__(self):
                    return 6

            if __name__ == "__main__":
                pool._method = lambda: "spawn"
                for available in (pool.available, lambda: False):
                    pool.available = available
                    loader = paddle.io.DataLoader(Images(), batch_size=2, num_workers=1)
                    print([(x.sum().tolist(), y.tolist()) for x, y in loader])
                try:
                    list(paddle.io.DataLoader(Images(), num_workers=1, collate_fn=lambda s: s))
                except TypeError as e:
                    print(e)
            """
        )
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    first, second, *error = done.stdout.splitlines()
    assert first == second == "[(10000.0, [0, 1]), (50000.0, [2, 3]), (90000.0, [4, 5])]"
    assert "the collate_fn cannot be sent to a worker" in error[0] and done.stderr == ""


def test_what_cannot_be_sent_is_named():
    from paddle.io.dataloader.fetcher import Fetcher

    bad = lambda samples: samples
    assert pools._not_sent(Fetcher([1], False, None, 1, False), None) is None
    assert "dataset" in str(pools._not_sent(Fetcher(Rows(1, bad), False, None, 1, False), None))
    assert "worker_init_fn" in str(pools._not_sent(Fetcher([1], False, None, 1, False), bad))
