// Blocks, which programs pass as callbacks: the structure that clang compiles a block to.
#pragma once

#include <cstddef>

namespace objc {

// A block that is kept. A block on the stack is copied, as Block_copy does.
class KeptBlock {
 public:
  explicit KeptBlock(void* block = nullptr);
  ~KeptBlock();
  KeptBlock(KeptBlock&& other) noexcept : block_(other.block_) { other.block_ = nullptr; }
  KeptBlock(const KeptBlock&) = delete;
  KeptBlock& operator=(const KeptBlock&) = delete;
  explicit operator bool() const { return block_ != nullptr; }
  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    const auto call = reinterpret_cast<void (*)(void*, Arguments...)>(invoke());
    call(block_, arguments...);
  }

 private:
  void (*invoke() const)();
  void* block_;
};

}  // namespace objc
