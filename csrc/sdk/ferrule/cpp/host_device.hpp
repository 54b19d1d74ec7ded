// Devices whose buffers are host memory. See ferrule/backend.hpp.
#ifndef FERRULE_CPP_HOST_DEVICE_HPP
#define FERRULE_CPP_HOST_DEVICE_HPP

#include <ferrule/cpp/device.hpp>
#include <ferrule/cpp/strided_copy.hpp>

#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace ferrule::sdk {

// Host memory: allocated, or borrowed.
class HostBuffer : public Buffer {
 public:
  HostBuffer(uint64_t size, uint64_t alignment)
      : alignment_(alignment), pointer_(::operator new (size, std::align_val_t{alignment}, std::nothrow)) {
    if (pointer_ == nullptr) throw Error(FE_OUT_OF_MEMORY, "the host has no " + std::to_string(size) + " bytes");
  }
  HostBuffer(void* borrowed) : alignment_(0), pointer_(borrowed) {}
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  ~HostBuffer() override {
    if (alignment_) ::operator delete (pointer_, std::align_val_t{alignment_});
  }
  void* host_pointer() override { return pointer_; }

 private:
  uint64_t alignment_;  // 0: borrowed
  void* pointer_;
};

// A device that implements memory, borrowing and copies; a derived class adds supports and compile. Its
// DeviceDescription has FE_DEVICE_FLAG_HOST_MEMORY and a borrow_alignment of 1.
class HostDevice : public Device {
 public:
  std::unique_ptr<Buffer> allocate(uint64_t size, uint64_t alignment) override {
    return std::make_unique<HostBuffer>(size, alignment);
  }
  std::unique_ptr<Buffer> borrow(void* pointer, uint64_t, fe_access) override {
    return std::make_unique<HostBuffer>(pointer);
  }
  void copy_from_host(Queue*, Buffer& to, uint64_t to_offset, const void* from, uint64_t size) override {
    std::memmove(bytes(to) + to_offset, from, size);
  }
  void copy_to_host(Queue*, void* to, Buffer& from, uint64_t from_offset, uint64_t size) override {
    std::memmove(to, bytes(from) + from_offset, size);
  }
  void copy(Queue*, Buffer& to, uint64_t to_offset, Buffer& from, uint64_t from_offset, uint64_t size) override {
    std::memmove(bytes(to) + to_offset, bytes(from) + from_offset, size);
  }
  void copy_strided(Queue*, const StridedCopy& copy) override {
    copy_items(bytes(copy.to) + copy.to_offset, copy.to_strides, bytes(copy.from) + copy.from_offset, copy.from_strides,
               copy.shape, copy.item_size);
  }
  void fill(Queue*, Buffer& to, uint64_t to_offset, std::span<const std::byte> pattern, uint64_t size) override {
    char* const begin = bytes(to) + to_offset;
    for (uint64_t done = 0; done < size; done += pattern.size())
      std::memcpy(begin + done, pattern.data(), pattern.size());
  }

 protected:
  static char* bytes(Buffer& buffer) { return static_cast<char*>(buffer.host_pointer()); }
};

// A compiled node: whether it is supported, with the requirements on its operands, and the function that computes it.
struct Kernel {
  Support support;
  std::function<void(const Launch&)> run;
};

// A node that is not supported; `reason` is part of a sentence.
inline Kernel refusal(std::string reason) {
  return {.support = {.supported = false, .reason = std::move(reason)}, .run = {}};
}

// A host device that computes the nodes of a graph one by one. `kernel` returns both whether a node is supported and
// the function that computes it, so the two cannot disagree. Nodes with a body go to `kernel_with_body`, which refuses
// them unless it is overridden. If `kernel` refuses a `copy`, this class computes it: kernels that need contiguous
// inputs depend on it.
class KernelDevice : public HostDevice {
 public:
  virtual Kernel kernel(const Node& node) = 0;
  virtual Kernel kernel_with_body(const Node&) { return refusal("no kernel takes a fused body"); }

  Support supports(const Node& node) final { return find(node).support; }
  std::unique_ptr<Executable> compile(const fe_graph_view& view) final {
    auto executable = std::make_unique<Sequence>();
    for (uint32_t i = 0; i < view.node_count; ++i) {
      const Node node(view, i);
      Kernel found = find(node);
      if (!found.support.supported) throw Error(FE_UNSUPPORTED, std::string(node.op()) + ": " + found.support.reason);
      executable->kernels.push_back(std::move(found.run));
    }
    return executable;
  }

 private:
  struct Sequence : Executable {
    std::vector<std::function<void(const Launch&)>> kernels;
    void execute(Queue*, const fe_execution& execution) override {
      const Launch launch(execution);
      run_in_order(execution, static_cast<uint32_t>(kernels.size()), [&](uint32_t node) { kernels[node](launch); });
    }
  };
  Kernel find(const Node& node) {
    Kernel found = find_of_any_revision(node);
    found.support = unless_too_young(std::move(found.support), node);
    return found;
  }
  Kernel find_of_any_revision(const Node& node) {
    if (node.body()) return kernel_with_body(node);
    Kernel found = kernel(node);
    if (found.support.supported || node.op() != "copy" || node.input(0).dtype() != node.output(0).dtype()) return found;
    const Operand from = node.input(0), to = node.output(0);
    return {.support = {.kernel = "strided_copy"},
            .run = [=](const Launch& launch) { strided_copy(launch, from, to); }};
  }
};

}  // namespace ferrule::sdk

#endif
