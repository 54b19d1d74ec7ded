// Metal's functions, and those for tests.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "metal/objc/exports.h"
#include "metal/objc/faults.h"
#include "metal/objc/foundation.h"
#include "metal/simulated/archive.h"
#include "metal/simulated/encoders.h"
#include "metal/simulated/process_info.h"

using namespace simulated;

const std::vector<const objc::Class*>& objc::all_classes() {
  static const auto& all = *new std::vector<const objc::Class*>{&root_class(),
                                                                &String::own_class(),
                                                                &Array::own_class(),
                                                                &Url::own_class(),
                                                                &Error::own_class(),
                                                                &ProcessInfo::own_class(),
                                                                &simulated::CompileOptions::own_class(),
                                                                &PipelineDescriptor::own_class(),
                                                                &ArchiveDescriptor::own_class(),
                                                                &Device::own_class(),
                                                                &Buffer::own_class(),
                                                                &SharedEvent::own_class(),
                                                                &simulated::Library::own_class(),
                                                                &simulated::Function::own_class(),
                                                                &PipelineState::own_class(),
                                                                &Archive::own_class(),
                                                                &CommandQueue::own_class(),
                                                                &CommandBuffer::own_class(),
                                                                &Encoder::own_class(),
                                                                &ComputeEncoder::own_class(),
                                                                &BlitEncoder::own_class()};
  return all;
}

namespace {

std::string live() {
  wait_for_releases();
  std::string text = objc::live_objects();
  std::size_t references = 0;
  for (Device* device : devices())
    if (objc::known(device).state == objc::Known::State::live) references += objc::retain_count(device) - 1;
  if (references != 0) text += "MTLDevice " + std::to_string(references) + "\n";
  return text;
}

// The last text of a thread, for its caller.
const char* kept(std::string text) {
  thread_local std::string own;
  own = std::move(text);
  return own.c_str();
}

void report_leaks() {
  const std::string text = live();
  if (!text.empty()) std::fprintf(stderr, "simulated Metal: objects that were not released:\n%s", text.c_str());
}

// Runs before the program does: the report must come after all that the program does at its end.
[[maybe_unused]] const bool reports_leaks = [] {
  const char* const choice = std::getenv("FERRULE_EMULATION_METAL_LEAKS");
  if (choice == nullptr || std::string_view(choice) != "1") return false;
  return std::atexit(report_leaks) == 0;
}();

}  // namespace

SIMULATED_EXPORT objc::Object* MTLCopyAllDevices() {
  std::vector<Owned<objc::Object>> all;
  if (!settings().is_list_empty)
    for (Device* device : devices()) all.emplace_back(device);
  return objc::create<objc::Array>(std::move(all));
}

SIMULATED_EXPORT objc::Object* MTLCreateSystemDefaultDevice() {
  return devices().empty() ? nullptr : objc::retain(devices().front());
}

SIMULATED_EXPORT const char* simulated_metal_faults() { return kept(objc::recorded_faults()); }
SIMULATED_EXPORT void simulated_metal_forget_faults() { objc::forget_faults(); }
SIMULATED_EXPORT const char* simulated_metal_live_objects() { return kept(live()); }
