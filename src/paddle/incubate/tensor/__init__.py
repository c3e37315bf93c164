"""Rows reduced by segment: older paths of `paddle.geometric`."""

from ...geometric import segment_max, segment_mean, segment_min, segment_sum

__all__: list[str] = []
