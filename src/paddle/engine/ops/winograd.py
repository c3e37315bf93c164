"""Convolutions with 3 x 3 kernels by fewer multiplications, tile by tile: what a pass makes of some of them.

A tile of m x m results takes (m + 2)^2 products for each pair of channels instead of 9 m^2: weights and tiles of the
input are transformed, multiplied position by position, summed over channels, and the sums are transformed back. Each
transform is a matrix applied along both axes. The matrices follow from points at which polynomials are evaluated; the
points are 0, infinity, and pairs +-p.

Sources: Winograd 1980, Arithmetic Complexity of Computations, chapter V; Lavin and Gray 2016, arXiv:1509.09308; for
points with small errors Barabasz et al. 2020, arXiv:1803.10986.

Shape letters: N batch, C input channels, O output channels, B blocks of output channels, K channels in a block, P =
(m + 2)^2 positions, H and W sizes of the padded input.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from ..errors import invalid_argument, need_equal_dtypes
from ..types import TensorType, float32
from .registry import Operator, absent, operator

PAIRS = {2: (1.0,), 4: (0.625, 1.5)}  # by m; dyadic, so that the matrices of data have no error of their own


@functools.cache
def matrices(m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What transforms weights [m + 2, 3], data [m + 2, m + 2] and sums [m, m + 2]; float64."""
    points = [0.0, *(s * p for p in PAIRS[m] for s in (1, -1))]
    weights, data = np.zeros((m + 2, 3)), np.zeros((m + 2, m + 2))
    for i, p in enumerate(points):
        others = [q for q in points if q != p]
        weights[i] = np.array([1, p, p * p]) / np.prod([p - q for q in others])
        data[i, : m + 1] = np.poly(others)[::-1]
    weights[-1, 2] = 1
    data[-1] = np.poly(points)[::-1]
    sums = np.array([[p**i for p in points] + [float(i == m - 1)] for i in range(m)])
    return weights, data, sums


def block_of(channels: int) -> int:
    """How many output channels a block holds: a multiple of 16 with little left over in the last block."""
    return min(range(64, 0, -16), key=lambda k: (0 < channels % k < min(16, channels), -(-channels // k) * k, -k))


@operator
class WinogradWeights(Operator):
    """Transformed weights, in the order in which products read them. Channels past the last are 0.

    Shapes: w [1, O, C, 3, 3] -> [B, P, C, K].
    """

    tile: int
    vjp = absent("made of a convolution after its gradients")

    def infer(self, w: TensorType) -> TensorType:
        if w.ndim != 5 or w.shape[0] != 1 or w.shape[3:] != (3, 3):
            raise invalid_argument(
                "winograd_weights: this is no weight of 3 x 3 without groups.",
                expected="w [1, O, C, 3, 3]", received=f"w: {w}",
            )  # fmt: skip
        block = block_of(w.shape[1])
        return w.with_shape((-(-w.shape[1] // block), (self.tile + 2) ** 2, w.shape[2], block))

    def numpy(self, w):
        g = matrices(self.tile)[0]
        outputs, inputs = w.shape[1:3]
        block, positions = block_of(outputs), (self.tile + 2) ** 2
        blocks = -(-outputs // block)
        u = np.zeros((positions, inputs, blocks * block), w.dtype)
        made = np.einsum("ai,ocij,bj->abco", g, w[0].astype("float64"), g)
        u[..., :outputs] = made.reshape(positions, inputs, outputs)
        return np.ascontiguousarray(u.reshape(positions, inputs, blocks, block).transpose(2, 0, 1, 3))

    def loops(self, k, w):
        b, p, c, o = k.at
        g, side = matrices(self.tile)[0], self.tile + 2
        block = block_of(w.shape[1])
        channel = b * block + o
        inside = channel < w.shape[1] if w.shape[1] % block else None

        def factor(at, i):
            chosen = float(g[0, i])
            for row in range(1, side):
                chosen = k.where(at.eq(row), float(g[row, i]), chosen)
            return k.cast(chosen, w.dtype)

        total = None
        for i, j in itertools.product(range(3), range(3)):
            part = factor(p // side, i) * factor(p % side, j) * k.load(w, [0, channel, c, i, j], inside)
            total = part if total is None else total + part
        return total

    def blocks(self, k, w):
        """All positions of a pair of channels: its nine elements are read once."""
        g = matrices(self.tile)[0]
        block = block_of(w.shape[1])

        def body():
            b, c, o = k.at
            channel = b * block + o
            inside = channel < w.shape[1] if w.shape[1] % block else None
            rows = [[k.load(w, [0, channel, c, i, j], inside) for j in range(3)] for i in range(3)]
            half = [[_dot(g[a], [rows[i][j] for i in range(3)]) for j in range(3)] for a in range(len(g))]
            for a in range(len(g)):
                for e in range(len(g)):
                    yield [b, a * len(g) + e, c, o], _dot(g[e], half[a])

        return (-(-w.shape[1] // block), w.shape[2], block), body

    def spmd(self, *types):
        return "GOcIJ->BPcK"

    @classmethod
    def samples(cls, rng):
        for tile in PAIRS:
            for o, c in ((5, 3), (70, 2), (16, 1)):
                yield cls(tile), (rng.normal(size=(1, o, c, 3, 3)).astype("float32"),)
        yield cls(2), (np.zeros((1, 4, 0, 3, 3), "float32"),)


def _dot(factors: np.ndarray, values: list[Any]) -> Any:
    total: Any = None
    for f, x in zip(factors.tolist(), values):
        part = x if f == 1 else x * f
        total = total if f == 0 else part if total is None else total + part
    return total


@operator
class WinogradConv(Operator):
    """out[n,0,o,y,x] = sum over c, i, j of x[n, 0, c, y + i, x + j] * w[0, o, c, i, j], with w transformed.

    Shapes: x [N, 1, C, H, W] with its padding, u = WinogradWeights(tile)(w) [B, P, C, K] -> [N, 1, O, H - 2, W - 2].
    Dtypes: float32.

    Errors of the compiled form against float64, relative to the root mean square of the results, for normal data
    (root mean square, and the largest of 65,536): 64 channels: 2.6e-7 and 1.6e-6 with tiles of 2, 7.5e-7 and 8.9e-6
    with tiles of 4, where products one by one have 2.5e-7 and 1.7e-6; 512 channels: 3.6e-7 and 1.8e-6, 1.0e-6 and
    7.5e-6, where they have 7.1e-7 and 6.6e-6. An infinite element makes results of its tile nan that it makes infinite
    else.
    """

    tile: int
    channels: int
    vjp = absent("made of a convolution after its gradients")

    def infer(self, x: TensorType, u: TensorType) -> TensorType:
        block = block_of(self.channels)
        want = (-(-self.channels // block), (self.tile + 2) ** 2, x.shape[2] if x.ndim == 5 else 0, block)
        if x.ndim != 5 or x.shape[1] != 1 or min(x.shape[3:]) < 3 or u.shape != want or x.dtype is not float32:
            raise invalid_argument(
                "winograd_conv: x and transformed weights do not fit.",
                expected=f"x float32[N, 1, C, H, W], H and W at least 3, u {list(want)}",
                received=f"x: {x}, u: {u}",
            )
        need_equal_dtypes("winograd_conv", x=x, u=u)
        return x.with_shape((x.shape[0], 1, self.channels, x.shape[3] - 2, x.shape[4] - 2))

    def numpy(self, x, u):
        m, side = self.tile, self.tile + 2
        _, data, sums = matrices(m)
        n, _, c, *padded = x.shape
        sizes = [s - 2 for s in padded]
        grid = [-(-s // m) for s in sizes]
        wide = np.zeros((n, c, *(g * m + 2 for g in grid)))
        wide[:, :, : padded[0], : padded[1]] = x[:, 0]
        tiles = np.lib.stride_tricks.sliding_window_view(wide, (side, side), (2, 3))[:, :, ::m, ::m]
        v = np.einsum("ai,ncyxij,bj->abnyxc", data, tiles, data).reshape(side * side, n * grid[0] * grid[1], c)
        weights = u.astype("float64").transpose(1, 2, 0, 3).reshape(side * side, c, u.shape[0] * u.shape[3])
        made = (v @ weights[..., : self.channels]).reshape(side, side, n, *grid, self.channels)
        out = np.einsum("ia,abnyxo,jb->noyixj", sums, made, sums).reshape(n, self.channels, *(g * m for g in grid))
        return np.ascontiguousarray(out[:, None, :, : sizes[0], : sizes[1]].astype(x.dtype))

    def spmd(self, *types):
        return "nGcST,BPcK->nGOUV"  # blocks of output channels do not part evenly

    @classmethod
    def samples(cls, rng):
        for tile in PAIRS:
            for n, c, o, h, w in ((2, 3, 5, 7, 9), (1, 20, 33, 4, 6), (1, 2, 16, 3, 3), (0, 2, 3, 4, 4)):
                x, weight = (rng.normal(size=s).astype("float32") for s in ((n, 1, c, h, w), (1, o, c, 3, 3)))
                yield cls(tile, o), (x, WinogradWeights(tile).numpy(weight))


@operator
class WinogradGrad(Operator):
    """The gradient of a 3 x 3 kernel: out[c,0,o,i,j] = sum over n, y, x of x[n, 0, c, y + i, x + j] * g[n, 0, o, y, x].

    Shapes: x [N, 1, C, H, W] with its padding, g [N, 1, O, H - 2, W - 2] -> [C, 1, O, 3, 3].
    Dtypes: float32.

    Errors of the compiled form against float64, told as for WinogradConv: sums of 1,568 elements 6.0e-7 and 4.1e-6,
    where products one by one have 2.6e-7 and 1.2e-6; of 25,088 elements 6.2e-7 and 3.2e-6, where they have 1.0e-6 and
    4.9e-6.
    """

    vjp = absent("made of a convolution after its gradients")

    def infer(self, x: TensorType, g: TensorType) -> TensorType:
        want = (x.shape[0], 1, g.shape[2] if g.ndim == 5 else 0, *(n - 2 for n in x.shape[3:]))
        if x.ndim != 5 or x.shape[1] != 1 or min(x.shape[3:]) < 3 or g.shape != want or x.dtype is not float32:
            raise invalid_argument(
                "winograd_grad: x and the gradient of the result do not fit.",
                expected=f"x float32[N, 1, C, H, W], H and W at least 3, g {list(want)}",
                received=f"x: {x}, g: {g}",
            )
        need_equal_dtypes("winograd_grad", x=x, g=g)
        return x.with_shape((x.shape[2], 1, g.shape[2], 3, 3))

    def numpy(self, x, g):
        x, wide = x[:, 0].astype("float64"), g[:, 0].astype("float64")
        (_, _, h, w), out = wide.shape, np.empty((x.shape[1], 1, wide.shape[1], 3, 3), g.dtype)
        for i, j in itertools.product(range(3), range(3)):
            out[:, 0, :, i, j] = np.tensordot(x[:, :, i : i + h, j : j + w], wide, ((0, 2, 3), (0, 2, 3)))
        return out

    def spmd(self, *types):
        return "nGcHW,nGoST->cGoIJ"

    @classmethod
    def samples(cls, rng):
        for n, c, o, h, w in ((2, 3, 5, 7, 9), (1, 20, 33, 4, 6), (4, 2, 16, 3, 3), (0, 2, 3, 4, 4)):
            yield cls(), tuple(rng.normal(size=s).astype("float32") for s in ((n, 1, c, h, w), (n, 1, o, h - 2, w - 2)))
