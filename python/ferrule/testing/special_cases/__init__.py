"""The special cases of the Python array API standard 2024.12, as data: one row for each sentence."""
