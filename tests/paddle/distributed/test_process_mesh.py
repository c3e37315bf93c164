import numpy as np
import pytest

from paddle.distributed import Partial, ProcessMesh, ReduceType, Replicate, Shard, get_mesh, set_mesh

MESH = ProcessMesh(np.arange(6).reshape(2, 3), dim_names=["a", "b"])


def test_a_mesh_tells_its_processes():
    assert (MESH.shape, MESH.ndim, MESH.size) == ([2, 3], 2, 6)
    assert MESH.process_ids == [0, 1, 2, 3, 4, 5] and MESH.dim_names == ["a", "b"]
    assert MESH.get_dim_size("b") == MESH.get_dim_size(1) == 3
    assert MESH.contains(5) and not MESH.contains(6) and not MESH.empty()
    assert str(MESH) == "shape [2, 3], process_ids [0, 1, 2, 3, 4, 5], dim_names ['a', 'b']"
    assert ProcessMesh(shape=[2, 1], process_ids=[3, 4]).mesh.tolist() == [[3], [4]]
    assert ProcessMesh([0, 1]).dim_names == ["d0"]


@pytest.mark.parametrize(
    "part, processes, names",
    [
        (MESH[0], [0, 1, 2], ["b"]),
        (MESH[:, 1], [1, 4], ["a"]),
        (MESH["a"], [0, 3], ["a"]),
        (MESH["b"], [0, 1, 2], ["b"]),
        (MESH.get_mesh_with_dim("b"), [0, 3, 1, 4, 2, 5], ["b", "a"]),
        (MESH.get_mesh_with_dim("b", 1), [1, 4], ["a"]),
    ],
)
def test_parts(part, processes, names):
    assert part.process_ids == processes and part.dim_names == names


def test_equal_meshes():
    same = ProcessMesh([[0, 1, 2], [3, 4, 5]], dim_names=["a", "b"])
    assert same == MESH and hash(same) == hash(MESH)
    assert ProcessMesh([[0, 1, 2], [3, 4, 5]], dim_names=["a", "c"]) != MESH and MESH != 1


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: ProcessMesh([0, 0]), AssertionError, "comes up twice"),
        (lambda: ProcessMesh([0, 1], dim_names=["a", "b"]), AssertionError, "names do not fit"),
        (lambda: ProcessMesh([[0, 1]], dim_names=["a", "a"]), AssertionError, "names do not fit"),
        (lambda: ProcessMesh(3), ValueError, "no grid"),
        (lambda: ProcessMesh(), AssertionError, "no mesh"),
        (lambda: ProcessMesh([0.5]), AssertionError, "no number"),
        (lambda: ProcessMesh(shape=[2], process_ids=[1]), ValueError, "reshape"),
        (lambda: ProcessMesh([0, 1], dim_names="a"), ValueError, "no list"),
        (lambda: MESH.get_dim_size("z"), AssertionError, "no such axis"),
        (lambda: MESH.get_mesh_with_dim("z"), AssertionError, "no such axis"),
        (lambda: Shard("a"), TypeError, "dim is no number"),
    ],
)
def test_what_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_placements():
    s = Shard(1)
    assert s.is_shard() and s.is_shard(1) and not s.is_shard(0)
    assert not s.is_replicated() and not s.is_partial()
    assert s == Shard(1) != Shard(0) and hash(s) == hash(Shard(1)) and s != Replicate()
    assert repr([s, Shard(1, split_factor=2), Replicate(), Partial(), Partial(ReduceType.kRedMax)]) == (
        "[Shard(dim=1), Shard(dim=1, split_factor=2), Replicate(), Partial(reduce_type=SUM), Partial(reduce_type=MAX)]"
    )
    assert Replicate().is_replicated() and Partial().is_partial() and Partial().reduce_type() is ReduceType.kRedSum


def test_the_mesh_of_the_program():
    before = get_mesh()
    set_mesh(MESH)
    assert get_mesh() is MESH
    set_mesh(before)
