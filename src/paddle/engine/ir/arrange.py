"""Where the boxes of a picture lie: in layers from top to bottom, so that lines seldom cross.

The method is that of layered drawings: a layer for each box, places within the layers by the mean of what a box is
joined to, then coordinates as near to the neighbours as the order allows.
Source: Sugiyama, Tagawa and Toda 1981, IEEE Trans. Systems, Man, Cybernetics 11(2):109-125.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GAP_X, GAP_Y = 22.0, 34.0
_SWEEPS = 12


@dataclass
class Layout:
    """A drawing in numbers, in units of a pixel.

    Attributes:
        boxes: left edge and upper edge of each.
        lines: per edge the points that it passes, from box to box.
        width, height: of the whole.
    """

    boxes: list[tuple[float, float]]
    lines: list[list[tuple[float, float]]]
    width: float
    height: float


def lay_out(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout:
    """Places boxes.

    Args:
        sizes: width and height of each box.
        edges: pairs of boxes, upper and lower; the upper one has the smaller number.
    """
    n = len(sizes)
    rank = ranks(n, edges)
    # Where a line passes a layer there is a point; lines from one box share them until they part.
    widths = [w for w, _ in sizes]
    chain: dict[tuple[int, int], int] = {}
    steps: list[tuple[int, int]] = []
    routes: list[list[int]] = []
    for a, b in edges:
        route = [a]
        for r in range(rank[a] + 1, rank[b]):
            if (a, r) not in chain:
                chain[(a, r)] = len(widths)
                widths.append(0.0)
                rank.append(r)
                steps.append((route[-1], chain[(a, r)]))
            route.append(chain[(a, r)])
        route.append(b)
        steps.append((route[-2], b))
        routes.append(route)
    layers: list[list[int]] = [[] for _ in range(max(rank, default=0) + 1)]
    for i, r in enumerate(rank):
        layers[r].append(i)
    above: list[list[int]] = [[] for _ in widths]
    below: list[list[int]] = [[] for _ in widths]
    for a, b in dict.fromkeys(steps):
        below[a].append(b)
        above[b].append(a)
    order(layers, above, below)
    x = abscissas(layers, widths, above, below)
    tops, bottoms, at = [], [], 0.0
    for layer in layers:
        high = max((sizes[i][1] for i in layer if i < n), default=0.0)
        tops.append(at)
        bottoms.append(at + high)
        at += high + GAP_Y
    left = min((x[i] - widths[i] / 2 for i in range(len(x))), default=0.0)
    right = max((x[i] + widths[i] / 2 for i in range(len(x))), default=0.0)
    boxes = []
    for i, (w, h) in enumerate(sizes):
        middle = (tops[rank[i]] + bottoms[rank[i]]) / 2
        boxes.append((x[i] - w / 2 - left, middle - h / 2))
    lines = []
    for route in routes:
        points = [(x[route[0]] - left, boxes[route[0]][1] + sizes[route[0]][1])]
        for i in route[1:-1]:
            points += [(x[i] - left, tops[rank[i]]), (x[i] - left, bottoms[rank[i]])]
        points.append((x[route[-1]] - left, boxes[route[-1]][1]))
        lines.append(points)
    return Layout(boxes, lines, right - left, max(bottoms, default=0.0))


def ranks(n: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The layer of each box: below all that it comes from, and near what it goes to; no layer far wider than others."""
    before: list[list[int]] = [[] for _ in range(n)]
    after: list[list[int]] = [[] for _ in range(n)]
    for a, b in dict.fromkeys(edges):
        assert a < b, f"an edge from {a} up to {b}"
        before[b].append(a)
        after[a].append(b)
    most = max(6, round((n * 0.8) ** 0.5))
    count: dict[int, int] = {}
    rank = [0] * n
    for i in range(n):
        r = max((rank[a] + 1 for a in before[i]), default=0)
        if before[i]:  # what comes from nothing moves down later
            while count.get(r, 0) >= most:
                r += 1
            count[r] = count.get(r, 0) + 1
        rank[i] = r
    for i in reversed(range(n)):
        held = sum(1 for a in before[i] if before[a] or len(after[a]) > 1)  # what cannot simply come along
        if after[i] and held <= len(after[i]):
            r = min(rank[b] for b in after[i]) - 1
            if before[i]:
                count[rank[i]] -= 1
                while r > rank[i] and count.get(r, 0) >= most:
                    r -= 1
                count[r] = count.get(r, 0) + 1
            rank[i] = r
    used = {r: k for k, r in enumerate(sorted(set(rank)))}
    return [used[r] for r in rank]


def order(layers: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Sorts every layer so that lines cross less: by the mean place of the neighbours, down and up by turns."""
    place = {i: k for layer in layers for k, i in enumerate(layer)}
    best, fewest = [list(layer) for layer in layers], crossings(layers, below, place)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        joined = above if down else below
        for layer in layers if down else reversed(layers):
            mean = {i: sum(place[j] for j in joined[i]) / len(joined[i]) if joined[i] else place[i] for i in layer}
            layer.sort(key=mean.__getitem__)
            place.update((i, k) for k, i in enumerate(layer))
        found = crossings(layers, below, place)
        if found < fewest:
            best, fewest = [list(layer) for layer in layers], found
    for layer, kept in zip(layers, best):
        layer[:] = kept


def crossings(layers: list[list[int]], below: list[list[int]], place: dict[int, int]) -> int:
    """How many pairs of lines between neighbouring layers cross."""
    total = 0
    for layer, lower in zip(layers, layers[1:]):
        tree = [0] * (len(lower) + 1)  # counts of places seen so far, as a Fenwick tree
        seen = 0
        for i in layer:
            ends = sorted(place[j] for j in below[i])
            for e in ends:
                k, left = e + 1, 0
                while k:
                    left += tree[k]
                    k &= k - 1
                total += seen - left
            for e in ends:
                k = e + 1
                while k < len(tree):
                    tree[k] += 1
                    k += k & -k
                seen += 1
    return total


def abscissas(
    layers: list[list[int]], widths: list[float], above: list[list[int]], below: list[list[int]]
) -> list[float]:
    """Middles of boxes and points, in the order of the layers, near the middles of their neighbours."""
    x = [0.0] * len(widths)
    for layer in layers:
        at = 0.0
        for i in layer:
            x[i] = at + widths[i] / 2
            at += widths[i] + GAP_X
        for i in layer:
            x[i] -= (at - GAP_X) / 2

    def pull(i: int, j: int) -> float:
        """How much the place of j counts for i: long lines are straight, and what i alone reads follows it."""
        if not above[j] and len(below[j]) == 1:
            return 0.02
        return 8.0 if widths[i] == widths[j] == 0.0 else 1.0

    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            want = []
            for i in layer:
                near = above[i] + below[i] if sweep >= _SWEEPS - 2 else above[i] if down else below[i]
                near = near or above[i] or below[i]
                weights = [pull(i, j) for j in near]
                want.append(sum(x[j] * w for j, w in zip(near, weights)) / sum(weights) if near else x[i])
            for i, found in zip(layer, apart(want, [widths[i] for i in layer])):
                x[i] = found
    return x


def apart(want: list[float], widths: list[float]) -> list[float]:
    """The places nearest to `want`, in squares, that keep order and distance: a monotone regression by pooling."""
    shift, at = [], 0.0
    for k, w in enumerate(widths):
        at += w / 2 + (widths[k - 1] / 2 + GAP_X if k else 0.0)
        shift.append(at)
    pools: list[tuple[float, int]] = []  # mean and size
    for v, s in zip(want, shift):
        mean, size = v - s, 1
        while pools and pools[-1][0] >= mean:
            other, m = pools.pop()
            mean, size = (mean * size + other * m) / (size + m), size + m
        pools.append((mean, size))
    flat = [mean for mean, size in pools for _ in range(size)]
    return [f + s for f, s in zip(flat, shift)]
