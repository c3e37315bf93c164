"""Settings from the environment."""

from __future__ import annotations

__all__ = ["strtobool"]


def strtobool(val: str) -> bool:
    """The truth value that a word stands for, as in environment variables.

    Args:
        val (str): y, yes, t, true, on, 1; or n, no, f, false, off, 0; in upper or lower case.

    Returns:
        bool: the value.

    Raises:
        ValueError: another word.

    Examples:
        >>> paddle.utils.strtobool("On")
        True
    """
    word = val.lower()
    if word in ("y", "yes", "t", "true", "on", "1"):
        return True
    if word in ("n", "no", "f", "false", "off", "0"):
        return False
    raise ValueError(f"Invalid truth value {word!r}")
