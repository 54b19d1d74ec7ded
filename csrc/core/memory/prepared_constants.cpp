// Packed constants: one copy for all executables that use the same layout of the same bytes.
#include "core/error.h"
#include "core/memory/storage.h"
#include "core/platform/files/mapped_pages.h"
#include "core/registry/device.h"
#include "core/sync/mutexes.h"

#include <array>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace ferrule {
namespace {

// Constants share allocations of at least this size, which may use large pages: most are smaller than such a page. One
// copy that is in use keeps its whole chunk.
constexpr uint64_t chunk_bytes = uint64_t{8} << 20, copy_alignment = 256;

uint64_t aligned(uint64_t size) { return (size + copy_alignment - 1) / copy_alignment * copy_alignment; }

// One per device.
struct PreparedCache {
  explicit PreparedCache(Device&) {}
  using Key = std::tuple<uint64_t, uint64_t, std::string>;  // generation of the constant, byte offset, layout
  LongMutex preparing;

  // The copy, also one that nobody holds any more while its chunk is still there. `preparing` is held.
  std::shared_ptr<Storage> find(const Key& key) {
    std::shared_ptr<Storage> part, chunk;  // let go of behind the lock, as their ends lock another BriefMutex
    uint64_t offset = 0, size = 0;
    {
      const std::scoped_lock lock(mutex_);
      std::erase_if(copies_, [](const auto& copy) { return copy.second.chunk.expired(); });
      const auto found = copies_.find(key);
      if (found == copies_.end()) return nullptr;
      part = found->second.part.lock();
      chunk = found->second.chunk.lock();
      offset = found->second.offset;
      size = found->second.size;
    }
    if (part || !chunk) return part;
    part = Storage::part(chunk, offset, size);
    insert(key, chunk, part);
    return part;
  }
  void insert(const Key& key, const std::shared_ptr<Storage>& chunk, const std::shared_ptr<Storage>& part) {
    const std::scoped_lock lock(mutex_);
    copies_[key] = {chunk, part, part->buffer_offset() - chunk->buffer_offset(), part->size()};
  }

 private:
  struct Copy {
    std::weak_ptr<Storage> chunk, part;
    uint64_t offset, size;  // bytes
  };
  BriefMutex mutex_;  // guards copies_
  std::map<Key, Copy> copies_;
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

// The packed form of an operand. `size` is 0 if its kernel reads the constant as it is, and if an earlier operand has
// the same form.
struct PackedForm {
  PreparedCache::Key key;
  uint64_t size = 0;
  std::size_t first = 0;  // index of the first with this key
};

// Bytes of a chunk for the copies from `index` on that are not there yet.
uint64_t size_of_chunk(std::span<const PackedForm> forms, std::span<const std::shared_ptr<Storage>> prepared,
                       std::size_t index) {
  uint64_t size = 0;
  for (; index < forms.size() && size < chunk_bytes; ++index)
    if (!prepared[index]) size += aligned(forms[index].size);
  return size;
}

}  // namespace

std::vector<std::shared_ptr<Storage>> prepared_constants(Device& device, const fe_graph_view& view,
                                                         std::span<const ConstantOperand> operands) {
  std::vector<std::shared_ptr<Storage>> prepared(operands.size());
  const fe_backend& table = device.table();
  if (!table.prepare_size || !table.prepare) return prepared;
  const DeviceUse packing = device.use("a constant that is being packed");
  std::vector<PackedForm> forms(operands.size());
  std::map<PreparedCache::Key, std::size_t> first_with;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ConstantOperand& operand = operands[i];
    std::array<char, 256> layout{};
    device.check(table.prepare_size(device.open(), &view, operand.node, operand.input, &forms[i].size, layout.data(),
                                    layout.size()));
    layout.back() = '\0';
    const fe_value& value = *view.values[view.nodes[operand.node]->inputs[operand.input]];
    forms[i].key = {operand.storage->generation(), operand.storage->buffer_offset() + operand.begin,
                    key_of(layout.data(), value)};
    forms[i].first = forms[i].size > 0 ? first_with.emplace(forms[i].key, i).first->second : i;
    if (forms[i].first != i) forms[i].size = 0;
  }
  auto& cache = device.attached<PreparedCache>();
  const std::scoped_lock lock(cache.preparing);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (forms[i].size > 0) prepared[i] = cache.find(forms[i].key);
  std::shared_ptr<Storage> chunk;
  uint64_t used = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const uint64_t size = forms[i].size;
    if (size == 0 || prepared[i]) continue;
    if (!chunk || aligned(size) > chunk->size() - used) {
      const auto owner = device.shared_from_this();
      chunk = Storage::allocate(owner, size_of_chunk(forms, prepared, i), nullptr, Storage::Origin::prepared);
      used = 0;
    }
    const std::shared_ptr<Storage> to = Storage::part(chunk, used, size);
    used += aligned(size);
    const ConstantOperand& operand = operands[i];
    const Storage& from = *operand.storage;
    from.finish_write();
    const fe_binding source{sizeof(fe_binding), from.buffer(), from.buffer_offset() + operand.begin, from.generation()};
    const fe_binding target{sizeof(fe_binding), to->buffer(), to->buffer_offset(), to->generation()};
    device.check(table.prepare(device.open(), &view, operand.node, operand.input, &source, &target));
    if (from.is_mapped_file() && from.host_pointer())
      drop_mapped_pages(static_cast<std::byte*>(from.host_pointer()) + operand.begin, operand.size);
    cache.insert(forms[i].key, chunk, to);
    prepared[i] = to;
  }
  for (std::size_t i = 0; i < operands.size(); ++i) prepared[i] = prepared[forms[i].first];
  return prepared;
}

}  // namespace ferrule
