"""Versions: of the API that this follows, and of this build."""

from __future__ import annotations

full_version = "3.3.1"
major, minor, patch, rc = "3", "3", "1", "0"
commit = "unknown"
cuda_version = cudnn_version = nccl_version = "False"
hip = None
with_pip_cuda_libraries = "OFF"

__all__ = ["cuda", "cudnn", "nccl", "show", "xpu", "xpu_xre", "xpu_xccl", "xpu_xhpc", "tensorrt", "cuda_archs"]


def cuda() -> str:
    """The CUDA version of this build: "False", it has none."""
    return "False"


def cudnn() -> str:
    """The cuDNN version of this build: "False", it has none."""
    return "False"


def nccl() -> str:
    """The NCCL version of this build: "0", it has none."""
    return "0"


def xpu() -> str:
    """The XPU version of this build: "False", it has none."""
    return "False"


def xpu_xre() -> str:
    """The XRE version of this build: "False", it has none."""
    return "False"


def xpu_xccl() -> str:
    """The XCCL version of this build: "False", it has none."""
    return "False"


def xpu_xhpc() -> str:
    """The XHPC version of this build: "False", it has none."""
    return "False"


def tensorrt() -> str:
    """The TensorRT version of this build: "None", it has none."""
    return "None"


def cuda_archs() -> list[int]:
    """The GPU architectures of this build: none."""
    return []


def show() -> None:
    """Prints the versions."""
    print(f"full_version: {full_version}\nmajor: {major}\nminor: {minor}\npatch: {patch}\nrc: {rc}")
    print(f"cuda: {cuda()}\ncudnn: {cudnn()}\nnccl: {nccl()}")
