"""Dtypes: NumPy's, those of ml_dtypes, and the block dtypes of ferrule."""
