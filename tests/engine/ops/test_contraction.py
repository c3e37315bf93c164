"""Contractions against numpy's einsum."""

import numpy as np
import pytest

from paddle.engine.eager.trace import from_array
from paddle.engine.ops.contraction import einsum, parse

CASES = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("i,i->", (4,), (4,)),
    ("i,j->ij", (4,), (3,)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,j->i", (2, 3), (3,)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("...i->...", (2, 3, 4)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 5)),
    ("ab,cb,db->acd", (2, 3), (4, 3), (5, 3)),
    ("a,b,c->abc", (2,), (3,), (4,)),
    ("ab,ab,ab->", (2, 3), (2, 3), (2, 3)),
    ("ijk,k->ji", (2, 3, 4), (4,)),
    ("ij,jk->ik", (0, 3), (3, 4)),
    ("ij,jk->ik", (2, 0), (0, 4)),
]


@pytest.mark.parametrize("equation, shapes", [(c[0], c[1:]) for c in CASES])
def test_numpy_agrees(equation, shapes):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=s) for s in shapes]
    got = einsum(equation, *(from_array(a) for a in arrays)).numpy()
    np.testing.assert_allclose(got, np.einsum(equation, *arrays), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "equation, ndims, told",
    [
        ("ij", [1], "expected: 2 axes\n  received: operand 0 with 1 axes"),
        ("ij,jk", [2], "expected: 2 operands, one for each of 'ij', 'jk'\n  received: 1 operands"),
        ("ij->ii", [2], "'i' comes twice in the result"),
        ("i1", [2], "'1', which is no letter"),
        ("..ij", [2], "a '.' outside an ellipsis"),
        ("ij->i->j", [2], "'-', which is no letter"),
        ("...ijk", [2], "expected: at least 3 axes"),
    ],
)
def test_equations_that_do_not_fit(equation, ndims, told):
    with pytest.raises(AssertionError) as e:
        parse(equation, ndims)
    assert told in str(e.value)


def test_a_letter_of_the_result_has_to_come_from_somewhere():
    with pytest.raises(ValueError, match=r"'k' is in the result and in no operand"):
        parse("ij->ik", [2])


def test_sizes_that_differ():
    with pytest.raises(ValueError, match="'j' differ"):
        einsum("ij,jk->ik", from_array(np.ones((2, 3))), from_array(np.ones((4, 2))))
