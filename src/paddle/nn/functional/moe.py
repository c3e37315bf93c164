"""Sorting of tokens by the experts that they are sent to, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager.trace import from_array
from ...engine.ops import elementwise as ew
from ...engine.ops.indexing import Gather
from ...engine.ops.reduction import sum_
from ...engine.ops.shape import reshape
from ...engine.types import float32
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import tensor

__all__ = ["moe_permute", "moe_unpermute"]


def _taken(x: Any, rows: np.ndarray) -> Any:
    """Rows of a matrix; zeros where the number is -1."""
    picked = Gather(0, False)(x, from_array(np.maximum(rows, 0).astype(np.int64)))
    if (rows >= 0).all():
        return picked
    kept = from_array((rows >= 0).astype(np.float32).reshape(-1, 1))
    return picked * ew.cast(kept, picked.dtype)


@public(guarded=True)
def moe_permute(hidden_states: Tensor, scale: Tensor | None, expert_routemap_topk: Tensor, expert_prob_topk: Tensor,
                num_experts: int, tokens_per_expert: Sequence[int], padding_alignment: int, do_gather: bool = True,
                using_ue8m0_scale: bool = False, return_expert_indices: bool = False,
                override_buffer_size: int = -1, name: str | None = None) -> tuple[Any, ...]:  # fmt: skip
    """Tokens in the order of their experts, a block per expert.

    Args:
        hidden_states (Tensor): [N, D].
        scale (Tensor, optional): [N, ...], rows that go along with the tokens (of float8 tokens), or None.
        expert_routemap_topk (Tensor): int32 [N, K], experts of each token, -1 for none.
        expert_prob_topk (Tensor): float32 [N, K].
        num_experts (int): number of experts E.
        tokens_per_expert (list): tokens that go to each expert.
        padding_alignment (int): the size of a block is rounded up to a multiple of it; the rest holds zeros.
        do_gather (bool, optional): False leaves the tokens out (zeros). Default: True.
        using_ue8m0_scale (bool, optional): what scale holds; rows are moved all the same. Default: False.
        return_expert_indices (bool, optional): also return the expert of each row, -1 for a rest. Default: False.
        override_buffer_size (int, optional): rows of the results; -1 for as many as it takes. Default: -1.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        tuple: tokens [R, D]; the row of each token for each expert, int32 [N, E], -1 for none; probabilities, float32
        [R, 1]; rows of scale (or None); the experts, int32 [R], if asked for.

    Raises:
        ValueError: the shapes, the counts or the routes do not fit.
    """
    fn = "moe_permute"
    tensor(hidden_states, fn, "hidden_states")
    routes = tensor(expert_routemap_topk, fn, "expert_routemap_topk").array()
    tensor(expert_prob_topk, fn, "expert_prob_topk")
    n = hidden_states.shape[0]
    counts = [int(c) for c in tokens_per_expert]
    ok = routes.ndim == 2 and len(routes) == n and tuple(expert_prob_topk.shape) == routes.shape
    ok = ok and len(counts) == num_experts and -1 <= routes.min(initial=-1) and routes.max(initial=-1) < num_experts
    if not ok:
        raise errors.invalid_argument(
            f"{fn}: the routes do not fit.",
            expected=f"routes and probabilities [{n}, K] in [-1, {num_experts}), and a count per expert",
            received=f"expert_routemap_topk: {list(routes.shape)}, expert_prob_topk: {expert_prob_topk.type}, "
            f"tokens_per_expert: {counts}",
        )
    blocks = [-(-c // padding_alignment) * padding_alignment for c in counts]
    starts = np.concatenate([[0], np.cumsum(blocks)]).astype(int)
    total = override_buffer_size if override_buffer_size > 0 else int(starts[-1])
    source, place = np.full(total, -1), np.full(total, -1)
    expert, rowmap = np.full(total, -1, np.int32), np.full((n, num_experts), -1, np.int32)
    for e in range(num_experts):
        expert[starts[e] : starts[e] + counts[e]] = e
        tokens, column = np.nonzero(routes == e)
        if len(tokens) > blocks[e] or starts[e] + len(tokens) > total:
            raise errors.invalid_argument(
                f"{fn}: more tokens go to an expert than tokens_per_expert says.",
                expected=f"at most {counts[e]} for expert {e}",
                received=f"{len(tokens)}",
            )
        rows = starts[e] + np.arange(len(tokens))
        source[rows], place[rows], rowmap[tokens, e] = tokens, tokens * routes.shape[1] + column, rows
    moved = _taken(hidden_states, source if do_gather else np.full(total, -1))
    probability = _taken(reshape(expert_prob_topk, (expert_prob_topk.size, 1)), place)
    out: tuple[Any, ...] = (moved, from_array(rowmap), probability, None if scale is None else _taken(scale, source))
    return (*out, from_array(expert)) if return_expert_indices else out


@public(guarded=True)
def moe_unpermute(hidden_states_unzipped: Tensor, zipped_expertwise_rowmap: Tensor, expert_routemap_topk: Tensor,
                  token_prob_unzipped: Tensor, total_zipped_tokens: int, num_experts: int,
                  using_mix_precision: bool = True, using_weighted_combine: bool = False,
                  name: str | None = None) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Undoes `moe_permute`: the rows of each token added up.

    Args:
        hidden_states_unzipped (Tensor): [R, D].
        zipped_expertwise_rowmap (Tensor): int32 [N, E], the row of each token for each expert, -1 for none.
        expert_routemap_topk (Tensor): int32 [N, K], experts of each token, -1 for none.
        token_prob_unzipped (Tensor): float32 [R, 1].
        total_zipped_tokens (int): N.
        num_experts (int): E.
        using_mix_precision (bool, optional): 16-bit rows are added in float32; they are in any case. Default: True.
        using_weighted_combine (bool, optional): rows are multiplied by their probabilities. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        tuple: tokens [N, D], and their probabilities in the order of the routes, [N, K].

    Raises:
        ValueError: the shapes do not fit.
    """
    fn = "moe_unpermute"
    x = tensor(hidden_states_unzipped, fn, "hidden_states_unzipped")
    rowmap = tensor(zipped_expertwise_rowmap, fn, "zipped_expertwise_rowmap").array()
    routes = tensor(expert_routemap_topk, fn, "expert_routemap_topk").array()
    tensor(token_prob_unzipped, fn, "token_prob_unzipped")
    n = int(total_zipped_tokens)
    if rowmap.shape != (n, num_experts) or routes.shape[0] != n:
        raise errors.invalid_argument(
            f"{fn}: the maps do not fit.",
            expected=f"rows [{n}, {num_experts}], routes [{n}, K]",
            received=f"rows: {list(rowmap.shape)}, routes: {list(routes.shape)}",
        )
    wide = ew.cast(x, float32) if x.dtype.itemsize < 4 else x
    if using_weighted_combine:
        wide = wide * ew.cast(token_prob_unzipped, wide.dtype)
    rows = reshape(_taken(wide, rowmap.reshape(-1)), (n, num_experts, x.shape[1]))
    place = np.where(routes >= 0, np.take_along_axis(rowmap, np.maximum(routes, 0), 1), -1)
    probability = reshape(_taken(token_prob_unzipped, place.reshape(-1)), routes.shape)
    return ew.cast(sum_(rows, (1,)), x.dtype), probability
