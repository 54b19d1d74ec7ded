// The host's processor as a device: its memory is ordinary memory, and every call is done when it returns.
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

#include "compile.h"
#include "module.h"
#include "procs.h"
#include "table.h"

namespace ferrule::cpu {
namespace {

// From this size on, memory is asked for in large pages: streaming through it is a third faster (fewer page walks).
constexpr uint64_t large_buffer = uint64_t{4} << 20, large_page = uint64_t{2} << 20;

uint64_t bytes_in_pages(int name) {
  return static_cast<uint64_t>(sysconf(name)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// What can be had without swapping. Linux counts the caches of files, which it gives up for it.
uint64_t available_bytes() {
  std::ifstream table("/proc/meminfo");
  std::string name;
  for (uint64_t kibibytes = 0; table >> name >> kibibytes;) {
    if (name == "MemAvailable:") return kibibytes * 1024;
    table.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return bytes_in_pages(_SC_AVPHYS_PAGES);
}

class Device : public sdk::HostDevice {
 public:
  std::unique_ptr<sdk::Buffer> allocate(uint64_t size, uint64_t alignment) override {
    if (size < large_buffer) return HostDevice::allocate(size, alignment);
    auto buffer = HostDevice::allocate(size, std::max(alignment, large_page));
    madvise(buffer->host_pointer(), size, MADV_HUGEPAGE);  // advice: nothing is lost if it is refused
    return buffer;
  }
  std::pair<uint64_t, uint64_t> memory() override { return {available_bytes(), bytes_in_pages(_SC_PHYS_PAGES)}; }
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
    device.description = std::string("variant ") + table().variant;
    device.total_memory = bytes_in_pages(_SC_PHYS_PAGES);
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
