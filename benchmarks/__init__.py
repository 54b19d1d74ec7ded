"""Compares ferrule with NumPy, ONNX Runtime, ggml and the machine's own limits, all in one run: `python -m benchmarks`.
 An absolute number says more about the machine than about ferrule, so every result is a ratio to a peer that was
measured in turn with ferrule. Each contender is a separate process that sleeps while another runs, because spinning
thread pools would otherwise take each other's cores.
"""

from __future__ import annotations

import sys
from pathlib import Path

# The examples' models, their float64 references and the search for their files are used here.
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
sys.path += [str(EXAMPLES), str(EXAMPLES / "chat")]
