#include "queues/queue.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace ferrule::vulkan {
namespace {

using QueueEvent = sdk::TimelineEvent<Timeline>;

// The host uploads so many bytes of a pattern; the device repeats them.
constexpr uint64_t max_uploaded = 65536;

bool repeats_a_word(std::span<const std::byte> pattern) {
  for (size_t i = sizeof(uint32_t); i < pattern.size(); ++i)
    if (pattern[i] != pattern[i % sizeof(uint32_t)]) return false;
  return true;
}

// Writes the bytes at offset `at` of a repeated pattern.
void repeat(std::span<const std::byte> pattern, uint64_t at, std::span<std::byte> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = pattern[(at + i) % pattern.size()];
}

}  // namespace

Queue::Queue(std::shared_ptr<OpenDevice> context, Engine engine)
    : context_(std::move(context)),
      engine_(engine),
      timeline_(std::make_shared<Timeline>(context_, engine)),
      upload_(context_->memory(), Use::upload),
      download_(context_->memory(), Use::download) {}

Queue::~Queue() {
  try {
    if (timeline_->ends()) return;
  } catch (const std::exception& error) {
    sdk::host->log(FE_LOG_WARNING, error.what());
  }
  sdk::host->log(FE_LOG_WARNING, "vulkan: a queue did not finish; it and its memory are leaked");
  // Deliberately leaks the timeline: the device may still work, so it and its memory must never be freed.
  alignas(decltype(timeline_)) static std::byte place[sizeof timeline_];
  new (place) std::shared_ptr<Timeline>(std::move(timeline_));
}

void Queue::submit(const AllocationSet& touched, const Commands::Record& record, std::shared_ptr<void> keep_alive,
                   std::function<void()> after) {
  if (engine_ != Engine::computing)
    throw sdk::Error(FE_INVALID_ARGUMENT, "vulkan: this queue copies, and computes not");
  Faults& faults = context_->faults();
  const int64_t number = ++faults.executions;
  if (number == faults.device_lost_at)
    timeline_->lose_on_purpose({FE_DEVICE_LOST, context_->physical().description.name + " was lost at execution " +
                                                    std::to_string(number) + ", as requested"});
  timeline_->submit(touched, record, std::move(keep_alive), std::move(after));
}

uint64_t Queue::submit_copy(const Allocation& to, uint64_t to_offset, const Allocation& from, uint64_t from_offset,
                            uint64_t size, std::shared_ptr<void> keep_alive) {
  const VkBufferCopy region = {
      .srcOffset = from.offset + from_offset, .dstOffset = to.offset + to_offset, .size = size};
  const auto copy = [&](VkCommandBuffer commands) {
    context_->api().CmdCopyBuffer(commands, from.buffer, to.buffer, 1, &region);
  };
  return timeline_->submit({&to, &from}, copy, std::move(keep_alive));
}

// Waits for that work. False if the device was lost: events then report the error, and the copy stops.
bool Queue::wait_until_done(uint64_t value) {
  timeline_->pass(value, -1);
  return !timeline_->is_lost();
}

// The last use of memory, or of the host memory (may be null) that it is copied from or to.
uint64_t Queue::last_use_of(const Allocation& memory, const Allocation* host) {
  AllocationSet touched{&memory};
  if (host != nullptr) touched.add(*host);
  return timeline_->last_use(touched);
}

void Queue::copy_from_host(const Allocation& to, uint64_t to_offset, const void* from, uint64_t size) {
  if (size == 0 || timeline_->is_lost()) return;  // without bytes, pointers may be null
  const auto source = context_->host_allocations().find(from, size);
  if (to.host != nullptr && timeline_->has_passed(last_use_of(to, source.memory.get()))) {
    // Later submissions see what the host writes here.
    std::memcpy(static_cast<char*>(to.host) + to_offset, from, size);
    timeline_->note_host_work();
  } else if (source.memory) {
    submit_copy(to, to_offset, *source.memory, source.offset, size, source.memory);
  } else {
    stage_upload(to, to_offset, static_cast<const char*>(from), size);
  }
}

void Queue::stage_upload(const Allocation& to, uint64_t to_offset, const char* from, uint64_t size) {
  for (uint64_t done = 0; done < size;) {
    const uint64_t bytes = std::min(size - done, Staging::piece_size);
    Staging::Piece& piece = upload_.next(bytes);
    if (!wait_until_done(piece.last_use)) return;
    std::memcpy(piece.memory->host, from + done, bytes);
    piece.last_use = submit_copy(to, to_offset + done, *piece.memory, 0, bytes, piece.memory);
    done += bytes;
  }
}

void Queue::copy_to_host(void* to, const Allocation& from, uint64_t from_offset, uint64_t size) {
  if (size == 0 || timeline_->is_lost()) return;
  const auto target = context_->host_allocations().find(to, size);
  const bool is_reached = from.host != nullptr && from.is_fast_to_read;
  const uint64_t last_use = is_reached ? last_use_of(from, target.memory.get()) : 0;
  if (target.memory && !(is_reached && timeline_->has_passed(last_use))) {
    submit_copy(*target.memory, target.offset, from, from_offset, size, target.memory);
  } else if (is_reached) {
    if (!wait_until_done(last_use)) return;
    std::memcpy(to, static_cast<const char*>(from.host) + from_offset, size);
    timeline_->note_host_work();
  } else {
    stage_download(static_cast<char*>(to), from, from_offset, size);
  }
}

void Queue::stage_download(char* to, const Allocation& from, uint64_t from_offset, uint64_t size) {
  struct Arriving {
    const Staging::Piece* piece;
    uint64_t at, size;
  };
  std::optional<Arriving> arriving;
  const auto take = [&] {
    if (!arriving || !wait_until_done(arriving->piece->last_use)) return;
    context_->memory().invalidate(*arriving->piece->memory);
    std::memcpy(to + arriving->at, arriving->piece->memory->host, arriving->size);
  };
  for (uint64_t done = 0; done < size;) {
    const uint64_t bytes = std::min(size - done, Staging::piece_size);
    Staging::Piece& piece = download_.next(bytes);
    piece.last_use = submit_copy(*piece.memory, 0, from, from_offset + done, bytes, piece.memory);
    take();  // the previous piece, while this one is copied
    arriving = Arriving{&piece, done, bytes};
    done += bytes;
  }
  take();
  timeline_->note_host_work();
}

void Queue::copy(const Allocation& to, uint64_t to_offset, const Allocation& from, uint64_t from_offset,
                 uint64_t size) {
  if (size == 0) return;
  const uint64_t target = to.offset + to_offset, source = from.offset + from_offset;
  if (to.buffer != from.buffer || target + size <= source || source + size <= target) {
    submit_copy(to, to_offset, from, from_offset, size);
    return;
  }
  // Vulkan cannot copy between overlapping ranges.
  if (target == source) return;
  const auto between = std::make_shared<Allocation>(context_->memory().allocate(size, 256, Use::device));
  submit_copy(*between, 0, from, from_offset, size, between);
  submit_copy(to, to_offset, *between, 0, size, between);
}

void Queue::fill(const Allocation& to, uint64_t to_offset, std::span<const std::byte> pattern, uint64_t size) {
  if (repeats_a_word(pattern)) return fill_words(to, to_offset, pattern, size);
  std::vector<std::byte> uploaded(std::min(size, max_uploaded));
  repeat(pattern, 0, uploaded);
  copy_from_host(to, to_offset, uploaded.data(), uploaded.size());
  for (uint64_t done = uploaded.size(); done < size;) {
    const uint64_t bytes = std::min(done, size - done);
    submit_copy(to, to_offset + done, to, to_offset, bytes);
    done += bytes;
  }
}

// vkCmdFillBuffer needs multiples of four bytes: the bytes before and after them are uploaded.
void Queue::fill_words(const Allocation& to, uint64_t to_offset, std::span<const std::byte> pattern, uint64_t size) {
  std::array<std::byte, sizeof(uint32_t)> bytes{};
  const uint64_t before = std::min(size, (0 - (to.offset + to_offset)) % bytes.size());
  const uint64_t behind = (size - before) % bytes.size(), words = size - before - behind;
  const auto upload = [&](uint64_t at, uint64_t count) {
    repeat(pattern, at, bytes);
    copy_from_host(to, to_offset + at, bytes.data(), count);
  };
  upload(0, before);
  upload(before + words, behind);
  if (words == 0) return;
  repeat(pattern, before, bytes);
  uint32_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  const auto fill = [&](VkCommandBuffer commands) {
    context_->api().CmdFillBuffer(commands, to.buffer, to.offset + to_offset + before, words, word);
  };
  timeline_->submit({&to}, fill);
}

std::unique_ptr<sdk::Event> Queue::record() { return std::make_unique<QueueEvent>(timeline_); }

void Queue::reset() { timeline_->reset(); }

void Queue::wait_for(sdk::Event& event) { static_cast<QueueEvent&>(event).hold_up(*timeline_); }

}  // namespace ferrule::vulkan
