#include "core/registry/device.h"

#include "core/environment.h"
#include "core/log.h"
#include "core/registry/option_variables.h"
#include "core/sync/fork.h"
#include "core/sync/fork_generation.h"

#include <algorithm>

namespace ferrule {
namespace {

std::atomic<uint64_t> next_id{1};

// "threads=2, memory=1000"
std::string text_of(const DeviceOptions& options) {
  std::vector<std::string> parts;
  parts.reserve(options.size());
  for (const auto& [key, value] : options) parts.push_back(fmt::format("{}={}", key, value));
  return parts.empty() ? "no options" : joined(parts);
}

std::string text_of(const UseDescription& thing) {
  if (const auto* array = std::get_if<ArrayInUse>(&thing)) return "array " + to_string(array->type);
  if (const auto* bytes = std::get_if<BytesInUse>(&thing))
    return fmt::format("{} of {} bytes", bytes->what, bytes->size);
  return std::get<std::string>(thing);
}

}  // namespace

Device::Device(std::shared_ptr<Backend> backend, const Module& module, uint32_t index, DeviceProperties properties)
    : backend_(std::move(backend)),
      module_(module),
      index_(index),
      properties_(std::move(properties)),
      name_(fmt::format("{}:{}", module_.name(), index)),
      id_(next_id++) {}

Device::~Device() = default;

const std::vector<DeviceOptionInfo>& Device::known_options() const {
  // Queried once, so that the child of a fork has them as well.
  const auto known = [this]() -> const std::vector<DeviceOptionInfo>* {
    const std::scoped_lock lock(mutex_);
    return known_options_ ? &*known_options_ : nullptr;
  };
  if (const auto* const before = known()) return *before;
  const std::scoped_lock asking(changing_);
  if (const auto* const meanwhile = known()) return *meanwhile;
  std::vector<DeviceOptionInfo> options = ask_for_options();
  const std::scoped_lock lock(mutex_);
  return known_options_.emplace(std::move(options));
}

std::vector<DeviceOptionInfo> Device::ask_for_options() const {
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return {};
  }
  return read_options(table());
}

DeviceOptions Device::effective_options(const DeviceOptions& given) const {
  const std::vector<DeviceOptionInfo>& known = known_options();
  for (const auto& [key, value] : given) {
    const auto is_key = [&k = key](const DeviceOptionInfo& option) { return option.key == k; };
    if (const auto option = std::find_if(known.begin(), known.end(), is_key); option != known.end()) {
      if (const std::string complaint = complaint_about_value(*option, value); !complaint.empty())
        fail_argument("device {}: option {} {}", name_, key, complaint);
      continue;
    }
    std::vector<std::string> keys;
    keys.reserve(known.size());
    for (const DeviceOptionInfo& option : known) keys.push_back(option.key);
    if (keys.empty()) fail_argument("device {} has no option '{}': it has none at all", name_, key);
    fail_argument("device {} has no option '{}'; its options are {}", name_, key, joined(keys));
  }
  DeviceOptions options = given;
  for (const DeviceOptionInfo& option : known) {
    const std::string variable = option_variable(module_.name(), option.key);
    const auto value = environment(variable.c_str());
    if (!value || !options.emplace(option.key, *value).second) continue;
    if (const std::string complaint = complaint_about_value(option, *value); !complaint.empty())
      fail_argument("device {}: {} {}", name_, variable, complaint);
  }
  return options;
}

std::string Device::variables_behind(const DeviceOptions& options, const DeviceOptions& given,
                                     std::string_view text) const {
  std::vector<std::string> named, all;
  for (const auto& [key, value] : options) {
    if (given.contains(key)) continue;
    all.push_back(fmt::format("{}={}", option_variable(module_.name(), key), value));
    if (text.find(key) != std::string_view::npos) named.push_back(all.back());
  }
  return joined(named.empty() ? all : named);
}

fe_module_device* Device::check_handle(fe_module_device* handle) const {
  if (is_lost()) check_is_there();
  if (belongs_to_parent())
    fail(FE_UNSUPPORTED,
         "device {} was opened before this process was forked, and cannot be used in the child; start the child with "
         "'spawn', or open the device in the child only",
         name_);
  return handle;
}

fe_module_device* Device::open(const DeviceOptions& given) {
  if (given.empty())
    if (fe_module_device* handle = handle_.load(std::memory_order_acquire)) return check_handle(handle);
  const std::scoped_lock lock(changing_);
  check_is_there();
  if (opening_in_generation_)
    fail(FE_UNSUPPORTED,
         "device {} was being opened by another thread when this process was forked, and cannot be used in the child; "
         "start the child with 'spawn'",
         name_);
  if (fe_module_device* handle = handle_.load(std::memory_order_acquire)) {
    if (!given.empty())
      if (const DeviceOptions asked = effective_options(given); asked != options_)
        fail_argument("device {} is open with {}, and cannot be opened with {}", name_, text_of(options_),
                      text_of(asked));
    return check_handle(handle);
  }
  DeviceOptions options = effective_options(given);
  std::vector<fe_option> list;
  list.reserve(options.size());
  for (const auto& [key, value] : options) list.push_back({sizeof(fe_option), key.c_str(), value.c_str()});
  fe_module_device* handle = nullptr;
  {
    const HoldsForks holds_forks;
    opening_in_generation_ = fork_generation();
    fe_error* const error =
        table().device_open(table().self, index_, list.data(), static_cast<uint32_t>(list.size()), &handle);
    opening_in_generation_.reset();
    if (code_of(error) == FE_INVALID_ARGUMENT) {
      const ErrorPointer refused(error);
      const std::string message = message_of(error), variables = variables_behind(options, given, message);
      fail_argument("{}{}{}", message, variables.empty() ? "" : "; the environment has ", variables);
    }
    ferrule::check(error);
  }
  if (handle == nullptr) fail(FE_INTERNAL, "backend {} returned neither device {} nor an error", module_.name(), name_);
  log_debug("opened device {} with {}", name_, text_of(options));
  options_ = std::move(options);
  opened_in_generation_ = fork_generation();
  handle_.store(handle, std::memory_order_release);
  return handle;
}

bool Device::belongs_to_parent() const noexcept {
  if (survives_fork()) return false;
  return handle_.load(std::memory_order_acquire) != nullptr && opened_in_generation_ != fork_generation();
}

void Device::check(fe_error* error) {
  note(error);
  ferrule::check(error);
}

void Device::note(const fe_error* error) noexcept {
  if (code_of(error) == FE_DEVICE_LOST) lose(message_of(error));
}

void Device::lose(std::string_view reason) noexcept {
  const std::scoped_lock lock(mutex_);
  if (lost_.load(std::memory_order_relaxed)) return;
  try {
    loss_ = reason;
  } catch (...) {  // no memory for the reason
  }
  lost_.store(true, std::memory_order_release);
}

void Device::check_is_there() const {
  std::string loss;
  const char* advice = "; a refresh looks for the device again";
  {
    const std::scoped_lock lock(mutex_);
    if (!lost_.load(std::memory_order_relaxed)) {
      if (!closed_ && !closing_) return;
      if (retired_)
        fail(FE_NOT_FOUND, "device {} no longer exists: a refresh of its backend {} listed other devices", name_,
             module_.name());
      fail(FE_NOT_FOUND, "device {} no longer exists: its backend {} was unloaded", name_, module_.name());
    }
    loss = loss_;
    if (module_.is_closed()) advice = "";
  }
  fail(FE_DEVICE_LOST, "device {} was lost ({}) with its contents{}", name_, loss, advice);
}

std::size_t Device::next_attachment() {
  static std::atomic<std::size_t> next{0};
  const std::size_t place = next++;
  if (place >= max_attachments) fail(FE_INTERNAL, "more than {} types are attached to devices", max_attachments);
  return place;
}

void Device::attach(std::size_t place, std::shared_ptr<void> made, std::function<void()> finish_work) {
  const std::scoped_lock lock(mutex_);
  if (finish_work) finishes_.push_back(std::move(finish_work));
  attached_.push_back(std::move(made));
  attachments_[place].store(attached_.back().get(), std::memory_order_release);
}

DeviceMemory Device::memory() const {
  DeviceMemory memory{std::nullopt, properties_.total_memory};
  const std::scoped_lock lock(changing_);
  fe_module_device* handle = handle_.load(std::memory_order_acquire);
  if (handle == nullptr || table().device_memory == nullptr) return memory;
  uint64_t free_bytes = UINT64_MAX, total_bytes = 0;
  ferrule::check(table().device_memory(check_handle(handle), &free_bytes, &total_bytes));
  if (free_bytes != UINT64_MAX) memory.free = free_bytes;
  if (total_bytes != 0) memory.total = total_bytes;
  return memory;
}

DeviceUse Device::use(UseDescription what) {
  open();
  return {shared_from_this(), std::move(what)};
}

void Device::begin_use(DeviceUse& begun) {
  {
    const std::scoped_lock lock(mutex_);
    if (!closed_ && !closing_) {
      begun.previous_ = last_use_;
      (last_use_ ? last_use_->next_ : first_use_) = &begun;
      last_use_ = &begun;
      ++use_count_;
      return;
    }
  }
  check_is_there();
  fail(FE_NOT_FOUND, "device {} was being closed", name_);
}

void Device::end_use(DeviceUse& ended) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    (ended.previous_ ? ended.previous_->next_ : first_use_) = ended.next_;
    (ended.next_ ? ended.next_->previous_ : last_use_) = ended.previous_;
    --use_count_;
    if (!retired_ || use_count_ > 0) return;
    closing_ = true;
  }
  finish_closing();
}

void Device::move_use(DeviceUse& from, DeviceUse& to) noexcept {
  const std::scoped_lock lock(mutex_);
  to.what_ = std::move(from.what_);
  to.previous_ = std::exchange(from.previous_, nullptr);
  to.next_ = std::exchange(from.next_, nullptr);
  (to.previous_ ? to.previous_->next_ : first_use_) = &to;
  (to.next_ ? to.next_->previous_ : last_use_) = &to;
}

std::size_t Device::use_count() const {
  const std::scoped_lock lock(mutex_);
  return use_count_;
}

void Device::finish_work() noexcept {
  if (belongs_to_parent()) return;
  try {
    const DeviceUse working(shared_from_this(), "work that ends");  // keeps the attached objects alive
    std::vector<std::function<void()>> all;
    {
      const std::scoped_lock lock(mutex_);
      all = finishes_;
    }
    for (const auto& finish : all) finish();
  } catch (...) {  // closed already, or out of memory: unfinished work then prevents closing
  }
}

void Device::begin_closing() {
  finish_work();
  const std::scoped_lock changing(changing_);  // waits for an open() in progress
  const std::scoped_lock lock(mutex_);
  if (use_count_ == 0) {
    closing_ = true;
    return;
  }
  constexpr std::size_t shown = 3;
  std::vector<std::string> first;
  for (const DeviceUse* living = first_use_; living && first.size() < shown; living = living->next_)
    first.push_back(text_of(living->what_));
  std::string what = joined(first);
  if (use_count_ > shown) what += fmt::format(" and {} more", use_count_ - shown);
  fail_argument("backend {} cannot be unloaded: on device {} there still is {}", module_.name(), name_, what);
}

void Device::cancel_closing() noexcept {
  const std::scoped_lock lock(mutex_);
  closing_ = retired_ && use_count_ == 0;  // the end of its last use is closing such a device
}

void Device::finish_closing() noexcept {
  const std::scoped_lock changing(changing_);
  decltype(attached_) attached;
  {
    const std::scoped_lock lock(mutex_);
    for (std::atomic<void*>& attachment : attachments_) attachment.store(nullptr, std::memory_order_release);
    attached.swap(attached_);
    finishes_.clear();
    closed_ = true;
  }
  while (!attached.empty()) attached.pop_back();  // in reverse order of creation
  const bool is_ours = !belongs_to_parent();
  if (fe_module_device* handle = handle_.exchange(nullptr); handle != nullptr && is_ours) table().device_close(handle);
}

void Device::retire(const std::string& loss) {
  if (!loss.empty()) lose(loss);
  finish_work();
  {
    const std::scoped_lock lock(mutex_);
    retired_ = true;
    closing_ = use_count_ == 0;
    if (!closing_) return;
  }
  finish_closing();
}

void DeviceUse::take_place_of(DeviceUse& other) noexcept {
  if (!other.device_) return;
  other.device_->move_use(other, *this);
  device_ = std::move(other.device_);
}

void DeviceUse::end() noexcept {
  if (const std::shared_ptr<Device> device = std::exchange(device_, nullptr)) device->end_use(*this);
}

}  // namespace ferrule
