"""Dtypes: those of NumPy and ml_dtypes, and ferrule's block dtypes."""
