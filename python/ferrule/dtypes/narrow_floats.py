"""`ferrule.bfloat16` and the float8 dtypes. They have their own module because using them imports ml_dtypes."""

from __future__ import annotations

from ferrule import _ferrule

bfloat16 = _ferrule.dtype("bfloat16")
float8_e4m3fn = _ferrule.dtype("float8_e4m3fn")
float8_e5m2 = _ferrule.dtype("float8_e5m2")
