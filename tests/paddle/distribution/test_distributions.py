"""Densities, moments, entropies, divergences and samples against sums over fine grids, or over all values."""

import math

import numpy as np
import pytest

import paddle
from paddle import distribution as D

T = paddle.to_tensor


def t64(x):
    return T(x, dtype="float64")


def grid(low, high, n=60_001):
    x = np.linspace(low, high, n)
    return x, np.full(n, (high - low) / (n - 1))


def open_unit():
    """Points of (0, 1), denser at the ends, where densities may be infinite."""
    u, w = grid(-40, 40)
    x = 1 / (1 + np.exp(-u))
    return x, w * x * (1 - x)


def half_line():
    u, w = grid(-60, 12)
    return np.exp(u), w * np.exp(u)


def line():
    u, w = grid(-30, 30)
    return np.sinh(u), w * np.cosh(u)


def counts(n):
    return np.arange(n, dtype="float64"), np.ones(n)


CASES = [
    (lambda: D.Normal(t64(0.5), t64(1.5)), line),
    (lambda: D.Laplace(t64(0.5), t64(1.5)), line),
    (lambda: D.Gumbel(t64(0.5), t64(1.5)), lambda: grid(-12, 60)),
    (lambda: D.StudentT(t64(5.0), t64(0.5), t64(1.5)), line),
    (lambda: D.Cauchy(t64(0.5), t64(1.5)), line),
    (lambda: D.LogNormal(t64(0.1), t64(0.5)), half_line),
    (lambda: D.Gamma(t64(1.7), t64(2.0)), half_line),
    (lambda: D.Chi2(t64(3.0)), half_line),
    (lambda: D.Exponential(t64(1.5)), half_line),
    (lambda: D.Beta(t64(0.7), t64(2.0)), open_unit),
    (lambda: D.ContinuousBernoulli(t64(0.3)), open_unit),
    (lambda: D.ContinuousBernoulli(t64(0.5003)), open_unit),
    (lambda: D.Poisson(t64(2.5)), lambda: counts(80)),
    (lambda: D.Binomial(T(7), t64(0.3)), lambda: counts(8)),
    (lambda: D.Bernoulli(t64(0.3)), lambda: counts(2)),
    (lambda: D.Geometric(t64(0.3)), lambda: counts(400)),
]
NAMES = [c[0]().__class__.__name__ for c in CASES]


def log_prob(d, x):
    return (d.log_pmf if isinstance(d, D.Geometric) else d.log_prob)(t64(x)).numpy()


@pytest.mark.parametrize("make, points", CASES, ids=NAMES)
def test_density_moments_and_entropy(make, points):
    d = make()
    x, w = points()
    logp = log_prob(d, x)
    p = np.exp(logp)
    total = (p * w).sum()
    assert abs(total - 1) < (1e-3 if isinstance(d, D.Cauchy) else 1e-5)
    terms = np.where(p > 0, p * np.where(p > 0, logp, 0), 0) * w
    np.testing.assert_allclose(d.entropy().numpy(), -terms.sum(), rtol=2e-3, atol=1e-4)
    if isinstance(d, D.Cauchy):
        for what in ("mean", "variance", "stddev"):
            with pytest.raises(ValueError, match="there is no"):
                getattr(d, what)
        return
    mean = (x * p * w).sum()
    np.testing.assert_allclose(d.mean.numpy(), mean, rtol=1e-4)
    np.testing.assert_allclose(d.variance.numpy(), ((x - mean) ** 2 * p * w).sum(), rtol=2e-3)


@pytest.mark.parametrize("make, points", [c for c in CASES if hasattr(c[0](), "cdf")],
                         ids=[n for n, c in zip(NAMES, CASES) if hasattr(c[0](), "cdf")])  # fmt: skip
def test_cdf_is_the_sum_of_the_density(make, points):
    d = make()
    x, w = points()
    running = np.cumsum(np.exp(log_prob(d, x)) * w)
    at = np.searchsorted(running, [0.2, 0.5, 0.9])
    np.testing.assert_allclose(d.cdf(t64(x[at])).numpy(), running[at], atol=2e-3)
    if hasattr(d, "icdf"):
        np.testing.assert_allclose(d.icdf(t64([0.1, 0.7])).numpy(), np.interp([0.1, 0.7], running, x), atol=2e-3)


@pytest.mark.parametrize("make, points", CASES, ids=NAMES)
def test_samples(make, points):
    paddle.seed(7)
    d = make()
    s = d.sample([20000])
    assert s.shape == [20000] and s.stop_gradient and s.dtype == paddle.float64
    if not isinstance(d, D.Cauchy):
        error = abs(s.mean().item() - d.mean.item()) / math.sqrt(d.variance.item() / 20000)
        assert error < 5
        np.testing.assert_allclose(s.var().item(), d.variance.item(), rtol=0.15)


KL = [
    (lambda: D.Normal(t64(0.0), t64(1.0)), lambda: D.Normal(t64(1.0), t64(2.0)), line),
    (lambda: D.Laplace(t64(0.0), t64(1.0)), lambda: D.Laplace(t64(1.0), t64(2.0)), line),
    (lambda: D.Cauchy(t64(0.0), t64(1.0)), lambda: D.Cauchy(t64(1.0), t64(2.0)), line),
    (lambda: D.Gamma(t64(2.0), t64(3.0)), lambda: D.Gamma(t64(1.0), t64(1.5)), half_line),
    (lambda: D.Exponential(t64(1.5)), lambda: D.Exponential(t64(0.5)), half_line),
    (lambda: D.LogNormal(t64(0.0), t64(1.0)), lambda: D.LogNormal(t64(0.5), t64(2.0)), half_line),
    (lambda: D.Beta(t64(1.5), t64(2.0)), lambda: D.Beta(t64(2.0), t64(1.0)), open_unit),
    (lambda: D.ContinuousBernoulli(t64(0.2)), lambda: D.ContinuousBernoulli(t64(0.7)), open_unit),
    (lambda: D.Poisson(t64(1.5)), lambda: D.Poisson(t64(2.5)), lambda: counts(60)),
    (lambda: D.Binomial(T(5), t64(0.3)), lambda: D.Binomial(T(5), t64(0.6)), lambda: counts(6)),
    (lambda: D.Bernoulli(t64(0.3)), lambda: D.Bernoulli(t64(0.6)), lambda: counts(2)),
]


@pytest.mark.parametrize("p, q, points", KL, ids=[type(k[0]()).__name__ for k in KL])
def test_divergence(p, q, points):
    p, q = p(), q()
    x, w = points()
    a, b = log_prob(p, x), log_prob(q, x)
    want = (np.where(np.exp(a) > 0, np.exp(a) * (a - b), 0) * w).sum()
    np.testing.assert_allclose(D.kl_divergence(p, q).item(), want, rtol=1e-3)


def test_divergences_of_vectors():
    p, q = D.Dirichlet(t64([1.5, 2.0, 3.0])), D.Dirichlet(t64([1.0, 1.0, 2.0]))
    paddle.seed(0)
    x = p.sample([100_000])
    want = (p.log_prob(x) - q.log_prob(x)).mean().item()
    assert abs(D.kl_divergence(p, q).item() - want) < 0.02
    a = D.MultivariateNormal(t64([0.5, -1.0]), covariance_matrix=t64([[2.0, 0.3], [0.3, 1.0]]))
    b = D.MultivariateNormal(t64([0.0, 1.0]), precision_matrix=t64([[1.0, 0.5], [0.5, 2.0]]))
    x = a.sample([100_000])
    want = (a.log_prob(x) - b.log_prob(x)).mean().item()
    assert abs(a.kl_divergence(b).item() - want) < 0.05
    assert D.kl_divergence(D.Chi2(t64(2.0)), D.Gamma(t64(1.0), t64(0.5))).item() == pytest.approx(0.0, abs=1e-12)


def test_the_family_gives_entropy_and_divergence_that_agree():
    for make in (lambda a: D.Gamma(t64(a), t64(2.0)), lambda a: D.Exponential(t64(a))):
        p, q = make(1.5), make(2.5)
        from paddle.distribution.exponential_family import ExponentialFamily
        from paddle.distribution.kl import _exponential_family

        np.testing.assert_allclose(ExponentialFamily.entropy(p).item(), p.entropy().item(), rtol=1e-6)
        np.testing.assert_allclose(_exponential_family(p, q).item(), D.kl_divergence(p, q).item(), rtol=1e-6)
    d, e = D.Dirichlet(t64([1.5, 2.0])), D.Dirichlet(t64([1.0, 3.0]))
    np.testing.assert_allclose(_exponential_family(d, e).item(), D.kl_divergence(d, e).item(), rtol=1e-6)
    with pytest.raises(NotImplementedError):
        D.kl_divergence(D.Gamma(2.0, 3.0), D.Exponential(1.0))


def test_who_registers_is_found_and_nearest_first():
    class Own(D.Normal):
        pass

    @D.register_kl(Own, D.Normal)
    def own(p, q):
        return "own"

    n = D.Normal(0.0, 1.0)
    assert D.kl_divergence(Own(0.0, 1.0), n) == "own" and D.kl_divergence(n, Own(0.0, 1.0)).item() == 0.0
    with pytest.raises(NotImplementedError, match="nothing is known"):
        D.kl_divergence(n, D.Uniform(0.0, 1.0))
    with pytest.raises(TypeError):
        D.register_kl(int, D.Normal)


def test_categories():
    d = D.Categorical(T([[1.0, 3.0], [2.0, 2.0]]))
    assert d.probs(T([1, 0])).tolist() == [[0.75, 0.25], [0.5, 0.5]]
    assert d.log_prob(T([[0], [1]])).shape == [2, 1] and d.sample([5, 3]).shape == [5, 3, 2]
    one = D.Categorical([0.0, 5.0, 0.0])
    assert set(one.sample([50]).tolist()) == {1} and one.sample([4]).dtype == paddle.int64
    assert D.Categorical(T([0.0, 0.0])).entropy().item() == pytest.approx(math.log(2))
    same = D.Categorical(T([1.0, 2.0]))
    assert same.kl_divergence(D.Categorical(T([2.0, 3.0]))).tolist() == [pytest.approx(0.0, abs=1e-6)]


def test_multinomial_sums_to_one_and_counts():
    d = D.Multinomial(3, t64([1.0, 2.0, 2.0]))
    all_counts = [[i, j, 3 - i - j] for i in range(4) for j in range(4 - i)]
    logp = d.log_prob(t64(all_counts)).numpy()
    np.testing.assert_allclose(np.exp(logp).sum(), 1, rtol=1e-6)
    np.testing.assert_allclose(d.entropy().item(), -(np.exp(logp) * logp).sum(), rtol=1e-5)
    s = d.sample([4000])
    assert s.sum(-1).tolist() == [3.0] * 4000
    np.testing.assert_allclose(s.mean(0).numpy(), d.mean.numpy(), atol=0.06)
    assert D.Multinomial(2, t64([0.0, 1.0])).log_prob(t64([0.0, 2.0])).item() == pytest.approx(0.0, abs=1e-9)


def test_correlations():
    paddle.seed(3)
    for method in ("onion", "cvine"):
        d = D.LKJCholesky(3, t64(2.0), method)
        lower = d.sample([4000])
        m = paddle.matmul(lower, lower, transpose_y=True).numpy()
        np.testing.assert_allclose(np.diagonal(m, axis1=1, axis2=2), 1, rtol=1e-6)
        # each correlation is 2 b - 1 with b of a beta distribution of 2 + 1/2: of variance 1 / 6
        np.testing.assert_allclose(m[:, [1, 2, 2], [0, 0, 1]].var(0), 1 / 6, rtol=0.1)
    two = D.LKJCholesky(2, t64(1.0))  # the correlation is uniform in (-1, 1)
    r = np.array([0.0, 0.3])
    factor = np.array([[[1, 0], [v, math.sqrt(1 - v * v)]] for v in r])
    np.testing.assert_allclose(two.log_prob(t64(factor)).numpy(), np.log(0.5), rtol=1e-6)


def test_gradients_reach_the_parameters_through_samples():
    for make in (D.Normal, D.Laplace, D.Gumbel, D.Cauchy, D.LogNormal):
        loc, scale = T(0.3, stop_gradient=False), T(1.5, stop_gradient=False)
        make(loc, scale).rsample([4]).sum().backward()
        assert loc.grad is not None and scale.grad is not None, make
        assert make(loc, scale).sample([4]).stop_gradient
    p = T([0.3, 0.6], stop_gradient=False)
    D.Bernoulli(p).rsample([3], temperature=0.5).sum().backward()
    assert (p.grad > 0).all().item()


def test_shapes_and_types():
    d = D.Normal(paddle.zeros([2, 1]), paddle.ones([3]))
    assert d.sample([4]).shape == [4, 2, 3] and d.log_prob(T(0.0)).shape == [2, 3]
    assert D.Normal(np.zeros(2), np.ones(2)).sample().dtype == paddle.float64
    assert D.Normal(0.0, 1.0).log_prob(T([0.5], dtype="float64")).dtype == paddle.float32
    assert D.Uniform(0, 2).prob(T([1.0, 3.0])).tolist() == [0.5, 0.0]
    assert D.Normal(0.0, 1.0).sample([3], seed=5).tolist() == D.Normal(0.0, 1.0).sample([3], seed=5).tolist()
    assert D.Independent(d, 1).log_prob(T(0.0)).shape == [2]


@pytest.mark.parametrize("kind, call", [
    (TypeError, lambda: D.Normal("a", 1.0)),
    (ValueError, lambda: D.Normal(0.0, T([1.0]))),
    (TypeError, lambda: D.Normal(0.0, 1.0).sample(3)),
    (TypeError, lambda: D.Bernoulli(1)),
    (TypeError, lambda: D.Laplace([0.0], [1.0])),
    (TypeError, lambda: D.Gamma(2, 3)),
    (ValueError, lambda: D.Beta([1.0], [1.0])),
    (ValueError, lambda: D.Dirichlet(T(1.0))),
    (ValueError, lambda: D.Multinomial(0, T([1.0]))),
    (ValueError, lambda: D.MultivariateNormal(T([0.0, 1.0]))),
    (ValueError, lambda: D.StudentT(-1.0, 0.0, 1.0)),
    (ValueError, lambda: D.Chi2(T(-1.0))),
    (ValueError, lambda: D.LKJCholesky(1)),
    (ValueError, lambda: D.Categorical(T(1.0))),
    (ValueError, lambda: D.Independent(D.Normal(0.0, 1.0), 1)),
    (NotImplementedError, lambda: D.Distribution().sample()),
    (NotImplementedError, lambda: D.Uniform(0.0, 1.0).rsample()),
    (ValueError, lambda: D.Binomial(3, 0.5).kl_divergence(D.Binomial(4, 0.5))),
])  # fmt: skip
def test_bad_arguments(kind, call):
    with pytest.raises(kind):
        call()
