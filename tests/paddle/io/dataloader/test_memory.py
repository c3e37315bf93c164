"""Memory that is used again: parts of the shared file, and that of arrays of batches."""

import gc
import os
import tempfile

import numpy as np
import pytest

from paddle.io.dataloader.memory import LEAST, Memory
from paddle.io.dataloader.shared import PAGE, Nameless, Places, SharedFile, available
from paddle.io.dataloader.transfer import Receiver, Sender, Stored


def test_places_never_overlap_and_gaps_are_used():
    rng, places, used = np.random.default_rng(0), Places(), {}
    for _ in range(3000):
        if used and rng.random() < 0.5:
            start = list(used)[rng.integers(len(used))]
            del used[start]
            places.give_back(start)
        elif len(used) < 6:
            count = int(rng.integers(1, 20 * PAGE))
            start = places.take(count)
            used[start] = start + count
            assert start % PAGE == 0
        parts = sorted([(s, places.ends[s]) for s in used] + places.gaps)
        assert all(end == start for (_, end), (start, _) in zip(parts, parts[1:]))
        assert all(places.ends[s] >= end for s, end in used.items())
        assert not parts or (parts[0][0], parts[-1][1]) == (0, places.size)
    assert places.size <= 3 * 6 * 20 * PAGE


def test_places_shrink_to_what_there_is():
    places = Places()
    a = places.take(3 * PAGE)
    before = places.size
    b = places.take(5 * PAGE)
    places.give_back(b)
    places.shrink(before)
    assert places.size == before and places.gaps == []
    places.give_back(a)
    assert places.take(PAGE) == 0


def test_memory_is_used_again_when_the_last_view_is_gone():
    memory = Memory()
    a = memory.empty((100, LEAST), np.dtype("float32"))
    address, view = a.ctypes.data, a[3:5].reshape(-1)
    del a
    other = memory.empty((100, LEAST), np.dtype("float32"))
    assert other.ctypes.data != address
    del view
    gc.collect()
    assert memory.empty((99, LEAST), np.dtype("float32")).ctypes.data == address


def test_memory_that_is_kept_is_limited():
    memory = Memory()
    held = [memory.empty((LEAST,), np.dtype("int64")) for _ in range(20)]
    held.clear()
    for _ in range(3):
        memory.next_batch()
        memory.empty((LEAST,), np.dtype("int64"))
    assert len(memory._free) <= 2


def test_small_arrays_and_objects_have_memory_of_their_own():
    memory = Memory()
    assert memory.empty((3,), np.dtype("float32")).base is None
    assert memory.empty((LEAST,), np.dtype(object)).base is None
    a = np.arange(2 * LEAST).reshape(2, -1).T
    np.testing.assert_array_equal(memory.copy(a), a)


@pytest.mark.skipif(not available(), reason="this system cannot hand on an open file")
class TestTransfer:
    @pytest.fixture
    def ends(self):
        file = SharedFile()
        seen_by_the_loop = SharedFile(os.dup(file.descriptor))
        yield Sender(file), Receiver(seen_by_the_loop)
        file.close()
        seen_by_the_loop.close()

    def test_arrays_come_as_they_were_sent(self, ends):
        sender, receiver = ends
        rng = np.random.default_rng(0)
        for n in [10, LEAST, 3 * LEAST, 5, 2 * LEAST]:
            batch = {"x": rng.random(n), "y": [rng.integers(0, 9, (n, 2)), "text", None]}
            parcel = sender.pack(batch)
            found = receiver.open(parcel, Memory())
            np.testing.assert_array_equal(found["x"], batch["x"])
            np.testing.assert_array_equal(found["y"][0], batch["y"][0])
            assert found["y"][1:] == ["text", None]
            sender.give_back(list(parcel.starts))
        assert sender.places.gaps == [(0, sender.places.size)]

    def test_what_the_sender_made_is_not_copied(self, ends):
        sender, receiver = ends
        x = sender.empty((4, LEAST), np.dtype("float32"))
        x[:] = 3
        parcel = sender.pack([x, x.T])
        assert sender.places.size == 2 * x.nbytes  # one for x, one for the copy of its transpose
        found = receiver.open(parcel, Memory())
        np.testing.assert_array_equal(found[0], x)
        np.testing.assert_array_equal(found[1], x.T)

    def test_what_is_dropped_leaves_no_place_in_use(self, ends):
        sender, _ = ends
        sender.empty((4, LEAST), np.dtype("float32"))
        with pytest.raises(TypeError, match="cannot be sent"):
            sender.pack([np.zeros(LEAST), lambda: 0])
        sender.drop()
        assert sender.places.ends == {}

    def test_a_long_pickle_goes_through_memory_too(self, ends):
        sender, receiver = ends
        parcel = sender.pack(["x" * LEAST])
        assert isinstance(parcel.pickled, Stored)
        assert receiver.open(parcel, Memory()) == ["x" * LEAST]

    def test_a_nameless_file_is_nowhere(self, tmp_path, monkeypatch):
        monkeypatch.delattr(os, "memfd_create", raising=False)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        file = Nameless()
        os.write(file.descriptor, b"words")
        assert file.read() == "words" and os.listdir(tmp_path) == []
        file.close()
        file.close()
