// A device: a place where buffers live and graphs run. Seen here by one backend.
#pragma once

#include "core/error.h"
#include "core/registry/device_kind.h"
#include "core/sync/mutexes.h"
#include "ops/tensor_type.h"

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

using DeviceOptions = std::map<std::string, std::string>;

// fe_device_properties with its strings copied: they outlive the module.
struct DeviceProperties {
  fe_device_kind kind = FE_DEVICE_CPU;
  uint32_t flags = 0;
  std::string name;
  std::string description;
  uint64_t total_memory = 0;      // bytes; 0 = unknown
  uint64_t max_allocation = 0;    // bytes; 0 = no limit known
  uint64_t borrow_alignment = 0;  // 0 = host memory cannot be borrowed
  std::optional<std::array<uint8_t, 16>> uuid;
  std::string pci_address;
  uint32_t queue_kinds = 0;  // bits, 1 << fe_queue_kind
};

struct DeviceOptionInfo {
  std::string key, type, doc;
};

struct DeviceMemory {
  std::optional<uint64_t> free;  // bytes; unknown until the device is open
  uint64_t total = 0;            // bytes; 0 = unknown
};

// Whether both describe one and the same device, as far as can be told.
bool is_same_device(const DeviceProperties& a, const DeviceProperties& b);

// What lives on a device, for messages. Put into words when an unloading is refused, which is rare.
struct ArrayInUse {
  TensorType type;
};
struct BytesInUse {
  const char* what;  // "memory", of static storage
  uint64_t size;
};
using UseDescription = std::variant<std::string, ArrayInUse, BytesInUse>;

// Reads one device of a module.
DeviceProperties read_properties(const fe_backend& table, uint32_t index);

class Device : public std::enable_shared_from_this<Device> {
 public:
  Device(std::shared_ptr<Backend> backend, uint32_t index, DeviceProperties properties);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // How it is listed: "gpu:0" for the preferred view of a device that several backends see, else its view_name. It
  // changes when backends come or go; what was returned stays as long as the device.
  const std::string& name() const noexcept { return *listed_name_.load(std::memory_order_acquire); }
  // "<backend>:<index>"; always names this view.
  const std::string& view_name() const noexcept { return name_; }
  // Of this device alone in this process, also after it is gone.
  uint64_t id() const noexcept { return id_; }
  uint32_t index() const noexcept { return index_; }
  fe_device_kind kind() const noexcept { return properties_.kind; }
  const DeviceProperties& properties() const noexcept { return properties_; }
  // Its buffers are host memory.
  bool is_host() const noexcept { return (properties_.flags & FE_DEVICE_FLAG_HOST_MEMORY) != 0; }
  const std::shared_ptr<Backend>& backend() const noexcept { return backend_; }
  // The module's functions. Slots that the module does not have are null. Not to be called after unloading, which
  // holding a DeviceUse prevents.
  const fe_backend& table() const noexcept { return table_; }

  // Opens the device on first use. Options given here go before FERRULE_<NAME>_<KEY>; a key that the device does not
  // know is invalid_argument, and so are options that differ from those it is open with. Without options: as it is.
  // Throws not_found after its backend was unloaded, device_lost after it was lost, and unsupported in the child of a
  // fork, unless it survives_fork().
  fe_module_device* open(const DeviceOptions& options = {});
  // As the module knows it, also when it is lost; null unless it is open.
  fe_module_device* handle() const noexcept { return handle_.load(std::memory_order_acquire); }
  bool is_open() const noexcept { return handle_.load(std::memory_order_acquire) != nullptr; }
  std::vector<DeviceOptionInfo> known_options() const;
  DeviceMemory memory() const;

  // Its memory is the host's and its work is done by the calling thread and the core's: a child can go on with it.
  bool survives_fork() const noexcept { return is_host() && table_.queue_create == nullptr; }
  // In the child of a fork, of a device that the parent has opened: nothing of it may be called, not even to free.
  bool belongs_to_parent() const noexcept;
  // What every error of a call for this device goes through: throws it, if there is one, and remembers that the device
  // is lost when it says so.
  void check(fe_error* error);
  void note(const fe_error* error) noexcept;  // remembers it only
  bool is_lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  // Its module has brought it back: what is lost no more.
  void forget_loss() noexcept;
  // Runs the function unless the device is closed, and keeps it from being closed meanwhile.
  template <class Function>
  void while_open(Function&& function);

  // What keeps its backend from being unloaded, and is named when that is refused: "array float32(2, 3)". Opens the
  // device. Throws as open does.
  [[nodiscard]] DeviceUse use(UseDescription what);
  std::size_t use_count() const;

  // One T(Device&) for each device, made on first use and ended before the device is closed: what other parts of the
  // core keep for each device. T holds no shared_ptr to the device. Where T has finish_work(), that is called before
  // the device is closed, or found to be in use.
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
  // Between the three, no DeviceUse can be made. Called by Backend::close.
  void begin_closing();  // throws invalid_argument, naming what lives
  void cancel_closing() noexcept;
  void finish_closing() noexcept;
  // Its backend lists it no more: it is closed when nothing of it lives. With a reason it is lost, too.
  void retire(const std::string& loss);
  void begin_use(DeviceUse& begun);
  void end_use(DeviceUse& ended) noexcept;
  void move_use(DeviceUse& from, DeviceUse& to) noexcept;
  void lose(std::string_view reason) noexcept;
  void check_is_there() const;
  // A number for each type that is attached to devices.
  static std::size_t next_attachment();
  void attach(std::size_t place, std::shared_ptr<void> made, std::function<void()> finish_work);
  void finish_work() noexcept;
  std::vector<DeviceOptionInfo> ask_for_options() const;
  DeviceOptions effective_options(const DeviceOptions& given) const;
  fe_module_device* checked(fe_module_device* handle) const;

  const std::shared_ptr<Backend> backend_;
  const fe_backend& table_;
  const uint32_t index_;
  const DeviceProperties properties_;
  const std::string name_;
  const uint64_t id_;
  std::atomic<const std::string*> listed_name_{&name_};  // else one that is never freed; set by DeviceNames

  static constexpr std::size_t most_attachments = 8;
  std::array<std::atomic<void*>, most_attachments> attachments_{};  // by their numbers; null: not made

  std::atomic<fe_module_device*> handle_{nullptr};
  std::atomic<bool> lost_{false};
  uint32_t opened_in_generation_ = 0;

  mutable LongMutex changing_;  // held while the device is opened, closed, asked, and while attachments are made
  DeviceOptions options_;
  std::optional<uint32_t> opening_in_generation_;

  mutable BriefMutex mutex_;  // of what follows
  bool closing_ = false;
  bool closed_ = false;
  bool retired_ = false;
  std::string loss_;
  DeviceUse* first_use_ = nullptr;
  DeviceUse* last_use_ = nullptr;
  std::size_t use_count_ = 0;
  std::vector<std::shared_ptr<void>> attached_;
  std::vector<std::function<void()>> finishes_;
  mutable std::optional<std::vector<DeviceOptionInfo>> known_options_;
};

// As long as it exists, its device's backend cannot be unloaded. A device's list of what lives runs through these.
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
  DeviceUse* previous_ = nullptr;  // guarded by the device's mutex, as the next
  DeviceUse* next_ = nullptr;
};

template <class Function>
void Device::while_open(Function&& function) {
  const std::scoped_lock lock(changing_);
  if (!is_open()) return;
  // It may be the last of a retired device, which is closed then; others do not see it, as they wait for the lock.
  const DeviceUse running(shared_from_this(), "a call for it");
  std::forward<Function>(function)();
}

}  // namespace ferrule
