"""Products of derivatives with vectors, and derivatives as matrices, of functions of Tensors."""

from .functional import Hessian, Jacobian, jvp, vjp

__all__ = ["vjp", "jvp", "Jacobian", "Hessian"]
