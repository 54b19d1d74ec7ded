#include "core/registry/host_table.h"

#include "core/cache/module_cache.h"
#include "core/error.h"
#include "core/log.h"
#include "core/threads/pool.h"
#include "core/trace/trace.h"
#include "base/dtype.h"
#include "ops/table.h"

#include <atomic>
#include <string_view>

namespace ferrule {
namespace {

// Modules may pass null strings; they are read as "".
std::string_view text_of(const char* text) { return text != nullptr ? text : ""; }

fe_error* error_create(fe_code code, const char* message) { return make_error(code, text_of(message)); }

void log_from_module(fe_log_level level, const char* message) {
  if (level < FE_LOG_DEBUG || level > FE_LOG_ERROR) level = FE_LOG_ERROR;
  log_line(level, text_of(message));
}

fe_op op_id(const char* name) {
  const ops::Row* row = ops::find_op(text_of(name));
  return row != nullptr ? ops::id_of(*row) : 0;
}

const char* op_name(fe_op op) {
  const ops::Row* row = ops::op_by_id(op);
  return row != nullptr ? row->name : nullptr;
}

fe_dtype dtype_id(const char* name) {
  const DTypeRow* row = find_dtype(text_of(name));
  return row != nullptr ? static_cast<fe_dtype>(row->dtype) : 0;
}

const char* dtype_name(fe_dtype dtype) {
  const DTypeRow* row = find_dtype(dtype);
  return row != nullptr ? row->name : nullptr;
}

const fe_dtype_info* dtype_info(fe_dtype dtype) { return info_of(dtype); }

fe_error* run_in_parallel(int64_t n, int64_t grain, uint32_t limit, fe_range_function fn, void* argument) {
  return parallel_for(n, grain, limit, fn, argument);
}

uint32_t threads() { return thread_count(); }

int is_being_traced() { return is_tracing() ? 1 : 0; }

constinit std::atomic<void (*)(const fe_module_backend*)> device_listener{nullptr};

void device_added(fe_module_backend* backend) {
  if (const auto listener = device_listener.load(std::memory_order_acquire)) listener(backend);
}

void* get_proc(const char* name) {
  // The interface returns a pointer to non-const, but the table of functions is constant.
  if (text_of(name) == FE_CACHE) return const_cast<fe_cache*>(module_cache());
  return nullptr;
}

constexpr fe_host table = {
    .struct_size = sizeof(fe_host),
    .error_create = error_create,
    .error_code = code_of,
    .error_message = message_of,
    .error_release = release,
    .log = log_from_module,
    .op_id = op_id,
    .op_name = op_name,
    .dtype_id = dtype_id,
    .dtype_name = dtype_name,
    .dtype_info = dtype_info,
    .parallel_for = run_in_parallel,
    .thread_count = threads,
    .is_tracing = is_being_traced,
    .device_added = device_added,
    .get_proc = get_proc,
};

}  // namespace

const fe_host* host_table() noexcept { return &table; }

void set_device_listener(void (*listener)(const fe_module_backend* backend)) noexcept {
  device_listener.store(listener, std::memory_order_release);
}

}  // namespace ferrule
