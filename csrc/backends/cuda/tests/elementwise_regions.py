"""Programs of fused elementwise ops, for processes.PRELUDE."""

from __future__ import annotations

# `show` prints the bits of a graph's results; its inputs are made by the caller, with `numbers` on the device.
SHOW = """
rng = np.random.default_rng(5)

def numbers(dtype, *shape, low=-100, high=100):
    values = rng.integers(low, high, shape)
    x = np.asarray(values / 7 if "float" in dtype else values)
    return fe.asarray(x.astype("float64" if "float" in dtype else "int64"), device="cuda").astype(dtype)

def show(function, *inputs):
    fe.eval(*inputs)
    results = fe.graph(function)(*inputs)
    for x in results if isinstance(results, tuple) else (results,):
        print(x.dtype, x.shape, np.asarray(x.astype("float32") if x.dtype == fe.bfloat16 else x).tobytes().hex())
"""

REGIONS = {
    "small_integers": """
for dtype in ("int8", "uint8", "bool", "int16"):
    low = 0 if dtype in ("uint8", "bool") else -100
    x, y = (numbers(dtype, 1003, low=low, high=2 if dtype == "bool" else 100) for _ in range(2))
    if dtype == "bool":
        show(lambda x, y: (fe.logical_xor(x, y), fe.where(x, y, fe.logical_not(y)), x == y), x, y)
    else:
        show(lambda x, y: (x * y + x, fe.maximum(x, y) // 3, x < y), x, y)
""",
    "several_blocks": """
for dtype in ("float32", "int8", "float64"):
    show(lambda x: x * x + x, numbers(dtype, 9001))
""",
    "wide_integers": """
for dtype in ("int32", "int64", "uint64"):
    x, y = (numbers(dtype, 517, low=1, high=1 << 30) for _ in range(2))
    show(lambda x, y: (x * y * y + x, x % y, fe.bitwise_xor(x, y), x.astype("int8"), x.astype("float32")), x, y)
""",
    "floats": """
for dtype in ("float16", "bfloat16", "float32", "float64"):
    x, y = numbers(dtype, 1003), numbers(dtype, 1003)
    show(lambda x, y: (fe.exp(x / 8) * y + x / y, fe.floor(x) - y, x.astype("int32"), fe.sqrt(x) <= y), x, y)
""",
    "functions": """
def total(functions):
    return lambda *x: sum((f(*x) for f in functions[1:]), functions[0](*x))
x, y, unit = numbers("float32", 300), numbers("float32", 300, low=1), numbers("float32", 300, low=-6, high=6)
show(total((fe.sin, fe.tan, fe.tanh, fe.erf, fe.erfc, fe.sign, fe.gelu, fe.sigmoid, fe.silu)), x)
show(total((fe.log, fe.log1p, fe.log2, fe.log10, fe.rsqrt, fe.acosh, fe.reciprocal)), y)
show(total((fe.exp, fe.expm1, fe.acos, fe.asin, fe.atanh, fe.cosh, fe.sinh, fe.asinh, fe.cos)), unit)
show(total((fe.atan2, fe.hypot, fe.remainder, fe.floor_divide, fe.pow, fe.logaddexp, fe.copysign)), y, x)
""",
    "mixed_widths": """
x, y, z = numbers("int64", 261), numbers("float16", 261), numbers("bool", 261, low=0, high=2)
show(lambda x, y, z: (fe.where(z, x, x * x), x.astype("float64") * 0.1 + y.astype("float64"), y * y, ~z), x, y, z)
""",
    "layouts": """
x, row, one = numbers("float32", 40, 61), numbers("float32", 61), numbers("float32", 1, 1)
column, wide = numbers("float16", 40, 1), numbers("int64", 61, 40)
show(lambda x, row, one, c, w: (x * row + one * 2.5 - c.astype("float32"), fe.permute_dims(w, (1, 0)) * 3 + w.T),
     x, row, one, column, wide)
show(lambda x: x[::-1, 1::2] * 2 + x[:, ::-1][:, 1::2] * 3, x)
show(lambda x: x[1:, 3:] - x[:-1, :-3] * 0.5, x)
show(lambda x, s: fe.permute_dims(x, (2, 0, 1)) + s, numbers("float32", 5, 6, 7), numbers("float32", 1))
""",
    "many_values": """
inputs = [numbers("float32", 37) for _ in range(45)]
def added_backwards(*x):
    total = x[-1]
    for one in reversed(x[:-1]): total = total * 0.5 + one
    for one in x: total = total * 0.25 + one
    return total
show(added_backwards, *inputs[:20])
show(added_backwards, *inputs)
""",
    "after_products": """
a, b = numbers("float64", 9, 17), numbers("float64", 17, 21)
show(lambda a, b: fe.floor(a @ b / 3) * 2 - 1, a, b)
show(lambda a: (fe.sum(a, axis=1) * 2 + 1) / 7, a)
""",
}
