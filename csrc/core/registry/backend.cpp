#include "core/registry/backend.h"

#include "core/host.h"
#include "core/log.h"
#include "core/registry/enter.h"
#include "core/registry/step.h"

#include <cstring>
#include <utility>

namespace ferrule {
namespace {

// The bytes past what the module's headers know are as if it had left them null.
void clear_unknown_slots(fe_backend& table) {
  if (table.struct_size < sizeof table)
    std::memset(reinterpret_cast<char*>(&table) + table.struct_size, 0, sizeof table - table.struct_size);
}

// No machine has as many; a number out of uninitialised memory has no such bound.
constexpr uint32_t most_devices = 4096;

struct Slot {
  const char* name;
  bool is_there;
};

}  // namespace

std::shared_ptr<Backend> Backend::start(ModuleSource source) {
  auto backend = std::make_shared<Backend>(std::move(source));
  backend->initialise();
  try {
    backend->enumerate();
  } catch (...) {
    backend->close();
    throw;
  }
  return backend;
}

Backend::Backend(ModuleSource source) : source_(std::move(source)) {}

Backend::~Backend() = default;

std::string Backend::full_name() const { return variant().empty() ? name() : name() + "-" + variant(); }

std::string Backend::file() const { return is_static() ? "static" : source_.path.string(); }

void Backend::initialise() {
  closed_ = true;  // until all is well
  table_.struct_size = sizeof table_;
  begin_step("init");
  enter_module("init", [&] { check(source_.init(host_table(), &table_)); });
  clear_unknown_slots(table_);
  try {
    check_table();
  } catch (...) {
    if (table_.close != nullptr) table_.close(table_.self);
    throw;
  }
  version_ = table_.version != nullptr ? table_.version : "";
  closed_ = false;
}

void Backend::check_table() const {
  if (table_.struct_size < offsetof(fe_backend, close))
    fail(FE_INTERNAL, "its init set the size of its table to {} bytes", table_.struct_size);
  const std::string_view says_name = table_.name != nullptr ? table_.name : "";
  const std::string_view says_variant = table_.variant != nullptr ? table_.variant : "";
  if (says_name != name() || says_variant != variant())
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
      {"event_record", !queues || table_.event_record != nullptr},
      {"event_wait", !queues || table_.event_wait != nullptr},
      {"event_done", !queues || table_.event_done != nullptr},
      {"event_release", !queues || table_.event_release != nullptr},
      {"prepare", table_.prepare_size == nullptr || table_.prepare != nullptr},
  };
  for (const Slot& slot : needed)
    if (!slot.is_there) fail(FE_INTERNAL, "its table has no function '{}'", slot.name);
}

void Backend::enumerate() {
  const std::scoped_lock lock(mutex_);
  if (is_closed()) return;
  stale_.store(false, std::memory_order_release);
  begin_step("enumerate");
  const uint32_t count = enter_module("device_count", [&] { return table_.device_count(table_.self); });
  if (count > most_devices)
    fail(FE_INTERNAL, "it says that it has {} devices, and more than {} are not believed", count, most_devices);
  for (uint32_t index = static_cast<uint32_t>(devices_.size()); index < count; ++index) {
    DeviceProperties properties = enter_module("device_properties", [&] { return read_properties(table_, index); });
    devices_.push_back(std::make_shared<Device>(shared_from_this(), index, std::move(properties)));
  }
}

std::vector<std::shared_ptr<Device>> Backend::devices() {
  if (stale_.load(std::memory_order_acquire)) {
    try {
      enumerate();
    } catch (const Error& error) {
      log_warning("backend {} announced a device and could not describe it: {}", name(), error.what());
    }
  }
  const std::scoped_lock lock(mutex_);
  return devices_;
}

void Backend::close() {
  // What keeps the code mapped goes last of all, and after the lock.
  std::shared_ptr<void> code;
  std::vector<std::shared_ptr<Device>> devices;
  const std::scoped_lock lock(mutex_);
  if (is_closed()) fail(FE_NOT_FOUND, "backend {} is not loaded any more", name());
  std::size_t begun = 0;
  try {
    for (; begun < devices_.size(); ++begun) devices_[begun]->begin_closing();
  } catch (...) {
    for (std::size_t i = 0; i < begun; ++i) devices_[i]->cancel_closing();
    throw;
  }
  closed_.store(true, std::memory_order_release);
  for (const auto& device : devices_) device->finish_closing();
  table_.close(table_.self);
  devices.swap(devices_);
  code.swap(source_.code);
}

}  // namespace ferrule
