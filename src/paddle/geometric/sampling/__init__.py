"""Neighbours of nodes, drawn at random."""

from .neighbors import sample_neighbors, weighted_sample_neighbors

__all__: list[str] = []
