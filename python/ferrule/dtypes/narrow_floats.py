"""`ferrule.bfloat16` and the float8 dtypes. They have their own module because using them imports ml_dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule import _ferrule

if TYPE_CHECKING:
    import numpy as np

    def __getattr__(name: str) -> np.dtype[Any]: ...


globals().update({name: _ferrule.dtype(name) for name, row in _ferrule.DTYPES.items() if row.package == "ml_dtypes"})
