"""Faults for the kernels of the CPU module: one edit each, of the kind that happens to people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    kernel: str
    file: str  # in csrc/backends/cpu/kernels
    before: str  # found exactly once
    after: str
    what: str
    dtypes: tuple[str, ...] = ("float32",)


FAULTS = [
    Fault("sign", "arithmetic.cpp", "a == T(0) ? T(0) : a;", "T(0);", "NaN becomes 0"),
    Fault(
        "floor_divide",
        "arithmetic.cpp",
        "return static_cast<T>(q - ((a % b != 0) & ((a < 0) != (b < 0))));",
        "return static_cast<T>(q - ((a % b != 0) & (a < 0)));",
        "rounds down where both are negative",
        ("int32",),
    ),
    Fault("less_equal", "comparison.cpp", "return a <= b;", "return !(a > b);", "holds for NaN"),
    Fault(
        "clip",
        "clip.cpp",
        "y[i] = above < high[i] || above != above ? above : high[i];",
        "y[i] = above < high[i] ? above : high[i];",
        "NaN becomes the maximum",
    ),
    Fault("where", "where.cpp", "(b[i] & static_cast<T>(~take_a))", "b[i]", "mixes the bits of both"),
    Fault(
        "softmax",
        "rows.h",
        ": load_first<T>(d, x + i, static_cast<size_t>(width), static_cast<T>(-HUGE_VAL));",
        ": load_first<T>(d, x + i, static_cast<size_t>(width));",
        "the sum takes in what lies behind a row that is no multiple of the vector",
    ),
    Fault(
        "log_softmax",
        "rows.h",
        "static_cast<T>(::log(static_cast<double>(tree.total())));",
        "static_cast<T>(::log2(static_cast<double>(tree.total())) * 0.693147);",
        "a constant with six digits",
        ("float64",),
    ),
    Fault(
        "layer_norm",
        "rows.h",
        "load_first<T>(d, x + i, static_cast<size_t>(width), center);",
        "load_first<T>(d, x + i, static_cast<size_t>(width));",
        "the variance takes in zeros behind the row",
    ),
    Fault("gelu", "gelu.cpp", "0.100632861f", "0.100632f", "a coefficient with three digits less"),
    Fault(
        "exp",
        "exponential.cpp",
        "    return math::exp(d, x);",
        "    return math::exp(d, hn::Max(x, hn::Set(d, hn::TFromD<D>(-87))));",
        "subnormal results are flushed to the least normal one",
    ),
    Fault(
        "round",
        "rounding.cpp",
        "return hn::Round(x);",
        "return hn::Floor(hn::Add(x, hn::Set(D(), hn::TFromD<D>(0.5))));",
        "halves are rounded up instead of to even",
    ),
    Fault("astype", "astype.cpp", "return x != x ? To(0) : x >= limit", "return x >= limit", "NaN is not looked at"),
    Fault(
        "bitwise_xor", "bitwise.cpp", "return static_cast<T>(a ^ b);", "return static_cast<T>(a | b);", "or", ("int32",)
    ),
    Fault(
        "concat",
        "copy.cpp",
        "at += call.in[i].shape[axis];",
        "at += call.in[0].shape[axis];",
        "takes all inputs to be as long as the first",
    ),
    Fault(
        "pad",
        "copy.cpp",
        "first += attributes.before.data[i] * out.strides[i];",
        "first += attributes.after.data[i] * out.strides[i];",
        "before and after are mixed up",
    ),
    Fault(
        "take",
        "take.cpp",
        "const I at = index[i % count];",
        "const I at = index[i % count] < -1 ? I(0) : index[i % count];",
        "negative indices other than -1 give the first element",
    ),
    Fault(
        "argmax",
        "extreme_index.cpp",
        "return __is_same(Op, Max) ? b > a : b < a;",
        "return __is_same(Op, Max) ? b >= a : b < a;",
        "of equals in several blocks the last is chosen",
    ),
    Fault(
        "iota",
        "iota.cpp",
        "out[i] = static_cast<T>(i);",
        "out[i] = static_cast<T>(i - (i > begin && i == end - 1));",
        "the last of each thread's share is off by one",
    ),
    Fault(
        "matmul",
        "integer_matmul.cpp",
        "static_cast<T>(factor * from[j * b_column])",
        "static_cast<T>(factor * from[j])",
        "a transposed second matrix is read as if it were not",
        ("int32",),
    ),
    Fault(
        "matmul",
        "gemm.h",
        "for (int64_t j = 0; j < width; ++j) c[i * ldc + j] =",
        "for (int64_t j = 0; j <= width; ++j) c[i * ldc + j] =",
        "writes one element past a tile that is not full",
    ),
    Fault(
        "max",
        "reduce.h",
        "s1 = Op::combine(d, s1, load_first<T>(d, x + i, static_cast<size_t>(count - i), Op::template identity<T>()));",
        "s1 = Op::combine(d, s1, load_first<T>(d, x + i, static_cast<size_t>(count - i)));",
        "a row of negative numbers has the maximum 0",
    ),
    Fault(
        "sum",
        "reduce.h",
        "p.chunk = p.columns ? column_chunk_rows : chunk_elements;",
        "p.chunk = (p.columns ? column_chunk_rows : chunk_elements) - 64 * (p.outputs > 8);",
        "the order of the additions depends on the batch",
    ),
    Fault(
        "scaled_dot_product_attention",
        "attention.h",
        "larger(0, query + h.causal_offset + 1 - first_key)",
        "larger(0, query + 1 - first_key)",
        "causal, it takes queries and keys to be equally many",
    ),
    Fault(
        "silu",
        "activation.cpp",
        "return math::silu(d, x);",
        "return hn::Mul(x, math::sigmoid(d, hn::Min(x, hn::Set(d, hn::TFromD<D>(9)))));",
        "saturates too early",
    ),
]
