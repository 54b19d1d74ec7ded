"""The part of `numpy.lib` that xarray looks for in the namespace of an array."""

from ferrule.lib import stride_tricks as stride_tricks
