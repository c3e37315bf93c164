import numpy as np
import pytest

import paddle
from paddle.io import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)


class Numbers(Dataset):
    def __init__(self, n, start=0):
        self.n, self.start = n, start

    def __getitem__(self, i):
        return np.float32(self.start + i)

    def __len__(self):
        return self.n


class Stream(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        yield from range(self.n)


def test_a_dataset_without_methods_says_so():
    with pytest.raises(NotImplementedError, match="Dataset has no __getitem__"):
        Dataset()[0]
    with pytest.raises(NotImplementedError, match="has no __len__"):
        len(Dataset())
    with pytest.raises(NotImplementedError, match="has no __iter__"):
        iter(IterableDataset())
    with pytest.raises(RuntimeError, match="no length"):
        len(Stream(3))
    with pytest.raises(RuntimeError, match="__getitem__"):
        Stream(3)[0]


def test_tensor_dataset_gives_rows():
    data = TensorDataset([paddle.arange(4), paddle.ones([4, 2])])
    assert len(data) == 4
    a, b = data[1]
    assert int(a) == 1 and b.shape == [2]


def test_tensor_dataset_rejects_different_lengths():
    with pytest.raises(AssertionError, match="differ in size"):
        TensorDataset([paddle.ones([2]), paddle.ones([3])])
    with pytest.raises(AssertionError, match="there are no tensors"):
        TensorDataset([])


def test_compose_joins_fields():
    assert ComposeDataset([Numbers(2), Numbers(2, 10)])[1] == (1.0, 11.0)


@pytest.mark.parametrize(
    "datasets, fact",
    [
        ([], "no datasets"),
        ([Numbers(2), Numbers(3)], "lengths differ"),
        ([Stream(2)], "IterableDataset"),
        ([3], "not a"),
    ],
)
def test_compose_rejects(datasets, fact):
    with pytest.raises(AssertionError, match=fact):
        ComposeDataset(datasets)


def test_chain_goes_on_with_the_next():
    assert [v for v in ChainDataset([Stream(2), Stream(3)])] == [0, 1, 0, 1, 2]  # noqa: C416 (list asks for a length)
    with pytest.raises(AssertionError, match="not an IterableDataset"):
        ChainDataset([Numbers(2)])


def test_concat_counts_through():
    data = ConcatDataset([Numbers(3), Numbers(2, 10)])
    assert [float(data[i]) for i in range(5)] == [0, 1, 2, 10, 11]
    assert float(data[-1]) == 11 and float(data[-5]) == 0
    assert data.cumulative_sizes == [3, 5] and ConcatDataset.cumsum([[1], [2, 3]]) == [1, 3]
    with pytest.raises(ValueError, match="out of range"):
        data[-6]
    with pytest.raises(IndexError, match="out of range"):
        data[5]
    with pytest.raises(AssertionError):
        ConcatDataset([])


def test_subset_and_random_split_share_no_sample():
    paddle.seed(1)
    parts = random_split(Numbers(10), [3, 7])
    assert [len(p) for p in parts] == [3, 7]
    assert sorted(float(p[i]) for p in parts for i in range(len(p))) == list(range(10))
    assert float(Subset(Numbers(5), [4, 2])[1]) == 2


def test_random_split_follows_the_seed():
    paddle.seed(3)
    first = random_split(Numbers(20), [10, 10])[0].indices
    paddle.seed(3)
    assert random_split(Numbers(20), [10, 10])[0].indices == first


def test_random_split_by_fractions_gives_leftovers_to_the_first():
    assert [len(p) for p in random_split(Numbers(5), [0.5, 0.5])] == [3, 2]
    with pytest.warns(UserWarning, match="part 1 is empty"):
        assert [len(p) for p in random_split(Numbers(1), [0.3, 0.7])] == [1, 0]


@pytest.mark.parametrize("lengths", [[1, 2], [0.5, 0.6], [1.5, -0.5], [-1, 6]])
def test_random_split_rejects_lengths_that_do_not_sum(lengths):
    with pytest.raises(ValueError, match="random_split"):
        random_split(Numbers(5), lengths)
