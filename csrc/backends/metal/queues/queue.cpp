#include "queues/queue.h"

#include <algorithm>
#include <cstring>

namespace ferrule::metal {
namespace {

using QueueEvent = sdk::TimelineEvent<Timeline>;

// A pattern that is no repeated byte is written once by the host, up to this size, and then copied by the device.
constexpr uint64_t most_written = 65536;

// Calls `encode` with the beginning and the size of each part.
template <class Encode>
void in_parts(uint64_t size, uint64_t most, const Encode& encode) {
  for (uint64_t at = 0; at < size; at += most) encode(at, std::min(most, size - at));
}

void end(Id encoder) { send<void>(encoder, Message::end_encoding); }

}  // namespace

Queue::~Queue() {
  try {
    timeline_->reset();
  } catch (const std::exception& error) {
    sdk::host->log(FE_LOG_WARNING, error.what());
  }
}

void Queue::count_execution() {
  Faults& faults = device_->faults();
  const int64_t number = ++faults.executions;
  if (number == faults.device_lost_at)
    device_->lose(
        {FE_DEVICE_LOST, device_->name() + " was lost at execution " + std::to_string(number) + ", as requested"});
  if (number == faults.execution_fails_at)
    timeline_->fail_next(
        {FE_INTERNAL, device_->name() + " failed execution " + std::to_string(number) + ", as requested"});
}

void Queue::execute(std::vector<MemoryPointer> touched, const Timeline::Encode& encode,
                    std::shared_ptr<void> keep_alive, Timeline::After after) {
  timeline_->submit({std::move(touched)}, encode, std::move(keep_alive), std::move(after));
}

uint64_t Queue::blit(const MemoryPointer& to, uint64_t to_offset, const MemoryPointer& from, uint64_t from_offset,
                     uint64_t size) {
  const auto encode = [&](Id commands) {
    const Id encoder = checked_encoder(send<Id>(commands, Message::blit_encoder));
    in_parts(size, device_->blit_bytes(), [&](uint64_t at, uint64_t bytes) {
      send<void>(encoder, Message::copy_from_buffer, from->buffer.get(), static_cast<Unsigned>(from_offset + at),
                 to->buffer.get(), static_cast<Unsigned>(to_offset + at), static_cast<Unsigned>(bytes));
    });
    end(encoder);
  };
  return timeline_->submit({{to, from}}, encode);
}

void Queue::copy_from_host(const MemoryPointer& to, uint64_t to_offset, const void* from, uint64_t size) {
  if (size == 0 || timeline_->is_lost()) return;  // without bytes, pointers may be null
  if (to->host != nullptr && timeline_->has_passed(timeline_->last_use({{to}}))) {
    std::memcpy(to->host + to_offset, from, size);
    timeline_->note_host_work();
    return;
  }
  if (const auto [memory, offset] = device_->host_allocations().find(from, size); memory) {
    blit(to, to_offset, memory, offset, size);
    return;
  }
  const MemoryPointer staged = allocate(device_->physical(), size, Place::shared);
  std::memcpy(staged->host, from, size);
  blit(to, to_offset, staged, 0, size);
}

void Queue::copy_to_host(void* to, const MemoryPointer& from, uint64_t from_offset, uint64_t size) {
  if (size == 0 || timeline_->is_lost()) return;
  const uint64_t last_use = timeline_->last_use({{from}});
  const bool is_idle = timeline_->has_passed(last_use);
  if (const auto [memory, offset] = device_->host_allocations().find(to, size); memory && !(is_idle && from->host)) {
    blit(memory, offset, from, from_offset, size);
    return;
  }
  MemoryPointer reached = from;
  uint64_t offset = from_offset, number = last_use;
  if (from->host == nullptr) {
    reached = allocate(device_->physical(), size, Place::shared);
    number = blit(reached, 0, from, from_offset, size);
    offset = 0;
  }
  timeline_->pass(number, -1);
  if (timeline_->is_lost()) return;
  std::memcpy(to, reached->host + offset, size);
  timeline_->note_host_work();
}

void Queue::copy(const MemoryPointer& to, uint64_t to_offset, const MemoryPointer& from, uint64_t from_offset,
                 uint64_t size) {
  if (size == 0) return;
  if (!overlap(*to, to_offset, *from, from_offset, size)) {
    blit(to, to_offset, from, from_offset, size);
  } else if (to != from || to_offset != from_offset) {
    const MemoryPointer between = allocate(device_->physical(), size, Place::device);
    blit(between, 0, from, from_offset, size);
    blit(to, to_offset, between, 0, size);
  }
}

void Queue::fill(const MemoryPointer& to, uint64_t to_offset, std::span<const std::byte> pattern, uint64_t size) {
  if (size == 0) return;
  if (std::all_of(pattern.begin(), pattern.end(), [&](std::byte byte) { return byte == pattern[0]; })) {
    const auto encode = [&](Id commands) {
      const Id encoder = checked_encoder(send<Id>(commands, Message::blit_encoder));
      in_parts(size, device_->blit_bytes(), [&](uint64_t at, uint64_t bytes) {
        send<void>(encoder, Message::fill_buffer, to->buffer.get(),
                   Range{static_cast<Unsigned>(to_offset + at), static_cast<Unsigned>(bytes)},
                   static_cast<uint8_t>(pattern[0]));
      });
      end(encoder);
    };
    timeline_->submit({{to}}, encode);
    return;
  }
  std::vector<std::byte> written(std::min(size, most_written));
  for (size_t i = 0; i < written.size(); ++i) written[i] = pattern[i % pattern.size()];
  copy_from_host(to, to_offset, written.data(), written.size());
  for (uint64_t done = written.size(); done < size;) {
    const uint64_t bytes = std::min(done, size - done);
    blit(to, to_offset + done, to, to_offset, bytes);
    done += bytes;
  }
}

std::unique_ptr<sdk::Event> Queue::record() { return std::make_unique<QueueEvent>(timeline_); }

void Queue::wait_for(sdk::Event& event) { static_cast<QueueEvent&>(event).hold_up(*timeline_); }

}  // namespace ferrule::metal
