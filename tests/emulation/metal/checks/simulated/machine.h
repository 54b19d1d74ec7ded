// The common part of the tests of the simulated Metal: messages, and parts of programs that most tests need.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "metal/simulated/simulated_metal.h"

extern "C" {
void objc_msgSend();
const void* objc_getClass(const char* name);
const char* sel_registerName(const char* name);
void* objc_retain(void* object);
void objc_release(void* object);
void* objc_autoreleasePoolPush();
void objc_autoreleasePoolPop(void* token);
void* MTLCopyAllDevices();
void* MTLCreateSystemDefaultDevice();
}

using Id = void*;

// A message. Arguments have the types of the method: cast integers.
template <class Result, class... Arguments>
Result send(const void* object, const char* selector, Arguments... arguments) {
  using Function = Result (*)(const void*, const char*, Arguments...);
  return reinterpret_cast<Function>(&objc_msgSend)(object, sel_registerName(selector), arguments...);
}
inline void release(Id object) { objc_release(object); }
inline Id string(const char* text) { return send<Id>(objc_getClass("NSString"), "stringWithUTF8String:", text); }
inline std::string text_of(Id string) { return string == nullptr ? "nil" : send<const char*>(string, "UTF8String"); }
inline Id made(const char* name) { return send<Id>(objc_getClass(name), "new"); }

using Number = std::size_t;  // NSUInteger
struct Size {
  Number width, height, depth;
};
struct Range {
  Number location, length;
};
enum Options : Number { shared = 0, private_to_device = 1 << 5, untracked = 1 << 8 };
enum Status : Number { completed = 4, error };

// An autorelease pool for each test. In the end nothing of the test may live, and there may be no fault that the test
// has not asked for.
class Machine : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("FERRULE_EMULATION_METAL_FAULTS", "collect", 1);
    simulated_metal_forget_faults();
    pool = objc_autoreleasePoolPush();
    device = MTLCreateSystemDefaultDevice();
    queue = send<Id>(device, "newCommandQueue");
  }
  void TearDown() override {
    release(queue);
    objc_autoreleasePoolPop(pool);
    objc_release(device);
    EXPECT_STREQ(simulated_metal_faults(), "");
    EXPECT_STREQ(simulated_metal_live_objects(), "");
    ::unsetenv("FERRULE_EMULATION_METAL_FAULTS");
  }
  // The faults since the last call.
  static std::string faults() {
    std::string text = simulated_metal_faults();
    simulated_metal_forget_faults();
    return text;
  }
  // Expects one fault that has these words.
  static void expect_fault(const std::string& words) {
    const std::string text = faults();
    EXPECT_NE(text.find(words), std::string::npos) << "faults: " << text;
    EXPECT_EQ(text.find('\n') + 1, text.size()) << "one fault is expected: " << text;
  }
  Id new_buffer(Number length, Number options = shared) const {
    return send<Id>(device, "newBufferWithLength:options:", length, options);
  }
  template <class T>
  static T* contents(Id buffer) {
    return static_cast<T*>(send<void*>(buffer, "contents"));
  }
  Id command_buffer() const { return send<Id>(queue, "commandBuffer"); }
  static void fill(Id commands, Id buffer, Range range, std::uint8_t value) {
    const Id encoder = send<Id>(commands, "blitCommandEncoder");
    send<void>(encoder, "fillBuffer:range:value:", buffer, range, value);
    send<void>(encoder, "endEncoding");
  }
  static void copy(Id commands, Id from, Number from_offset, Id to, Number to_offset, Number size) {
    const Id encoder = send<Id>(commands, "blitCommandEncoder");
    send<void>(encoder, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", from, from_offset, to,
               to_offset, size);
    send<void>(encoder, "endEncoding");
  }
  static Number finish(Id commands) {
    send<void>(commands, "commit");
    send<void>(commands, "waitUntilCompleted");
    return send<Number>(commands, "status");
  }

  void* pool = nullptr;
  Id device = nullptr, queue = nullptr;
};

// Runs a check in a process of its own, with environment variables.
using Variables = std::vector<std::pair<const char*, const char*>>;
[[noreturn]] inline void check_with(const Variables& variables, void (*check)()) {
  for (const auto& [name, value] : variables) ::setenv(name, value, 1);
  void* const pool = objc_autoreleasePoolPush();
  check();
  objc_autoreleasePoolPop(pool);
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}
inline void passes(const Variables& variables, void (*check)()) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(check_with(variables, check), testing::ExitedWithCode(0), "");
}
