// Calls the Vulkan backend only through its slots, on every available device.
#include "card.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>

namespace ferrule::test {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes random_bytes(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Bytes bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(generator());
  return bytes;
}

class VulkanBackend : public testing::Test {
 protected:
  Outcome init() {
    Log::instance().take();
    backend.struct_size = sizeof(backend);
    return outcome(ferrule_module_vulkan.init(&logging_host(), &backend));
  }
  Outcome open(std::vector<std::pair<const char*, const char*>> options = {}) {
    if (!backend.self) {
      EXPECT_EQ(init().code, FE_OK);
    }
    options.emplace_back("validate", "true");
    std::vector<fe_option> array;
    array.reserve(options.size());
    for (const auto& [key, value] : options) array.push_back({sizeof(fe_option), key, value});
    Outcome result =
        outcome(backend.device_open(backend.self, 0, array.data(), static_cast<uint32_t>(array.size()), &device));
    if (result.code == FE_OK) {
      EXPECT_EQ(outcome(backend.queue_create(device, FE_QUEUE_COMPUTE, &queue)).code, FE_OK);
    }
    return result;
  }
  fe_device_properties properties(uint32_t index = 0) {
    fe_device_properties out{};
    out.struct_size = sizeof(out);
    EXPECT_EQ(outcome(backend.device_properties(backend.self, index, &out)).code, FE_OK);
    return out;
  }
  fe_module_buffer* allocate(uint64_t size, uint64_t alignment = 64) {
    fe_module_buffer* buffer = nullptr;
    EXPECT_EQ(outcome(backend.buffer_allocate(device, size, alignment, &buffer)).message, "");
    if (buffer) buffers.push_back(buffer);
    return buffer;
  }
  Outcome wait(int64_t timeout_ns = -1) {
    fe_module_event* event = nullptr;
    EXPECT_EQ(outcome(backend.event_record(queue, &event)).code, FE_OK);
    Outcome result = outcome(backend.event_wait(event, timeout_ns));
    backend.event_release(event);
    return result;
  }
  void write(fe_module_buffer* to, uint64_t offset, const Bytes& bytes) {
    EXPECT_EQ(outcome(backend.copy_from_host(device, queue, to, offset, bytes.data(), bytes.size())).message, "");
  }
  Bytes read(fe_module_buffer* from, uint64_t offset, size_t size) {
    Bytes bytes(size, 0xcd);
    EXPECT_EQ(outcome(backend.copy_to_host(device, queue, bytes.data(), from, offset, size)).message, "");
    EXPECT_EQ(wait().message, "");
    return bytes;
  }
  void TearDown() override {
    for (fe_module_buffer* buffer : buffers) backend.buffer_free(buffer);
    if (queue) backend.queue_destroy(queue);
    if (device) backend.device_close(device);
    if (backend.self) backend.close(backend.self);
    std::vector<std::string> lines = Log::instance().take();
    std::erase_if(lines, [](const std::string& line) { return !line.starts_with("! "); });
    EXPECT_EQ(lines, std::vector<std::string>{});
  }

  fe_backend backend{};
  fe_module_device* device = nullptr;
  fe_module_queue* queue = nullptr;
  std::vector<fe_module_buffer*> buffers;
};

TEST_F(VulkanBackend, DescribesItsDevicesWithoutOpeningThem) {
  ASSERT_EQ(init().message, "");
  EXPECT_STREQ(backend.name, "vulkan");
  ASSERT_GE(backend.device_count(backend.self), 1u);
  for (uint32_t i = 0; i < backend.device_count(backend.self); ++i) {
    const fe_device_properties found = properties(i);
    EXPECT_STRNE(found.name, "");
    EXPECT_NE(std::string(found.description).find("Vulkan 1."), std::string::npos) << found.description;
    EXPECT_GT(found.total_memory, 0u);
    EXPECT_GE(found.max_allocation, uint64_t{1} << 30);
    EXPECT_EQ(found.flags, FE_DEVICE_FLAG_UNIFIED_MEMORY);
    // Software devices have no UUID.
    EXPECT_EQ(found.uuid == nullptr, found.kind == FE_DEVICE_SOFTWARE);
  }
}

TEST_F(VulkanBackend, MissingDriverIsAnErrorThatNamesTheVariable) {
  const Variable nowhere("VK_ICD_FILENAMES", "/nowhere/icd.json");
  const Outcome result = init();
  EXPECT_EQ(result.code, FE_NOT_FOUND);
  EXPECT_NE(result.message.find("VK_ICD_FILENAMES is '/nowhere/icd.json'"), std::string::npos) << result.message;
  EXPECT_EQ(backend.self, nullptr);
}

TEST_F(VulkanBackend, InvalidOptionsAreRefused) {
  EXPECT_EQ(open({{"slow", "1"}}).message,
            "'slow' is not an option of this device; it knows validate subgroups cooperative_matrices idle_pipelines "
            "out_of_memory_at device_lost_at shader_fails_at");
  const fe_option negative = {sizeof(fe_option), "idle_pipelines", "-1"};
  const std::string refusal = outcome(backend.device_open(backend.self, 0, &negative, 1, &device)).message;
  EXPECT_NE(refusal.find("option idle_pipelines is '-1', and must be >= 0"), std::string::npos) << refusal;
  const fe_option maybe = {sizeof(fe_option), "validate", "maybe"};
  EXPECT_EQ(outcome(backend.device_open(backend.self, 0, &maybe, 1, &device)).message,
            "option validate is 'maybe', and must be true or false");
}

TEST_F(VulkanBackend, AllocationsOfManySizesDoNotOverlap) {
  ASSERT_EQ(open().message, "");
  std::vector<Bytes> contents;
  const uint64_t sizes[] = {1, 2, 3, 63, 64, 65, 255, 256, 257, 1000, 4096, 65537, 1 << 20, (16 << 20) - 1, 17 << 20};
  for (const uint64_t size : sizes) {
    contents.push_back(random_bytes(size, static_cast<unsigned>(size)));
    write(allocate(size, size % 2 ? 64 : 4096), 0, contents.back());
  }
  for (size_t i = 0; i < contents.size(); ++i)
    EXPECT_TRUE(read(buffers[i], 0, contents[i].size()) == contents[i]) << contents[i].size() << " bytes";
  EXPECT_EQ(backend.buffer_host_pointer(buffers[0]), nullptr);
  for (const uint64_t alignment : {64u, 512u, 65536u, 1u << 22}) {
    const auto* const buffer = reinterpret_cast<vulkan::Buffer*>(allocate(100, alignment));
    EXPECT_EQ(buffer->address() % alignment, 0u);
  }
}

TEST_F(VulkanBackend, OversizedBufferIsOutOfMemoryWithBothSizes) {
  ASSERT_EQ(open().message, "");
  const uint64_t most = properties().max_allocation;
  fe_module_buffer* buffer = nullptr;
  const Outcome result = outcome(backend.buffer_allocate(device, most + 1, 64, &buffer));
  EXPECT_EQ(result.code, FE_OUT_OF_MEMORY);
  EXPECT_NE(result.message.find(std::to_string(most + 1) + " bytes are more than the " + std::to_string(most)),
            std::string::npos)
      << result.message;
}

TEST_F(VulkanBackend, CopiesAnyBytesToTheDeviceWithinItAndBack) {
  ASSERT_EQ(open().message, "");
  std::mt19937 generator(7);
  const size_t large = (40 << 20) + 13;  // three staging buffers
  for (const size_t size : {size_t{1}, size_t{5}, size_t{4099}, large}) {
    fe_module_buffer* const a = allocate(size + 100);
    fe_module_buffer* const b = allocate(size + 100);
    const Bytes bytes = random_bytes(size, static_cast<unsigned>(size)), frame = random_bytes(size + 100, 3);
    const uint64_t at = generator() % 99, to = generator() % 99;
    write(a, at, bytes);
    write(b, 0, frame);
    EXPECT_EQ(outcome(backend.copy(device, queue, b, to, a, at, size)).message, "");
    Bytes expected = frame;
    std::copy(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(to));
    EXPECT_TRUE(read(b, 0, size + 100) == expected) << size << " bytes from " << at << " to " << to;
    // Copies between overlapping ranges behave like memmove.
    EXPECT_EQ(outcome(backend.copy(device, queue, b, to + 1, b, to, size)).message, "");
    std::copy(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(to) + 1);
    EXPECT_TRUE(read(b, 0, size + 100) == expected);
  }
  write(buffers[0], 0, {});
  EXPECT_TRUE(read(buffers[0], 0, 0).empty());
}

TEST_F(VulkanBackend, FillLeavesNeighbouringBytesAlone) {
  ASSERT_EQ(open().message, "");
  fe_module_buffer* const buffer = allocate(1000);
  Bytes expected = random_bytes(1000, 5);
  write(buffer, 0, expected);
  Bytes pattern = {1, 2};
  EXPECT_EQ(outcome(backend.fill(device, queue, buffer, 6, pattern.data(), 2, 900)).message, "");
  for (size_t i = 6; i < 906; ++i) expected[i] = pattern[i % 2];
  pattern = {9, 9};  // already read
  EXPECT_TRUE(read(buffer, 0, 1000) == expected);
}

TEST_F(VulkanBackend, HostMemoryMayChangeAsSoonAsTheCopyReturns) {
  ASSERT_EQ(open().message, "");
  constexpr size_t size = 1 << 20;
  fe_module_buffer* const slow = allocate(64 << 20);
  fe_module_buffer* const a = allocate(size);
  fe_module_buffer* const b = allocate(size);
  Bytes bytes(size, 0);
  for (uint8_t turn = 1; turn <= 20; ++turn) {
    // Pending work, so that what follows cannot complete immediately.
    EXPECT_EQ(outcome(backend.copy(device, queue, slow, 32 << 20, slow, 0, 32 << 20)).message, "");
    std::fill(bytes.begin(), bytes.end(), turn);
    write(a, 0, bytes);
    std::fill(bytes.begin(), bytes.end(), uint8_t{0xff});
    EXPECT_EQ(outcome(backend.copy(device, queue, b, 0, a, 0, size)).message, "");
  }
  EXPECT_TRUE(read(b, 0, size) == Bytes(size, 20));
}

TEST_F(VulkanBackend, BorrowsAlignedMemoryAndExplainsRefusals) {
  ASSERT_EQ(open().message, "");
  const uint64_t alignment = properties().borrow_alignment;
  if (alignment == 0) GTEST_SKIP() << "this device does not borrow";
  const size_t size = 4 * alignment;
  const std::unique_ptr<char, void (*)(void*)> memory(static_cast<char*>(std::aligned_alloc(alignment, size)),
                                                      std::free);
  const auto borrow = [&](char* pointer, uint64_t bytes) {
    fe_module_buffer* buffer = nullptr;
    Outcome result = outcome(backend.buffer_borrow(device, pointer, bytes, FE_ACCESS_READ, &buffer));
    if (buffer) buffers.push_back(buffer);
    return result;
  };
  const std::string multiple = " is not a multiple of " + std::to_string(alignment);
  for (const auto& [pointer, bytes] : {std::pair{memory.get() + 64, size - alignment}, {memory.get(), size - 1}}) {
    const Outcome result = borrow(pointer, bytes);
    EXPECT_EQ(result.code, FE_UNSUPPORTED);
    EXPECT_NE(result.message.find(multiple), std::string::npos) << result.message;
  }
  const Bytes bytes = random_bytes(size, 1);
  std::copy(bytes.begin(), bytes.end(), memory.get());
  ASSERT_EQ(borrow(memory.get(), size).message, "");
  EXPECT_TRUE(read(buffers[0], 3, size - 3) == Bytes(bytes.begin() + 3, bytes.end()));
  fe_module_buffer* const other = allocate(size);
  EXPECT_EQ(outcome(backend.copy(device, queue, other, 0, buffers[0], 0, size)).message, "");
  EXPECT_TRUE(read(other, 0, size) == bytes);
}

TEST_F(VulkanBackend, ReportsItsMemory) {
  ASSERT_EQ(open().message, "");
  uint64_t free = 0, total = 0;
  ASSERT_EQ(outcome(backend.device_memory(device, &free, &total)).message, "");
  EXPECT_EQ(total, properties().total_memory);
  EXPECT_TRUE(free == UINT64_MAX || free <= total) << free;
}

TEST_F(VulkanBackend, RunsOutOfMemoryAtTheNthAllocation) {
  ASSERT_EQ(open({{"out_of_memory_at", "2"}}).message, "");
  allocate(8);
  fe_module_buffer* buffer = nullptr;
  EXPECT_EQ(outcome(backend.buffer_allocate(device, 8, 64, &buffer)).code, FE_OUT_OF_MEMORY);
  allocate(8);
}

TEST_F(VulkanBackend, EventsOutliveTheirWorkAndWaitsCanTimeOut) {
  CardVariables card(0);
  ASSERT_EQ(open().message, "");
  EXPECT_EQ(wait(0).message, "");  // no work was submitted to it
  fe_module_buffer* const a = allocate(256);
  fe_module_buffer* const b = allocate(256);
  EXPECT_EQ(outcome(backend.copy(device, queue, b, 0, a, 0, 256)).message, "");
  fe_module_event* event = nullptr;
  ASSERT_EQ(outcome(backend.event_record(queue, &event)).code, FE_OK);
  EXPECT_EQ(backend.event_done(event), 0);
  EXPECT_EQ(outcome(backend.event_wait(event, 1000)).code, FE_TIMEOUT);
  card.let_go();
  EXPECT_EQ(outcome(backend.event_wait(event, -1)).message, "");
  EXPECT_EQ(outcome(backend.event_wait(event, 0)).message, "");
  EXPECT_EQ(backend.event_done(event), 1);
  backend.event_release(event);
}

}  // namespace
}  // namespace ferrule::test
