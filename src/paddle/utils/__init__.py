"""Helpers of the public API."""
