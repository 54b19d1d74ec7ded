// A device as one backend sees it: it has memory and runs graphs.
#pragma once

#include "core/error.h"
#include "core/registry/device_properties.h"
#include "core/registry/module.h"
#include "core/sync/mutexes.h"
#include "base/tensor_type.h"

#include <ferrule/backend.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ferrule {

class Backend;
class DeviceUse;

// Describes an object on a device for messages. The text is made only when unloading is refused, which is rare.
struct ArrayInUse {
  TensorType type;
};
struct BytesInUse {
  const char* what;  // "memory", of static storage
  uint64_t size;
};
using UseDescription = std::variant<std::string, ArrayInUse, BytesInUse>;

class Device : public std::enable_shared_from_this<Device> {
 public:
  // `module` is the part of the backend that the device needs.
  Device(std::shared_ptr<Backend> backend, const Module& module, uint32_t index, DeviceProperties properties);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // The name in lists: "gpu:0" for the preferred view of a device that several backends see, else its view_name. It
  // changes when backends are loaded or unloaded; a returned reference stays valid as long as the device.
  const std::string& name() const noexcept { return *listed_name_.load(std::memory_order_acquire); }
  // "<backend>:<index>", which always names this view.
  const std::string& view_name() const noexcept { return name_; }
  // Unique in this process, also after the device is gone.
  uint64_t id() const noexcept { return id_; }
  uint32_t index() const noexcept { return index_; }
  fe_device_kind kind() const noexcept { return properties_.kind; }
  const DeviceProperties& properties() const noexcept { return properties_; }
  // Whether its buffers are host memory.
  bool is_host() const noexcept { return (properties_.flags & FE_DEVICE_FLAG_HOST_MEMORY) != 0; }
  // Whether it computes on borrowed host memory as fast as on its own.
  bool has_unified_memory() const noexcept {
    return (properties_.flags & (FE_DEVICE_FLAG_HOST_MEMORY | FE_DEVICE_FLAG_UNIFIED_MEMORY)) != 0;
  }
  const std::shared_ptr<Backend>& backend() const noexcept { return backend_; }
  // The module's functions; slots that the module does not have are null. Hold a DeviceUse to call them: it keeps the
  // module from being unloaded.
  const fe_backend& table() const noexcept { return module_.table(); }

  // Opens the device on first use. Given options take precedence over FERRULE_<NAME>_<KEY>. Without options, an open
  // device is returned as it is. Throws invalid_argument for an unknown key and for options that differ from those that
  // the device is open with, not_found after its backend was unloaded, device_lost after it was lost, and unsupported
  // in the child of a fork unless it survives_fork().
  fe_module_device* open(const DeviceOptions& options = {});
  // The module's handle, also of a lost device; null unless the device is open.
  fe_module_device* handle() const noexcept { return handle_.load(std::memory_order_acquire); }
  bool is_open() const noexcept { return handle_.load(std::memory_order_acquire) != nullptr; }
  // The options that the module describes; the list stays valid as long as the device. Empty once it is closed, unless
  // they were asked for before.
  const std::vector<DeviceOptionInfo>& known_options() const;
  DeviceMemory memory() const;

  // Whether a forked child can go on using it: its memory is the host's, and only the core's and the calling threads
  // work for it.
  bool survives_fork() const noexcept { return is_host() && table().queue_create == nullptr; }
  // Whether this is the child of a fork and the parent opened the device. Its functions must not be called then, not
  // even to free memory.
  bool belongs_to_parent() const noexcept;
  // Handles the result of every call for this device: throws the error, if there is one. An error device_lost marks the
  // device as lost.
  void check(fe_error* error);
  void note(const fe_error* error) noexcept;  // the same without throwing
  bool is_lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  // Runs the function if the device is open, and keeps it from being closed meanwhile.
  template <class Function>
  void while_open(Function&& function);

  // An object that keeps the backend from being unloaded. The refusal names it by `what`: "array float32(2, 3)". Opens
  // the device, and throws like open.
  [[nodiscard]] DeviceUse use(UseDescription what);
  std::size_t use_count() const;

  // Data of another part of the core for this device: one T(Device&), made on first use and destroyed before the device
  // is closed. T must not hold a shared_ptr to the device. If T has finish_work(), it is called before the device is
  // closed, and before the check whether it is in use.
  template <class T>
  T& attached() {
    static const std::size_t place = next_attachment();
    if (void* const made = attachments_[place].load(std::memory_order_acquire)) return *static_cast<T*>(made);
    const std::scoped_lock lock(changing_);
    if (void* const made = attachments_[place].load(std::memory_order_acquire)) return *static_cast<T*>(made);
    auto made = std::make_shared<T>(*this);
    T& reference = *made;
    if constexpr (requires { reference.finish_work(); })
      attach(place, std::move(made), [&reference] { reference.finish_work(); });
    else
      attach(place, std::move(made), {});
    return reference;
  }

 private:
  friend class Backend;
  friend class DeviceNames;
  friend class DeviceUse;
  // Called by Backend::close. Between begin and cancel or finish no DeviceUse can be made.
  void begin_closing();  // throws invalid_argument, which lists what is in use
  void cancel_closing() noexcept;
  void finish_closing() noexcept;
  // Called when its backend no longer lists it: closes it as soon as it is not in use. A nonempty reason marks it lost.
  void retire(const std::string& loss);
  void begin_use(DeviceUse& begun);
  void end_use(DeviceUse& ended) noexcept;
  void move_use(DeviceUse& from, DeviceUse& to) noexcept;
  void lose(std::string_view reason) noexcept;
  void check_is_there() const;
  // A new index into attachments_, one for each type.
  static std::size_t next_attachment();
  void attach(std::size_t place, std::shared_ptr<void> made, std::function<void()> finish_work);
  void finish_work() noexcept;
  std::vector<DeviceOptionInfo> ask_for_options() const;
  // The given options, and those of the environment. Throws invalid_argument for an unknown key and a wrong value.
  DeviceOptions effective_options(const DeviceOptions& given) const;
  // "FERRULE_CUDA_GRAPHS=maybe": the variables that the options come from, if the text names their keys or none.
  std::string variables_behind(const DeviceOptions& options, const DeviceOptions& given, std::string_view text) const;
  fe_module_device* check_handle(fe_module_device* handle) const;

  const std::shared_ptr<Backend> backend_;
  const Module& module_;
  const uint32_t index_;
  const DeviceProperties properties_;
  const std::string name_;
  const uint64_t id_;
  std::atomic<const std::string*> listed_name_{&name_};  // or a string that is never freed; set by DeviceNames

  static constexpr std::size_t max_attachments = 8;
  std::array<std::atomic<void*>, max_attachments> attachments_{};  // null until made

  std::atomic<fe_module_device*> handle_{nullptr};
  std::atomic<bool> lost_{false};
  uint32_t opened_in_generation_ = 0;

  mutable LongMutex changing_;  // held while it is opened, closed or queried, and while attachments are made
  DeviceOptions options_;
  std::optional<uint32_t> opening_in_generation_;

  mutable BriefMutex mutex_;  // guards the members below
  bool closing_ = false;
  bool closed_ = false;
  bool retired_ = false;
  std::string loss_;
  DeviceUse* first_use_ = nullptr;
  DeviceUse* last_use_ = nullptr;
  std::size_t use_count_ = 0;
  std::vector<std::shared_ptr<void>> attached_;
  std::vector<std::function<void()>> finishes_;
  mutable std::optional<std::vector<DeviceOptionInfo>> known_options_;  // set once
};

// Keeps its device's backend from being unloaded. These objects form the device's linked list of uses.
class DeviceUse {
 public:
  DeviceUse() = default;
  DeviceUse(DeviceUse&& other) noexcept { take_place_of(other); }
  DeviceUse& operator=(DeviceUse&& other) noexcept {
    if (this == &other) return *this;
    end();
    take_place_of(other);
    return *this;
  }
  ~DeviceUse() { end(); }
  const std::shared_ptr<Device>& device() const noexcept { return device_; }
  explicit operator bool() const noexcept { return device_ != nullptr; }

 private:
  friend class Device;
  DeviceUse(std::shared_ptr<Device> device, UseDescription what) : device_(std::move(device)), what_(std::move(what)) {
    device_->begin_use(*this);
  }
  void take_place_of(DeviceUse& other) noexcept;
  void end() noexcept;

  std::shared_ptr<Device> device_;
  UseDescription what_;
  DeviceUse* previous_ = nullptr;  // guarded, like next_, by the device's mutex
  DeviceUse* next_ = nullptr;
};

template <class Function>
void Device::while_open(Function&& function) {
  const std::scoped_lock lock(changing_);
  if (!is_open()) return;
  // This may be the last use of a retired device, which is closed when it ends. Others wait for the lock, so they do
  // not see this use.
  const DeviceUse running(shared_from_this(), "a call for it");
  std::forward<Function>(function)();
}

}  // namespace ferrule
