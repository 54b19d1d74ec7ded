"""The branch cuts of elementwise functions of complex numbers, with the signs of zero on both sides: they are continued
around their ends as in C (ISO/IEC 9899:2018, annex G). The notation: notation.py; `cmath` is Python's function."""

BRANCH_CUTS = """
[acos a+bj]
>1&fin, 0 or <-1&fin, 0 -> cmath

[acosh a+bj]
<1&fin, 0 -> cmath

[asin a+bj]
>1&fin, 0 or <-1&fin, 0 -> cmath

[asinh a+bj]
0, >1&fin or 0, <-1&fin -> cmath

[atan a+bj]
0, >1&fin or 0, <-1&fin -> cmath

[atanh a+bj]
>1&fin, 0 or <-1&fin, 0 -> cmath

[log a+bj]
<0&fin, 0 -> cmath

[log10 a+bj]
<0&fin, 0 -> cmath

[log1p a+bj]
<-1&fin, 0 -> cmath

[log2 a+bj]
<0&fin, 0 -> cmath

[sqrt a+bj]
<0&fin, 0 -> cmath
"""
