"""NVIDIA GPUs: this build has none."""

__all__ = ["device_count", "empty_cache"]


def device_count() -> int:
    """The number of GPUs: 0."""
    return 0


def empty_cache() -> None:
    """Gives back unused memory of the GPUs. There are none, so there is nothing to give back."""
