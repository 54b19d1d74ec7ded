"""The special cases of reductions and cumulative functions, and of functions made of them. The notation: notation.py.

`in order` is the oracle's result: that of successive operations, of which each has the special cases of its own op.
"""

REDUCTIONS = """
[all ...]
empty -> true

[any ...]
empty -> false

[cumulative_prod ...]
values -> in order

[cumulative_sum ...]
values -> in order

[max ...]
some nan -> nan

[mean ...]
empty -> nan
some nan -> nan

# The order of the additions of a mean is free, and so is the other part.
[mean ...+...j]
empty -> nan, nan
some nan in a -> nan, any
some nan in b -> any, nan

[min ...]
some nan -> nan

[prod ...]
empty -> 1
values -> in order

# The sign and the logarithm of the magnitude.
[slogdet ...]
singular -> 0, -inf

[slogdet ...+...j]
singular -> 0, -inf

[std ...]
correction>=N -> nan
some nan -> nan

[sum ...]
empty -> 0
values -> in order

[trace ...]
empty -> 0
values -> in order

[var ...]
correction>=N -> nan
some nan -> nan
"""
