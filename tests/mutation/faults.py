"""Hand-written faults in the kernels of the module of the host: one edit each, like typical mistakes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    kernel: str
    file: str  # relative to the kernels of the host's backend
    before: str  # occurs exactly once
    after: str
    what: str
    dtypes: tuple[str, ...] = ("float32",)
    check: str = ""  # the kit's check that must fail; any if empty


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
        "selection.cpp",
        "y[i] = above < high[i] || above != above ? above : high[i];",
        "y[i] = above < high[i] ? above : high[i];",
        "NaN becomes the maximum",
    ),
    Fault("where", "selection.cpp", "(b[i] & static_cast<T>(~take_a))", "b[i]", "mixes the bits of both"),
    Fault(
        "softmax",
        "row_operations.h",
        ": load_first<T>(d, x + i, static_cast<size_t>(width), static_cast<T>(-HUGE_VAL));",
        ": load_first<T>(d, x + i, static_cast<size_t>(width));",
        "the sum takes in what lies behind a row that is no multiple of the vector",
    ),
    Fault(
        "log_softmax",
        "row_operations.h",
        "static_cast<T>(::log(static_cast<double>(tree.total())));",
        "static_cast<T>(::log2(static_cast<double>(tree.total())) * 0.693147);",
        "a constant with six digits",
        ("float64",),
    ),
    Fault(
        "layer_norm",
        "row_operations.h",
        "load_first<T>(d, x + i, static_cast<size_t>(width), center);",
        "load_first<T>(d, x + i, static_cast<size_t>(width));",
        "the variance takes in zeros behind the row",
    ),
    Fault("gelu", "activation.cpp", "0.100632861f", "0.100632f", "a coefficient with three digits less"),
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
    Fault(
        "astype",
        "conversion/astype.cpp",
        "return x != x ? To(0) : x >= limit",
        "return x >= limit",
        "NaN is not looked at",
    ),
    Fault(
        "bitwise_xor", "bitwise.cpp", "return static_cast<T>(a ^ b);", "return static_cast<T>(a | b);", "or", ("int32",)
    ),
    Fault(
        "concat",
        "movement/copy.cpp",
        "at += call.in[i].shape[axis];",
        "at += call.in[0].shape[axis];",
        "takes all inputs to be as long as the first",
    ),
    Fault(
        "pad",
        "movement/copy.cpp",
        "first += attributes.before.data[i] * out.strides[i];",
        "first += attributes.after.data[i] * out.strides[i];",
        "before and after are mixed up",
    ),
    Fault(
        "take",
        "movement/take.cpp",
        "at = given < 0 ? given + size : given;",
        "at = given < -1 ? 0 : given < 0 ? given + size : given;",
        "negative indices other than -1 give the first element",
    ),
    Fault(
        "argmax",
        "reduction/extreme_index.cpp",
        "return __is_same(Op, Max) ? b > a : b < a;",
        "return __is_same(Op, Max) ? b >= a : b < a;",
        "of equals in several blocks the last is chosen",
    ),
    Fault(
        "iota",
        "creation.cpp",
        "out[i] = static_cast<T>(i);",
        "out[i] = static_cast<T>(i - (i > begin && i == end - 1));",
        "the last of each thread's share is off by one",
    ),
    Fault(
        "matmul",
        "linear_algebra/integer_matmul.cpp",
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
        "reduction_blocks.h",
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
    Fault(
        "scaled_dot_product_attention",
        "attention.cpp",
        "h.mask_column = stride_of(mask, 1);",
        "h.mask_column = 1;",
        "reads a mask of (queries, 1) as one of (queries, keys)",
        check="shapes",
    ),
    Fault(
        "scaled_dot_product_attention",
        "attention.h",
        "first_key += key_block) {\n    const int64_t keys = smaller(key_block, h.keys - first_key);",
        "first_key += h.queries > 64 ? key_block : key_block / 2) {\n"
        "    const int64_t keys = smaller(h.queries > 64 ? key_block : key_block / 2, h.keys - first_key);",
        "the cut of the keys depends on the number of queries",
        check="batch",
    ),
    Fault(
        "softmax",
        "row_operations.h",
        "sum0 = hn::Add(sum0, e);",
        "sum0 = hn::Add(sum0, width == n - 1 ? hn::Zero(d) : e);",
        "leaves out the last elements where one is lacking to a vector",
        check="sizes",
    ),
    Fault(
        "layer_norm",
        "row_operations.h",
        "const T variance = squares_row(x, count, mean) / static_cast<T>(count);",
        "const T variance = squares_row(x, count, T(0)) / static_cast<T>(count) - mean * mean;",
        "the variance is E[x^2] - E[x]^2",
        check="ranges",
    ),
    Fault(
        "softmax",
        "normalization/softmax.cpp",
        "Scratch scratch(local);",
        "Scratch scratch(local == nullptr ? local : call.local.data);",
        "threads share the buffer of a row of halves",
        ("float16",),
        "concurrent",
    ),
    Fault(
        "copy",
        "strided_copy.h",
        "from_at = r * nest.from[row] + c * nest.from[column];",
        "from_at = r * nest.from[row] + c;",
        "the second strip of columns is read as if it were contiguous",
        check="layouts",
    ),
    Fault(
        "sum",
        "reduction/reduce.cpp",
        "using A = uint64_t;",
        "using A = uint32_t;",
        "integers add up in 32 bits",
        ("uint16",),
        "accumulators",
    ),
    Fault(
        "add",
        "half.h",
        "const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;",
        "const uint32_t rounded = (bits + 0x8000u) >> 16;",
        "bfloat16 is rounded half up",
        ("bfloat16",),
        "values",
    ),
    *(
        Fault(
            op,
            "reduction/reduce.cpp",
            "plan_reduction(call.in[0], reduced_axes<Axes>(call)), Keep{});\n}\n\nfe_error* mean_of",
            "plan_reduction(call.in[0], reduced_axes<Axes>(call)),\n"
            "    [](uint8_t holds) { return static_cast<uint8_t>(2 * holds); });\n}\n\nfe_error* mean_of",
            "stores 2 for true",
            ("bool",),
            "values",
        )
        for op in ("any", "all")
    ),
    Fault(
        "sum",
        "reduce.h",
        "block[b] = Op::combine(block[b], static_cast<A>(rows[b * column_block_rows + r]));",
        "if (b * column_block_rows + r != blocks * column_block_rows - 1)\n"
        "            block[b] = Op::combine(block[b], static_cast<A>(rows[b * column_block_rows + r]));",
        "of each 512 strided elements the last is left out",
        check="sizes",
    ),
    Fault(
        "matmul",
        "linear_algebra/matmul.cpp",
        "panels + (first_panel * p.k + k0) * columns,",
        "panels + first_panel * p.k * columns,",
        "one or two rows: each block of the depth multiplies with the first one of a packed matrix",
        check="constants",
    ),
    Fault(
        "matmul",
        "linear_algebra/matmul.cpp",
        "b_batch + panel * columns + k0 * p.b_row, columns,",
        "b_batch + panel * columns, columns,",
        "one or two rows: each block of the depth multiplies with the first one",
        check="sizes",
    ),
    Fault(
        "matmul",
        "linear_algebra/matmul.cpp",
        "call.epilogue->apply(call.epilogue, at, count, c + at, local)",
        "call.epilogue->apply(call.epilogue, first, count, c + at, local)",
        "an epilogue takes each row for the first one",
        check="fused",
    ),
    Fault(
        "matmul",
        "linear_algebra/matmul.cpp",
        "int64_t bytes = packs_b(call, p) ? packed_bytes<T>(p) : 0;",
        "int64_t bytes = packs_b(call, p) ? packed_bytes<T>(p) - 64 : 0;",
        "asks for too little scratch memory",
        check="guards",
    ),
    Fault(
        "matmul",
        "../steps.h",
        "return before_conversions() + conversion_scratch; }",
        "return before_conversions() + conversion_scratch / 2; }",
        "asks for too little memory for halves as float32",
        ("float16",),
        "guards",
    ),
    Fault(
        "exp",
        "../body.cpp",
        "for (const uint32_t value : outputs_) last_use[value] = steps_.size();",
        "",
        "the buffer of an output of a fused body is used again",
        check="fused",
    ),
    Fault(
        "add",
        "../body.cpp",
        "if (input.rank > 0 && input.strides[input.rank - 1] == stride * size) {",
        "if (input.rank > 0 && std::abs(input.strides[input.rank - 1]) == std::abs(stride) * size) {",
        "one axis that lies backwards is taken to go on with the other",
        check="layouts",
    ),
    Fault(
        "sum",
        "strided_loops.h",
        "if (rank > 0 && strides[rank - 1] == stride * size) {  // continues the dimension before it",
        "if (rank > 0 && (strides[rank - 1] == stride * size || strides[rank - 1] == -stride * size)) {",
        "one axis that lies backwards is taken to go on with the other",
        check="layouts",
    ),
    Fault(
        "copy",
        "strided_copy.h",
        "from[rank - 1] == from_stride * size) {",
        "(from[rank - 1] == from_stride * size || from[rank - 1] == -from_stride * size)) {",
        "one axis that lies backwards is taken to go on with the other",
        check="layouts",
    ),
]
