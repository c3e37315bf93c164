"""Control flow of Python on Tensors, as operations of a program."""

from .convert import convert_function, entry, ignore

__all__ = ["convert_function", "entry", "ignore"]
