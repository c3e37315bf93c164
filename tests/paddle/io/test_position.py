"""A loader goes on in another process where it was: orders, random numbers of workers, streams."""

import json
import random

import numpy as np
import pytest

import paddle
from paddle.io import (
    BatchSampler,
    DataLoader,
    Dataset,
    DistributedBatchSampler,
    IterableDataset,
    RandomSampler,
    SubsetRandomSampler,
    get_worker_info,
)


class Augmented(Dataset):
    def __getitem__(self, i):
        return np.array([i, np.random.random(), random.random(), np.random.randn()]), float(paddle.rand([1]))

    def __len__(self):
        return 50


class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        share, count = (0, 1) if info is None else (info.id, info.num_workers)
        for i in range(share, 25 + (8 if share == 0 else 0), count):
            yield np.array([i, np.random.random()])


def seed(n):
    paddle.seed(n)
    np.random.seed(n)
    random.seed(n)


def values(batch):
    return [part.tolist() for part in (batch if isinstance(batch, list) else [batch])]


def run(loader, epochs, state_after=0):
    """All batches of some epochs; the loader's state and Paddle's generator as they were after so many batches."""
    found, state = [], None
    for epoch in epochs:
        for batch in loader:
            found.append((epoch, values(batch)))
            if len(found) == state_after:
                state = json.loads(json.dumps(loader.state_dict())), paddle.get_rng_state()
    return found, state


def goes_on(make, after, epochs=3):
    """Whether a second loader, from the state of a first, gives what was left for it."""
    seed(5)
    whole, (state, rng) = run(make(), range(epochs), after)
    seed(99)
    np.random.rand(7)
    loader = make()
    paddle.set_rng_state(rng)
    loader.set_state_dict(state)
    assert loader.state_dict() == state
    rest, _ = run(loader, range(state["epoch"], epochs))
    assert len(whole) > after
    return rest == whole[after:]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("after", [1, 13, 24])
def test_a_shuffled_dataset_goes_on(workers, after):
    assert goes_on(lambda: DataLoader(Augmented(), batch_size=4, shuffle=True, num_workers=workers), after)


@pytest.mark.parametrize("after", [6, 13, 19])
def test_workers_that_stay_go_on(after):
    make = lambda: DataLoader(Augmented(), None, batch_size=4, shuffle=True, num_workers=2, persistent_workers=True)
    assert goes_on(make, after)


@pytest.mark.parametrize("persistent", [False, True])
def test_it_goes_on_between_epochs(persistent):
    make = lambda: DataLoader(Augmented(), batch_size=9, shuffle=True, num_workers=2, persistent_workers=persistent)
    seed(5)
    loader = make()
    run(loader, range(2))
    state, rng = json.loads(json.dumps(loader.state_dict())), paddle.get_rng_state()
    assert state["epoch"] == 2 and state["batches"] == 0
    wanted, _ = run(loader, [2])
    seed(99)
    other = make()
    paddle.set_rng_state(rng)
    other.set_state_dict(state)
    assert run(other, [2])[0] == wanted


@pytest.mark.parametrize("workers, after", [(0, 5), (2, 3), (2, 8), (2, 12)])
def test_a_stream_goes_on(workers, after):
    assert goes_on(lambda: DataLoader(Stream(), batch_size=3, num_workers=workers), after)


@pytest.mark.parametrize(
    "sampler",
    [
        lambda: DistributedBatchSampler(Augmented(), 4, 2, 1, shuffle=True),
        lambda: BatchSampler(sampler=SubsetRandomSampler(range(30)), batch_size=4),
        lambda: BatchSampler(
            sampler=RandomSampler(Augmented(), True, 20, generator=iter(i * 7 % 50 for i in range(99))), batch_size=4
        ),
    ],
    ids=["distributed", "subset", "generator"],
)
def test_samplers_go_on(sampler):
    assert goes_on(lambda: DataLoader(Augmented(), batch_sampler=sampler()), 10)


class Own:
    """A sampler with an epoch, as those have that follow DistributedBatchSampler."""

    def __init__(self):
        self.epoch = 0

    def __iter__(self):
        order = np.random.RandomState(self.epoch).permutation(20).tolist()
        self.epoch += 1
        yield from (order[i : i + 5] for i in range(0, 20, 5))


def test_a_sampler_of_the_user_goes_on():
    assert goes_on(lambda: DataLoader(Augmented(), batch_sampler=Own(), num_workers=2), 6)


def test_an_order_that_is_drawn_batch_by_batch_goes_on():
    class Lazy:
        def __iter__(self):
            for _ in range(9):
                yield np.random.randint(0, 50, 3).tolist()

    assert goes_on(lambda: DataLoader(Augmented(), batch_sampler=Lazy(), num_workers=2), 12)


def test_batches_that_were_made_ahead_are_not_lost():
    loader = DataLoader(Augmented(), batch_size=5, num_workers=2, prefetch_factor=5)
    iterator = iter(loader)
    seen = [next(iterator)[0][:, 0].tolist() for _ in range(3)]
    later = DataLoader(Augmented(), batch_size=5, num_workers=2, prefetch_factor=5)
    later.set_state_dict(loader.state_dict())
    seen += [x[:, 0].tolist() for x, _ in later]
    assert [i for batch in seen for i in batch] == list(range(50))


def test_the_position_after_a_break_and_after_the_end():
    loader = DataLoader(Augmented(), batch_size=10)
    for i, _ in enumerate(loader):
        if i == 2:
            break
    assert (loader.state_dict()["epoch"], loader.state_dict()["batches"]) == (0, 3)
    list(loader)
    assert (loader.state_dict()["epoch"], loader.state_dict()["batches"]) == (2, 0)


def test_the_last_batch_leaves_an_epoch_without_batches():
    loader = DataLoader(Augmented(), batch_size=25)
    states = [loader.state_dict() for _ in loader]
    later = DataLoader(Augmented(), batch_size=25)
    later.set_state_dict(states[-1])
    assert list(later) == [] and len(list(later)) == 2


def test_another_number_of_workers():
    loader = DataLoader(Augmented(), batch_size=5, shuffle=True, num_workers=2)
    seed(1)
    iterator = iter(loader)
    next(iterator)
    state, wanted = loader.state_dict(), [x[:, 0].tolist() for x, _ in iterator]
    other = DataLoader(Augmented(), batch_size=5, shuffle=True, num_workers=3)
    other.set_state_dict(state)
    with pytest.warns(UserWarning, match="taken with 2 workers, now there are 3"):
        found = [x[:, 0].tolist() for x, _ in other]
    assert found == wanted
    stream = DataLoader(Stream(), batch_size=3, num_workers=2)
    next(iter(stream))
    other = DataLoader(Stream(), batch_size=3, num_workers=1)
    other.set_state_dict(stream.state_dict())
    with pytest.raises(ValueError, match="belongs to the number of workers"):
        iter(other)


@pytest.mark.parametrize("state", [None, {}, {"epoch": 0}, 3, {"length": None, "generators": {}}])
def test_something_else_is_no_state(state):
    with pytest.raises(ValueError, match="no state of a DataLoader"):
        DataLoader(Augmented()).set_state_dict(state)


def test_a_state_of_another_loader_is_refused():
    state = DataLoader(Augmented(), batch_size=10).state_dict()
    with pytest.raises(ValueError, match="another number of batches"):
        DataLoader(Augmented(), batch_size=9).set_state_dict(state)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_position_beyond_the_end_is_refused(workers):
    class Order:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return iter([[0]] * self.n)

    loader = DataLoader(Augmented(), batch_sampler=Order(9), num_workers=workers)
    states = [loader.state_dict() for _ in loader]
    shorter = DataLoader(Augmented(), batch_sampler=Order(4), num_workers=workers)
    shorter.set_state_dict(states[6])
    with pytest.raises(ValueError, match="beyond the end"):
        list(iter(shorter))


def test_a_generator_of_indices_does_not_go_back():
    sampler = RandomSampler(range(9), num_samples=3, generator=iter(range(9)))
    state = sampler.state_dict()
    list(sampler)
    with pytest.raises(RuntimeError, match="cannot go back"):
        sampler.set_state_dict(state)


def test_a_state_goes_through_a_file(tmp_path):
    loader = DataLoader(Augmented(), batch_size=5, num_workers=2)
    next(iter(loader))
    state = loader.state_dict()
    paddle.save({"loader": state, "weight": paddle.ones([2])}, str(tmp_path / "checkpoint"))
    assert paddle.load(str(tmp_path / "checkpoint"))["loader"] == state
