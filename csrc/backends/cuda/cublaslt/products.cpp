#include "cublaslt/products.h"

#include <array>
#include <atomic>
#include <stdexcept>

namespace ferrule::cuda {
namespace {

constexpr uint64_t most_workspace = uint64_t{32} << 20;  // NVIDIA's advice for Hopper
constexpr uint32_t address_alignment = 16;               // bytes, of each address

// A status that is no success.
class StatusError : public std::runtime_error {
 public:
  StatusError(const char* function, int status)
      : runtime_error(std::string(function) + " returned " + cublas_status(status)) {}
};

void require(int status, const char* function) {
  if (status != CublasLt::success) throw StatusError(function, status);
}

}  // namespace

class LibraryProducts::Context {
 public:
  Context(std::unique_ptr<const CublasLt> functions, const OpenDevice& device)
      : functions_(std::move(functions)),
        device_(device.physical().number),
        allows_tf32_(device.capabilities().uses_tf32) {
    require(functions_->Create(&handle_), "cublasLtCreate");
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    const DeviceScope scope(device_);
    if (handle_ != nullptr) functions_->Destroy(handle_);
  }

  const CublasLt& functions() const { return *functions_; }
  CublasLt::Handle handle() const { return handle_; }
  bool allows_tf32() const { return allows_tf32_; }
  // The first failure is a warning, the next ones are for those who read more of the log.
  void tell(const std::string& failure) {
    const bool is_first = !has_warned_.exchange(true);
    sdk::host->log(is_first ? FE_LOG_WARNING : FE_LOG_INFO,
                   ("cuda: cuBLASLt failed, and the module's own kernels run in its place: " + failure).c_str());
  }

 private:
  const std::unique_ptr<const CublasLt> functions_;
  const int device_;
  const bool allows_tf32_;
  CublasLt::Handle handle_ = nullptr;
  std::atomic<bool> has_warned_{false};
};

namespace {

// A descriptor of the library.
template <class Handle>
class Owned {
 public:
  explicit Owned(int (*destroy)(Handle)) : destroy_(destroy) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle != nullptr) destroy_(handle);
  }
  Handle handle = nullptr;

 private:
  int (*const destroy_)(Handle);
};

// cuBLASLt numbers elements by columns: a matrix with contiguous rows is the transpose of one of its own. It is asked
// for the transposed result, which is the product of the transposed operands in the other order.
class Call final : public ProductCall {
 public:
  Call(std::shared_ptr<LibraryProducts::Context> context, const ProductShape& shape)
      : context_(std::move(context)),
        functions_(context_->functions()),
        description_(functions_.MatmulDescDestroy),
        first_(functions_.MatrixLayoutDestroy),
        second_(functions_.MatrixLayoutDestroy),
        result_(functions_.MatrixLayoutDestroy) {
    const bool is_tf32 = shape.dtype == CublasLt::float32 && context_->allows_tf32();
    const CublasLt::Compute compute = is_tf32 ? CublasLt::compute_32f_tf32 : CublasLt::compute_32f;
    require(functions_.MatmulDescCreate(&description_.handle, compute, CublasLt::float32), "cublasLtMatmulDescCreate");
    const auto transpose = [&](CublasLt::DescriptionAttribute attribute, bool is_transposed) {
      const int32_t operation = is_transposed ? CublasLt::op_t : CublasLt::op_n;
      require(functions_.MatmulDescSetAttribute(description_.handle, attribute, &operation, sizeof operation),
              "cublasLtMatmulDescSetAttribute");
    };
    transpose(CublasLt::transpose_a, shape.b.has_columns);
    transpose(CublasLt::transpose_b, shape.a.has_columns);
    const auto lay_out = [&](Owned<CublasLt::Layout>& layout, uint64_t rows, uint64_t columns,
                             const ProductOperand& x) {
      if (!x.has_columns) std::swap(rows, columns);
      require(functions_.MatrixLayoutCreate(&layout.handle, shape.dtype, rows, columns, x.leading),
              "cublasLtMatrixLayoutCreate");
      require(functions_.MatrixLayoutSetAttribute(layout.handle, CublasLt::batch_count, &shape.batches,
                                                  sizeof shape.batches),
              "cublasLtMatrixLayoutSetAttribute");
      require(functions_.MatrixLayoutSetAttribute(layout.handle, CublasLt::batch_offset, &x.batch, sizeof x.batch),
              "cublasLtMatrixLayoutSetAttribute");
    };
    lay_out(first_, shape.k, shape.n, shape.b);
    lay_out(second_, shape.m, shape.k, shape.a);
    lay_out(result_, shape.m, shape.n,
            {.leading = static_cast<int64_t>(shape.n), .batch = static_cast<int64_t>(shape.m * shape.n)});
    is_found_ = choose();
  }

  // Whether the library has an algorithm.
  bool is_found() const { return is_found_; }
  uint64_t workspace() const override { return workspace_; }

  bool add_to(cudaStream_t stream, const void* parameters) const override {
    const auto& p = *static_cast<const ProductAddresses*>(parameters);
    if (has_failed_ || (p.a | p.b | p.to | (workspace_ != 0 ? p.workspace : 0)) % address_alignment != 0) return false;
    const auto pointer = [](Address address) { return reinterpret_cast<void*>(address); };
    const float one = 1, zero = 0;
    const int status =
        functions_.Matmul(context_->handle(), description_.handle, &one, pointer(p.b), first_.handle, pointer(p.a),
                          second_.handle, &zero, pointer(p.to), result_.handle, pointer(p.to), result_.handle,
                          &algorithm_, workspace_ != 0 ? pointer(p.workspace) : nullptr, workspace_, stream);
    if (status == CublasLt::success) return true;
    has_failed_ = true;
    context_->tell("cublasLtMatmul returned " + cublas_status(status));
    return false;
  }

 private:
  bool choose() {
    Owned<CublasLt::Preference> preference(functions_.MatmulPreferenceDestroy);
    require(functions_.MatmulPreferenceCreate(&preference.handle), "cublasLtMatmulPreferenceCreate");
    const auto prefer = [&](CublasLt::PreferenceAttribute attribute, const auto& value) {
      require(functions_.MatmulPreferenceSetAttribute(preference.handle, attribute, &value, sizeof value),
              "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(CublasLt::max_workspace, most_workspace);
    // K is not split: its parts would be added in any order.
    prefer(CublasLt::reduction_schemes, uint32_t{0});
    for (const auto attribute :
         {CublasLt::alignment_a, CublasLt::alignment_b, CublasLt::alignment_c, CublasLt::alignment_d})
      prefer(attribute, address_alignment);
    CublasLt::HeuristicResult best{};
    int found = 0;
    const int status =
        functions_.MatmulAlgoGetHeuristic(context_->handle(), description_.handle, first_.handle, second_.handle,
                                          result_.handle, result_.handle, preference.handle, 1, &best, &found);
    if (status == CublasLt::not_supported) return false;
    require(status, "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0 || best.state != CublasLt::success || best.workspace > most_workspace) return false;
    algorithm_ = best.algorithm;
    workspace_ = best.workspace;
    return true;
  }

  const std::shared_ptr<LibraryProducts::Context> context_;
  const CublasLt& functions_;
  Owned<CublasLt::Description> description_;
  Owned<CublasLt::Layout> first_, second_, result_;
  CublasLt::Algorithm algorithm_{};
  size_t workspace_ = 0;
  bool is_found_ = false;
  mutable std::atomic<bool> has_failed_{false};
};

}  // namespace

std::shared_ptr<const ProductCall> LibraryProducts::find(const ProductShape& shape) {
  std::call_once(opening_, [&] {
    const std::string& setting = device_.settings().cublaslt;
    if (setting == "0") return;
    std::string file = setting == "1" ? "" : setting, complaint;
    try {
      if (auto functions = open_cublaslt(file, complaint))
        context_ = std::make_shared<Context>(std::move(functions), device_);
    } catch (const StatusError& error) {
      complaint = file + ": " + error.what();
    }
    sdk::host->log(FE_LOG_INFO, ("cuda: " + (context_ ? "products of " + device_.name() + " are computed by " + file
                                                      : "there is no cuBLASLt: " + complaint))
                                    .c_str());
  });
  if (context_ == nullptr) return nullptr;
  try {
    auto call = std::make_shared<const Call>(context_, shape);
    return call->is_found() ? call : nullptr;
  } catch (const StatusError& error) {
    context_->tell(error.what());
    return nullptr;
  }
}

}  // namespace ferrule::cuda
