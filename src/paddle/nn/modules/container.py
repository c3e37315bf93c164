"""Containers, under PyTorch's names too."""

from ..layer.container import LayerDict, LayerList, ParameterDict, ParameterList, Sequential

ModuleList, ModuleDict = LayerList, LayerDict

__all__ = ["LayerDict", "LayerList", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]
