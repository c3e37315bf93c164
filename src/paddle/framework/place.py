"""Where tensors live: places, and the device that is current.

This build computes on the CPU. Places of other devices are known by name and refused, as a CPU build of upstream does.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

from ..engine import errors

__all__ = [
    "CPUPlace", "CUDAPlace", "CUDAPinnedPlace", "XPUPlace", "XPUPinnedPlace", "IPUPlace", "CustomPlace", "set_device",
    "get_device", "get_default_device", "set_default_device", "is_compiled_with_cuda", "is_compiled_with_rocm",
    "is_compiled_with_xpu", "is_compiled_with_ipu", "is_compiled_with_cinn", "is_compiled_with_distribute",
    "is_compiled_with_custom_device",
]  # fmt: skip


class Place:
    """Where a tensor's memory is. Equal places are equal objects."""

    _kind, _id = "cpu", 0

    def is_cpu_place(self) -> bool:
        return self._kind == "cpu"

    def is_gpu_place(self) -> bool:
        return False

    def is_cuda_pinned_place(self) -> bool:
        return False

    def is_xpu_place(self) -> bool:
        return False

    def is_xpu_pinned_place(self) -> bool:
        return False

    def is_ipu_place(self) -> bool:
        return False

    def is_custom_place(self) -> bool:
        return False

    def gpu_device_id(self) -> int:
        return 0

    def xpu_device_id(self) -> int:
        return 0

    def ipu_device_id(self) -> int:
        return 0

    def custom_device_id(self) -> int:
        return 0

    def custom_device_type(self) -> str:
        return ""

    def set_place(self, place: "Place") -> None:
        self._kind, self._id = place._kind, place._id

    def _type(self) -> int:
        return 1

    def _equals(self, other: Any) -> bool:
        return self == other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self._kind, self._id) == (other._kind, other._id)

    def __hash__(self) -> int:
        return hash((self._kind, self._id))

    def __repr__(self) -> str:
        return f"Place({self._kind})" if self._kind == "cpu" else f"Place({self._kind}:{self._id})"


class CPUPlace(Place):
    """The memory of the host.

    Examples:
        >>> paddle.CPUPlace()
        Place(cpu)
    """


def _refused(name: str) -> NoReturn:
    raise errors.invalid_argument(
        f"{name}: this build has no such device.", expected="paddle.CPUPlace()", received=f"{name}"
    )


class CUDAPlace(Place):
    """The memory of an NVIDIA GPU. Raises ValueError: this build computes on the CPU."""

    def __init__(self, id: int = 0):
        _refused("CUDAPlace")


class XPUPlace(Place):
    """The memory of an XPU. Raises ValueError: this build computes on the CPU."""

    def __init__(self, dev_id: int = 0):
        _refused("XPUPlace")


class IPUPlace(Place):
    """The memory of an IPU. Raises ValueError: this build computes on the CPU."""

    def __init__(self) -> None:
        _refused("IPUPlace")


class CustomPlace(Place):
    """The memory of a plug-in device. Raises ValueError: no such device is registered."""

    def __init__(self, device_type: str, id: int = 0):
        _refused("CustomPlace")


class CUDAPinnedPlace(Place):
    """Host memory that a GPU reads directly. Raises RuntimeError: this build computes on the CPU."""

    def __init__(self) -> None:
        raise errors.permission_denied("CUDAPinnedPlace: this build has no GPU to pin memory for.")


class XPUPinnedPlace(Place):
    """Host memory that an XPU reads directly. Raises RuntimeError: this build computes on the CPU."""

    def __init__(self) -> None:
        raise errors.permission_denied("XPUPinnedPlace: this build has no XPU to pin memory for.")


CPU = Place()
_CPU = CPUPlace()


def place_of(device: Any, name: str = "set_device") -> Place:
    """The place that a device argument names: a Place, or text such as "cpu".

    Raises:
        ValueError: no such device in this build, or not a device at all.
    """
    if isinstance(device, Place):
        return device
    if isinstance(device, str):
        text = device.lower()
        if text == "cpu":
            return _CPU
        if re.fullmatch(r"(gpu|cuda|dcu|xpu|ipu|gpu_pinned)(:\d+)?", text):
            raise errors.invalid_argument(
                f"{name}: this build has no device {device!r}.", expected="'cpu'", received=repr(device)
            )
    kind = getattr(device, "type", None)
    if kind == "cpu":
        return _CPU
    raise errors.invalid_argument(
        f"{name}: this names no device.",
        expected="'cpu', a place, or the name of an accelerator that this build has",
        received=repr(device),
    )


def set_device(device: Any) -> Place:
    """Makes a device the one that new tensors live on.

    Args:
        device (str|Place): "cpu".

    Returns:
        Place: of the device.

    Raises:
        ValueError: this build has no such device.

    Examples:
        >>> paddle.set_device("cpu")
        Place(cpu)
    """
    return place_of(device)


def get_device(input: Any = None) -> Any:
    """The name of the current device; for a Tensor, the number of its device (-1: the CPU).

    Examples:
        >>> paddle.get_device()
        'cpu'
    """
    return "cpu" if input is None else -1


def get_default_device() -> str:
    """The name of the device that new tensors live on."""
    return "cpu"


def set_default_device(device: Any) -> None:
    """Makes a device the one that new tensors live on; as `set_device`, without a result."""
    place_of(device, "set_default_device")


def current_place() -> Place:
    """The place that new tensors live on."""
    return _CPU


def is_compiled_with_cuda() -> bool:
    """Whether this build computes on NVIDIA GPUs: False."""
    return False


def is_compiled_with_rocm() -> bool:
    """Whether this build computes on AMD GPUs: False."""
    return False


def is_compiled_with_xpu() -> bool:
    """Whether this build computes on XPUs: False."""
    return False


def is_compiled_with_ipu() -> bool:
    """Whether this build computes on IPUs: False."""
    return False


def is_compiled_with_cinn() -> bool:
    """Whether upstream's CINN compiler is part of this build: False, the engine has its own."""
    return False


def is_compiled_with_distribute() -> bool:
    """Whether `paddle.distributed` is part of this build: True."""
    return True


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Whether a plug-in for this kind of device is registered: False."""
    return False
