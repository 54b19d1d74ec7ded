// The backend backend_name: one device in host memory. Its kernels are in kernels/.
#include "kernels/kernels.h"

#include <memory>
#include <string_view>
#include <vector>

namespace ferrule_backend_name {

// CMake writes kernels.inc: one KERNEL(op) for each file of kernels/.
#define KERNEL(op) Kernel op(const Node& node);
#include "kernels.inc"
#undef KERNEL

namespace {

struct Row {
  std::string_view op;
  Kernel (*kernel)(const Node&);
};

constexpr Row table[] = {
#define KERNEL(op) {#op, op},
#include "kernels.inc"
#undef KERNEL
};

class TableDevice final : public KernelDevice {
 public:
  // Called both to decide whether a node is supported and to get its kernel, so that the two cannot differ.
  Kernel kernel(const Node& node) override {
    for (const Row& row : table)
      if (row.op == node.op()) return row.kernel(node);
    return refusal(FERRULE_MODULE_NAME " has no kernel for it");
  }
};

class TableBackend final : public Backend {
 public:
  static constexpr const char* version = BACKEND_VERSION;

  // Returns no device if the hardware is absent. Must not allocate device memory or create a context.
  std::vector<DeviceDescription> devices() override {
    return {{.kind = FE_DEVICE_CPU,
             .flags = FE_DEVICE_FLAG_HOST_MEMORY,
             .name = FERRULE_MODULE_NAME,
             .description = "the kernels of " FERRULE_MODULE_NAME " on the host",
             .borrow_alignment = 1}};
  }
  std::unique_ptr<Device> open(uint32_t, const Options&) override { return std::make_unique<TableDevice>(); }
};

}  // namespace

}  // namespace ferrule_backend_name

FERRULE_BACKEND(ferrule_backend_name::TableBackend)
