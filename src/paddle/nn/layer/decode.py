"""Decoding step by step: Decoder, BeamSearchDecoder, dynamic_decode."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager.trace import from_array
from ...tensor.tensor import Tensor
from .rnn import _stack, leaves, map_structure

__all__ = ["BeamSearchDecoder", "dynamic_decode"]

# Shape letters: B batch, W beam width, V vocabulary, T time.


class Decoder:
    """Base of decoders: `initialize` gives the first step's arguments, `step` makes a step, `finalize` ends."""

    def initialize(self, inits: Any) -> tuple[Any, Any, Tensor]:
        """The first inputs, the first states, and which sequences have ended."""
        raise NotImplementedError

    def step(self, time: Tensor, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Tensor]:
        """Outputs, states, next inputs, and which sequences have ended."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Tensor) -> tuple[Any, Any]:
        """What dynamic_decode returns, from all outputs."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `step` keeps track of the end of sequences itself."""
        return False


class BeamSearchDecoder(Decoder):
    """Keeps the most likely beginnings while decoding.

    Args:
        cell (RNNCellBase): one step of the network.
        start_token (int): the first token.
        end_token (int): the token that ends a sequence.
        beam_size (int): W, beginnings that are kept.
        embedding_fn (Callable, optional): from tokens to inputs of the cell.
        output_fn (Callable, optional): from outputs of the cell to logits.
    """

    OutputWrapper = collections.namedtuple("OutputWrapper", ("scores", "predicted_ids", "parent_ids"))
    StateWrapper = collections.namedtuple("StateWrapper", ("cell_states", "log_probs", "finished", "lengths"))

    def __init__(
        self,
        cell: Any,
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Any = None,
        output_fn: Any = None,
    ) -> None:
        self.cell, self.embedding_fn, self.output_fn = cell, embedding_fn, output_fn
        self.start_token, self.end_token, self.beam_size = start_token, end_token, beam_size

    @staticmethod
    def tile_beam_merge_with_batch(x: Tensor, beam_size: int) -> Tensor:
        """[B, ...] -> [B W, ...]: every entry beam_size times."""
        shape = list(x.shape)
        wide = x.unsqueeze(1).expand([shape[0], beam_size, *shape[1:]])
        return wide.reshape([shape[0] * beam_size, *shape[1:]])

    def _split(self, x: Tensor) -> Tensor:
        return x.reshape([-1, self.beam_size, *x.shape[1:]])

    def _merge(self, x: Tensor) -> Tensor:
        return x.reshape([-1, *x.shape[2:]])

    def _expand(self, x: Tensor) -> Tensor:
        shape = list(x.shape)
        return x.unsqueeze(1).expand([shape[0], self.beam_size, *shape[1:]])

    def initialize(self, initial_cell_states: Any) -> tuple[Any, Any, Tensor]:
        batch = leaves(initial_cell_states)[0].shape[0]
        w = self.beam_size
        tokens: Any = from_array(np.full((batch, w), self.start_token, np.int64))
        scores = np.full((batch, w), -1e9, np.float32)
        scores[:, 0] = 0.0  # all beams are alike at first: only one of them counts
        states = self.StateWrapper(
            map_structure(self._expand, initial_cell_states),
            from_array(scores),
            from_array(np.zeros((batch, w), bool)),
            from_array(np.zeros((batch, w), np.int64)),
        )
        inputs = self.embedding_fn(tokens) if self.embedding_fn else tokens
        return inputs, states, states.finished

    def step(self, time: Tensor, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Tensor]:
        from .. import functional as F

        merged = map_structure(self._merge, inputs)
        cell_states = map_structure(self._merge, states.cell_states)
        out, new_states = self.cell(merged, cell_states, **kwargs)
        if self.output_fn is not None:
            out = self.output_fn(out)
        logits = self._split(out)
        b, w, v = logits.shape
        # ended beams go on with end_token at no cost
        frozen = np.full((v,), -1e9, np.float32)
        frozen[self.end_token] = 0.0
        ended = states.finished.astype(logits.dtype).unsqueeze(-1)
        logs = F.log_softmax(logits) * (1.0 - ended) + from_array(frozen) * ended
        total = (logs + states.log_probs.unsqueeze(-1)).reshape([b, w * v])
        scores, at = total.topk(w, axis=1)
        beams, tokens = at // v, at % v

        def pick(x: Tensor) -> Tensor:
            offset: Any = from_array(np.arange(b, dtype=np.int64)[:, None] * w)
            return self._split(self._merge(x).index_select((beams + offset).reshape([-1]), axis=0))

        finished, lengths = pick(states.finished), pick(states.lengths)
        lengths = lengths + 1 - finished.astype("int64")
        finished = finished.logical_or(tokens == self.end_token)
        cells = map_structure(lambda x: pick(self._split(x)), new_states)
        output = self.OutputWrapper(scores, tokens, beams)
        following = self.embedding_fn(tokens) if self.embedding_fn else tokens
        return output, self.StateWrapper(cells, scores, finished, lengths), following, finished

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Tensor) -> tuple[Any, Any]:
        from .. import functional as F

        return F.gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states

    @property
    def tracks_own_finished(self) -> bool:
        return True


def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> Any:
    """Calls a decoder's `step` until all sequences have ended.

    Args:
        decoder (Decoder): what decodes.
        inits (optional): given to `initialize`.
        max_step_num (int, optional): greatest number of the last step, counted from 0.
        output_time_major (bool): outputs are [T, B, ...] rather than [B, T, ...]. Default: False.
        impute_finished (bool): keeps the states of sequences that have ended. Default: False.
        is_test (bool): accepted; memory is planned anyway. Default: False.
        return_length (bool): gives lengths too. Default: False.
        **kwargs: given to `step`.

    Returns:
        tuple: outputs, final states and, if asked for, lengths.
    """
    inputs, states, finished = decoder.initialize(inits)
    lengths: Any = finished.astype("int64") * 0
    outs: list[Any] = []
    step = 0
    while not bool(finished.all()):
        time: Any = from_array(np.array([step], np.int64))
        out, new, inputs, ended = decoder.step(time, inputs, states, **kwargs)
        if not decoder.tracks_own_finished:
            ended = ended.logical_or(finished)
            lengths = lengths + 1 - finished.astype("int64")
            if impute_finished:
                on = 1.0 - finished.astype("float32")
                new = map_structure(lambda a, b, on=on: _frozen(on, a, b), new, states)
        else:
            lengths = getattr(new, "lengths", lengths)
        outs.append(out)
        states, finished = new, ended
        step += 1
        if max_step_num is not None and step > max_step_num:
            break
    if not outs:
        raise errors.precondition(
            "dynamic_decode: all sequences have ended before the first step.",
            expected="a sequence that goes on at the first step",
            received="finished: all of them",
        )
    outputs = _stack(outs, 0)
    try:
        outputs, states = decoder.finalize(outputs, states, lengths)
    except NotImplementedError:
        pass  # a decoder without an end of its own
    if not output_time_major:
        outputs = map_structure(lambda x: x.transpose([1, 0, *range(2, x.ndim)]), outputs)
    return (outputs, states, lengths) if return_length else (outputs, states)


def _frozen(on: Tensor, new: Tensor, old: Tensor) -> Tensor:
    from .rnn import _keep

    if not new.dtype.is_floating:
        return _keep(on, new.astype("float32"), old.astype("float32")).astype(new.dtype)
    return _keep(on, new, old)
