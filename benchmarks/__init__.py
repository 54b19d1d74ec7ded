"""ferrule beside NumPy and ONNX Runtime and the machine's own limits, all in one run: `python -m benchmarks`.

A number alone says more about the machine than about us, so every result is a ratio to a peer that ran in turn with
us. Each contender lives in a process of its own and sleeps while another runs, because thread pools that spin would
otherwise steal each other's cores.
"""

from __future__ import annotations

import sys
from pathlib import Path

# The model, its float64 reference and the place of its files are those of the example.
sys.path.append(str(Path(__file__).resolve().parent.parent / "examples"))
