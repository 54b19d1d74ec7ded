// The host's processor as a device. Its memory is ordinary host memory, and it has no queues.
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <string>

#include "compile.h"
#include "host_memory.h"
#include "module.h"
#include "prepare.h"
#include "procs.h"
#include "table.h"

namespace ferrule::cpu {
namespace {

// Buffers of this size and larger use large pages: streaming through them is a third faster (fewer page walks).
constexpr uint64_t large_buffer = uint64_t{4} << 20, large_page = uint64_t{2} << 20;

class Device : public sdk::HostDevice {
 public:
  std::unique_ptr<sdk::Buffer> allocate(uint64_t size, uint64_t alignment) override {
    if (size < large_buffer) return HostDevice::allocate(size, alignment);
    auto buffer = HostDevice::allocate(size, std::max(alignment, large_page));
#if defined(__linux__)
    madvise(buffer->host_pointer(), size, MADV_HUGEPAGE);  // only advice: a failure does no harm
#endif
    return buffer;
  }
  std::pair<uint64_t, uint64_t> memory() override {
    const HostMemory now = host_memory();
    return {now.available, now.total};
  }
  std::unique_ptr<sdk::Executable> compile(const fe_graph_view& view) override { return cpu::compile(view); }
  sdk::Support supports(const sdk::Node& node) override { return choose(node.view(), node.index()).support; }
  sdk::PreparedForm prepared_form(const sdk::Node& node, uint32_t input) override {
    return cpu::prepared_form(node.view(), node.index(), input);
  }
  void prepare(const sdk::Node& node, uint32_t input, const fe_binding& from, const fe_binding& to) override {
    cpu::prepare(node.view(), node.index(), input, from, to);
  }
};

class Backend : public sdk::Backend {
 public:
  static constexpr const char* version = FERRULE_VERSION;
  static void* proc(std::string_view name) { return cpu::proc(name); }

  std::vector<sdk::DeviceDescription> devices() override {
    sdk::DeviceDescription device;
    device.kind = FE_DEVICE_CPU;
    device.flags = FE_DEVICE_FLAG_HOST_MEMORY;
    device.name = processor_name();
    device.description = description();
    device.total_memory = host_memory().total;
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

}  // namespace
}  // namespace ferrule::cpu

fe_error* ferrule_cpu_init(const fe_host* host, fe_backend* out) {
  return ferrule::sdk::slots::init<ferrule::cpu::Backend>(host, out, FERRULE_MODULE_NAME, FERRULE_MODULE_VARIANT);
}
