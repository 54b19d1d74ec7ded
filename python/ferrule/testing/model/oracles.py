"""Computations that the oracles of cases and the references of random steps share."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.dtypes import Values


def fitted(found: Values, size: int, axis: int = 0) -> Values:
    """Truncate to `size` elements along the axis, or append zeros."""
    shape = list(found.shape)
    shape[axis] = size
    result = np.zeros(shape, found.dtype)
    place = (slice(None),) * axis + (slice(min(size, found.shape[axis])),)
    result[place] = found[place]
    return result
