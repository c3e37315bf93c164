"""Joining samples, and what is said of samples that do not fit together."""

import numpy as np
import pytest

import paddle
from paddle.io import DataLoader, Dataset
from paddle.io.dataloader import default_collate_fn


class Rows(Dataset):
    def __init__(self, samples):
        self.samples = samples

    def __getitem__(self, i):
        return self.samples[i]

    def __len__(self):
        return len(self.samples)


def test_structures():
    batch = default_collate_fn([{"a": (i, [str(i)]), "b": np.full(2, i)} for i in range(3)])
    assert batch["a"][0].tolist() == [0, 1, 2] and [list(s) for s in batch["a"][1]] == [["0", "1", "2"]]
    assert batch["b"].tolist() == [[0, 0], [1, 1], [2, 2]]


def test_arrays_of_different_dtypes_are_promoted_as_numpy_does():
    assert default_collate_fn([np.zeros(2, "float32"), np.zeros(2, "float64")]).dtype == "float64"
    assert default_collate_fn([np.zeros(()), 1.5, np.float32(2)]).tolist() == [0, 1.5, 2]


SHAPES = [{"image": [np.zeros((3, 32, 30 + (i == 5)))], "y": i} for i in range(8)]
KEYS = [{"a": 1, "b": 2}, {"a": 1}]


@pytest.mark.parametrize(
    "samples, error, words",
    [
        (SHAPES, ValueError, ["differ in shape", "field ['image'][0]", "index 4 has [3, 32, 30]",
                              "index 5 has [3, 32, 31]"]),
        ([paddle.zeros([i + 1]) for i in range(4)], ValueError, ["index 0 has [1]; index 1 has [2]"]),
        ([np.zeros(i) for i in range(9)], ValueError, ["index 1 has [1]", "index 3 has [3]"]),
        ([1, np.zeros(2)], ValueError, ["index 0 has []; index 1 has [2]"]),
        (KEYS, KeyError, ["lacks the key 'b'", "index 1 has 'a'"]),
        ([{"x": k} for k in KEYS], KeyError, ["key 'b' (field ['x'])"]),
        ([(1,), (1, 2)], RuntimeError, ["number of fields", "index 0 has 1 fields; index 1 has 2 fields"]),
        ([(0, (1, 2)), (0, (3,))], RuntimeError, ["(field [1])"]),
        ([None, None], TypeError, ["index 0 has NoneType"]),
        ([(1, {"a": object()})] * 2, TypeError, ["(field [1]['a'])", "object"]),
        ([np.zeros(2), None], TypeError, ["differ in their types", "index 1 has NoneType"]),
        ([1.0, None], TypeError, ["differ in their types", "a number in each sample"]),
        ([paddle.zeros([2]), 1.0], TypeError, ["index 0 has Tensor; index 1 has float"]),
        ([(1, 2), 3], TypeError, ["index 0 has tuple; index 1 has int"]),
        ([{"a": 1}, [1]], TypeError, ["index 0 has dict; index 1 has list"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("workers", [0, 1])
def test_samples_that_do_not_fit_together(samples, error, words, workers):
    with pytest.raises(error) as caught:
        list(DataLoader(Rows(samples), batch_size=4, num_workers=workers))
    for word in words:
        assert word in str(caught.value)
    assert "\\n" not in str(caught.value) and "process.py" not in str(caught.value)


def test_many_that_differ_are_counted():
    with pytest.raises(ValueError, match=r"index 1 has \[1\]; index 2 has \[2\]; index 3 has \[3\]; and 5 more"):
        list(DataLoader(Rows([np.zeros(i) for i in range(9)]), batch_size=9))


def test_without_indices_samples_are_counted():
    with pytest.raises(ValueError, match=r"sample 0 of the batch has \[0\]; sample 1 of the batch has \[1\]"):
        default_collate_fn([np.zeros(0), np.zeros(1)])


def test_no_samples():
    with pytest.raises(ValueError, match="a batch has no samples"):
        list(DataLoader(Rows([1]), batch_sampler=[[]]))
