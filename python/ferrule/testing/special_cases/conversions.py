"""The special cases of arrays of one number that become a number of Python. The notation: notation.py."""

CONVERSIONS = """
[__bool__ x]
nan -> true
inf -> true
0 -> false

[__bool__ a+bj]
0, 0 -> false
rest -> true

# The first two rows are those of a bool.
[__complex__ x]
1 -> 1, +0
0 -> 0, +0
nan -> nan, nan
+inf -> +inf, +0
-inf -> -inf, +0
fin -> x, +0

# The rows are those of a bool.
[__float__ x]
1 -> 1
0 -> 0

# The first two rows are those of a bool.
[__int__ x]
1 -> 1
0 -> 0
fin -> truncated
-0 -> 0
inf -> OverflowError
nan -> ValueError
"""
