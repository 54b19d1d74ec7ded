// Memory that a device's kernels can use.
#pragma once

#include <optional>

#include "device/open_device.h"
#include "memory/host_range.h"

namespace ferrule::cuda {

class Buffer final : public sdk::Buffer {
 public:
  // Allocates `size` bytes of device memory, aligned to 256 bytes.
  static std::unique_ptr<Buffer> allocate(std::shared_ptr<OpenDevice> device, uint64_t size);
  // Borrows host memory, by its own address where the device can use that (with HMM, or by the host's page tables),
  // else by way of the driver while the buffer exists (HostRange). Throws FE_UNSUPPORTED with the reason.
  static std::unique_ptr<Buffer> borrow(const std::shared_ptr<OpenDevice>& device, void* pointer, uint64_t size,
                                        fe_access access);
  // Wraps memory of another library, which outlives the buffer.
  static std::unique_ptr<Buffer> import(const std::shared_ptr<OpenDevice>& device, const fe_native_memory& memory);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() override;

  uint64_t address() const { return address_; }  // for kernels
  OpenDevice& device() const { return *device_; }
  // Whether it is device memory, and not the host's that kernels use.
  bool is_of_device() const { return origin_ == Origin::allocated || origin_ == Origin::foreign; }
  // Number of bytes, of `size` from `offset` on, that one copy may have.
  uint64_t copied_at_once(uint64_t offset, uint64_t size) const {
    return host_ ? host_->copied_at_once(offset, size) : size;
  }
  fe_native_memory native() override;

 private:
  enum class Origin : uint8_t { allocated, registered, pageable, foreign };
  // Makes a buffer without memory. `set`, which cannot fail, gives it memory.
  Buffer(std::shared_ptr<OpenDevice> device, Origin origin) : device_(std::move(device)), origin_(origin) {}
  static std::unique_ptr<Buffer> make(std::shared_ptr<OpenDevice> device, Origin origin);
  void set(void* pointer, uint64_t address, uint64_t bytes) noexcept;

  std::shared_ptr<OpenDevice> device_;
  const Origin origin_;
  std::optional<HostRange> host_;  // of registered memory
  void* pointer_ = nullptr;        // what is freed, or the host's address
  uint64_t address_ = 0, bytes_ = 0;
};

inline Buffer& buffer_of(fe_module_buffer* handle) {
  return static_cast<Buffer&>(*reinterpret_cast<sdk::Buffer*>(handle));
}

}  // namespace ferrule::cuda
