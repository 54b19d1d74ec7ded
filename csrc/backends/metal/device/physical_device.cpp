#include "device/physical_device.h"

namespace ferrule::metal {
namespace {

// Memory is borrowed in whole pages of Apple's processors.
constexpr uint64_t page_size = 16384;

bool is_true(Id device, Message message) { return send<Boolean>(device, message) != 0; }
bool supports(Id device, GpuFamily family) {
  return send<Boolean>(device, Message::supports_family, static_cast<Integer>(family)) != 0;
}

// The newest family whose rules of the Metal feature set tables the device follows.
std::string family_of(Id device) {
  if (supports(device, GpuFamily::apple9)) return "Apple9";
  if (supports(device, GpuFamily::apple8)) return "Apple8";
  if (supports(device, GpuFamily::apple7)) return "Apple7";
  return supports(device, GpuFamily::mac2) ? "Mac2" : "an early family";
}

fe_device_kind kind_of([[maybe_unused]] bool is_unified, [[maybe_unused]] bool is_low_power) {
#ifdef FERRULE_METAL_SIMULATED
  return FE_DEVICE_SOFTWARE;
#else
  return is_unified || is_low_power ? FE_DEVICE_INTEGRATED_GPU : FE_DEVICE_GPU;
#endif
}

PhysicalDevice described(Id device) {
  PhysicalDevice found;
  found.device = Owned::shared(device);
  found.is_unified = is_true(device, Message::has_unified_memory);
  found.capabilities.threadgroup_memory =
      static_cast<uint32_t>(send<Unsigned>(device, Message::max_threadgroup_memory_length));
  found.capabilities.has_simdgroup_matrices = supports(device, GpuFamily::apple7);
  found.capabilities.has_simdgroup_shuffles =
      supports(device, GpuFamily::apple6) || supports(device, GpuFamily::mac2) || supports(device, GpuFamily::metal3);
  sdk::DeviceDescription& description = found.description;
  description.kind = kind_of(found.is_unified, is_true(device, Message::is_low_power));
  if (found.is_unified) description.flags = FE_DEVICE_FLAG_UNIFIED_MEMORY;
  description.name = text_of(send<Id>(device, Message::name));
  description.description = "Metal, GPU family " + family_of(device);
  if (is_true(device, Message::is_removable)) description.description += ", removable";
  description.total_memory = send<uint64_t>(device, Message::recommended_max_working_set_size);
  description.max_allocation = send<Unsigned>(device, Message::max_buffer_length);
  description.borrow_alignment = page_size;
  return found;
}

// All devices, also those without a display: the default device is null in a session without a screen. But the list was
// seen to be empty in a sandbox, where there is a default device (github.com/iree-org/iree/issues/24834).
std::vector<Owned> all_devices() {
  std::vector<Owned> devices;
  const Owned all = Owned::taken(objc::libraries.copy_all_devices());
  const auto count = send<Unsigned>(all.get(), Message::count);
  devices.reserve(count + 1);
  for (Unsigned i = 0; i < count; ++i)
    devices.push_back(Owned::shared(send<Id>(all.get(), Message::object_at_index, i)));
  if (count > 0) return devices;
  open_graphics();
  if (Owned device = Owned::taken(objc::libraries.create_default_device())) devices.push_back(std::move(device));
  return devices;
}

}  // namespace

std::vector<PhysicalDevice> find_devices() {
  open_metal();
  const AutoreleasePool pool;
  std::vector<PhysicalDevice> devices;
  const std::vector<Owned> all = all_devices();
  if (all.empty()) throw sdk::Error(FE_NOT_FOUND, "Metal lists no GPU on this machine");
  devices.reserve(all.size());
  for (const Owned& device : all)
    if (supports(device.get(), GpuFamily::apple1)) devices.push_back(described(device.get()));
  if (devices.empty()) throw sdk::Error(FE_NOT_FOUND, "Metal lists GPUs on this machine, but none of Apple's");
  return devices;
}

}  // namespace ferrule::metal
