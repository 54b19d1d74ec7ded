// Packed constants: one copy for all executables that use the same layout of the same bytes.
#include "core/error.h"
#include "core/memory/storage.h"
#include "core/platform/files/mapped_pages.h"
#include "core/registry/device.h"
#include "core/sync/mutexes.h"

#include <array>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

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

// Constants share allocations of up to `chunk_bytes`, which may use large pages: many are smaller than such a page.
constexpr uint64_t chunk_bytes = uint64_t{16} << 20, copy_alignment = 256;

uint64_t aligned(uint64_t size) { return (size + copy_alignment - 1) / copy_alignment * copy_alignment; }

// A packed copy, which is found or made.
struct Copy {
  PreparedCache::Key key;
  uint64_t size = 0;  // 0: the constant is used as it is
};

// Parts of allocations for the copies that are not found, in order.
class Chunks {
 public:
  Chunks(const std::shared_ptr<Device>& device, PreparedCache& cache, std::span<const Copy> copies)
      : device_(device), cache_(cache), copies_(copies) {}

  // The memory of the copy at `index`.
  std::shared_ptr<Storage> take(std::size_t index) {
    const uint64_t size = copies_[index].size;
    if (!chunk_ || aligned(size) > chunk_->size() - used_) {
      chunk_ = Storage::allocate(device_, size_from(index), nullptr, Storage::Origin::prepared);
      used_ = 0;
    }
    auto part = Storage::part(chunk_, used_, size);
    used_ += aligned(size);
    return part;
  }

 private:
  uint64_t size_from(std::size_t index) {
    uint64_t size = aligned(copies_[index].size);
    std::set<PreparedCache::Key> counted{copies_[index].key};
    for (++index; index < copies_.size(); ++index) {
      const Copy& copy = copies_[index];
      if (copy.size == 0 || cache_.find(copy.key) || !counted.insert(copy.key).second) continue;
      if (size + aligned(copy.size) > chunk_bytes) break;
      size += aligned(copy.size);
    }
    return size;
  }

  std::shared_ptr<Device> device_;
  PreparedCache& cache_;
  std::span<const Copy> copies_;
  std::shared_ptr<Storage> chunk_;
  uint64_t used_ = 0;
};

}  // namespace

std::vector<std::shared_ptr<Storage>> prepared_constants(Device& device, const fe_graph_view& view,
                                                         std::span<const ConstantOperand> operands) {
  std::vector<std::shared_ptr<Storage>> prepared(operands.size());
  const fe_backend& table = device.table();
  if (!table.prepare_size || !table.prepare) return prepared;
  const DeviceUse packing = device.use("a constant that is being packed");
  std::vector<Copy> copies(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ConstantOperand& operand = operands[i];
    std::array<char, 256> layout{};
    device.check(table.prepare_size(device.open(), &view, operand.node, operand.input, &copies[i].size, layout.data(),
                                    layout.size()));
    layout.back() = '\0';
    const fe_value& value = *view.values[view.nodes[operand.node]->inputs[operand.input]];
    copies[i].key = {operand.storage->generation(), operand.storage->buffer_offset() + operand.begin,
                     key_of(layout.data(), value)};
  }
  auto& cache = device.attached<PreparedCache>();
  const std::scoped_lock lock(cache.preparing);
  Chunks chunks(device.shared_from_this(), cache, copies);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (copies[i].size == 0 || (prepared[i] = cache.find(copies[i].key))) continue;
    const ConstantOperand& operand = operands[i];
    const Storage& from = *operand.storage;
    const std::shared_ptr<Storage> to = chunks.take(i);
    from.finish_write();
    const fe_binding source{sizeof(fe_binding), from.buffer(), from.buffer_offset() + operand.begin, from.generation()};
    const fe_binding target{sizeof(fe_binding), to->buffer(), to->buffer_offset(), to->generation()};
    device.check(table.prepare(device.open(), &view, operand.node, operand.input, &source, &target));
    if (from.is_mapped_file())
      drop_mapped_pages(static_cast<std::byte*>(from.host_pointer()) + operand.begin, operand.size);
    cache.insert(copies[i].key, to);
    prepared[i] = to;
  }
  return prepared;
}

}  // namespace ferrule
