"""The special cases of elementwise functions of complex numbers. The notation: notation.py.

Symmetries give the rows of the other quadrants: most rows have a positive imaginary part, as in the standard.
"""

COMPLEX = """
[abs a+bj]
inf, any -> +inf
any, inf -> +inf
0, any -> abs(b)
any, 0 -> abs(a)
nan, fin -> nan
fin, nan -> nan
nan, nan -> nan

[acos a+bj; conj]
0, +0 -> +pi/2, -0
0, nan -> +pi/2, nan
fin, +inf -> +pi/2, -inf
nonzero, nan -> nan, nan
-inf, +fin -> +pi, -inf
+inf, +fin -> +0, -inf
-inf, +inf -> +3pi/4, -inf
+inf, +inf -> +pi/4, -inf
inf, nan -> nan, inf
nan, fin -> nan, nan
nan, +inf -> nan, -inf
nan, nan -> nan, nan

[acosh a+bj; conj]
0, +0 -> +0, +pi/2
fin, +inf -> +inf, +pi/2
nonzero, nan -> nan, nan
+0, nan -> nan, pi/2
-inf, +fin -> +inf, +pi
+inf, +fin -> +inf, +0
-inf, +inf -> +inf, +3pi/4
+inf, +inf -> +inf, +pi/4
inf, nan -> +inf, nan
nan, fin -> nan, nan
nan, +inf -> +inf, nan
nan, nan -> nan, nan

[add a+bj c+dj; parts]
-0, any, -0, any -> -0, any
any, +0, any, -0 -> any, +0

[asin a+bj; as -1j * asinh(1j * z)]

[asinh a+bj; conj, odd]
+0, +0 -> +0, +0
+fin, +inf -> +inf, +pi/2
fin, nan -> nan, nan
+inf, +fin -> +inf, +0
+inf, +inf -> +inf, +pi/4
nan, +0 -> nan, +0
nan, nonzero -> nan, nan
nan, +inf -> inf, nan
nan, nan -> nan, nan

[atan a+bj; as -1j * atanh(1j * z)]

[atanh a+bj; conj, odd]
+0, +0 -> +0, +0
+0, nan -> +0, nan
1, +0 -> +inf, +0
+fin, +inf -> +0, +pi/2
nonzero, nan -> nan, nan
+inf, +fin -> +0, +pi/2
+inf, +inf -> +0, +pi/2
+inf, nan -> +0, nan
nan, fin -> nan, nan
nan, +inf -> 0, +pi/2
nan, nan -> nan, nan

[cos a+bj; as cosh(1j * z)]

[cosh a+bj; conj, even]
+0, +0 -> 1, +0
+0, +inf -> nan, 0
+0, nan -> nan, 0
nonzero, +inf -> nan, nan
nonzero, nan -> nan, nan
+inf, +0 -> +inf, +0
+inf, nonzero -> inf*cos(b), inf*sin(b)
+inf, +inf -> inf, nan
+inf, nan -> +inf, nan
nan, 0 -> nan, 0
nan, nonzero -> nan, nan
nan, nan -> nan, nan

# The standard leaves other quotients of infinities and NaN open, and so is overflow on the way.
[divide a+bj c+dj]
all nan -> nan, nan
all fin -> oracle

[equal a+bj c+dj]
some nan -> false
rest -> oracle

[exp a+bj; conj]
0, +0 -> 1, +0
fin, +inf -> nan, nan
fin, nan -> nan, nan
+inf, +0 -> +inf, +0
-inf, fin -> 0*cos(b), 0*sin(b)
+inf, nonzero -> inf*cos(b), inf*sin(b)
-inf, +inf -> 0, 0
+inf, +inf -> inf, nan
-inf, nan -> 0, 0
+inf, nan -> inf, nan
nan, +0 -> nan, +0
nan, !0 -> nan, nan
nan, nan -> nan, nan

[expm1 a+bj; conj]
0, +0 -> +0, +0
fin, +inf -> nan, nan
fin, nan -> nan, nan
+inf, +0 -> +inf, +0
-inf, fin -> -1, 0*sin(b)
+inf, nonzero -> inf*cos(b), inf*sin(b)
-inf, +inf -> -1, 0
+inf, +inf -> inf, nan
-inf, nan -> -1, 0
+inf, nan -> inf, nan
nan, +0 -> nan, +0
nan, !0 -> nan, nan
nan, nan -> nan, nan

[isfinite a+bj]
nan, any or any, nan -> false
inf, any -> false
any, inf -> false
fin, fin -> true

[isinf a+bj]
inf, any -> true
!inf, inf -> true
rest -> false

[isnan a+bj]
some nan -> true
rest -> false

[log a+bj; conj]
-0, +0 -> -inf, +pi
+0, +0 -> -inf, +0
fin, +inf -> +inf, +pi/2
fin, nan -> nan, nan
-inf, +fin -> +inf, +pi
+inf, +fin -> +inf, +0
-inf, +inf -> +inf, +3pi/4
+inf, +inf -> +inf, +pi/4
inf, nan -> +inf, nan
nan, fin -> nan, nan
nan, +inf -> +inf, nan
nan, nan -> nan, nan

[log10 a+bj; as log(z) / log(10)]

[log1p a+bj; conj]
-1, +0 -> -inf, +0
fin, +inf -> +inf, +pi/2
fin, nan -> nan, nan
-inf, +fin -> +inf, +pi
+inf, +fin -> +inf, +0
-inf, +inf -> +inf, +3pi/4
+inf, +inf -> +inf, +pi/4
inf, nan -> +inf, nan
nan, fin -> nan, nan
nan, +inf -> +inf, nan
nan, nan -> nan, nan

[log2 a+bj; as log(z) / log(2)]

[multiply a+bj c+dj]
all nan -> nan, nan
all fin -> oracle

[not_equal a+bj c+dj]
some nan -> true
rest -> oracle

[sign a+bj]
0, 0 -> 0, 0
some nan -> nan, nan
fin, fin -> oracle

[reciprocal a+bj; as divide(1, z)]

[round a+bj; parts]

[sin a+bj; as -1j * sinh(1j * z)]

[sinh a+bj; conj, odd]
+0, +0 -> +0, +0
+0, +inf -> 0, nan
+0, nan -> 0, nan
+fin, +inf -> nan, nan
+fin, nan -> nan, nan
+inf, +0 -> +inf, +0
+inf, +fin -> inf*cos(b), inf*sin(b)
+inf, +inf -> inf, nan
+inf, nan -> inf, nan
nan, +0 -> nan, +0
nan, nonzero -> nan, nan
nan, nan -> nan, nan

# The standard's text of 2024.12 has mistakes: wrong results for both infinite real parts (data-apis/array-api, pull
# request 987), and a row of NaN that contradicts the second row. Here are those of C, where the standard found them.
[sqrt a+bj; conj]
0, +0 -> +0, +0
any, +inf -> +inf, +inf
fin, nan -> nan, nan
-inf, +fin -> +0, +inf
+inf, +fin -> +inf, +0
-inf, nan -> nan, inf
+inf, nan -> +inf, nan
nan, !inf -> nan, nan
nan, nan -> nan, nan

[square a+bj; as multiply(z, z)]

[subtract a+bj c+dj; parts]

[tan a+bj; as -1j * tanh(1j * z)]

# For an infinite real part the standard has an imaginary part of +0, C one with the sign of sin(2 b), which is the
# limit. Either is accepted (data-apis/array-api, issue 1006).
[tanh a+bj; conj, odd]
+0, +0 -> +0, +0
nonzero, +inf -> nan, nan
+0, +inf -> +0, nan
nonzero, nan -> nan, nan
+0, nan -> +0, nan
+inf, +fin -> 1, 0
+inf, +inf -> 1, 0
+inf, nan -> 1, 0
nan, +0 -> nan, +0
nan, !0&!nan -> nan, nan
nan, nan -> nan, nan
"""
