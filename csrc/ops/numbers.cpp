#include "ops/numbers.h"

#include "base/error.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

namespace ferrule::ops {
namespace {

constinit std::atomic<DType> default_of_process = DType::float32;
constinit thread_local DType default_of_thread = DType::none;

bool is_complex_wide(DType dtype) { return dtype == DType::float64 || dtype == DType::complex128; }

// The widest floating dtype; none if there is none, float32 if several are equally wide.
DType widest_floating(std::span<const DType> dtypes) {
  DType widest = DType::none;
  bool is_one_of_several = false;
  for (const DType dtype : dtypes) {
    if (class_of(dtype) != FE_CLASS_FLOAT || dtype == widest) continue;
    if (widest == DType::none || block_bytes(dtype) > block_bytes(widest)) {
      widest = dtype;
      is_one_of_several = false;
    } else if (block_bytes(dtype) == block_bytes(widest)) {
      is_one_of_several = true;
    }
  }
  return is_one_of_several ? DType::float32 : widest;
}

// The common dtype of the integers, int64 without any; the first one if they have none, which the op then rejects.
DType common_integer(std::span<const DType> dtypes) {
  DType first = DType::none, common = DType::none;
  for (const DType dtype : dtypes) {
    if (!is_integer(dtype)) continue;
    if (first == DType::none) first = common = dtype;
    common = promote(common, dtype);
    if (common == DType::none) return first;
  }
  return common == DType::none ? DType::int64 : common;
}

template <class Integer>
bool fits(Integer value, DType dtype) {
  const auto bits = 8 * block_bytes(dtype);
  if (class_of(dtype) == FE_CLASS_UNSIGNED)
    return std::cmp_greater_equal(value, 0) && (bits == 64 || std::cmp_less(value, uint64_t{1} << bits));
  if (bits == 64) return std::in_range<int64_t>(value);
  const int64_t end = int64_t{1} << (bits - 1);
  return std::cmp_greater_equal(value, -end) && std::cmp_less(value, end);
}

std::string text_of(const Number& number) {
  if (const auto* integer = std::get_if<int64_t>(&number)) return std::to_string(*integer);
  if (const auto* integer = std::get_if<uint64_t>(&number)) return std::to_string(*integer);
  return fmt::format("an int of about {:g}", std::get<WideInteger>(number).nearest);
}

}  // namespace

DType dtype_of_number(const char* op, const Number& number, std::span<const DType> others) {
  if (std::holds_alternative<bool>(number)) return DType::boolean;
  const bool is_wide = std::ranges::any_of(others, is_complex_wide);
  if (std::holds_alternative<std::complex<double>>(number)) {
    const bool has_width =
        std::ranges::any_of(others, [](DType dtype) { return is_complex(dtype) || class_of(dtype) == FE_CLASS_FLOAT; });
    return is_wide || (!has_width && default_dtype() == DType::float64) ? DType::complex128 : DType::complex64;
  }
  if (std::ranges::any_of(others, is_complex)) return is_wide ? DType::float64 : DType::float32;
  if (const DType widest = widest_floating(others); widest != DType::none) return widest;
  if (std::holds_alternative<double>(number)) return default_dtype();
  const DType dtype = common_integer(others);
  const auto* const integer = std::get_if<int64_t>(&number);
  const auto* const large = std::get_if<uint64_t>(&number);
  if (!(integer && fits(*integer, dtype)) && !(large && fits(*large, dtype)))
    fail_argument("{}: {} does not fit into {}", op, text_of(number), name_of(dtype));
  return dtype;
}

DType default_dtype() {
  return default_of_thread != DType::none ? default_of_thread : default_of_process.load(std::memory_order_relaxed);
}

void set_default_dtype(DType dtype) { default_of_process.store(dtype, std::memory_order_relaxed); }

void set_default_dtype_of_thread(DType dtype) { default_of_thread = dtype; }

}  // namespace ferrule::ops
