#include "attributes.h"

namespace ferrule::cpu {

std::byte* Attributes::copy(const void* from, size_t size) {
  kept_.push_back(std::make_unique<std::byte[]>(size));
  if (size > 0) std::memcpy(kept_.back().get(), from, size);
  return kept_.back().get();
}

const void* Attributes::keep(const Kernel& kernel, const void* attributes) {
  if (attributes == nullptr) return nullptr;
  size_t size = 0;  // every attribute struct begins with its size
  std::memcpy(&size, attributes, sizeof size);
  std::byte* const kept = copy(attributes, size);
  for (const uint16_t offset : kernel.list_attributes) {
    if (offset == 0) continue;
    fe_int64_list list;
    std::memcpy(&list, kept + offset, sizeof list);
    list.data = reinterpret_cast<const int64_t*>(copy(list.data, list.count * sizeof(int64_t)));
    std::memcpy(kept + offset, &list, sizeof list);
  }
  for (const uint16_t offset : kernel.string_attributes) {
    if (offset == 0) continue;
    const char* text = nullptr;
    std::memcpy(&text, kept + offset, sizeof text);
    if (text != nullptr) text = reinterpret_cast<const char*>(copy(text, std::strlen(text) + 1));
    std::memcpy(kept + offset, &text, sizeof text);
  }
  return kept;
}

}  // namespace ferrule::cpu
