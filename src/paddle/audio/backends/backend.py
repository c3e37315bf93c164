"""What is known of a file of samples."""

from __future__ import annotations

__all__: list[str] = []


class AudioInfo:
    """What is known of a file of samples.

    Args:
        sample_rate (int): samples of a channel in a second.
        num_samples (int): samples of a channel.
        num_channels (int): channels.
        bits_per_sample (int): bits.
        encoding (str): how samples are written, as "PCM_S".
    """

    def __init__(self, sample_rate: int, num_samples: int, num_channels: int, bits_per_sample: int, encoding: str):
        self.sample_rate, self.num_samples, self.num_channels = sample_rate, num_samples, num_channels
        self.bits_per_sample, self.encoding = bits_per_sample, encoding
