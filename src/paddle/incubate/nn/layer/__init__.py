"""The files of the layers."""
