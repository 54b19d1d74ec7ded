// cuBLASLt over the emulator: plain loops on the host, in the order of the stream. Names, values and rules: cuBLASLt,
// version 13; only what products of ferrule use. Variables: docs/develop/emulators.md.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "cuda_runtime_api.h"
#include "emulation/fake_library.h"
#include "emulation/narrow_floats.h"

namespace {

enum Status : int {
  success = 0,
  not_initialized = 1,
  invalid_value = 7,
  internal_error = 14,
  not_supported = 15,
};

constexpr std::size_t workspace_bytes = 512;
constexpr std::uint64_t algorithm_mark = 0x6c74616c676f;

using emulation::log_call;
using emulation::variable;

struct Settings {
  std::size_t version = 130100;
  int create = success, heuristic = success, product = success;
};
// Read at each call. Ends the process for a value that it does not understand.
Settings settings() {
  Settings read;
  const std::string text = variable("FERRULE_EMULATION_CUBLASLT");
  int end = 0;
  if (text == "create_fails") {
    read.create = not_initialized;
  } else if (text == "heuristic_fails") {
    read.heuristic = internal_error;
  } else if (text == "unsupported") {
    read.heuristic = not_supported;
  } else if (text == "product_fails") {
    read.product = internal_error;
  } else if (std::sscanf(text.c_str(), "version:%zu%n", &read.version, &end) == 1 &&
             text.size() == static_cast<std::size_t>(end)) {
  } else if (!text.empty()) {
    std::fprintf(stderr, "FERRULE_EMULATION_CUBLASLT is '%s', which is not understood\n", text.c_str());
    std::abort();
  }
  return read;
}

struct Description {
  bool is_tf32 = false;
  std::int32_t transposes[2] = {0, 0};
};

struct Layout {
  int type = 0;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0;
  std::int32_t batches = 1;
  std::int64_t offset = 0;
  std::size_t item() const { return type == 0 ? 4 : 2; }
};

struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t schemes = 7;
  std::uint32_t alignments[4] = {256, 256, 256, 256};
};

struct Algorithm {
  std::uint64_t data[8];
};

struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

float read_number(const void* from, int type, std::uint64_t index) {
  if (type == 0) return static_cast<const float*>(from)[index];
  const std::uint16_t bits = static_cast<const std::uint16_t*>(from)[index];
  return type == 2 ? emulation::float_of_float16(bits) : emulation::float_of_bfloat16(bits);
}

void write_number(void* to, int type, std::uint64_t index, float value) {
  if (type == 0)
    static_cast<float*>(to)[index] = value;
  else
    static_cast<std::uint16_t*>(to)[index] =
        type == 2 ? emulation::float16_bits(value) : emulation::bfloat16_bits(value);
}

struct Product {
  Description description;
  Layout a_layout, b_layout, d_layout;
  const char *a, *b;
  char* d;
  void* workspace;
};

void compute(const Product& p) {
  std::memset(p.workspace, 0xab, workspace_bytes);
  const std::uint64_t depth = p.description.transposes[0] != 0 ? p.a_layout.rows : p.a_layout.columns;
  for (std::int64_t batch = 0; batch < p.d_layout.batches; ++batch) {
    const auto at = [&](auto* start, const Layout& layout) {
      return start + batch * layout.offset * static_cast<std::int64_t>(layout.item());
    };
    const auto number = [&](const void* from, const Layout& layout, bool is_transposed, std::uint64_t i,
                            std::uint64_t j) {
      if (is_transposed) std::swap(i, j);
      const float value = read_number(from, layout.type, i + j * static_cast<std::uint64_t>(layout.leading));
      // Finite numbers; cuBLASLt may also cut what tf32 has no bits for.
      return p.description.is_tf32 ? std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000) & ~0x1fffU)
                                   : value;
    };
    for (std::uint64_t j = 0; j < p.d_layout.columns; ++j)
      for (std::uint64_t i = 0; i < p.d_layout.rows; ++i) {
        float sum = 0;
        for (std::uint64_t l = 0; l < depth; ++l)
          sum += number(at(p.a, p.a_layout), p.a_layout, p.description.transposes[0] != 0, i, l) *
                 number(at(p.b, p.b_layout), p.b_layout, p.description.transposes[1] != 0, l, j);
        write_number(at(p.d, p.d_layout), p.d_layout.type, i + j * static_cast<std::uint64_t>(p.d_layout.leading), sum);
      }
  }
}

// Whether the shapes of op(A), op(B) and D belong together.
bool fit(const Description& description, const Layout& a, const Layout& b, const Layout& d) {
  const bool a_t = description.transposes[0] != 0, b_t = description.transposes[1] != 0;
  return (a_t ? a.columns : a.rows) == d.rows && (b_t ? b.rows : b.columns) == d.columns &&
         (a_t ? a.rows : a.columns) == (b_t ? b.columns : b.rows) && a.type == d.type && b.type == d.type &&
         a.batches == d.batches && b.batches == d.batches;
}

bool is_aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

}  // namespace

FERRULE_EXPORTED std::size_t cublasLtGetVersion() { return settings().version; }

FERRULE_EXPORTED int cublasLtCreate(int** handle) {
  log_call("cublasLtCreate");
  if (settings().create == success) *handle = new int(0);
  return settings().create;
}

FERRULE_EXPORTED int cublasLtDestroy(int* handle) {
  log_call("cublasLtDestroy");
  delete handle;
  return success;
}

FERRULE_EXPORTED int cublasLtMatmulDescCreate(Description** description, int compute, int scale_type) {
  // CUBLAS_COMPUTE_32F or CUBLAS_COMPUTE_32F_FAST_TF32, and CUDA_R_32F.
  if ((compute != 68 && compute != 77) || scale_type != 0) return not_supported;
  *description = new Description{.is_tf32 = compute == 77};
  return success;
}

FERRULE_EXPORTED int cublasLtMatmulDescDestroy(Description* description) {
  delete description;
  return success;
}

FERRULE_EXPORTED int cublasLtMatmulDescSetAttribute(Description* description, int attribute, const void* value,
                                                    std::size_t bytes) {
  if ((attribute != 3 && attribute != 4) || bytes != sizeof(std::int32_t)) return invalid_value;
  std::memcpy(&description->transposes[attribute - 3], value, bytes);
  return success;
}

FERRULE_EXPORTED int cublasLtMatrixLayoutCreate(Layout** layout, int type, std::uint64_t rows, std::uint64_t columns,
                                                std::int64_t leading) {
  if ((type != 0 && type != 2 && type != 14) || leading < static_cast<std::int64_t>(rows)) return invalid_value;
  *layout = new Layout{.type = type, .rows = rows, .columns = columns, .leading = leading};
  return success;
}

FERRULE_EXPORTED int cublasLtMatrixLayoutDestroy(Layout* layout) {
  delete layout;
  return success;
}

FERRULE_EXPORTED int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* value,
                                                      std::size_t bytes) {
  if (attribute == 5 && bytes == sizeof layout->batches)
    std::memcpy(&layout->batches, value, bytes);
  else if (attribute == 6 && bytes == sizeof layout->offset)
    std::memcpy(&layout->offset, value, bytes);
  else
    return invalid_value;
  return success;
}

FERRULE_EXPORTED int cublasLtMatmulPreferenceCreate(Preference** preference) {
  *preference = new Preference;
  return success;
}

FERRULE_EXPORTED int cublasLtMatmulPreferenceDestroy(Preference* preference) {
  delete preference;
  return success;
}

FERRULE_EXPORTED int cublasLtMatmulPreferenceSetAttribute(Preference* preference, int attribute, const void* value,
                                                          std::size_t bytes) {
  if (attribute == 1 && bytes == sizeof preference->workspace)
    std::memcpy(&preference->workspace, value, bytes);
  else if (attribute == 3 && bytes == sizeof preference->schemes)
    std::memcpy(&preference->schemes, value, bytes);
  else if (attribute >= 5 && attribute <= 8 && bytes == sizeof preference->alignments[0])
    std::memcpy(&preference->alignments[attribute - 5], value, bytes);
  else
    return invalid_value;
  return success;
}

FERRULE_EXPORTED int cublasLtMatmulAlgoGetHeuristic(int*, Description* description, Layout* a, Layout* b, Layout* c,
                                                    Layout* d, Preference* preference, int wanted,
                                                    HeuristicResult* results, int* found) {
  log_call("cublasLtMatmulAlgoGetHeuristic");
  if (settings().heuristic != success) return settings().heuristic;
  if (wanted < 1 || c != d || !fit(*description, *a, *b, *d)) return invalid_value;
  *found = 0;
  // Parts of K that are added in any order would break what ferrule promises of one shape.
  if (preference->schemes != 0 || preference->workspace < workspace_bytes) return not_supported;
  for (const std::uint32_t alignment : preference->alignments)
    if (alignment != 16) return not_supported;
  results[0] = {.algorithm = {.data = {algorithm_mark}},
                .workspace = workspace_bytes,
                .state = success,
                .waves = 1,
                .reserved = {}};
  *found = 1;
  return success;
}

FERRULE_EXPORTED int cublasLtMatmul(int* handle, Description* description, const float* alpha, const void* a,
                                    Layout* a_layout, const void* b, Layout* b_layout, const float* beta, const void*,
                                    Layout*, void* d, Layout* d_layout, const Algorithm* algorithm, void* workspace,
                                    std::size_t bytes, cudaStream_t stream) {
  log_call("cublasLtMatmul");
  if (settings().product != success) return settings().product;
  if (handle == nullptr || *alpha != 1 || *beta != 0 || algorithm->data[0] != algorithm_mark ||
      bytes != workspace_bytes || workspace == nullptr || !is_aligned(a) || !is_aligned(b) || !is_aligned(d) ||
      !fit(*description, *a_layout, *b_layout, *d_layout))
    return invalid_value;
  auto product =
      std::make_unique<Product>(Product{*description, *a_layout, *b_layout, *d_layout, static_cast<const char*>(a),
                                        static_cast<const char*>(b), static_cast<char*>(d), workspace});
  const auto run = [](void* data) {
    const std::unique_ptr<Product> mine(static_cast<Product*>(data));
    compute(*mine);
  };
  if (cudaLaunchHostFunc(stream, run, product.get()) != cudaSuccess) return internal_error;
  static_cast<void>(product.release());  // run() deletes it
  return success;
}
