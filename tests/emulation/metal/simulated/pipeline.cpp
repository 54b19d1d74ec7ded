#include "metal/simulated/pipeline.h"

#include <algorithm>

#include "metal/objc/faults.h"
#include "metal/simulated/archive.h"

namespace simulated {

using objc::create;
using objc::method;

namespace {

constexpr const char* domain = "CompilerError";
constexpr std::size_t fail_on_archive_miss = 4;  // of MTLPipelineOption

}  // namespace

std::vector<Archive*> PipelineDescriptor::archives() const {
  std::vector<Archive*> all;
  if (!archives_) return all;
  for (const Owned<Object>& one : archives_->objects())
    if (Archive* const archive = objc::checked<Archive>(one.get(), "binaryArchives"); archive != nullptr)
      all.push_back(archive);
  return all;
}

const objc::Class& PipelineDescriptor::own_class() {
  static const auto& one =
      *new objc::Class("MTLComputePipelineDescriptor", &objc::root_class(), objc::Class::Kind::named,
                       [] { return static_cast<Object*>(create<PipelineDescriptor>()); },
                       {method<&PipelineDescriptor::set_function>("setComputeFunction:"),
                        method<&PipelineDescriptor::set_most_threads>("setMaxTotalThreadsPerThreadgroup:"),
                        method<&PipelineDescriptor::set_archives>("setBinaryArchives:")});
  return one;
}

PipelineState* PipelineState::make(Device& device, const PipelineDescriptor& descriptor, std::size_t options,
                                   Object** error, const char* selector) {
  if (fails(selector)) {
    objc::set_error(error, domain, 1, "the pipeline fails by request");
    return nullptr;
  }
  Function* const function = descriptor.function();
  if (function == nullptr) {
    objc::report_fault(std::string("-[MTLDevice ") + selector + "]: the function must not be nil");
    return nullptr;
  }
  if (&function->library().device() != &device) {
    objc::report_fault(std::string("-[MTLDevice ") + selector + "]: the function is one of another device");
    return nullptr;
  }
  if (function->library().has_matrices() && !device.supports(1007)) {
    objc::set_error(error, domain, 2, "matrices of SIMD-groups need a GPU of family Apple7 or later");
    return nullptr;
  }
  const std::size_t wanted = descriptor.most_threads();
  if (wanted > device_most_threads) {
    objc::set_error(error, domain, 2,
                    "maxTotalThreadsPerThreadgroup " + std::to_string(wanted) + " is more than the device's " +
                        std::to_string(device_most_threads));
    return nullptr;
  }
  const std::vector<Archive*> archives = descriptor.archives();
  const bool is_found = std::any_of(archives.begin(), archives.end(),
                                    [&](const Archive* archive) { return archive->has(function->key()); });
  if (!is_found && (options & fail_on_archive_miss) != 0) {
    objc::set_error(error, domain, 3, "no binary archive has " + function->compiled().name());
    return nullptr;
  }
  log_line("pipeline " + function->compiled().name() + (is_found ? " of an archive" : " compiled"));
  const std::size_t allowed = function->compiled().most_threads();
  return create<PipelineState>(device, *function, wanted == 0 ? allowed : std::min(wanted, allowed));
}

const objc::Class& PipelineState::own_class() {
  static const auto& one =
      *new objc::Class("MTLComputePipelineState", &objc::root_class(), objc::Class::Kind::inner, nullptr,
                       {method<&PipelineState::most_threads>("maxTotalThreadsPerThreadgroup"),
                        method<&PipelineState::execution_width>("threadExecutionWidth")});
  return one;
}

}  // namespace simulated
