#include "objc/runtime.h"

#include <dlfcn.h>

#include <mutex>

namespace ferrule::metal {

objc::Libraries objc::libraries;

namespace {

#ifdef FERRULE_METAL_SIMULATED
// One library of this build has all of it (docs/develop/emulators.md).
constexpr const char* runtime_file = FERRULE_METAL_SIMULATED;
constexpr const char* metal_file = FERRULE_METAL_SIMULATED;
constexpr const char* graphics_file = FERRULE_METAL_SIMULATED;
#else
constexpr const char* runtime_file = "/usr/lib/libobjc.A.dylib";
constexpr const char* metal_file = "/System/Library/Frameworks/Metal.framework/Metal";
constexpr const char* graphics_file = "/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics";
#endif

// It is never closed: objects of its classes may live in other libraries of the process.
void* open(const char* file) {
  void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* const complaint = ::dlerror();
  throw sdk::Error(FE_UNSUPPORTED, std::string("metal: ") + file + " cannot be opened: " +
                                       (complaint != nullptr ? complaint : "no reason is given"));
}

template <class Slot>
void find(void* library, const char* name, Slot& slot) {
  slot = reinterpret_cast<Slot>(::dlsym(library, name));
  if (slot == nullptr) throw sdk::Error(FE_UNSUPPORTED, std::string("metal: there is no function ") + name);
}

void open_libraries() {
  objc::Libraries found{};
  void* const runtime = open(runtime_file);
  Selector (*register_name)(const char*) = nullptr;
  find(runtime, "objc_msgSend", found.message_send);
  find(runtime, "objc_retain", found.retain);
  find(runtime, "objc_release", found.release);
  find(runtime, "objc_autoreleasePoolPush", found.push_pool);
  find(runtime, "objc_autoreleasePoolPop", found.pop_pool);
  find(runtime, "objc_getClass", found.get_class);
  find(runtime, "sel_registerName", register_name);
  void* const metal = open(metal_file);
  find(metal, "MTLCopyAllDevices", found.copy_all_devices);
  find(metal, "MTLCreateSystemDefaultDevice", found.create_default_device);
  constexpr const char* names[] = {
#define FERRULE_METAL_NAME(name, selector) selector,
      FERRULE_METAL_SELECTORS(FERRULE_METAL_NAME)
#undef FERRULE_METAL_NAME
  };
  for (size_t i = 0; i < std::size(names); ++i) found.selectors[i] = register_name(names[i]);
  objc::libraries = found;
}

}  // namespace

void open_metal() {
  static std::once_flag once;  // stays open after an exception, so a later call tries again
  std::call_once(once, open_libraries);
}

void open_graphics() { ::dlopen(graphics_file, RTLD_LAZY | RTLD_LOCAL); }

std::string text_of(Id string) {
  const char* const text = string == nullptr ? nullptr : send<const char*>(string, Message::utf8_string);
  return text == nullptr ? "" : text;
}

std::string reason_of(Id error) {
  std::string reason = error == nullptr ? "" : text_of(send<Id>(error, Message::localized_description));
  return reason.empty() ? "no reason is given" : reason;
}

}  // namespace ferrule::metal
