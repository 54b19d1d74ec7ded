"""Random programs, computed in every way and held against NumPy: docs/kit.md."""
