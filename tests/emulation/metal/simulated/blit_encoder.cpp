// MTLBlitCommandEncoder.
#include <cstring>
#include <string>

#include "metal/simulated/encoders.h"

namespace simulated {

using objc::method;

namespace {

std::string truncated(std::size_t size) {
  return std::to_string(size) + " bytes are more than " + std::to_string(settings().most_blit) +
         ": Metal does a part of them only";
}

}  // namespace

void BlitEncoder::add(const std::vector<Buffer*>& buffers, std::function<void()> run) {
  Command command;
  for (Buffer* buffer : buffers) {
    buffer_->keep(buffer);
    command.buffers.push_back(buffer);
  }
  command.run = std::move(run);
  pass_.commands.push_back(std::move(command));
}

void BlitEncoder::copy(Object* from, std::size_t from_offset, Object* to, std::size_t to_offset, std::size_t size) {
  const char* const selector = "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:";
  if (!is_open(selector)) return;
  Buffer* const source = checked_buffer(from, selector);
  Buffer* const destination = checked_buffer(to, selector);
  if (source == nullptr || destination == nullptr) return;
  const auto range = [](std::size_t offset, std::size_t bytes, const Buffer& buffer) {
    return std::to_string(bytes) + " bytes from offset " + std::to_string(offset) + " are not in a buffer of " +
           std::to_string(buffer.length());
  };
  if (size == 0) return fail(selector, "the size must not be 0");
  if (size > settings().most_blit) return fail(selector, truncated(size));
  if (!source->has(from_offset, size)) return fail(selector, "the source: " + range(from_offset, size, *source));
  if (!destination->has(to_offset, size))
    return fail(selector, "the destination: " + range(to_offset, size, *destination));
  if ((from_offset | to_offset | size) % 4 != 0 && !buffer_->device().supports(1001))
    return fail(selector, "the offsets and the size must be multiples of 4");
  if (source == destination && from_offset < to_offset + size && to_offset < from_offset + size)
    return fail(selector, "the source and the destination overlap");
  add({source, destination}, [source, from_offset, destination, to_offset, size] {
    std::memcpy(destination->gpu() + to_offset, source->gpu() + from_offset, size);
  });
}

void BlitEncoder::fill(Object* buffer, Range range, unsigned char value) {
  const char* const selector = "fillBuffer:range:value:";
  if (!is_open(selector)) return;
  Buffer* const own = checked_buffer(buffer, selector);
  if (own == nullptr) return;
  if (range.length == 0) return fail(selector, "the range must not be empty");
  if (range.length > settings().most_blit) return fail(selector, truncated(range.length));
  if (!own->has(range.location, range.length))
    return fail(selector, std::to_string(range.length) + " bytes from offset " + std::to_string(range.location) +
                              " are not in a buffer of " + std::to_string(own->length()));
  if ((range.location | range.length) % 4 != 0 && !buffer_->device().supports(1001))
    return fail(selector, "the range's location and length must be multiples of 4");
  add({own}, [own, range, value] { std::memset(own->gpu() + range.location, value, range.length); });
}

const objc::Class& BlitEncoder::own_class() {
  static const auto& one =
      *new objc::Class("MTLBlitCommandEncoder", &Encoder::own_class(), objc::Class::Kind::inner, nullptr,
                       {method<&BlitEncoder::copy>("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:"),
                        method<&BlitEncoder::fill>("fillBuffer:range:value:")});
  return one;
}

}  // namespace simulated
