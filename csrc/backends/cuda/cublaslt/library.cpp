#include "cublaslt/library.h"

#include <utility>
#include <vector>

#include "nvrtc/library_paths.h"

namespace ferrule::cuda {
namespace {

constexpr size_t oldest_cublaslt = 120000;

#if defined(_WIN32)
constexpr LibraryLocation cublaslt_locations[] = {{"nvidia/cu13/bin/x86_64", "cublasLt64_13.dll"},
                                                  {"nvidia/cublas/bin", "cublasLt64_12.dll"}};
#else
// The packages are nvidia-cublas of CUDA 13 and nvidia-cublas-cu12.
constexpr LibraryLocation cublaslt_locations[] = {{"nvidia/cu13/lib", "libcublasLt.so.13"},
                                                  {"nvidia/cublas/lib", "libcublasLt.so.12"}};
#endif

// False if the library lacks a function, which `complaint` then names.
bool find_functions(void* library, CublasLt& functions, std::string& complaint) {
  const auto find = [&](auto& slot, const char* name) {
    return find_function(library, std::string("cublasLt") + name, slot, complaint);
  };
  return find(functions.GetVersion, "GetVersion") && find(functions.Create, "Create") &&
         find(functions.Destroy, "Destroy") && find(functions.MatmulDescCreate, "MatmulDescCreate") &&
         find(functions.MatmulDescDestroy, "MatmulDescDestroy") &&
         find(functions.MatmulDescSetAttribute, "MatmulDescSetAttribute") &&
         find(functions.MatrixLayoutCreate, "MatrixLayoutCreate") &&
         find(functions.MatrixLayoutDestroy, "MatrixLayoutDestroy") &&
         find(functions.MatrixLayoutSetAttribute, "MatrixLayoutSetAttribute") &&
         find(functions.MatmulPreferenceCreate, "MatmulPreferenceCreate") &&
         find(functions.MatmulPreferenceDestroy, "MatmulPreferenceDestroy") &&
         find(functions.MatmulPreferenceSetAttribute, "MatmulPreferenceSetAttribute") &&
         find(functions.MatmulAlgoGetHeuristic, "MatmulAlgoGetHeuristic") && find(functions.Matmul, "Matmul");
}

}  // namespace

std::unique_ptr<const CublasLt> open_cublaslt(std::string& file, std::string& complaint) {
  const std::vector<std::string> files = file.empty() ? library_files(cublaslt_locations) : std::vector{file};
  return open_first(files, complaint, [&](void* library, const std::string& one, std::string& problem) {
    auto functions = std::make_unique<CublasLt>();
    if (!find_functions(library, *functions, problem)) return std::unique_ptr<const CublasLt>();
    if (const size_t version = functions->GetVersion(); version < oldest_cublaslt) {
      problem = "it is of version " + std::to_string(version) + ", and products need " +
                std::to_string(oldest_cublaslt) + " or later";
      return std::unique_ptr<const CublasLt>();
    }
    file = one;
    return std::unique_ptr<const CublasLt>(std::move(functions));
  });
}

std::string cublas_status(int status) {
  constexpr struct {
    int status;
    const char* name;
  } names[] = {{1, "NOT_INITIALIZED"}, {3, "ALLOC_FAILED"},   {7, "INVALID_VALUE"},
               {8, "ARCH_MISMATCH"},   {11, "MAPPING_ERROR"}, {13, "EXECUTION_FAILED"},
               {14, "INTERNAL_ERROR"}, {15, "NOT_SUPPORTED"}, {16, "LICENSE_ERROR"}};
  for (const auto& one : names)
    if (one.status == status) return std::string("CUBLAS_STATUS_") + one.name;
  return "status " + std::to_string(status);
}

}  // namespace ferrule::cuda
