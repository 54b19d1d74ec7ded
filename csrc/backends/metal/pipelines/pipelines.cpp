#include "pipelines/pipelines.h"

#include "pipelines/embedded_texts.h"

namespace ferrule::metal {
namespace {

constexpr Unsigned simdgroup_threads = 32;  // that kernels count on when lanes exchange values

std::string key_of(const KernelSource& source) {
  return source.function + ' ' + std::to_string(source.threads) + '\n' + source.text;
}

}  // namespace

PipelinePointer Pipelines::get(const KernelSource& source) {
  return pipelines_.get(key_of(source), [&] { return make(source); });
}

PipelinePointer Pipelines::make(const KernelSource& source) {
  const AutoreleasePool pool;
  const auto refuse = [&](const std::string& what) {
    throw sdk::Error(FE_INTERNAL, "the kernel " + source.function + " " + what);
  };
  const Owned options = new_object("MTLCompileOptions");
  // Kernels compute what they say: no reordering of sums, no flushed infinities, exact roots. From macOS 15 on the mode
  // and the functions are chosen apart, and fast functions are the default.
  if (understands(options.get(), Message::set_math_floating_point_functions)) {
    send<void>(options.get(), Message::set_math_mode, math_mode_safe);
    send<void>(options.get(), Message::set_math_floating_point_functions, precise_functions);
  } else {
    send<void>(options.get(), Message::set_fast_math_enabled, static_cast<Boolean>(false));
  }
  send<void>(options.get(), Message::set_language_version, language_version_2_3);
  // The header comes first: texts begin with definitions of types, whose names it may define.
  Id error = nullptr;
  const Owned library =
      Owned::taken(send<Id>(device_.device.get(), Message::new_library_with_source,
                            string_of("#include <metal_stdlib>\n" + flattened(source.text)), options.get(), &error));
  if (!library) refuse("cannot be compiled: " + reason_of(error));
  const Owned function =
      Owned::taken(send<Id>(library.get(), Message::new_function_with_name, string_of(source.function)));
  if (!function) refuse("is not in its library");
  const Owned descriptor = new_object("MTLComputePipelineDescriptor");
  send<void>(descriptor.get(), Message::set_compute_function, function.get());
  send<void>(descriptor.get(), Message::set_max_total_threads_per_threadgroup, static_cast<Unsigned>(source.threads));
  error = nullptr;
  Owned pipeline = archive_.pipeline(descriptor.get(), &error);
  if (!pipeline) refuse("cannot be made for " + device_.description.name + ": " + reason_of(error));
  const auto width = send<Unsigned>(pipeline.get(), Message::thread_execution_width);
  if (width != simdgroup_threads)
    throw sdk::Error(FE_UNSUPPORTED, device_.description.name + " runs the kernel " + source.function +
                                         " in simdgroups of " + std::to_string(width) + " threads, not " +
                                         std::to_string(simdgroup_threads));
  const auto most = send<Unsigned>(pipeline.get(), Message::max_total_threads_per_threadgroup);
  if (most < source.threads)
    throw sdk::Error(FE_UNSUPPORTED, device_.description.name + " runs the kernel " + source.function + " with " +
                                         std::to_string(most) + " threads, not " + std::to_string(source.threads));
  return std::make_shared<const Owned>(std::move(pipeline));
}

}  // namespace ferrule::metal
