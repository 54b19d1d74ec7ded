#include "core/registry/device.h"

#include "core/environment.h"
#include "core/log.h"
#include "core/registry/backend.h"
#include "core/threads/fork.h"

#include <algorithm>

namespace ferrule {
namespace {

std::atomic<uint64_t> next_id{1};

std::string copied(const char* text) { return text != nullptr ? text : ""; }

// "threads=2, memory=1000"
std::string text_of(const DeviceOptions& options) {
  std::vector<std::string> parts;
  parts.reserve(options.size());
  for (const auto& [key, value] : options) parts.push_back(fmt::format("{}={}", key, value));
  return parts.empty() ? "no options" : joined(parts);
}

}  // namespace

DeviceProperties read_properties(const fe_backend& table, uint32_t index) {
  fe_device_properties raw{};
  raw.struct_size = sizeof raw;
  check(table.device_properties(table.self, index, &raw));
  if (raw.kind >= FE_DEVICE_KIND_COUNT)
    fail(FE_INTERNAL, "device {} is of kind {}, which this ferrule does not know", index, raw.kind);
  DeviceProperties out;
  out.kind = static_cast<fe_device_kind>(raw.kind);
  out.flags = raw.flags;
  out.name = copied(raw.name);
  out.description = copied(raw.description);
  out.total_memory = raw.total_memory;
  out.max_allocation = raw.max_allocation;
  out.borrow_alignment = raw.borrow_alignment;
  out.pci_address = copied(raw.pci_address);
  if (raw.uuid != nullptr) std::copy_n(raw.uuid, 16, out.uuid.emplace().begin());
  return out;
}

Device::Device(std::shared_ptr<Backend> backend, uint32_t index, DeviceProperties properties)
    : backend_(std::move(backend)),
      table_(backend_->table()),
      index_(index),
      properties_(std::move(properties)),
      name_(fmt::format("{}:{}", backend_->name(), index)),
      id_(next_id++) {}

Device::~Device() = default;

std::vector<DeviceOptionInfo> Device::known_options() const {
  std::vector<DeviceOptionInfo> options;
  if (table_.device_option == nullptr || backend_->is_closed()) return options;
  // A module that never says "past the last" is not believed for ever.
  for (uint32_t i = 0; i < 1000; ++i) {
    fe_option_info info{};
    info.struct_size = sizeof info;
    if (const ErrorPointer past_the_last(table_.device_option(table_.self, i, &info)); past_the_last) break;
    options.push_back({copied(info.key), copied(info.type), copied(info.doc)});
  }
  return options;
}

DeviceOptions Device::effective_options(const DeviceOptions& given) const {
  const std::vector<DeviceOptionInfo> known = known_options();
  for (const auto& [key, value] : given) {
    const auto is_key = [&k = key](const DeviceOptionInfo& option) { return option.key == k; };
    if (std::any_of(known.begin(), known.end(), is_key)) continue;
    std::vector<std::string> keys;
    keys.reserve(known.size());
    for (const DeviceOptionInfo& option : known) keys.push_back(option.key);
    if (keys.empty()) fail_argument("device {} has no option '{}': it has none at all", name_, key);
    fail_argument("device {} has no option '{}'; its options are {}", name_, key, joined(keys));
  }
  DeviceOptions options = given;
  for (const DeviceOptionInfo& option : known) {
    const std::string variable = "FERRULE_" + upper_case(backend_->name()) + "_" + upper_case(option.key);
    if (const auto value = environment(variable.c_str())) options.emplace(option.key, *value);
  }
  return options;
}

fe_module_device* Device::checked(fe_module_device* handle) const {
  if (!is_host() && opened_in_generation_ != fork_generation())
    fail(FE_UNSUPPORTED,
         "device {} was opened before this process was forked, and cannot be used in the child; start the child with "
         "'spawn', or open the device in the child only",
         name_);
  return handle;
}

fe_module_device* Device::open(const DeviceOptions& given) {
  if (given.empty())
    if (fe_module_device* handle = handle_.load(std::memory_order_acquire)) return checked(handle);
  const std::scoped_lock lock(mutex_);
  if (closed_ || closing_)
    fail(FE_NOT_FOUND, "device {} is gone: its backend {} was unloaded", name_, backend_->name());
  if (fe_module_device* handle = handle_.load(std::memory_order_acquire)) {
    if (!given.empty())
      if (const DeviceOptions asked = effective_options(given); asked != options_)
        fail_argument("device {} is open with {}, and cannot be opened with {}", name_, text_of(options_),
                      text_of(asked));
    return checked(handle);
  }
  DeviceOptions options = effective_options(given);
  std::vector<fe_option> list;
  list.reserve(options.size());
  for (const auto& [key, value] : options) list.push_back({sizeof(fe_option), key.c_str(), value.c_str()});
  fe_module_device* handle = nullptr;
  check(table_.device_open(table_.self, index_, list.data(), static_cast<uint32_t>(list.size()), &handle));
  if (handle == nullptr)
    fail(FE_INTERNAL, "backend {} opened device {} without an error and gave none", backend_->name(), name_);
  log_debug("opened device {} with {}", name_, text_of(options));
  options_ = std::move(options);
  opened_in_generation_ = fork_generation();
  handle_.store(handle, std::memory_order_release);
  return handle;
}

DeviceMemory Device::memory() const {
  DeviceMemory memory{std::nullopt, properties_.total_memory};
  const std::scoped_lock lock(mutex_);
  fe_module_device* handle = handle_.load(std::memory_order_acquire);
  if (handle == nullptr || table_.device_memory == nullptr) return memory;
  uint64_t free_bytes = UINT64_MAX, total_bytes = 0;
  check(table_.device_memory(checked(handle), &free_bytes, &total_bytes));
  if (free_bytes != UINT64_MAX) memory.free = free_bytes;
  if (total_bytes != 0) memory.total = total_bytes;
  return memory;
}

Live Device::live(std::string description) {
  return live([description = std::move(description)] { return description; });
}

Live Device::live(std::function<std::string()> describe) {
  open();
  const std::scoped_lock lock(mutex_);
  if (closed_ || closing_)
    fail(FE_NOT_FOUND, "device {} is gone: its backend {} was unloaded", name_, backend_->name());
  return Live(shared_from_this(), live_.insert(live_.end(), std::move(describe)));
}

std::size_t Device::live_count() const {
  const std::scoped_lock lock(mutex_);
  return live_.size();
}

void Device::begin_closing() {
  const std::scoped_lock lock(mutex_);
  if (live_.empty()) {
    closing_ = true;
    return;
  }
  constexpr std::size_t shown = 3;
  std::vector<std::string> first;
  for (const auto& describe : live_) {
    if (first.size() == shown) break;
    first.push_back(describe());
  }
  std::string what = joined(first);
  if (live_.size() > shown) what += fmt::format(" and {} more", live_.size() - shown);
  fail_argument("backend {} cannot be unloaded: on device {} there still is {}", backend_->name(), name_, what);
}

void Device::cancel_closing() noexcept {
  const std::scoped_lock lock(mutex_);
  closing_ = false;
}

void Device::finish_closing() noexcept {
  {
    const std::scoped_lock lock(attachments_mutex_);
    attachments_.clear();
  }
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  // What the parent of a fork opened is not ours to close.
  if (fe_module_device* handle = handle_.exchange(nullptr); handle != nullptr)
    if (is_host() || opened_in_generation_ == fork_generation()) table_.device_close(handle);
}

Live::Live(Live&& other) noexcept : device_(std::move(other.device_)), place_(other.place_) {}

Live& Live::operator=(Live&& other) noexcept {
  Live taken(std::move(other));
  std::swap(device_, taken.device_);
  std::swap(place_, taken.place_);
  return *this;
}

Live::~Live() {
  if (!device_) return;
  const std::scoped_lock lock(device_->mutex_);
  device_->live_.erase(place_);
}

}  // namespace ferrule
