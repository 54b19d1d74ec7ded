#include "graphs/product_calls.h"

#include <algorithm>

namespace ferrule::cuda {
namespace {

constexpr int64_t largest_size = INT32_MAX;

std::optional<CublasLt::DataType> library_type_of(const sdk::Operand& x) {
  if (x.is("float32")) return CublasLt::float32;
  if (x.is("float16")) return CublasLt::float16;
  if (x.is("bfloat16")) return CublasLt::bfloat16;
  return std::nullopt;
}

// The distance between the matrices of an operand, if it is the same for all pairs of neighbours in the result.
std::optional<int64_t> batch_stride(const sdk::Operand& x, const sdk::Operand& out) {
  const auto leading = static_cast<size_t>(out.rank() - 2), missing = static_cast<size_t>(out.rank() - x.rank());
  std::optional<int64_t> stride;
  int64_t count = 1;  // matrices of the axes that were looked at
  for (size_t axis = leading; axis-- > 0;) {
    if (out.shape()[axis] == 1) continue;
    const bool is_broadcast = axis < missing || x.shape()[axis - missing] == 1;
    const int64_t own = is_broadcast ? 0 : x.strides()[axis - missing];
    if (!stride)
      stride = own;
    else if (own != *stride * count)
      return std::nullopt;
    count *= out.shape()[axis];
  }
  if (stride && *stride < 0) return std::nullopt;
  return stride.value_or(0);
}

std::optional<ProductOperand> product_operand_of(const sdk::Operand& x, const sdk::Operand& out) {
  const auto rank = static_cast<size_t>(x.rank());
  const int64_t rows = x.shape()[rank - 2], columns = x.shape()[rank - 1];
  const int64_t row = x.strides()[rank - 2], column = x.strides()[rank - 1];
  const std::optional<int64_t> batch = batch_stride(x, out);
  if (!batch) return std::nullopt;
  // The stride of an axis of one element has no meaning.
  if ((column == 1 || columns == 1) && (row >= columns || rows == 1))
    return ProductOperand{.has_columns = false, .leading = rows == 1 ? columns : row, .batch = *batch};
  if ((row == 1 || rows == 1) && (column >= rows || columns == 1))
    return ProductOperand{.has_columns = true, .leading = columns == 1 ? rows : column, .batch = *batch};
  return std::nullopt;
}

}  // namespace

std::optional<Launch> product_call_of(const PlannedNode& node, Plan& plan, LibraryProducts& products) {
  if (node.op() != "matmul" || node.body() != nullptr || !plan.unread.empty() || plan.launches.empty())
    return std::nullopt;
  const sdk::Operand a = node.input(0), b = node.input(1), out = node.output(0);
  const auto type = library_type_of(out);
  if (!type || a.dtype() != out.dtype() || b.dtype() != out.dtype()) return std::nullopt;
  const auto last = static_cast<size_t>(out.rank() - 1);
  const int64_t m = out.shape()[last - 1], n = out.shape()[last], k = a.shape()[static_cast<size_t>(a.rank() - 1)];
  const int64_t batches = out.count() / m / n;
  if (k == 0 || std::max({m, n, k, batches}) > largest_size) return std::nullopt;
  const auto first = product_operand_of(a, out), second = product_operand_of(b, out);
  if (!first || !second) return std::nullopt;
  const auto call = products.find({.dtype = *type,
                                   .m = static_cast<uint64_t>(m),
                                   .n = static_cast<uint64_t>(n),
                                   .k = static_cast<uint64_t>(k),
                                   .batches = static_cast<int32_t>(batches),
                                   .a = *first,
                                   .b = *second});
  if (!call) return std::nullopt;
  plan.scratch = std::max(plan.scratch, call->workspace());
  Launch launch = launch_of("cublasLtMatmul", ProductAddresses{}, 1, 1);
  launch.reads(offsetof(ProductAddresses, a), node.input_value(0));
  launch.reads(offsetof(ProductAddresses, b), node.input_value(1));
  launch.writes(offsetof(ProductAddresses, to), node.output_value(0));
  if (call->workspace() != 0) launch.uses_scratch(offsetof(ProductAddresses, workspace), 0, true);
  launch.replaces = static_cast<uint32_t>(plan.launches.size());
  launch.call = call;
  return launch;
}

}  // namespace ferrule::cuda
