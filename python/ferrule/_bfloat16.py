"""`ferrule.bfloat16`, in a module of its own because ml_dtypes is imported with it."""

from __future__ import annotations

from ferrule import _ferrule

bfloat16 = _ferrule.dtype("bfloat16")
