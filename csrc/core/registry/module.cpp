#include "core/registry/module.h"

#include "core/error.h"
#include "core/registry/host_table.h"
#include "core/registry/leftover_modules.h"
#include "core/registry/module_calls.h"
#include "core/sync/fork.h"
#include "module_file/module_name.h"
#include "module_file/path_text.h"

#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace ferrule {
namespace {

// Clears the slots that the module's headers do not have.
void clear_unknown_slots(fe_backend& table) {
  if (table.struct_size < sizeof table)
    std::memset(reinterpret_cast<char*>(&table) + table.struct_size, 0, sizeof table - table.struct_size);
}

struct Slot {
  const char* name;
  bool is_there;
};

}  // namespace

Module::Module(ModuleSource source) : source_(std::move(source)) {}

std::string Module::full_name() const { return variant().empty() ? name() : name() + "-" + variant(); }

std::string Module::file() const { return is_static() ? "static" : path_to_text(source_.path); }

void Module::initialise() {
  table_.struct_size = sizeof table_;
  begin_step("init");
  const HoldsForks holds_forks;
  call_module("init", [&] { check(source_.init(host_table(), &table_)); });
  clear_unknown_slots(table_);
  try {
    if (source_.name.empty()) take_name_of_table();
    check_table();
  } catch (...) {
    if (table_.close != nullptr) table_.close(table_.self);
    throw;
  }
  version_ = table_.version != nullptr ? table_.version : "";
  closed_.store(false, std::memory_order_release);
}

void Module::take_name_of_table() {
  const std::string name = table_.name != nullptr ? table_.name : "";
  if (!module_file::is_backend_name(name))
    fail(FE_INTERNAL, "its init calls it '{}', and a backend's name consists of a-z, 0-9 and _", name);
  source_.name = name;
  source_.variant = table_.variant != nullptr ? table_.variant : "";
}

void Module::check_table() const {
  if (table_.struct_size < offsetof(fe_backend, close))
    fail(FE_INTERNAL, "its init set the size of its table to {} bytes", table_.struct_size);
  const std::string_view says_name = table_.name != nullptr ? table_.name : "";
  const std::string_view says_variant = table_.variant != nullptr ? table_.variant : "";
  if (!source_.is_renamed && (says_name != name() || says_variant != variant()))
    fail(FE_INTERNAL, "its init calls it '{}{}{}', and its file is named after '{}'", says_name,
         says_variant.empty() ? "" : "-", says_variant, full_name());
  const bool queues = table_.queue_create != nullptr;
  const Slot needed[] = {
      {"close", table_.close != nullptr},
      {"device_count", table_.device_count != nullptr},
      {"device_properties", table_.device_properties != nullptr},
      {"device_open", table_.device_open != nullptr},
      {"device_close", table_.device_close != nullptr},
      {"buffer_allocate", table_.buffer_allocate != nullptr},
      {"buffer_free", table_.buffer_free != nullptr},
      {"copy_from_host", table_.copy_from_host != nullptr},
      {"copy_to_host", table_.copy_to_host != nullptr},
      {"copy", table_.copy != nullptr},
      {"supports", table_.supports != nullptr},
      {"compile", table_.compile != nullptr},
      {"executable_release", table_.executable_release != nullptr},
      {"execute", table_.execute != nullptr},
      {"queue_destroy", !queues || table_.queue_destroy != nullptr},
      {"queue_reset", !queues || table_.queue_reset != nullptr},
      {"event_record", !queues || table_.event_record != nullptr},
      {"event_wait", !queues || table_.event_wait != nullptr},
      {"event_done", !queues || table_.event_done != nullptr},
      {"event_release", !queues || table_.event_release != nullptr},
      {"prepare", table_.prepare_size == nullptr || table_.prepare != nullptr},
  };
  for (const Slot& slot : needed)
    if (!slot.is_there) fail(FE_INTERNAL, "its table has no function '{}'", slot.name);
}

void* Module::find_proc(const char* name) const {
  if (table_.get_proc == nullptr) return nullptr;
  return call_module("get_proc", [&] { return table_.get_proc(name); });
}

void Module::close_and_unmap() {
  table_.close(table_.self);
  unmap_module(source_);
}

}  // namespace ferrule
