"""Every XLA rule against the numpy meaning. JAX is no dependency: without it these tests are skipped."""

import types

import numpy as np
import pytest

from paddle.engine.ops.registry import registry

from .cases import check, describe, meaning, operators, samples

jax = pytest.importorskip("jax", reason="XLA rules are tested where JAX is installed")


@pytest.fixture(scope="module")
def jnp():
    """What rules are handed: jax.numpy with jax.lax and jax.scipy.special attached, and 64-bit types."""
    import jax.numpy
    import jax.scipy.special

    handed = types.ModuleType("jnp")
    vars(handed).update(vars(jax.numpy), lax=jax.lax, special=jax.scipy.special)
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield handed
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("name", [n for n in operators() if registry[n].xla])
def test_xla_rule_gives_the_meaning(name, jnp):
    for op, arrays in samples(name):
        results = meaning(op, arrays)
        made = jax.jit(lambda *args, op=op: op.xla(jnp, *args))(*arrays)
        made = made if isinstance(made, tuple) else (made,)
        assert len(made) == len(results), describe(op, arrays)
        for got, want in zip(made, results):
            check(np.asarray(got), want, describe(op, arrays))


def test_of_equal_positions_the_last_counts(jnp):
    """XLA leaves the order of writes open; the rules must not."""
    rng = np.random.default_rng(0)
    where = rng.integers(0, 3, 50)
    x, v = np.zeros((3, 2)), rng.normal(size=(50, 2))
    for op, arrays in (
        (registry["scatter_set"](0), (x, v, where)),
        (registry["scatter_set"](0), (x.T.copy(), v[:, 0].copy(), where % 2, where - 3)),
        (registry["put_along"](0), (np.zeros((3, 50)), v.T.copy(), np.stack([where, where[::-1]]))),
        (registry["put_along"](1), (x.T.copy(), v.T.copy(), np.stack([where, where - 3]))),
        (registry["set_plane"](1, (3,)), (v.T.copy(), np.stack([where, where[::-1]]))),
    ):
        got = jax.jit(lambda *args, op=op: op.xla(jnp, *args))(*arrays)
        check(np.asarray(got), meaning(op, arrays)[0], describe(op, arrays))
