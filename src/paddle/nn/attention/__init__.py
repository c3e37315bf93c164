"""The choice among kernels of `nn.functional.scaled_dot_product_attention`."""

from .sdpa import SDPBackend, sdpa_kernel

__all__ = ["SDPBackend", "sdpa_kernel"]
