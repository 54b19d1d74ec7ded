// Packed constants: one copy for all executables that use the same layout of the same bytes.
#include "core/error.h"
#include "core/memory/storage.h"
#include "core/registry/device.h"
#include "core/sync/mutexes.h"

#include <array>
#include <map>
#include <mutex>
#include <tuple>

namespace ferrule {
namespace {

// One per device.
struct PreparedCache {
  explicit PreparedCache(Device&) {}
  using Key = std::tuple<uint64_t, uint64_t, std::string>;  // generation of the constant, byte offset, layout
  LongMutex preparing;
  BriefMutex mutex;  // guards copies
  std::map<Key, std::weak_ptr<Storage>> copies;

  std::shared_ptr<Storage> find(const Key& key) {
    const std::scoped_lock lock(mutex);
    std::erase_if(copies, [](const auto& copy) { return copy.second.expired(); });
    const auto found = copies.find(key);
    return found != copies.end() ? found->second.lock() : nullptr;
  }
  void insert(const Key& key, const std::shared_ptr<Storage>& packed) {
    const std::scoped_lock lock(mutex);
    copies[key] = packed;
  }
};

// The layout name says how bytes are packed; shape, strides and offset say which elements of the constant they are.
// Axes of one element and broadcast axes are left out, so that a product shares one copy for all batch sizes.
std::string key_of(const char* layout, const fe_value& value) {
  std::string key = fmt::format("{}|{}|{}", layout, value.dtype, value.offset);
  for (int32_t axis = 0; axis < value.rank; ++axis)
    if (value.shape[axis] != 1 && value.strides[axis] != 0)
      key += fmt::format("|{}x{}", value.shape[axis], value.strides[axis]);
  return key;
}

}  // namespace

std::shared_ptr<Storage> prepared_constant(Device& device, const fe_graph_view& view, uint32_t node, uint32_t input,
                                           const std::shared_ptr<Storage>& constant, uint64_t byte_offset) {
  const fe_backend& table = device.table();
  if (!table.prepare_size || !table.prepare) return nullptr;
  const DeviceUse packing = device.use("a constant that is being packed");
  uint64_t size = 0;
  std::array<char, 256> layout{};
  device.check(table.prepare_size(device.open(), &view, node, input, &size, layout.data(), layout.size()));
  if (size == 0) return nullptr;
  layout.back() = '\0';
  auto& cache = device.attached<PreparedCache>();
  const fe_value& value = *view.values[view.nodes[node]->inputs[input]];
  const uint64_t in_buffer = constant->buffer_offset() + byte_offset;
  const PreparedCache::Key key{constant->generation(), in_buffer, key_of(layout.data(), value)};
  const std::scoped_lock lock(cache.preparing);
  if (std::shared_ptr<Storage> packed = cache.find(key)) return packed;
  std::shared_ptr<Storage> packed =
      Storage::allocate(device.shared_from_this(), size, nullptr, Storage::Origin::prepared);
  constant->finish_write();
  const fe_binding from{sizeof(fe_binding), constant->buffer(), in_buffer, constant->generation()};
  const fe_binding to{sizeof(fe_binding), packed->buffer(), 0, packed->generation()};
  device.check(table.prepare(device.open(), &view, node, input, &from, &to));
  cache.insert(key, packed);
  return packed;
}

}  // namespace ferrule
