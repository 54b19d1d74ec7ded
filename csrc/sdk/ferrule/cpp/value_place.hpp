// The places of the values of a graph view in an execution: a buffer and an offset in bytes.
#ifndef FERRULE_CPP_VALUE_PLACE_HPP
#define FERRULE_CPP_VALUE_PLACE_HPP

#include <ferrule/cpp/error.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ferrule::sdk {

// The place of a value's element (0, ..., 0). It is a copy, which a program may keep after compilation.
class ValuePlace {
 public:
  ValuePlace(const fe_graph_view& view, uint32_t index) {
    const fe_value& value = *view.values[index];
    const fe_storage& storage = *view.storages[value.storage];
    kind_ = static_cast<fe_storage_kind>(storage.kind);
    binding_ = storage.binding;
    dtype_ = host->dtype_info(value.dtype);
    bytes_ = static_cast<uint64_t>(fe_bytes_of(dtype_, value.offset));
    if (kind_ == FE_STORAGE_TEMPORARY) bytes_ += storage.offset;
    offset_slot_ = value.offset_slot;
    // A prepared form has no offset: it begins at its binding.
    if (storage.prepared != 0) {
      bytes_ = 0;
      offset_slot_ = -1;
    }
  }

  fe_storage_kind kind() const { return kind_; }
  bool is_scalar() const { return kind_ == FE_STORAGE_SCALAR; }
  bool is_bound() const { return !is_scalar() && kind_ != FE_STORAGE_TEMPORARY; }
  // The number of its binding, or of the scalar.
  uint32_t binding() const { return binding_; }

  // The bytes before it in its storage or, for temporaries, in the workspace, without an offset that changes between
  // executions.
  uint64_t bytes() const { return bytes_; }

  // The buffer that it is in. Null for a scalar, and for a temporary if there is no workspace, because no temporary has
  // elements.
  fe_module_buffer* buffer(const fe_execution& execution) const {
    if (is_bound()) return fe_binding_at(&execution, binding_)->buffer;
    return is_scalar() ? nullptr : execution.workspace;
  }
  // The bytes before it, in that buffer or in the execution's scalars.
  uint64_t offset(const fe_execution& execution) const {
    uint64_t bytes = bytes_;
    if (offset_slot_ >= 0) bytes += static_cast<uint64_t>(fe_bytes_of(dtype_, execution.offsets[offset_slot_]));
    if (is_bound()) return bytes + fe_binding_at(&execution, binding_)->offset;
    return bytes + (is_scalar() ? sizeof(fe_scalar) * binding_ : execution.workspace_offset);
  }

 private:
  fe_storage_kind kind_;
  uint32_t binding_;
  const fe_dtype_info* dtype_;
  uint64_t bytes_;
  int32_t offset_slot_;
};

// The places of all values of a graph, and the memory that its executions use.
class ValuePlaces {
 public:
  explicit ValuePlaces(const fe_graph_view& view) {
    places_.reserve(view.value_count);
    for (uint32_t i = 0; i < view.value_count; ++i) {
      const ValuePlace& place = places_.emplace_back(view, i);
      if (place.is_bound()) bindings_.push_back(place.binding());
    }
    std::sort(bindings_.begin(), bindings_.end());
    bindings_.erase(std::unique(bindings_.begin(), bindings_.end()), bindings_.end());
  }

  size_t count() const { return places_.size(); }
  const ValuePlace& operator[](size_t value) const { return places_[value]; }
  // The buffers that an execution uses: of the bindings, the workspace and the scratch memory.
  std::vector<fe_module_buffer*> buffers(const fe_execution& execution) const {
    std::vector<fe_module_buffer*> buffers;
    buffers.reserve(bindings_.size() + 2);
    for (const uint32_t binding : bindings_) buffers.push_back(fe_binding_at(&execution, binding)->buffer);
    for (fe_module_buffer* const buffer : {execution.workspace, execution.scratch})
      if (buffer != nullptr) buffers.push_back(buffer);
    return buffers;
  }

 private:
  std::vector<ValuePlace> places_;
  std::vector<uint32_t> bindings_;  // each once
};

}  // namespace ferrule::sdk

#endif
