// Invalid arguments of the slots that copy and fill: null, ranges and strides outside a buffer. Optional slots may
// return FE_UNSUPPORTED instead, but must not read the arguments.
#include "conformance/argument_stage.h"

namespace ferrule::conformance {
namespace {

void copies(Stage& s, Report& report) {
  const Buffer one(s.opened.device, 64), two(s.opened.device, 64);
  std::array<char, 64> memory{};
  refuse_nulls(report, "copy_from_host", s.b.copy_from_host,
               {"the device", s.queue_name(), "the buffer", "", "the host's memory", ""}, s.device, s.queue(),
               two.handle(), 0, memory.data(), 64);
  refuse_nulls(report, "copy_to_host", s.b.copy_to_host,
               {"the device", s.queue_name(), "the host's memory", "the buffer", "", ""}, s.device, s.queue(),
               memory.data(), one.handle(), 0, 64);
  refuse_nulls(report, "copy", s.b.copy, {"the device", s.queue_name(), "the target", "", "the source", "", ""},
               s.device, s.queue(), two.handle(), 0, one.handle(), 0, 64);
}

void copies_out_of_range(Stage& s, Report& report) {
  const Buffer one(s.opened.device, 64), two(s.opened.device, 64);
  Bytes memory(4096);
  for (const BadRange& range : bad_ranges) {
    const uint64_t offset = range.offset, size = range.size;
    refuse(report, "copy_from_host to " + range.text(),
           [&] { return s.b.copy_from_host(s.device, s.queue(), one.handle(), offset, memory.data(), size); });
    refuse(report, "copy_to_host of " + range.text(),
           [&] { return s.b.copy_to_host(s.device, s.queue(), memory.data(), one.handle(), offset, size); });
    refuse(report, "copy to " + range.text(),
           [&] { return s.b.copy(s.device, s.queue(), one.handle(), offset, two.handle(), 0, size); });
    refuse(report, "copy of " + range.text(),
           [&] { return s.b.copy(s.device, s.queue(), one.handle(), 0, two.handle(), offset, size); });
  }
}

void copy_peer(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, copy_peer)) throw NotApplicable{"it has no slot copy_peer"};
  const Buffer to(s.opened.device, 64), from(s.opened.device, 64);
  refuse_nulls(report, "copy_peer", s.b.copy_peer,
               {"the device", s.queue_name(), "the target", "", "the source's device", "the source", "", ""}, s.device,
               s.queue(), to.handle(), 0, s.device, from.handle(), 0, 64);
  for (const BadRange& range : bad_ranges) {
    const uint64_t offset = range.offset, size = range.size;
    refuse(report, "copy_peer to " + range.text(),
           [&] { return s.b.copy_peer(s.device, s.queue(), to.handle(), offset, s.device, from.handle(), 0, size); });
    refuse(report, "copy_peer of " + range.text(),
           [&] { return s.b.copy_peer(s.device, s.queue(), to.handle(), 0, s.device, from.handle(), offset, size); });
  }
}

void fill(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, fill)) throw NotApplicable{"it has no slot fill"};
  const Buffer buffer(s.opened.device, 64);
  const std::array<char, 32> pattern{};
  const auto call = [&](uint64_t offset, uint32_t pattern_size, uint64_t size) {
    return s.b.fill(s.device, s.queue(), buffer.handle(), offset, pattern.data(), pattern_size, size);
  };
  refuse_nulls(report, "fill", s.b.fill, {"the device", s.queue_name(), "the buffer", "", "the pattern", "", ""},
               s.device, s.queue(), buffer.handle(), 0, pattern.data(), 4, 64);
  for (const uint32_t size : {0u, 3u, 6u, 12u, 24u, 32u}) {
    const uint32_t whole = size == 0 ? 48 : 48 / size * size;
    refuse(report, "fill with a pattern of " + std::to_string(size) + " bytes", [&] { return call(0, size, whole); });
  }
  for (const uint32_t pattern_size : {2u, 4u, 8u, 16u}) {
    const uint32_t half = pattern_size / 2;
    const std::string pattern_text = " with a pattern of " + std::to_string(pattern_size) + " bytes";
    refuse(report, "fill of " + std::to_string(pattern_size + half) + " bytes" + pattern_text,
           [&] { return call(0, pattern_size, pattern_size + half); });
    refuse(report, "fill from byte " + std::to_string(half) + pattern_text,
           [&] { return call(half, pattern_size, pattern_size); });
  }
  for (const BadRange& range : bad_ranges)
    refuse(report, "fill of " + range.text(), [&] { return call(range.offset, 1, range.size); });
  const BadRange overflow{UINT64_MAX - 15, 32};
  refuse(report, "fill of " + overflow.text(), [&] { return call(overflow.offset, 16, overflow.size); });
}

// ---- copy_strided

constexpr uint64_t buffer_size = 64;

// A valid copy of four items of four bytes, which a check then makes invalid.
struct Strided {
  Strided(const Buffer& to, const Buffer& from) {
    shape[0] = 4;
    to_strides[0] = from_strides[0] = 4;
    copy = {sizeof copy, to.handle(), 0, from.handle(), 0, 4, 1, shape.data(), to_strides.data(), from_strides.data()};
  }
  Strided(const Strided&) = delete;
  Strided& operator=(const Strided&) = delete;

  std::array<int64_t, FE_MAX_RANK + 1> shape{}, to_strides{}, from_strides{};
  fe_strided_copy copy{};
};

struct SpoiltCopy {
  const char* what;
  void (*spoil)(Strided&);
};
constexpr std::array spoilt_copies = {
    SpoiltCopy{"null for the target", [](Strided& s) { s.copy.to = nullptr; }},
    SpoiltCopy{"null for the source", [](Strided& s) { s.copy.from = nullptr; }},
    SpoiltCopy{"null for the shape", [](Strided& s) { s.copy.shape = nullptr; }},
    SpoiltCopy{"null for the target's strides", [](Strided& s) { s.copy.to_strides = nullptr; }},
    SpoiltCopy{"null for the source's strides", [](Strided& s) { s.copy.from_strides = nullptr; }},
    SpoiltCopy{"a struct that ends after its struct_size", [](Strided& s) { s.copy.struct_size = sizeof(size_t); }},
    SpoiltCopy{"-1 dimensions", [](Strided& s) { s.copy.rank = -1; }},
    SpoiltCopy{"nine dimensions",
               [](Strided& s) {
                 s.shape.fill(1);
                 s.copy.rank = FE_MAX_RANK + 1;
               }},
    SpoiltCopy{"-2^31 dimensions", [](Strided& s) { s.copy.rank = INT32_MIN; }},
    SpoiltCopy{"items of 0 bytes", [](Strided& s) { s.copy.item_size = 0; }},
    SpoiltCopy{"a size of -1", [](Strided& s) { s.shape[0] = -1; }},
    SpoiltCopy{"a size of -2^63", [](Strided& s) { s.shape[0] = INT64_MIN; }},
    SpoiltCopy{"a size of -1 beside one of 0",
               [](Strided& s) {
                 s.shape = {0, -1};
                 s.copy.rank = 2;
               }},
    SpoiltCopy{"a target whose item ends behind its buffer",
               [](Strided& s) {
                 s.copy.rank = 0;
                 s.copy.to_offset = buffer_size - 3;
               }},
    SpoiltCopy{"a source whose item ends behind its buffer",
               [](Strided& s) {
                 s.copy.rank = 0;
                 s.copy.from_offset = buffer_size - 3;
               }},
    SpoiltCopy{"a target from behind its buffer's end", [](Strided& s) { s.copy.to_offset = buffer_size + 1; }},
    SpoiltCopy{"a source from behind its buffer's end", [](Strided& s) { s.copy.from_offset = buffer_size + 1; }},
    SpoiltCopy{"a target whose end overflows", [](Strided& s) { s.copy.to_offset = UINT64_MAX - 1; }},
    SpoiltCopy{"a source whose end overflows", [](Strided& s) { s.copy.from_offset = UINT64_MAX - 1; }},
    SpoiltCopy{"an item larger than its buffers",
               [](Strided& s) {
                 s.copy.rank = 0;
                 s.copy.item_size = UINT32_MAX;
               }},
};

// Items of four bytes, from `offset` on, that are not all inside a buffer of 64 bytes.
struct LeadsOut {
  const char* what;
  uint64_t offset;
  Few<int64_t, 2> shape, strides;
};
constexpr int64_t far = int64_t{1} << 62;
constexpr LeadsOut leads_out[] = {
    {"an item too many", 0, {17}, {4}},
    {"a last item that ends behind the buffer", 0, {2}, {61}},
    {"a stride as long as the buffer", 0, {2}, {64}},
    {"a step back from the first byte", 0, {2}, {-4}},
    {"a step back too many", 12, {5}, {-4}},
    {"two axes that lead out together", 0, {4, 4}, {16, 8}},
    {"two axes that lead out, and back", 0, {2, 2}, {64, -64}},
    {"the longest stride", 0, {2}, {INT64_MAX}},
    {"the longest stride back", 32, {2}, {INT64_MIN}},
    {"two steps whose length overflows to 0", 0, {3}, {INT64_MIN}},
    {"steps of 2^32 bytes, 2^32 of them", 0, {(int64_t{1} << 32) + 1}, {int64_t{1} << 32}},
    {"two axes whose sum overflows to 0", 0, {3, 3}, {far, far}},
    {"2^63 - 1 items", 0, {INT64_MAX}, {4}},
};

void copy_strided(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, copy_strided)) throw NotApplicable{"it has no slot copy_strided"};
  const Buffer to(s.opened.device, buffer_size), from(s.opened.device, buffer_size);
  const Strided right(to, from);
  refuse_nulls(report, "copy_strided", s.b.copy_strided, {"the device", s.queue_name(), "the copy"}, s.device,
               s.queue(), &right.copy);
  for (const SpoiltCopy& spoiler : spoilt_copies) {
    Strided spoilt(to, from);
    spoiler.spoil(spoilt);
    refuse(report, std::string("copy_strided with ") + spoiler.what,
           [&] { return s.b.copy_strided(s.device, s.queue(), &spoilt.copy); });
  }
  // Strides of 0 keep the other side inside its buffer.
  for (const LeadsOut& wrong : leads_out) {
    for (const bool is_target : {true, false}) {
      Strided spoilt(to, from);
      (is_target ? spoilt.copy.to_offset : spoilt.copy.from_offset) = wrong.offset;
      spoilt.copy.rank = static_cast<int32_t>(wrong.shape.size());
      for (size_t axis = 0; axis < wrong.shape.size(); ++axis) {
        spoilt.shape[axis] = wrong.shape[axis];
        spoilt.to_strides[axis] = is_target ? wrong.strides[axis] : 0;
        spoilt.from_strides[axis] = is_target ? 0 : wrong.strides[axis];
      }
      refuse(report, std::string("copy_strided whose ") + (is_target ? "target has " : "source has ") + wrong.what,
             [&] { return s.b.copy_strided(s.device, s.queue(), &spoilt.copy); });
    }
  }
}

// ---- memory and streams of other libraries

void host_allocate(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, host_allocate)) throw NotApplicable{"it has no slot host_allocate"};
  void* out = nullptr;
  refuse_nulls(report, "host_allocate", s.b.host_allocate, {"the device", "", "the result"}, s.device, 64, &out);
  refuse_and_keep<void>(report, "host_allocate of 2^62 bytes",
                        [&](void** out) { return s.b.host_allocate(s.device, uint64_t{1} << 62, out); });
}

void native(Stage& s, Report& report) {
  if (FE_HAS_SLOT(&s.b, buffer_native)) {
    const Buffer buffer(s.opened.device, 64);
    fe_native_memory memory{};
    memory.struct_size = sizeof memory;
    refuse_nulls(report, "buffer_native", s.b.buffer_native, {"the buffer", "the result"}, buffer.handle(), &memory);
  }
  if (FE_HAS_SLOT(&s.b, buffer_import)) {
    alignas(4096) static std::array<char, 4096> bytes;
    constexpr int32_t host_memory = 1;  // DLPack's kDLCPU
    const fe_native_memory right{sizeof right, host_memory, 0, bytes.data(), 0};
    fe_module_buffer* imported = nullptr;
    refuse_nulls(report, "buffer_import", s.b.buffer_import, {"the device", "the memory", "", "", "the result"},
                 s.device, &right, bytes.size(), FE_ACCESS_READ, &imported);
    const auto refuse_memory = [&](const std::string& what, const fe_native_memory& memory) {
      refuse_and_keep<fe_module_buffer>(report, "buffer_import with " + what, [&](fe_module_buffer** out) {
        return s.b.buffer_import(s.device, &memory, bytes.size(), FE_ACCESS_READ, out);
      });
    };
    fe_native_memory wrong = right;
    wrong.struct_size = sizeof(size_t);
    refuse_memory("memory that ends after its struct_size", wrong);
    wrong = right;
    wrong.pointer = nullptr;
    refuse_memory("null for the address", wrong);
    wrong = right;
    wrong.device_type = 12345;
    refuse_memory("memory of a type that DLPack does not have", wrong);
  }
  if (!s.queue()) return;
  if (FE_HAS_SLOT(&s.b, queue_native)) {
    void* stream = nullptr;
    refuse_nulls(report, "queue_native", s.b.queue_native, {"the queue", "the result"}, s.queue(), &stream);
  }
  // A null stream is valid: it is CUDA's default stream.
  if (!FE_HAS_SLOT(&s.b, native_wait_event)) return;
  const Event event(s.opened.device, s.queue());
  refuse_nulls(report, "native_wait_event", s.b.native_wait_event, {"the device", "", "the event"}, s.device, nullptr,
               event.handle());
}

constexpr std::array cases = {
    ArgumentCase{"copies", copies},
    ArgumentCase{"copies_out_of_range", copies_out_of_range},
    ArgumentCase{"copy_peer", copy_peer},
    ArgumentCase{"copy_strided", copy_strided},
    ArgumentCase{"fill", fill},
    ArgumentCase{"host_allocate", host_allocate},
    ArgumentCase{"native_handles", native},
};

}  // namespace

void add_transfer_argument_checks(Checks& checks) { add_argument_cases(checks, cases); }

}  // namespace ferrule::conformance
