"""Random programs, computed in several ways and compared with NumPy: docs/develop/kit.md."""
