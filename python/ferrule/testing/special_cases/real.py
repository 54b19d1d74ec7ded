"""The special cases of elementwise functions of real numbers. The notation: notation.py."""

REAL = """
[abs x]
nan -> nan
-0 -> +0
-inf -> +inf

[acos x]
nan -> nan
>1 -> nan
<-1 -> nan
1 -> +0

[acosh x]
nan -> nan
<1 -> nan
1 -> +0
+inf -> +inf

[add x1 x2]
nan, any or any, nan -> nan
+inf, -inf -> nan
-inf, +inf -> nan
+inf, +inf -> +inf
-inf, -inf -> -inf
+inf, fin -> +inf
-inf, fin -> -inf
fin, +inf -> +inf
fin, -inf -> -inf
-0, -0 -> -0
-0, +0 -> +0
+0, -0 -> +0
+0, +0 -> +0
0, nonzero -> x2
nonzero, 0 -> x1
nonzero, -x1 -> +0
nonzero, nonzero -> oracle

[asin x]
nan -> nan
>1 -> nan
<-1 -> nan
+0 -> +0
-0 -> -0

[asinh x]
nan -> nan
+0 -> +0
-0 -> -0
+inf -> +inf
-inf -> -inf

[atan x]
nan -> nan
+0 -> +0
-0 -> -0
+inf -> +pi/2
-inf -> -pi/2

[atan2 x1 x2]
nan, any or any, nan -> nan
>0, +0 -> +pi/2
>0, -0 -> +pi/2
+0, >0 -> +0
+0, +0 -> +0
+0, -0 -> +pi
+0, <0 -> +pi
-0, >0 -> -0
-0, +0 -> -0
-0, -0 -> -pi
-0, <0 -> -pi
<0, +0 -> -pi/2
<0, -0 -> -pi/2
>0&fin, +inf -> +0
>0&fin, -inf -> +pi
<0&fin, +inf -> -0
<0&fin, -inf -> -pi
+inf, fin -> +pi/2
-inf, fin -> -pi/2
+inf, +inf -> +pi/4
+inf, -inf -> +3pi/4
-inf, +inf -> -pi/4
-inf, -inf -> -3pi/4

[atanh x]
nan -> nan
<-1 -> nan
>1 -> nan
-1 -> -inf
1 -> +inf
+0 -> +0
-0 -> -0

[ceil x]
int -> x
+inf -> +inf
-inf -> -inf
+0 -> +0
-0 -> -0
nan -> nan

[clip x min max]
nan, any, any -> nan
any, nan, any -> nan
any, any, nan -> nan

[copysign x1 x2]
!nan, <0 -> -abs(x1)
!nan, -0 -> -abs(x1)
!nan, +0 -> abs(x1)
!nan, >0 -> abs(x1)
!nan, -nan -> -abs(x1)
!nan, +nan -> abs(x1)
nan, <0 -> -nan
nan, -0 -> -nan
nan, +0 -> +nan
nan, >0 -> +nan
nan, -nan -> -nan
nan, +nan -> +nan

[cos x]
nan -> nan
+0 -> 1
-0 -> 1
+inf -> nan
-inf -> nan

[cosh x; even]
nan -> nan
+0 -> 1
-0 -> 1
+inf -> +inf
-inf -> +inf

[divide x1 x2]
nan, any or any, nan -> nan
inf, inf -> nan
0, 0 -> nan
+0, >0 -> +0
-0, >0 -> -0
+0, <0 -> -0
-0, <0 -> +0
>0, +0 -> +inf
>0, -0 -> -inf
<0, +0 -> -inf
<0, -0 -> +inf
+inf, +fin -> +inf
+inf, -fin -> -inf
-inf, +fin -> -inf
-inf, -fin -> +inf
+fin, +inf -> +0
+fin, -inf -> -0
-fin, +inf -> -0
-fin, -inf -> +0
nonzero, nonzero&like x1 -> positive
nonzero, nonzero&unlike x1 -> negative
nonzero, nonzero -> oracle

[equal x1 x2]
nan, any or any, nan -> false
+inf, +inf -> true
-inf, -inf -> true
-0, 0 -> true
+0, 0 -> true
fin, fin&x1 -> true
rest -> false

[exp x]
nan -> nan
+0 -> 1
-0 -> 1
+inf -> +inf
-inf -> +0

[expm1 x]
nan -> nan
+0 -> +0
-0 -> -0
+inf -> +inf
-inf -> -1

[floor x]
int -> x
+inf -> +inf
-inf -> -inf
+0 -> +0
-0 -> -0
nan -> nan

[floor_divide x1 x2]
nan, any or any, nan -> nan
inf, inf -> nan
0, 0 -> nan
+0, >0 -> +0
-0, >0 -> -0
+0, <0 -> -0
-0, <0 -> +0
>0, +0 -> +inf
>0, -0 -> -inf
<0, +0 -> -inf
<0, -0 -> +inf
+inf, +fin -> +inf
+inf, -fin -> -inf
-inf, +fin -> -inf
-inf, -fin -> +inf
+fin, +inf -> +0
+fin, -inf -> -0
-fin, +inf -> -0
-fin, -inf -> +0
nonzero, nonzero&like x1 -> positive
nonzero, nonzero&unlike x1 -> negative
nonzero, nonzero -> oracle

[hypot x1 x2; even, commutes]
inf, any -> +inf
any, inf -> +inf
0, any -> abs(x2)
any, 0 -> abs(x1)
!inf, nan -> nan
nan, !inf -> nan
subnormal, subnormal -> oracle

[isfinite x]
inf -> false
nan -> false
fin -> true

[isinf x]
inf -> true
rest -> false

[isnan x]
nan -> true
rest -> false

[log x]
nan -> nan
<0 -> nan
0 -> -inf
1 -> +0
+inf -> +inf

[log10 x]
nan -> nan
<0 -> nan
0 -> -inf
1 -> +0
+inf -> +inf

[log1p x]
nan -> nan
<-1 -> nan
-1 -> -inf
-0 -> -0
+0 -> +0
+inf -> +inf

[log2 x]
nan -> nan
<0 -> nan
0 -> -inf
1 -> +0
+inf -> +inf

[logaddexp x1 x2]
nan, any or any, nan -> nan
+inf, !nan -> +inf
!nan, +inf -> +inf

[maximum x1 x2]
nan, any or any, nan -> nan

[minimum x1 x2]
nan, any or any, nan -> nan

[multiply x1 x2]
nan, any or any, nan -> nan
inf, 0 -> nan
0, inf -> nan
any, like x1 -> positive or nan
any, unlike x1 -> negative or nan
inf, inf -> inf*sign
inf, nonzero -> inf*sign
nonzero, inf -> inf*sign
fin, fin -> oracle

[nextafter x1 x2]
nan, any or any, nan -> nan
-0, +0 -> +0
+0, -0 -> -0

# The standard names no infinity beside a finite number, which is unequal as well.
[not_equal x1 x2]
nan, any or any, nan -> true
+inf, -inf -> true
-inf, +inf -> true
fin, fin&!x1 -> true
rest -> oracle

[pow x1 x2]
!1, nan -> nan
any, +0 -> 1
any, -0 -> 1
nan, !0 -> nan
magnitude>1, +inf -> +inf
magnitude>1, -inf -> +0
magnitude=1, +inf -> 1
magnitude=1, -inf -> 1
1, !nan -> 1
magnitude<1, +inf -> +0
magnitude<1, -inf -> +inf
+inf, >0 -> +inf
+inf, <0 -> +0
-inf, >0&odd -> -inf
-inf, >0&!odd -> +inf
-inf, <0&odd -> -0
-inf, <0&!odd -> +0
+0, >0 -> +0
+0, <0 -> +inf
-0, >0&odd -> -0
-0, >0&!odd -> +0
-0, <0&odd -> -inf
-0, <0&!odd -> +inf
<0&fin, fin&!int -> nan

[reciprocal x; as divide(1, x)]

[remainder x1 x2]
nan, any or any, nan -> nan
inf, inf -> nan
0, 0 -> nan
+0, >0 -> +0
-0, >0 -> +0
+0, <0 -> -0
-0, <0 -> -0
>0, +0 -> nan
>0, -0 -> nan
<0, +0 -> nan
<0, -0 -> nan
+inf, +fin -> nan
+inf, -fin -> nan
-inf, +fin -> nan
-inf, -fin -> nan
+fin, +inf -> x1
+fin, -inf -> x2
-fin, +inf -> x2
-fin, -inf -> x1
rest -> oracle

[round x]
int -> x
+inf -> +inf
-inf -> -inf
+0 -> +0
-0 -> -0
nan -> nan
halfway -> even

[sign x]
<0 -> -1
0 -> 0
>0 -> +1
nan -> nan

[signbit x]
+0 -> false
-0 -> true
+inf -> false
-inf -> true
+fin -> false
-fin -> true
+nan -> false
-nan -> true

[sin x]
nan -> nan
+0 -> +0
-0 -> -0
inf -> nan

[sinh x; odd]
nan -> nan
+0 -> +0
-0 -> -0
+inf -> +inf
-inf -> -inf

[sqrt x]
nan -> nan
<0 -> nan
+0 -> +0
-0 -> -0
+inf -> +inf

[square x; as multiply(x, x)]

[subtract x1 x2; as add(x1, -x2)]

[tan x]
nan -> nan
+0 -> +0
-0 -> -0
inf -> nan

[tanh x; odd]
nan -> nan
+0 -> +0
-0 -> -0
+inf -> +1
-inf -> -1

[trunc x]
int -> x
+inf -> +inf
-inf -> -inf
+0 -> +0
-0 -> -0
nan -> nan
"""
