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
