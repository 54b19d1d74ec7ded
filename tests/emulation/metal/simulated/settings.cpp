#include "metal/simulated/settings.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "metal/objc/object.h"

namespace simulated {

namespace {

[[noreturn]] void refuse(const char* variable, const char* wanted) {
  std::fprintf(stderr, "%s=%s: %s is needed\n", variable, std::getenv(variable), wanted);
  std::_Exit(1);
}

template <class T>
bool read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

template <class T>
void set_number(const char* variable, T& value, T least, T most, const char* wanted) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return;
  if (!read_number(std::string_view(text), value) || value < least || value > most) refuse(variable, wanted);
}

void set_choice(const char* variable, bool& choice) {
  int number = choice ? 1 : 0;
  set_number(variable, number, 0, 1, "0 or 1");
  choice = number == 1;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return parts;
}

// Names of families, and their numbers in MTLGPUFamily.
constexpr std::pair<std::string_view, long> family_names[] = {
    {"apple1", 1001},  {"apple2", 1002},  {"apple3", 1003},  {"apple4", 1004},  {"apple5", 1005}, {"apple6", 1006},
    {"apple7", 1007},  {"apple8", 1008},  {"apple9", 1009},  {"apple10", 1010}, {"mac1", 2001},   {"mac2", 2002},
    {"common1", 3001}, {"common2", 3002}, {"common3", 3003}, {"metal3", 5001},  {"metal4", 5002}};

void set_families(Settings& made) {
  const char* const variable = "FERRULE_EMULATION_METAL_FAMILIES";
  const char* const text = std::getenv(variable);
  for (const std::string& name : split(text == nullptr ? "apple8,mac2,common3,metal3" : text, ',')) {
    if (name.empty()) continue;
    const std::pair<std::string_view, long>* found = nullptr;
    for (const auto& one : family_names)
      if (one.first == name) found = &one;
    if (found == nullptr) refuse(variable, "a list like apple8,mac2,common3,metal3");
    // A device has all lower families of a kind.
    for (const auto& one : family_names)
      if (one.second / 1000 == found->second / 1000 && one.second <= found->second) made.families.push_back(one.second);
  }
}

constexpr std::pair<std::string_view, CommandBufferError> error_names[] = {
    {"internal", CommandBufferError::internal},
    {"timeout", CommandBufferError::timeout},
    {"page_fault", CommandBufferError::page_fault},
    {"access_revoked", CommandBufferError::access_revoked},
    {"not_permitted", CommandBufferError::not_permitted},
    {"out_of_memory", CommandBufferError::out_of_memory},
    {"invalid_resource", CommandBufferError::invalid_resource},
    {"device_removed", CommandBufferError::device_removed},
    {"stack_overflow", CommandBufferError::stack_overflow}};

void set_failing_buffers(Settings& made) {
  const char* const variable = "FERRULE_EMULATION_METAL_FAULT";
  const char* const text = std::getenv(variable);
  if (text == nullptr) return;
  const char* const wanted =
      "<internal, timeout, page_fault, access_revoked, not_permitted, out_of_memory, invalid_resource, device_removed "
      "or stack_overflow>:<number of the command buffer, from 1 on>";
  for (const std::string& part : split(text, ',')) {
    const std::size_t colon = part.find(':');
    std::uint64_t number = 0;
    if (colon == std::string::npos || !read_number(std::string_view(part).substr(colon + 1), number) || number == 0)
      refuse(variable, wanted);
    bool is_known = false;
    for (const auto& [name, error] : error_names)
      if (name == part.substr(0, colon)) made.failing_buffers[number] = error, is_known = true;
    if (!is_known) refuse(variable, wanted);
  }
}

void set_failing_calls(Settings& made) {
  const char* const variable = "FERRULE_EMULATION_METAL_CALL_FAILS";
  const char* const text = std::getenv(variable);
  if (text == nullptr) return;
  const char* const wanted = "<selector>:<number of the call, from 1 on, or *>";
  for (const std::string& part : split(text, ',')) {
    const std::size_t colon = part.rfind(':');
    if (colon == std::string::npos || colon == 0) refuse(variable, wanted);
    FailingCall call{part.substr(0, colon), 0};
    const std::string_view number = std::string_view(part).substr(colon + 1);
    if (number != "*" && (!read_number(number, call.number) || call.number == 0)) refuse(variable, wanted);
    made.failing_calls.push_back(std::move(call));
  }
}

emulation::Order read_order(const char* variable, emulation::Order otherwise, std::uint64_t& seed) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  if (std::string_view(text) == "forward") return emulation::Order::forward;
  if (std::string_view(text) == "reverse") return emulation::Order::reverse;
  if (!read_number(std::string_view(text), seed)) refuse(variable, "forward, reverse or a number");
  return emulation::Order::random;
}

Settings read() {
  Settings made;
  set_number("FERRULE_EMULATION_METAL_DEVICES", made.devices, std::size_t{0}, std::size_t{16}, "0 to 16");
  if (const char* const names = std::getenv("FERRULE_EMULATION_METAL_NAME")) made.names = split(names, ',');
  set_families(made);
  set_choice("FERRULE_EMULATION_METAL_UNLISTED", made.is_list_empty);
  set_choice("FERRULE_EMULATION_METAL_UNIFIED", made.has_unified_memory);
  constexpr auto most = static_cast<std::size_t>(-1);
  set_number("FERRULE_EMULATION_METAL_MEMORY", made.memory, std::size_t{0}, most, "a number of bytes");
  set_number("FERRULE_EMULATION_METAL_MAX_BUFFER", made.max_buffer, std::size_t{1}, most, "a number of bytes");
  if (made.max_buffer == 0) made.max_buffer = made.memory / 2;
  set_number("FERRULE_EMULATION_METAL_MOST_BLIT", made.most_blit, std::size_t{4}, most, "a number of bytes, from 4 on");
  set_number("FERRULE_EMULATION_METAL_EXECUTION_WIDTH", made.execution_width, std::size_t{1}, std::size_t{1024},
             "1 to 1024 threads");
  set_number("FERRULE_EMULATION_METAL_FREED", made.freed, std::size_t{0}, most, "a number of objects");
  set_failing_buffers(made);
  set_failing_calls(made);
  long delay = 0;
  set_number("FERRULE_EMULATION_METAL_DELAY_MICROSECONDS", delay, 0L, 1'000'000'000L, "a number of microseconds");
  made.delay = std::chrono::microseconds(delay);
  std::uint64_t seed = 0;
  order_of_work(seed);
  order_of_threads(seed);
  if (const char* const system = std::getenv("FERRULE_EMULATION_METAL_SYSTEM")) made.system = system;
  if (const char* const log = std::getenv("FERRULE_EMULATION_METAL_LOG")) made.log = log;
  return made;
}

}  // namespace

const Settings& settings() {
  // They are never destroyed: threads of queues may run until the process has ended.
  static const auto& all = *new Settings([] {
    Settings made = read();
    objc::set_most_freed(made.freed);
    if (!made.log.empty())
      objc::set_observer([](const objc::Class& isa, bool is_made) {
        if (isa.is_counted()) log_line((is_made ? "+ " : "- ") + isa.name());
      });
    return made;
  }());
  return all;
}

long system_version() {
  const std::string& text = settings().system;
  const std::size_t digit = text.find_first_of("0123456789");
  return digit == std::string::npos ? 0 : std::strtol(text.c_str() + digit, nullptr, 10);
}

emulation::Order order_of_work(std::uint64_t& seed) {
  return read_order("FERRULE_EMULATION_METAL_ORDER", emulation::Order::reverse, seed);
}

emulation::Order order_of_threads(std::uint64_t& seed) {
  return read_order("FERRULE_EMULATION_ORDER", emulation::Order::forward, seed);
}

bool fails(const char* selector) {
  static constinit std::mutex mutex;
  static auto& calls = *new std::map<std::string, std::uint64_t>();
  if (settings().failing_calls.empty()) return false;
  const std::scoped_lock lock(mutex);
  const std::uint64_t number = ++calls[selector];
  for (const FailingCall& one : settings().failing_calls) {
    if (one.selector != selector || (one.number != 0 && one.number != number)) continue;
    log_line(std::string("failed ") + selector);
    return true;
  }
  return false;
}

void log_line(const std::string& line) {
  static constinit std::mutex mutex;
  if (settings().log.empty()) return;
  const std::scoped_lock lock(mutex);
  static std::FILE* const file = std::fopen(settings().log.c_str(), "ae");
  if (file == nullptr) return;
  std::fprintf(file, "%s\n", line.c_str());
  std::fflush(file);
}

}  // namespace simulated
