import numpy as np
import pytest

import paddle
from paddle.io import (
    BatchSampler,
    DistributedBatchSampler,
    RandomSampler,
    Sampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


def test_sequence():
    assert list(SequenceSampler("abc")) == [0, 1, 2] and len(SequenceSampler("abc")) == 3
    with pytest.raises(NotImplementedError):
        iter(Sampler())


def test_random_draws_from_numpy_as_upstream_does():
    np.random.seed(3)
    assert list(RandomSampler(range(6))) == [3, 5, 4, 1, 0, 2]
    np.random.seed(0)
    assert list(RandomSampler(range(5), replacement=True, num_samples=6)) == [4, 0, 3, 3, 3, 1]


def test_random_takes_a_generator_of_indices():
    assert list(RandomSampler(range(5), generator=iter([3, 1, 0]))) == [3, 1, 0]
    assert len(list(RandomSampler(range(5), num_samples=3))) == 3


def test_random_rejects():
    with pytest.raises(TypeError, match="replacement"):
        RandomSampler(range(3), replacement=1)
    with pytest.raises(ValueError, match="num_samples"):
        RandomSampler(range(3), True, 0)
    with pytest.raises(ValueError, match="more samples"):
        iter(RandomSampler(range(3), num_samples=4))


def test_weighted_never_draws_weight_zero():
    assert set(WeightedRandomSampler([0, 1, 0, 2], 50)) == {1, 3}
    assert sorted(WeightedRandomSampler([1, 2, 3], 3, replacement=False)) == [0, 1, 2]
    rows = list(WeightedRandomSampler(np.array([[1, 0], [0, 1]]), 2))
    assert rows == [[0, 0], [1, 1]]


@pytest.mark.parametrize("weights, error", [([1, -2], AssertionError), ([0.0, 0.0], AssertionError)])
def test_weighted_rejects_weights(weights, error):
    with pytest.raises(error):
        WeightedRandomSampler(weights, 2)


def test_weighted_rejects_arguments():
    with pytest.raises(ValueError):
        WeightedRandomSampler([1], 0)
    with pytest.raises(ValueError):
        WeightedRandomSampler([1], 1, replacement=1)


def test_subset_random_is_a_permutation():
    paddle.seed(0)
    assert sorted(SubsetRandomSampler([5, 7, 9])) == [5, 7, 9]
    with pytest.raises(ValueError, match="no indices"):
        SubsetRandomSampler([])


def test_batches():
    assert list(BatchSampler(range(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert list(BatchSampler(range(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(BatchSampler(sampler=[3, 1, 2], batch_size=2)) == [[3, 1], [2]]
    assert len(BatchSampler(range(5), batch_size=2)) == 3 and len(BatchSampler(range(0), batch_size=2)) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"dataset": range(3), "sampler": [0]},
        {"dataset": range(3), "batch_size": 0},
        {"dataset": range(3), "batch_size": 1.5},
        {"dataset": range(3), "shuffle": 1},
        {"dataset": range(3), "drop_last": 0},
        {"sampler": 3},
        {"sampler": [1], "shuffle": True},
    ],
)
def test_batch_sampler_rejects(arguments):
    with pytest.raises(AssertionError):
        BatchSampler(**arguments)


def test_distributed_shares_cover_the_padded_data():
    shares = [list(DistributedBatchSampler(range(7), 2, num_replicas=3, rank=r)) for r in range(3)]
    assert shares[2] == [[4, 5], [1]]
    assert sorted(i for s in shares for b in s for i in b) == sorted([*range(7), 0, 1])


def test_distributed_shuffles_by_epoch_as_upstream_does():
    sampler = DistributedBatchSampler(range(9), 2, 2, 0, shuffle=True)
    assert list(sampler) == [[2, 8], [1, 6], [0]]
    assert list(sampler) == [[2, 0], [0, 3], [8]] and sampler.epoch == 2
    sampler.set_epoch(0)
    assert list(sampler) == [[2, 8], [1, 6], [0]]


def test_distributed_pads_more_than_once():
    sampler = DistributedBatchSampler(range(3), 2, 8, 7)
    assert list(sampler) == [[1]] and len(sampler) == 1 and sampler.total_size == 8


@pytest.mark.parametrize("arguments", [(0,), (2, 0), (2, 2, -1), (2, 1, 0, 1), (2, 1, 0, False, 1)])
def test_distributed_rejects(arguments):
    with pytest.raises(AssertionError):
        DistributedBatchSampler(range(3), *arguments)


def test_sources_without_samples_or_length():
    with pytest.raises(ValueError, match="the data source is empty"):
        RandomSampler([])
    with pytest.raises(TypeError, match="the data source has no length"):
        RandomSampler(5)
    with pytest.raises(TypeError, match="the dataset has no length"):
        DistributedBatchSampler(5, 1)
    assert list(DistributedBatchSampler([], 1, 2, 0)) == []


def test_there_is_no_such_process():
    with pytest.raises(AssertionError, match="rank less than num_replicas=2"):
        DistributedBatchSampler(range(4), 1, num_replicas=2, rank=2)


def test_states_of_samplers():
    sampler = DistributedBatchSampler(range(9), 2, 2, 0, shuffle=True)
    state = sampler.state_dict()
    first = list(sampler)
    assert sampler.state_dict() == {"epoch": 1}
    sampler.set_state_dict(state)
    assert list(sampler) == first
    inner = RandomSampler(range(9), num_samples=3, generator=iter(range(9)))
    sampler = BatchSampler(sampler=inner, batch_size=2)
    assert list(sampler) == [[0, 1], [2]] and sampler.state_dict() == {"sampler": {"drawn": 3}}
    later = BatchSampler(sampler=RandomSampler(range(9), num_samples=3, generator=iter(range(9))), batch_size=2)
    later.set_state_dict(sampler.state_dict())
    assert list(later) == [[3, 4], [5]] and later.state_dict() == {"sampler": {"drawn": 6}}
