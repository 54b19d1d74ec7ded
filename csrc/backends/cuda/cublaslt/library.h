// cuBLASLt, NVIDIA's library of matrix products, which a machine may have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <cuda_runtime_api.h>

namespace ferrule::cuda {

// The functions, types and values of cublasLt.h that products need, with which the module is built without it. They are
// those of https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api, and equal in versions 12 and 13.
struct CublasLt {
  using Handle = struct cublasLtContext*;
  using Description = struct OpaqueDescription*;  // cublasLtMatmulDesc_t
  using Layout = struct OpaqueLayout*;            // cublasLtMatrixLayout_t
  using Preference = struct OpaquePreference*;    // cublasLtMatmulPreference_t
  struct Algorithm {                              // cublasLtMatmulAlgo_t
    uint64_t data[8];
  };
  struct HeuristicResult {  // cublasLtMatmulHeuristicResult_t
    Algorithm algorithm;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
  };
  enum Status : int { success = 0, not_supported = 15 };                 // cublasStatus_t
  enum DataType : int { float32 = 0, float16 = 2, bfloat16 = 14 };       // cudaDataType_t
  enum Compute : int { compute_32f = 68, compute_32f_tf32 = 77 };        // CUBLAS_COMPUTE_32F: no tf32; _FAST_TF32
  enum Operation : int { op_n = 0, op_t = 1 };                           // cublasOperation_t
  enum DescriptionAttribute : int { transpose_a = 3, transpose_b = 4 };  // int32_t
  enum LayoutAttribute : int { batch_count = 5, batch_offset = 6 };      // int32_t, int64_t
  enum PreferenceAttribute : int {
    max_workspace = 1,      // uint64_t
    reduction_schemes = 3,  // uint32_t, a mask; 0 is CUBLASLT_REDUCTION_SCHEME_NONE alone
    alignment_a = 5,        // uint32_t, as the next three
    alignment_b = 6,
    alignment_c = 7,
    alignment_d = 8
  };

  size_t (*GetVersion)();  // 130100 for 13.1.0
  int (*Create)(Handle* handle);
  int (*Destroy)(Handle handle);
  int (*MatmulDescCreate)(Description* description, int compute, int scale_type);
  int (*MatmulDescDestroy)(Description description);
  int (*MatmulDescSetAttribute)(Description description, int attribute, const void* value, size_t bytes);
  int (*MatrixLayoutCreate)(Layout* layout, int type, uint64_t rows, uint64_t columns, int64_t leading);
  int (*MatrixLayoutDestroy)(Layout layout);
  int (*MatrixLayoutSetAttribute)(Layout layout, int attribute, const void* value, size_t bytes);
  int (*MatmulPreferenceCreate)(Preference* preference);
  int (*MatmulPreferenceDestroy)(Preference preference);
  int (*MatmulPreferenceSetAttribute)(Preference preference, int attribute, const void* value, size_t bytes);
  int (*MatmulAlgoGetHeuristic)(Handle handle, Description description, Layout a, Layout b, Layout c, Layout d,
                                Preference preference, int wanted, HeuristicResult* results, int* found);
  int (*Matmul)(Handle handle, Description description, const void* alpha, const void* a, Layout a_layout,
                const void* b, Layout b_layout, const void* beta, const void* c, Layout c_layout, void* d,
                Layout d_layout, const Algorithm* algorithm, void* workspace, size_t workspace_bytes,
                cudaStream_t stream);
};

// Opens `file`, or without one the first library that works: of the package nvidia-cublas beside the module's, or of
// the loader's search path. `file` becomes its name. Null if there is none of version 12 or later; `complaint` then
// says why. The library stays open until the process ends.
std::unique_ptr<const CublasLt> open_cublaslt(std::string& file, std::string& complaint);

// "CUBLAS_STATUS_NOT_SUPPORTED".
std::string cublas_status(int status);

}  // namespace ferrule::cuda
