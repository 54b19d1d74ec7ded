"""The part of `numpy.lib` that xarray looks for in the namespace of an array."""

from __future__ import annotations

from ferrule.lib import stride_tricks

__all__ = ["stride_tricks"]
