// MTLComputeCommandEncoder and MTLBlitCommandEncoder. They check what they are told as Metal's validation layer does,
// and record it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "metal/simulated/command_buffer.h"
#include "metal/simulated/pipeline.h"
#include "metal/simulated/work.h"

namespace simulated {

class Encoder : public Object {
 public:
  static const objc::Class& own_class();

 protected:
  Encoder(CommandBuffer& buffer, Pass& pass, const objc::Class& isa) : Object(isa), buffer_(&buffer), pass_(pass) {}
  ~Encoder();
  // False, and a fault, after endEncoding.
  bool is_open(const char* selector) const;
  void fail(const char* selector, const std::string& text) const;
  // The object, if it is one of this class and of this device; else a fault, and null.
  template <class T>
  T* checked_object(Object* object, const char* what, const char* selector) const {
    if (object == nullptr) {
      fail(selector, std::string("the ") + what + " must not be nil");
      return nullptr;
    }
    auto* const own = objc::checked<T>(object, selector);
    if (own == nullptr || &own->device() == &buffer_->device()) return own;
    fail(selector, std::string("the ") + what + " is one of another device");
    return nullptr;
  }
  Buffer* checked_buffer(Object* buffer, const char* selector) const {
    return checked_object<Buffer>(buffer, "buffer", selector);
  }
  void end();

  const Owned<CommandBuffer> buffer_;
  Pass& pass_;
  bool has_ended_ = false;
};

constexpr std::size_t most_buffers = 31;

class ComputeEncoder : public Encoder {
 public:
  static const objc::Class& own_class();
  ComputeEncoder(CommandBuffer& buffer, Pass& pass) : Encoder(buffer, pass, own_class()) {}

 private:
  // A buffer bound to an index, and the offset in it.
  struct Bound {
    Buffer* buffer = nullptr;
    std::size_t offset = 0;
  };
  void set_pipeline(Object* state);
  void set_buffer(Object* buffer, std::size_t offset, std::size_t index);
  void dispatch(Size groups, Size threads);
  void barrier(std::size_t scope);
  bool are_sizes_valid(const char* selector, Size groups, Size threads) const;
  bool are_arguments_valid(const char* selector) const;
  // Why an argument's binding is wrong; empty if it is right.
  std::string refusal_of(const emulation::metal::Argument& argument) const;

  Owned<PipelineState> pipeline_;
  std::array<Bound, most_buffers> bound_;
};

class BlitEncoder : public Encoder {
 public:
  static const objc::Class& own_class();
  BlitEncoder(CommandBuffer& buffer, Pass& pass) : Encoder(buffer, pass, own_class()) {}

 private:
  void copy(Object* from, std::size_t from_offset, Object* to, std::size_t to_offset, std::size_t size);
  void fill(Object* buffer, Range range, unsigned char value);
  void add(const std::vector<Buffer*>& buffers, std::function<void()> run);
};

}  // namespace simulated
