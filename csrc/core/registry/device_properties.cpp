#include "core/registry/device_properties.h"

#include "core/error.h"

#include <algorithm>

namespace ferrule {
namespace {

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

}  // namespace

DeviceProperties read_properties(const fe_backend& table, uint32_t index) {
  fe_device_properties raw{};
  raw.struct_size = sizeof raw;
  check(table.device_properties(table.self, index, &raw));
  if (raw.kind >= FE_DEVICE_KIND_COUNT)
    fail(FE_INTERNAL, "device {} is of kind {}, which this ferrule does not know", index, raw.kind);
  DeviceProperties out;
  out.kind = static_cast<fe_device_kind>(raw.kind);
  out.flags = raw.flags;
  out.name = text_or_empty(raw.name);
  out.description = text_or_empty(raw.description);
  out.total_memory = raw.total_memory;
  out.max_allocation = raw.max_allocation;
  out.borrow_alignment = raw.borrow_alignment;
  out.pci_address = text_or_empty(raw.pci_address);
  out.queue_kinds = raw.queue_kinds;
  if (raw.uuid != nullptr) std::copy_n(raw.uuid, 16, out.uuid.emplace().begin());
  return out;
}

bool is_same_device(const DeviceProperties& a, const DeviceProperties& b) {
  return a.kind == b.kind && a.name == b.name && a.uuid == b.uuid && a.pci_address == b.pci_address;
}

std::vector<DeviceOptionInfo> read_options(const fe_backend& table) {
  std::vector<DeviceOptionInfo> options;
  if (table.device_option == nullptr) return options;
  // Limited, in case a module never reports the end of the list.
  for (uint32_t i = 0; i < 1000; ++i) {
    fe_option_info info{};
    info.struct_size = sizeof info;
    if (const ErrorPointer past_the_last(table.device_option(table.self, i, &info)); past_the_last) break;
    options.push_back({text_or_empty(info.key), text_or_empty(info.type), text_or_empty(info.doc)});
  }
  return options;
}

}  // namespace ferrule
