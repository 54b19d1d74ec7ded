// The host's processor as a device: its memory is ordinary memory, and every call is done when it returns.
#include <sys/mman.h>
#include <unistd.h>

#include "compile.h"
#include "module.h"
#include "table.h"

namespace ferrule::cpu {
namespace {

// From this size on, memory is asked for in large pages: streaming through it is a third faster (fewer page walks).
constexpr uint64_t large_buffer = uint64_t{4} << 20, large_page = uint64_t{2} << 20;

class Device : public sdk::HostDevice {
 public:
  std::unique_ptr<sdk::Buffer> allocate(uint64_t size, uint64_t alignment) override {
    if (size < large_buffer) return HostDevice::allocate(size, alignment);
    auto buffer = HostDevice::allocate(size, std::max(alignment, large_page));
    madvise(buffer->host_pointer(), size, MADV_HUGEPAGE);  // advice: nothing is lost if it is refused
    return buffer;
  }
  std::pair<uint64_t, uint64_t> memory() override {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    return {static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * page,
            static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page};
  }
  std::unique_ptr<sdk::Executable> compile(const fe_graph_view& view) override { return cpu::compile(view); }
  // These three are asked with the whole view: see the slots below.
  sdk::Support supports(const sdk::Node&) override {
    throw sdk::Error(FE_INTERNAL, "supports: not asked through the slot");
  }
};

class Backend : public sdk::Backend {
 public:
  static constexpr const char* version = FERRULE_VERSION;

  std::vector<sdk::DeviceDescription> devices() override {
    sdk::DeviceDescription device;
    device.kind = FE_DEVICE_CPU;
    device.flags = FE_DEVICE_FLAG_HOST_MEMORY;
    device.name = processor_name();
    device.description = std::string("variant ") + table().variant;
    device.total_memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    device.borrow_alignment = 1;
    return {device};
  }
  std::unique_ptr<sdk::Device> open(uint32_t, const sdk::Options&) override { return std::make_unique<Device>(); }

 private:
  static std::string processor_name() {
    char brand[49] = "";
    ferrule_cpu_brand(brand);
    const std::string name(brand);
    const size_t first = name.find_first_not_of(' ');
    return first == std::string::npos ? "CPU" : name.substr(first, name.find_last_not_of(' ') - first + 1);
  }
};

// ---- slots that need the view and the node's index
// -----------------------------------------------------------------------

// The strings of an answer live until the thread asks again. They are plain arrays: a thread_local with a destructor
// would keep the module from being unloaded.
int supports(fe_module_device*, const fe_graph_view* view, uint32_t node, fe_requirements* out) {
  thread_local char kernel[96], reason[512];
  const auto keep = [](char* to, size_t capacity, const std::string& text) -> const char* {
    if (text.empty()) return nullptr;
    const size_t length = std::min(text.size(), capacity - 1);
    std::memcpy(to, text.data(), length);
    to[length] = 0;
    return to;
  };
  int supported = 0;
  fe_requirements requirements{};
  fe_error* const error = sdk::guarded([&] {
    const sdk::Support answer = choose(*view, node).support;
    supported = answer.supported ? 1 : 0;
    requirements.contiguous_inputs = answer.contiguous_inputs;
    requirements.innermost_inputs = answer.innermost_inputs;
    requirements.alignment = answer.alignment;
    requirements.kernel = keep(kernel, sizeof kernel, answer.kernel);
    requirements.reason = keep(reason, sizeof reason, answer.reason);
  });
  if (error != nullptr) {
    requirements.reason = keep(reason, sizeof reason, sdk::host->error_message(error));
    sdk::host->error_release(error);
  }
  sdk::slots::fill(out, requirements);
  return supported;
}

fe_error* prepare_size(fe_module_device*, const fe_graph_view* view, uint32_t node, uint32_t input, uint64_t* size,
                       char* key, size_t key_capacity) {
  return sdk::guarded([&] {
    const sdk::PreparedForm form = prepared_form(*view, node, input);
    if (form.key.size() >= key_capacity)
      throw sdk::Error(FE_INTERNAL, "the key of a prepared form is too long: " + form.key);
    *size = form.size;
    std::memcpy(key, form.key.c_str(), form.key.size() + 1);
  });
}

fe_error* prepare_operand(fe_module_device*, const fe_graph_view* view, uint32_t node, uint32_t input,
                          const fe_binding* from, const fe_binding* to) {
  return sdk::guarded([&] { prepare(*view, node, input, *from, *to); });
}

}  // namespace
}  // namespace ferrule::cpu

fe_error* ferrule_cpu_init(const fe_host* host, fe_backend* out) {
  fe_error* const error =
      ferrule::sdk::slots::init<ferrule::cpu::Backend>(host, out, FERRULE_MODULE_NAME, FERRULE_MODULE_VARIANT);
  if (error != nullptr) return error;
  if (FE_HAS_SLOT(out, supports)) out->supports = ferrule::cpu::supports;
  if (FE_HAS_SLOT(out, prepare_size)) out->prepare_size = ferrule::cpu::prepare_size;
  if (FE_HAS_SLOT(out, prepare)) out->prepare = ferrule::cpu::prepare_operand;
  return nullptr;
}
