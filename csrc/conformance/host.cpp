#include "conformance/host.h"

#include <ferrule/op_table.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

// The module only gets its address.
struct fe_error {
  fe_code code;
  std::string message;
};

namespace ferrule::conformance {
namespace {

constexpr uint32_t threads = 3;
// Ids differ from indices, to detect a module that confuses them.
constexpr fe_op first_op = 1000;
constexpr fe_dtype first_dtype = 200;

struct Ledger {
  std::mutex mutex;
  std::set<const fe_error*> errors;
  size_t wrong_releases = 0;
  std::vector<std::string> lines;
};
Ledger& ledger() {
  static Ledger kept;
  return kept;
}

fe_error* error_create(fe_code code, const char* message) {
  auto* const error = new fe_error{code, message ? message : ""};
  const std::lock_guard lock(ledger().mutex);
  ledger().errors.insert(error);
  return error;
}

void error_release(fe_error* error) {
  {
    const std::lock_guard lock(ledger().mutex);
    if (ledger().errors.erase(error) == 0) {
      ++ledger().wrong_releases;
      return;
    }
  }
  delete error;
}

void log(fe_log_level /*level*/, const char* message) {
  constexpr size_t most = 50;
  const std::lock_guard lock(ledger().mutex);
  if (ledger().lines.size() < most) ledger().lines.emplace_back(message ? message : "");
}

// Runs ranges on the calling thread and `threads` - 1 others. Bounds are multiples of the grain.
fe_error* parallel_for(int64_t n, int64_t grain, uint32_t limit, fe_range_function fn, void* argument) {
  grain = std::max<int64_t>(grain, 1);
  const int64_t pieces = (n + grain - 1) / grain;
  const auto hands = static_cast<uint32_t>(std::min<int64_t>(pieces, limit == 0 ? threads : std::min(limit, threads)));
  if (hands <= 1) return n > 0 ? fn(argument, 0, n, 0) : nullptr;
  const int64_t share = (pieces + hands - 1) / hands * grain;
  std::array<fe_error*, threads> errors{};
  const auto work = [&](uint32_t hand) {
    const int64_t begin = std::min(n, hand * share), end = std::min(n, begin + share);
    if (begin < end) errors[hand] = fn(argument, begin, end, hand);
  };
  std::vector<std::thread> others;
  for (uint32_t hand = 1; hand < hands; ++hand) others.emplace_back(work, hand);
  work(0);
  for (std::thread& other : others) other.join();
  fe_error* first = nullptr;
  for (fe_error* error : errors) {
    if (error && first)
      error_release(error);
    else if (error)
      first = error;
  }
  return first;
}

}  // namespace

fe_op op_id(const char* name) {
  for (size_t i = 0; i < std::size(sdk::op_table); ++i)
    if (std::strcmp(sdk::op_table[i].name, name) == 0) return first_op + static_cast<fe_op>(i);
  return 0;
}
const char* op_name(fe_op op) {
  return op >= first_op && op - first_op < std::size(sdk::op_table) ? sdk::op_table[op - first_op].name : nullptr;
}
fe_dtype dtype_id(const char* name) {
  for (size_t i = 0; i < std::size(sdk::dtype_table); ++i)
    if (std::strcmp(sdk::dtype_table[i].name, name) == 0) return first_dtype + static_cast<fe_dtype>(i);
  return 0;
}
const char* dtype_name(fe_dtype dtype) { return dtype_info(dtype) ? dtype_info(dtype)->name : nullptr; }
const fe_dtype_info* dtype_info(fe_dtype dtype) {
  return dtype >= first_dtype && dtype - first_dtype < sdk::dtype_count ? &sdk::dtype_table[dtype - first_dtype]
                                                                        : nullptr;
}

const fe_host& host() {
  static const fe_host table = [] {
    fe_host h{};
    h.struct_size = sizeof h;
    h.error_create = error_create;
    h.error_code = [](const fe_error* error) { return error->code; };
    h.error_message = [](const fe_error* error) { return error->message.c_str(); };
    h.error_release = error_release;
    h.log = log;
    h.op_id = op_id;
    h.op_name = op_name;
    h.dtype_id = dtype_id;
    h.dtype_name = dtype_name;
    h.dtype_info = dtype_info;
    h.parallel_for = parallel_for;
    h.thread_count = [] { return threads; };
    h.is_tracing = [] { return 1; };
    h.device_added = [](fe_module_backend*) {};
    h.get_proc = [](const char*) -> void* { return nullptr; };
    return h;
  }();
  return table;
}

size_t live_errors() {
  const std::lock_guard lock(ledger().mutex);
  return ledger().errors.size();
}
size_t wrong_releases() {
  const std::lock_guard lock(ledger().mutex);
  return ledger().wrong_releases;
}
std::vector<std::string> log_lines() {
  const std::lock_guard lock(ledger().mutex);
  return ledger().lines;
}

Outcome take(fe_error* error) {
  if (!error) return {};
  {
    const std::lock_guard lock(ledger().mutex);
    if (!ledger().errors.contains(error)) return {FE_INTERNAL, "(an error that fe_host.error_create did not make)"};
  }
  Outcome outcome{error->code, error->message};
  error_release(error);
  return outcome;
}

const char* name_of(fe_code code) {
  constexpr std::array<const char*, FE_CODE_COUNT> names = {
      "ok", "invalid_argument", "unsupported", "out_of_memory", "device_lost", "abi_mismatch", "not_found",
      "io", "timeout",          "cancelled",   "internal"};
  return code >= 0 && code < FE_CODE_COUNT ? names[static_cast<size_t>(code)] : "an unknown code";
}

}  // namespace ferrule::conformance
