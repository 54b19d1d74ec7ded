#include "graphs/dependencies.h"

#include <algorithm>

namespace ferrule::cuda {
namespace {

// The bindings have the spaces from `first_binding` on.
struct Space {
  enum : uint64_t { workspace, scratch, scalars, faults, first_binding };
};

MemoryAccess whole(uint64_t space, bool is_written) { return {space, 0, UINT64_MAX, is_written}; }

MemoryAccess range_of(const fe_graph_view& view, const fe_value& value) {
  const fe_storage& storage = *view.storages[value.storage];
  if (storage.kind == FE_STORAGE_SCALAR) return whole(Space::scalars, false);
  if (storage.kind == FE_STORAGE_TEMPORARY)
    return {Space::workspace, storage.offset, storage.offset + storage.size, false};
  const fe_storage& memory = storage.reuses >= 0 ? *view.storages[storage.reuses] : storage;
  return whole(Space::first_binding + memory.binding, false);
}

bool conflict(const MemoryAccess& a, const MemoryAccess& b) {
  return (a.is_written || b.is_written) && a.space == b.space && a.begin < b.end && b.begin < a.end;
}

bool conflict(const std::vector<MemoryAccess>& a, const std::vector<MemoryAccess>& b) {
  return std::any_of(a.begin(), a.end(), [&](const MemoryAccess& one) {
    return std::any_of(b.begin(), b.end(), [&](const MemoryAccess& other) { return conflict(one, other); });
  });
}

}  // namespace

MemoryRanges::MemoryRanges(const fe_graph_view& view) {
  values_.reserve(view.value_count);
  for (uint32_t i = 0; i < view.value_count; ++i) values_.push_back(range_of(view, *view.values[i]));
}

std::vector<MemoryAccess> MemoryRanges::of(const Launch& launch) const {
  std::vector<MemoryAccess> accesses;
  for (const Binding& binding : launch.bindings) {
    switch (binding.what) {
      case Binding::What::value:
      case Binding::What::tensor_map:
        accesses.push_back(values_[binding.value]);
        accesses.back().is_written = binding.is_written;
        break;
      case Binding::What::scratch:  // of all nodes: each begins at its first byte
        accesses.push_back(whole(Space::scratch, binding.is_written));
        break;
      case Binding::What::fault:  // in order, so that the first report stays
        accesses.push_back(whole(Space::faults, true));
        break;
      case Binding::What::stored_scalars:
        accesses.push_back(whole(Space::scalars, binding.is_written));
        break;
      case Binding::What::scalar:
      case Binding::What::scalars:
        break;  // in the parameters
    }
  }
  return accesses;
}

std::vector<std::vector<uint32_t>> dependencies_of(const std::vector<std::vector<MemoryAccess>>& launches) {
  const size_t count = launches.size();
  std::vector<std::vector<uint32_t>> dependencies(count);
  std::vector<std::vector<bool>> follows(
      count);  // follows[i][k]: launch i waits for launch k, perhaps by way of others
  for (uint32_t i = 0; i < count; ++i) {
    follows[i].assign(i, false);
    for (uint32_t k = i; k-- > 0;) {
      if (follows[i][k] || !conflict(launches[i], launches[k])) continue;
      dependencies[i].push_back(k);
      follows[i][k] = true;
      for (uint32_t j = 0; j < k; ++j)
        if (follows[k][j]) follows[i][j] = true;
    }
  }
  return dependencies;
}

}  // namespace ferrule::cuda
