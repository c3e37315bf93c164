import os
import weakref

import numpy as np
import pytest

import paddle
from paddle.io import BatchSampler, DataLoader, Dataset, IterableDataset, get_worker_info, reader


class Rows(Dataset):
    def __init__(self, n, make=None):
        self.n, self.make = n, make or (lambda i: (np.array([i, 2 * i], "float32"), i))

    def __getitem__(self, i):
        return self.make(i)

    def __len__(self):
        return self.n


class Stream(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        step, first = (1, 0) if info is None else (info.num_workers, info.id)
        for i in range(first, self.n, step):
            yield np.array([i], "float32")


def values(loader):
    return [b.tolist() if hasattr(b, "tolist") else [f.tolist() for f in b] for b in loader]


def test_batches_of_fields():
    loader = DataLoader(Rows(5), batch_size=2)
    assert values(loader) == [[[[0, 0], [1, 2]], [0, 1]], [[[2, 4], [3, 6]], [2, 3]], [[[4, 8]], [4]]]
    assert len(loader) == 3
    x, y = next(iter(loader))
    assert x.dtype is paddle.float32 and y.dtype is paddle.int64 and x.stop_gradient


def test_without_batches_samples_come_as_they_are():
    x, y = next(iter(DataLoader(Rows(2), batch_size=None)))
    assert x.shape == [2] and y == 0
    assert len(DataLoader(Rows(4), batch_size=None)) == 4
    (kept,) = DataLoader(Rows(1, lambda i: np.float32(i)), batch_size=None)
    assert type(kept) is np.float32


@pytest.mark.parametrize(
    "sample, dtype, shape",
    [(1, "int64", [2]), (2.5, "float64", [2]), (True, "bool", [2]), (np.float16(1), "float16", [2]),
     (np.zeros((0, 3)), "float64", [2, 0, 3]), (np.array(3), "int64", [2])],
)  # fmt: skip
def test_leaves(sample, dtype, shape):
    (batch,) = DataLoader(Rows(2, lambda i: sample), batch_size=2)
    assert batch.dtype.name == dtype and batch.shape == shape


def test_structures_are_kept():
    (batch,) = DataLoader(Rows(2, lambda i: {"a": (i, [str(i)]), "b": {"c": paddle.ones([3])}}), batch_size=2)
    assert batch["a"][0].tolist() == [0, 1] and batch["a"][1] == [["0", "1"]] and batch["b"]["c"].shape == [2, 3]


def test_what_cannot_be_joined_is_an_error():
    with pytest.raises(TypeError, match="NoneType"):
        list(DataLoader(Rows(2, lambda i: None)))
    with pytest.raises(RuntimeError, match="number of fields"):
        list(DataLoader(Rows(2, lambda i: [1] * (i + 1)), batch_size=2))
    with pytest.raises(ValueError):
        list(DataLoader(Rows(2, lambda i: np.zeros(i)), batch_size=2))
    with pytest.raises(ZeroDivisionError):
        list(DataLoader(Rows(2, lambda i: 1 / i)))


def test_collate_fn_has_the_last_word():
    (batch,) = DataLoader(Rows(3), batch_size=3, collate_fn=lambda samples: len(samples))
    assert batch == 3


def test_batches_do_not_share_memory_with_the_dataset():
    kept = np.ones(2, "float32")
    (x,) = DataLoader(Rows(1, lambda i: kept), batch_size=None)
    kept[:] = 5
    assert x.tolist() == [1, 1]


def test_shuffle_follows_numpy_and_changes_by_epoch():
    loader = DataLoader(Rows(50, lambda i: i), batch_size=50, shuffle=True)
    np.random.seed(0)
    first, second = values(loader)[0], values(loader)[0]
    np.random.seed(0)
    assert values(loader)[0] == first != second and sorted(first) == list(range(50))


def test_iterable():
    assert values(DataLoader(Stream(5), batch_size=2)) == [[[0], [1]], [[2], [3]], [[4]]]
    assert values(DataLoader(Stream(5), batch_size=2, drop_last=True)) == [[[0], [1]], [[2], [3]]]
    with pytest.raises(ValueError, match="length"):
        len(DataLoader(Stream(5)))
    with pytest.raises(ValueError, match="shuffled"):
        DataLoader(Stream(5), shuffle=True)
    with pytest.raises(ValueError, match="batch_sampler"):
        DataLoader(Stream(5), batch_sampler=BatchSampler(range(5)))


def values_of(loader):
    return [b.tolist() for b in loader]


@pytest.mark.parametrize(
    "arguments",
    [{"batch_size": 0}, {"batch_size": -1}, {"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 0},
     {"batch_sampler": BatchSampler(range(3)), "batch_size": 2}, {"batch_sampler": [[0]], "shuffle": True}],
)  # fmt: skip
def test_rejects(arguments):
    with pytest.raises(AssertionError):
        DataLoader(Rows(3), **arguments)


def test_an_option_without_effect_warns():
    with pytest.warns(UserWarning, match="return_list"):
        DataLoader(Rows(1), return_list=False)


# ---- workers ----
@pytest.mark.parametrize("workers", [1, 3])
def test_workers_keep_the_order(workers):
    loader = DataLoader(Rows(23), batch_size=2, num_workers=workers)
    for _ in range(2):
        assert values(loader) == values(DataLoader(Rows(23), batch_size=2))


def test_workers_share_a_stream():
    found = values_of(DataLoader(Stream(11), batch_size=2, num_workers=2))
    assert sorted(v for b in found for (v,) in b) == list(range(11))


def test_worker_info_and_init():
    seen = []
    assert get_worker_info() is None

    class Who(Rows):
        def __getitem__(self, i):
            info = get_worker_info()
            return np.array([info.id, info.num_workers, len(info.dataset), os.getpid() != parent])

    parent = os.getpid()
    for batch in DataLoader(Who(8), batch_size=1, num_workers=2, worker_init_fn=seen.append):
        seen.append(batch.tolist()[0])
    assert {tuple(s) for s in seen} == {(0, 2, 8, 1), (1, 2, 8, 1)}


def test_an_error_in_a_worker_reaches_the_loop():
    with pytest.raises(ZeroDivisionError) as caught:
        list(DataLoader(Rows(6, lambda i: 1 / (i - 3)), num_workers=2))
    assert "in a worker" in str(caught.value.__cause__)


def test_a_worker_that_dies_is_noticed():
    with pytest.raises(RuntimeError, match="exit code 3"):
        list(DataLoader(Rows(4, lambda i: os._exit(3)), num_workers=1))


def test_tensors_made_in_workers():
    loader = DataLoader(Rows(4, lambda i: paddle.ones([2]) * i), batch_size=2, num_workers=1)
    assert values(loader) == [[[0, 0], [1, 1]], [[2, 2], [3, 3]]]


def test_persistent_workers_stay():
    loader = DataLoader(Rows(6, lambda i: os.getpid()), num_workers=2, persistent_workers=True)
    first, second = ({b.tolist()[0] for b in loader} for _ in range(2))
    assert first == second and len(first) == 2
    iterator = iter(loader)
    next(iterator)  # an epoch that is not read to its end
    assert len(values_of(loader)) == 6
    loader._pool.close()


def test_workers_have_seeds_of_their_own():
    loader = DataLoader(Rows(2, lambda i: np.random.random()), num_workers=2)
    paddle.seed(0)
    a, b = values_of(loader), values_of(loader)
    paddle.seed(0)
    assert values_of(loader) == a != b and a[0] != a[1]


def test_a_loader_keeps_no_batch():
    seen = []
    for x, _ in DataLoader(Rows(4), batch_size=2):
        seen.append(weakref.ref(x))
    del x
    assert [r() for r in seen] == [None, None]


def test_watchers_are_told_how_long_batches_were_waited_for(monkeypatch):
    told = []
    monkeypatch.setattr(reader, "watchers", [lambda *wait: told.append(wait)])
    loader = DataLoader(Rows(5), batch_size=2)
    assert len(list(loader)) == len(told) == 3
    assert all(who is loader and began <= ended for who, began, ended in told)


# ---- arguments ----
@pytest.mark.parametrize(
    "arguments, error, words",
    [
        ((5,), TypeError, ["no dataset", "5 (int)", "paddle.io.Dataset"]),
        pytest.param((iter([1]),), TypeError, ["no dataset", "paddle.io.IterableDataset"], id="an iterator"),
        (({1, 2},), TypeError, ["no dataset"]),
        ((None,), AssertionError, ["no dataset"]),
        (dict(batch_size="2"), TypeError, ["batch_size", "'2' (str)", "a positive int"]),
        (dict(batch_size=2.0), AssertionError, ["batch_size", "2.0"]),
        (dict(num_workers="2"), TypeError, ["num_workers", "'2' (str)", "an int"]),
        (dict(num_workers=None), TypeError, ["num_workers"]),
        (dict(num_workers=1.5), TypeError, ["num_workers", "1.5 (float)"]),
        (dict(prefetch_factor="2"), TypeError, ["prefetch_factor"]),
        (dict(timeout="2"), TypeError, ["timeout", "seconds"]),
        (dict(collate_fn=3), TypeError, ["collate_fn", "3 (int)"]),
        (dict(worker_init_fn=3), TypeError, ["worker_init_fn"]),
        (dict(batch_sampler=5), TypeError, ["batch_sampler", "lists of indices"]),
        (dict(feed_list=5), TypeError, ["feed_list"]),
        (dict(places=3), ValueError, ["no device", "3"]),
        (dict(places=["cpu", "gpu:0"]), ValueError, ["gpu:0"]),
        (dict(shuffle="yes"), AssertionError, ["shuffle", "'yes'"]),
        (dict(drop_last=1), AssertionError, ["drop_last"]),
    ],
    ids=lambda v: str(v) if isinstance(v, (tuple, dict)) else "",
)
def test_arguments_of_other_types_are_named(arguments, error, words):
    positional, named = (arguments, {}) if isinstance(arguments, tuple) else ((Rows(3),), arguments)
    with pytest.raises(error) as caught:
        DataLoader(*positional, **named)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("places", [None, "cpu", paddle.CPUPlace(), ["cpu"], (paddle.CPUPlace(),)])
def test_places(places):
    loader = DataLoader(Rows(2), places=places, feed_list=[paddle.zeros([1])])
    assert loader.places == [paddle.CPUPlace()] and len(list(loader)) == 2


def test_integers_of_other_kinds_are_numbers_of_workers():
    assert DataLoader(Rows(3), num_workers=np.int64(1)).num_workers == 1
    assert DataLoader(Rows(3), num_workers=True).num_workers == 1


def test_a_dataset_without_samples():
    assert list(DataLoader(Rows(0))) == [] and len(DataLoader(Rows(0), batch_size=2)) == 0
    assert list(DataLoader(Rows(0), num_workers=2)) == []
    with pytest.raises(ValueError, match="the data source is empty"):
        DataLoader(Rows(0), shuffle=True)


def test_lists_are_datasets_and_any_iterable_gives_batches():
    assert values_of(DataLoader([1, 2, 3], batch_size=2)) == [[1, 2], [3]]
    assert values_of(DataLoader(Rows(4, lambda i: i), batch_sampler=[[3, 1], [0]])) == [[3, 1], [0]]


def test_iterators_have_a_length():
    assert len(iter(DataLoader(Rows(5), batch_size=2))) == 3
    with pytest.raises(TypeError, match="length"):
        len(iter(DataLoader(Stream(3))))


def test_arrays_of_another_byte_order():
    (batch,) = DataLoader(Rows(1, lambda i: np.arange(3, dtype=">i4")), batch_size=None)
    assert batch.tolist() == [0, 1, 2]
