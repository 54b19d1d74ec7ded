// Host API: backends and devices.
#include "core/api/handles.h"
#include "core/environment.h"
#include "core/executor/executable.h"
#include "core/memory/allocator.h"
#include "core/memory/host_memory.h"
#include "core/memory/queue.h"
#include "core/registry/device_kind.h"
#include "core/registry/unify_devices.h"

#include <cstdlib>

using namespace ferrule;

namespace {

// A block of `count` handles, for fe_list_free.
template <class Handle, class Item>
void give_list(const std::vector<std::shared_ptr<Item>>& items, Handle*** out, std::size_t* count) {
  std::vector<std::unique_ptr<Handle>> handles;
  handles.reserve(items.size());
  for (const auto& item : items) handles.emplace_back(new Handle{item});
  auto** const block = static_cast<Handle**>(std::calloc(items.size() + 1, sizeof(Handle*)));
  if (!block) throw std::bad_alloc();
  for (std::size_t i = 0; i < items.size(); ++i) block[i] = handles[i].release();
  *out = block;
  *count = items.size();
}

// Capability bits of fe_device_details.
uint32_t capabilities_of(const Device& device) {
  const fe_backend& table = device.table();
  uint32_t bits = 0;
  if (table.queue_create) bits |= FE_CAPABILITY_ASYNCHRONOUS;
  if (table.event_record) bits |= FE_CAPABILITY_EVENTS;
  if (device.is_host()) bits |= FE_CAPABILITY_HOST_BUFFERS;
  if (table.buffer_borrow && device.properties().borrow_alignment != 0 && device.has_unified_memory())
    bits |= FE_CAPABILITY_BORROWS;
  return bits;
}

fe_error* give_device(const char* function, fe_device** out, auto find) {
  return guarded([&] {
    given(out, function, "out");
    *out = new fe_device{find()};
  });
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& fe_backend_ref::features() const {
  {
    const std::scoped_lock lock(mutex);
    if (known_features) return *known_features;
  }
  auto reported = backend->features();  // calls the module, so without the lock
  const std::scoped_lock lock(mutex);
  if (!known_features) known_features = std::move(reported);
  return *known_features;
}

extern "C" {

fe_error* fe_backends(fe_backend_ref*** out, size_t* count) {
  return guarded([&] {
    give_list(Registry::instance().backends(), &given(out, "backends", "out"), &given(count, "backends", "count"));
  });
}

fe_error* fe_devices(fe_device*** out, size_t* count) {
  return guarded([&] {
    give_list(Registry::instance().devices(), &given(out, "devices", "out"), &given(count, "devices", "count"));
  });
}

fe_error* fe_device_views(fe_device*** out, size_t* count) {
  return guarded([&] {
    give_list(Registry::instance().listing().views, &given(out, "device_views", "out"),
              &given(count, "device_views", "count"));
  });
}

void fe_list_free(void* list) { std::free(list); }
void fe_backend_release(fe_backend_ref* backend) { delete backend; }
void fe_device_release(fe_device* device) { delete device; }

fe_error* fe_backend_by_name(const char* name, fe_backend_ref** out) {
  return guarded([&] {
    given(out, "backend_by_name", "out");
    const std::string wanted = &given(name, "backend_by_name", "name");
    if (auto backend = Registry::instance().find_backend(wanted)) {
      *out = new fe_backend_ref(std::move(backend));
      return;
    }
    std::vector<std::string> loaded;
    for (const auto& backend : Registry::instance().backends()) loaded.push_back(backend->name());
    fail(FE_NOT_FOUND, "no backend named '{}' is loaded; loaded: {}", wanted, loaded.empty() ? "none" : joined(loaded));
  });
}

fe_error* fe_backend_details_get(const fe_backend_ref* handle, fe_backend_details* out) {
  return guarded([&] {
    const fe_backend_ref& of = given(handle, "backend_details", "backend");
    fe_backend_details details{};
    details.name = of.backend->name().c_str();
    details.variant = of.backend->variant().c_str();
    details.version = of.backend->version().c_str();
    details.path = of.path.c_str();
    for (const auto& device : of.backend->devices()) {
      details.kinds |= uint32_t{1} << device->kind();
      ++details.device_count;
    }
    details.closed = of.backend->is_closed() ? 1 : 0;
    if (const auto& manifest = of.backend->manifest()) {
      details.has_rank = 1;
      details.rank = manifest->rank;
    }
    fill_struct("backend_details", out, details);
  });
}

fe_error* fe_backend_devices(const fe_backend_ref* backend, fe_device*** out, size_t* count) {
  return guarded([&] {
    give_list(given(backend, "backend_devices", "backend").backend->devices(), &given(out, "backend_devices", "out"),
              &given(count, "backend_devices", "count"));
  });
}

fe_error* fe_backend_get_proc(const fe_backend_ref* handle, const char* name, fe_proc* out) {
  return guarded([&] {
    const fe_backend_ref& of = given(handle, "backend_get_proc", "backend");
    given(out, "backend_get_proc", "out") = nullptr;
    Backend::Proc proc = of.backend->proc(&given(name, "backend_get_proc", "name"));
    const std::scoped_lock lock(of.mutex);
    *out = reinterpret_cast<fe_proc>(proc.address);
    if (!of.hold) of.hold.swap(proc.hold);  // one suffices for all procs
  });
}

fe_error* fe_backend_feature(const fe_backend_ref* handle, size_t index, fe_feature* out) {
  return guarded([&] {
    const fe_backend_ref& of = given(handle, "backend_feature", "backend");
    const auto& features = of.features();
    if (of.backend->is_closed() || index >= features.size())
      fail(FE_NOT_FOUND, "backend_feature: {} has no feature with the number {}", of.backend->name(), index);
    const auto& [name, value] = features[index];
    fill_struct("backend_feature", out, {sizeof(fe_feature), name.c_str(), value.c_str()});
  });
}

fe_error* fe_device_by_name(const char* name, const char* backend, fe_device** out) {
  return give_device("device_by_name", out, [&] {
    auto device = Registry::instance().by_name(&given(name, "device_by_name", "name"));
    return backend ? Registry::instance().view(device, backend) : device;
  });
}
fe_error* fe_device_view(const fe_device* device, const char* backend, fe_device** out) {
  return give_device("device_view", out, [&] {
    return Registry::instance().view(given(device, "device_view", "device").device,
                                     &given(backend, "device_view", "backend"));
  });
}
fe_error* fe_device_by_kind(fe_device_kind kind, fe_device** out) {
  return give_device("device_by_kind", out, [&] {
    if (kind < 0 || kind >= FE_DEVICE_KIND_COUNT)
      fail_argument("device_by_kind: there is no kind {}", static_cast<int>(kind));
    return Registry::instance().by_kind(kind);
  });
}
fe_error* fe_device_best(fe_device** out) {
  return give_device("device_best", out, [] { return Registry::instance().best(); });
}

fe_error* fe_device_open(fe_device* device, const fe_option* options, size_t count) {
  return guarded([&] {
    DeviceOptions given_options;
    if (count > 0) {
      const std::size_t stride = given(options, "device_open", "options").struct_size;
      for (size_t i = 0; i < count; ++i) {
        const auto* const bytes = reinterpret_cast<const std::byte*>(options) + i * stride;
        const fe_option option = read_struct("device_open", reinterpret_cast<const fe_option*>(bytes), "an option");
        const std::string key = &given(option.key, "device_open", "the key of an option");
        if (!option.value) fail_argument("device_open: the value of option {} is NULL", key);
        given_options[key] = option.value;
      }
    }
    given(device, "device_open", "device").device->open(given_options);
  });
}

const char* fe_device_name(const fe_device* device) { return device ? device->device->name().c_str() : ""; }

uint64_t fe_device_id(const fe_device* device) { return device ? device->device->id() : 0; }

fe_error* fe_device_backends(const fe_device* device, fe_backend_ref*** out, size_t* count) {
  return guarded([&] {
    give_list(Registry::instance().backends_of(given(device, "device_backends", "device").device),
              &given(out, "device_backends", "out"), &given(count, "device_backends", "count"));
  });
}

fe_error* fe_device_backend(const fe_device* device, fe_backend_ref** out) {
  return guarded([&] {
    const auto& backend = given(device, "device_backend", "device").device->backend();
    give("device_backend", out, backend);
  });
}

fe_error* fe_device_details_get(const fe_device* handle, fe_device_details* out) {
  return guarded([&] {
    const Device& device = *given(handle, "device_details", "device").device;
    const DeviceProperties& p = device.properties();
    fe_device_details details{};
    details.kind = device.kind();
    details.index = device.index();
    details.capabilities = capabilities_of(device);
    details.backend = device.backend()->name().c_str();
    details.description = p.name.c_str();
    details.detail = p.description.c_str();
    details.pci_address = p.pci_address.c_str();
    details.total_memory = p.total_memory;
    details.max_allocation = p.max_allocation;
    details.borrow_alignment = p.borrow_alignment;
    details.has_uuid = p.uuid ? 1 : 0;
    if (p.uuid) std::copy(p.uuid->begin(), p.uuid->end(), details.uuid);
    details.open = device.is_open() ? 1 : 0;
    fill_struct("device_details", out, details);
  });
}

const char* fe_device_kind_name(fe_device_kind kind) {
  return kind >= 0 && kind < FE_DEVICE_KIND_COUNT ? name_of(kind) : nullptr;
}

fe_error* fe_device_option(const fe_device* handle, size_t index, fe_option_info* out) {
  return guarded([&] {
    const Device& device = *given(handle, "device_option", "device").device;
    const std::vector<DeviceOptionInfo>& options = device.known_options();
    if (device.backend()->is_closed() || index >= options.size())
      fail(FE_NOT_FOUND, "device_option: {} has no option with the number {}", device.name(), index);
    const DeviceOptionInfo& option = options[index];
    fill_struct("device_option", out,
                {sizeof(fe_option_info), option.key.c_str(), option.type.c_str(), option.doc.c_str()});
  });
}

fe_error* fe_device_memory(fe_device* device, uint64_t* free_bytes, uint64_t* total_bytes) {
  return guarded([&] {
    const DeviceMemory memory = given(device, "device_memory", "device").device->memory();
    given(free_bytes, "device_memory", "free_bytes") = memory.free.value_or(UINT64_MAX);
    given(total_bytes, "device_memory", "total_bytes") = memory.total;
  });
}

fe_error* fe_memory_stats_get(fe_device* device, fe_memory_stats* out) {
  return guarded([&] {
    Device& of = *given(device, "memory_stats", "device").device;
    const MemoryStatistics now = of.is_open() ? memory_statistics(of) : MemoryStatistics{};
    fill_struct("memory_stats", out,
                {sizeof(fe_memory_stats), now.live, now.cached, now.prepared, now.borrowed, now.peak});
  });
}

fe_error* fe_trim(fe_device* device) {
  return guarded([&] {
    Device& of = *given(device, "trim", "device").device;
    if (of.is_open()) trim_memory(of);
  });
}

fe_error* fe_synchronize(fe_device* device, fe_cancel_function cancel, void* argument) {
  return guarded([&] { synchronize(*given(device, "synchronize", "device").device, {cancel, argument}); });
}

fe_error* fe_set_memory_limit(fe_device* device, uint64_t bytes) {
  return guarded([&] {
    Device& of = *given(device, "set_memory_limit", "device").device;
    const DeviceUse setting = of.use("a limit that is set");
    of.attached<Allocator>().set_limit(bytes);
  });
}

fe_error* fe_host_allocate(fe_device* device, uint64_t size, void** out) {
  return guarded([&] {
    Device& of = *given(device, "host_allocate", "device").device;
    void*& result = given(out, "host_allocate", "out");
    result = nullptr;
    if (size == 0) fail_argument("host_allocate: the size is 0");
    DeviceUse use = of.use(BytesInUse{"host memory", size});
    result = of.attached<HostMemory>().allocate(size, std::move(use));
  });
}

fe_error* fe_host_free(fe_device* device, void* pointer) {
  return guarded([&] {
    Device& of = *given(device, "host_free", "device").device;
    if (!pointer) return;
    // Memory that can be freed keeps the device open.
    if (!of.is_open() || !of.attached<HostMemory>().free(pointer))
      fail_argument("host_free: {} is not from host_allocate of {}, or freed already", pointer, of.name());
  });
}

fe_error* fe_queue_reset(fe_device* device) {
  return guarded([&] { reset_queue(*given(device, "queue_reset", "device").device); });
}

int fe_device_equal(const fe_device* a, const fe_device* b) { return a && b ? a->device == b->device : a == b; }
}
