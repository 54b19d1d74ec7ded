// Memory of a null device: host memory, whose address may be hidden from the host.
#pragma once

#include "computing.h"

#include <atomic>

namespace ferrule::null {

// Counts the bytes that a device has allocated, with an optional limit.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t size) : size_(size) {}  // 0: no limit
  void take(uint64_t bytes) {
    const uint64_t used = used_ += bytes;
    if (size_ == 0 || used <= size_) return;
    used_ -= bytes;
    throw sdk::Error(FE_OUT_OF_MEMORY, "null: of its " + std::to_string(size_) + " bytes of memory " +
                                           std::to_string(used - bytes) + " are in use, and " + std::to_string(bytes) +
                                           " more are too many");
  }
  void give_back(uint64_t bytes) { used_ -= bytes; }
  uint64_t size() const { return size_; }
  uint64_t free() const { return size_ == 0 ? UINT64_MAX : size_ - used_; }

 private:
  const uint64_t size_;
  std::atomic<uint64_t> used_{0};
};

constexpr int32_t native_type = 12;  // DLPack's kDLExtDev

class Memory final : public sdk::Buffer {
 public:
  Memory(std::shared_ptr<MemoryBudget> budget, uint64_t size, uint64_t alignment, bool is_hidden, uint32_t device,
         const std::shared_ptr<Computer>& computer)
      : budget_(std::move(budget)), taken_(size), is_hidden_(is_hidden), device_(device) {
    budget_->take(size);
    try {
      memory_.emplace(size, alignment);
      if (computer) borrowed_ = computer->borrow(bytes(), size);
    } catch (...) {
      budget_->give_back(size);
      throw;
    }
  }
  // Borrows memory of the host or of another library.
  Memory(void* pointer, uint64_t size, bool is_hidden, uint32_t device, const std::shared_ptr<Computer>& computer)
      : memory_(std::in_place, pointer), is_hidden_(is_hidden), device_(device) {
    if (computer) borrowed_ = computer->borrow(pointer, size);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() override {
    if (budget_) budget_->give_back(taken_);
  }

  char* bytes() { return static_cast<char*>(memory_->host_pointer()); }
  void* host_pointer() override { return is_hidden_ ? nullptr : bytes(); }
  fe_native_memory native() override {
    return {sizeof(fe_native_memory), native_type, static_cast<int32_t>(device_), bytes(), 0};
  }
  // The same memory as a buffer of the computing module; null without one.
  fe_module_buffer* borrowed() const { return borrowed_.get(); }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  uint64_t taken_ = 0;
  std::optional<sdk::HostBuffer> memory_;
  const bool is_hidden_;
  const uint32_t device_;
  Computer::BufferPointer borrowed_;
};

inline Memory& memory_of(fe_module_buffer* handle) {
  return static_cast<Memory&>(*reinterpret_cast<sdk::Buffer*>(handle));
}
inline Memory& memory_of(sdk::Buffer& buffer) { return static_cast<Memory&>(buffer); }

}  // namespace ferrule::null
