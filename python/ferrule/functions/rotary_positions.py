"""The angles of rotary position embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ferrule.array.array import Array
from ferrule.array.attributes import one_integer, one_real
from ferrule.array.host_memory import from_host
from ferrule.errors import InvalidArgumentError
from ferrule.loading.device_lookup import handle_of
from ferrule.loading.devices import Device

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["rope_table"]


def rope_table(
    length: SupportsIndex,
    dimensions: SupportsIndex,
    *,
    base: float = 10000.0,
    scale: float = 1.0,
    frequencies: ArrayLike | None = None,
    device: Device | str | None = None,
) -> tuple[Array, Array]:
    """Return the cosines and sines of rotary positions, for `rope`.

    The angle of pair i at position p is `scale` * p * `base` ** (-2 * i / `dimensions`) (Su et al. 2021). A model that
    stretches its context has a `scale` below 1 ("linear" scaling), a greater `base`, or `frequencies` of its own.

    Parameters
    ----------
    length : int
        How many positions there are.
    dimensions : int
        The elements of a row that are turned, an even number.
    base : float
        The base of the frequencies.
    scale : float
        A factor for positions.
    frequencies : array_like of shape (dimensions // 2,), optional
        The angle of each pair at position 1; replaces the powers of `base`.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    tuple of two Arrays of shape (length, dimensions // 2)
        The cosines and the sines, computed in float64 and rounded to float32.

    Raises
    ------
    InvalidArgumentError
        A number is negative or not finite, `dimensions` is odd, or there is another number of frequencies.

    See Also
    --------
    rope : Turns rows by them.

    Examples
    --------
    >>> cosines, sines = fe.rope_table(2, 4)
    >>> cosines.tolist()[0], sines.tolist()[0]
    ([1.0, 1.0], [0.0, 0.0])
    """
    count = one_integer(length, "rope_table", "length")
    width = one_integer(dimensions, "rope_table", "dimensions")
    if count < 0 or width < 0 or width % 2:
        raise InvalidArgumentError(f"rope_table: length {count} and dimensions {width} are not >= 0 and even")
    if frequencies is None:
        root = one_real(base, "rope_table", "base")
        if not 0 < root < np.inf:
            raise InvalidArgumentError(f"rope_table: base is {root}, not a finite number above 0")
        turns = np.float64(root) ** (-np.arange(0, width, 2) / max(width, 1))
    else:
        turns = np.asarray(frequencies, np.float64)
        if turns.shape != (width // 2,):
            raise InvalidArgumentError(f"rope_table: needs {width // 2} frequencies, not {turns.shape}")
    angles = one_real(scale, "rope_table", "scale") * np.arange(count)[:, np.newaxis] * turns
    if not np.isfinite(angles).all():
        raise InvalidArgumentError("rope_table: an angle is not finite")
    handle = handle_of(device)

    def table(values: Any) -> Array:
        return Array._of(from_host(values.astype(np.float32), handle, None, "rope_table", owned=True))

    return table(np.cos(angles)), table(np.sin(angles))
