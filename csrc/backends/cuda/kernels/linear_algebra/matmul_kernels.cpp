#include "kernels/linear_algebra/matmul_kernels.h"

#include <algorithm>

#include "kernels/linear_algebra/matmul_hopper.h"
#include "kernels/linear_algebra/matmul_shapes.h"

namespace ferrule::cuda {
namespace {

using enum MatmulMethod;

constexpr uint32_t very_few = 4;

constexpr ResultSizes any_size = {}, few_rows = {.most_rows = few}, very_few_rows = {.most_rows = very_few},
                      few_columns = {.most_columns = few}, full_device = {.fills_device = true};

template <class Shape>
constexpr MatmulKernel wgmma_kernel(const char* name, ResultSizes sizes) {
  return {half_wgmma, name, nullptr, Shape::m, Shape::n, Shape::threads, sizes, Shape::shared_bytes};
}

constexpr MatmulKernel half_kernel(const TensorShape& shape, const char* name, const char* name_with_epilogue,
                                   ResultSizes sizes, int epilogue_compute = 0) {
  // With fused ops, the rounded totals are laid into shared memory (matmul_tensor_epilogue.h).
  return {half_mma,        name,  name_with_epilogue,   shape.m, shape.n,
          shape.threads(), sizes, shape.shared_bytes(), 0,       shape.totals_bytes(2),
          epilogue_compute};
}

constexpr MatmulKernel tf32_kernel(const TensorShape& shape, const char* name, const char* name_with_epilogue,
                                   ResultSizes sizes) {
  return {tf32_mma,
          name,
          name_with_epilogue,
          shape.m,
          shape.n,
          shape.threads(),
          sizes,
          shape.shared_bytes(),
          shape.shared_bytes(1) - shape.shared_bytes(),
          shape.totals_bytes(4)};
}

constexpr MatmulKernel byte_kernel(const ByteShape& shape, const char* name, ResultSizes sizes) {
  return {byte_mma, name, nullptr, shape.m, shape.n, shape.threads(), sizes, shape.shared_bytes()};
}

// A kernel may be chosen by M only if it gives the same bits as the others of its dtype, as wgmma does
// (matmul_hopper_plan.h). Products of bytes are exact.
constexpr MatmulKernel kernel_table[] = {
    wgmma_kernel<HopperLarge>("matmul_hopper_large.{dtype}_{along}", full_device),
    wgmma_kernel<HopperMedium>("matmul_hopper_medium.{dtype}_{along}", full_device),

    half_kernel(rows_shape, "matmul_rows.{dtype}_{along}", "matmul_rows_epilogue.{dtype}", few_rows),
    half_kernel(columns_shape, "matmul_columns.{dtype}_{along}", "matmul_columns_epilogue.{dtype}", few_columns),
    half_kernel(large_shape, "matmul_large.{dtype}_{along}", "matmul_large_epilogue.{dtype}", full_device, 90),
    half_kernel(medium_shape, "matmul_medium.{dtype}_{along}", "matmul_medium_epilogue.{dtype}", full_device, 90),
    half_kernel(small_shape, "matmul_small.{dtype}_{along}", "matmul_small_epilogue.{dtype}", any_size),

    tf32_kernel(rows_shape, "matmul_tf32.rows_{along}", "matmul_tf32_epilogue.rows", few_rows),
    tf32_kernel(columns_shape, "matmul_tf32.columns_{along}", "matmul_tf32_epilogue.columns", few_columns),
    tf32_kernel(large_shape, "matmul_tf32.large_{along}", "matmul_tf32_epilogue.large", full_device),
    tf32_kernel(medium_shape, "matmul_tf32.medium_{along}", "matmul_tf32_epilogue.medium", full_device),
    tf32_kernel(small_shape, "matmul_tf32.small_{along}", "matmul_tf32_epilogue.small", any_size),

    byte_kernel(rows_byte_shape, "matmul_bytes.rows_u8", few_rows),
    byte_kernel(large_byte_shape, "matmul_bytes.large_u8", full_device),
    byte_kernel(small_byte_shape, "matmul_bytes.small_u8", any_size),

    {float32_fma, "matmul.f32_4x128", "matmul_epilogue.f32_4x128", 4, 128, 128, very_few_rows},
    {float32_fma, "matmul.f32_16x128", "matmul_epilogue.f32_16x128", 16, 128, 128, few_rows},
    {float32_fma, "matmul.f32_128x128_{along}", nullptr, 128, 128, 256, full_device},
    {float32_fma, "matmul.f32_64x64", "matmul_epilogue.f32_64x64", 64, 64, 256, full_device},
    {float32_fma, "matmul.f32_32x32", "matmul_epilogue.f32_32x32", 32, 32, 256, any_size},

    {any_dtype, "matmul.{dtype}_4x128", nullptr, 4, 128, 128, very_few_rows},
    {any_dtype, "matmul.{dtype}_64x64", nullptr, 64, 64, 256, any_size},
};

void replace(std::string& text, std::string_view placeholder, std::string_view value) {
  if (const size_t place = text.find(placeholder); place != std::string::npos)
    text.replace(place, placeholder.size(), value);
}

}  // namespace

std::span<const MatmulKernel> matmul_kernels() { return kernel_table; }

bool MatmulKernel::fits(const MatmulParameters& p, const Capabilities& capabilities) const {
  if (p.m < sizes.least_rows || p.m > sizes.most_rows || p.n > sizes.most_columns) return false;
  if (shared_bytes(p, false) + static_memory > capabilities.shared_memory) return false;
  return !sizes.fills_device ||
         (p.m > m / 2 && p.n > n / 2 && tiles_of(p, m, n) * p.segments >= capabilities.multiprocessors);
}

bool MatmulKernel::runs_epilogue(const MatmulParameters& p, const Capabilities& capabilities) const {
  return name_with_epilogue != nullptr && capabilities.compute >= epilogue_compute &&
         shared_bytes(p, true) <= capabilities.shared_memory;
}

uint32_t MatmulKernel::shared_bytes(const MatmulParameters& p, bool with_epilogue) const {
  const uint32_t longer_operands = 2 - p.a_along_k - p.b_along_k;
  return std::max(shared_memory + longer_operands * memory_of_longer_operand, with_epilogue ? memory_of_totals : 0);
}

std::string MatmulKernel::full_name(const MatmulParameters& p, std::string_view dtype, bool with_epilogue) const {
  std::string text = with_epilogue ? name_with_epilogue : name;
  replace(text, "{dtype}", dtype);
  replace(text, "{along}", std::string(p.a_along_k != 0 ? "k" : "m") + (p.b_along_k != 0 ? "k" : "n"));
  return text;
}

}  // namespace ferrule::cuda
