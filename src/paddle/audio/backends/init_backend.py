"""Which of the readers of files is in use."""

from __future__ import annotations

from ...engine import errors

__all__: list[str] = []


def list_available_backends() -> list[str]:
    """The names of the readers.

    Examples:
        >>> paddle.audio.backends.list_available_backends()
        ['wave_backend']
    """
    return ["wave_backend"]


def get_current_backend() -> str:
    """The name of the reader in use.

    Examples:
        >>> paddle.audio.backends.get_current_backend()
        'wave_backend'
    """
    return "wave_backend"


def set_backend(backend_name: str) -> None:
    """Chooses a reader.

    Args:
        backend_name (str): "wave_backend".

    Raises:
        NotImplementedError: there is no such reader.
    """
    if backend_name not in list_available_backends():
        raise errors.unimplemented(
            "set_backend: there is no such backend.", expected="'wave_backend'", received=f"{backend_name!r}"
        )
