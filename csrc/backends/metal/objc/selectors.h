// The messages that the backend sends.
#pragma once

// S(name in C++, selector)
#define FERRULE_METAL_SELECTORS(S)                                                                   \
  /* NSObject, NSString, NSError, NSArray, NSURL, NSProcessInfo */                                   \
  S(new_object, "new")                                                                               \
  S(responds_to_selector, "respondsToSelector:")                                                     \
  S(string_with_utf8_string, "stringWithUTF8String:")                                                \
  S(utf8_string, "UTF8String")                                                                       \
  S(localized_description, "localizedDescription")                                                   \
  S(code, "code")                                                                                    \
  S(count, "count")                                                                                  \
  S(object_at_index, "objectAtIndex:")                                                               \
  S(array_with_object, "arrayWithObject:")                                                           \
  S(file_url_with_path, "fileURLWithPath:")                                                          \
  S(process_info, "processInfo")                                                                     \
  S(operating_system_version_string, "operatingSystemVersionString")                                 \
  /* MTLDevice */                                                                                    \
  S(name, "name")                                                                                    \
  S(is_low_power, "isLowPower")                                                                      \
  S(is_removable, "isRemovable")                                                                     \
  S(has_unified_memory, "hasUnifiedMemory")                                                          \
  S(recommended_max_working_set_size, "recommendedMaxWorkingSetSize")                                \
  S(current_allocated_size, "currentAllocatedSize")                                                  \
  S(max_buffer_length, "maxBufferLength")                                                            \
  S(max_threadgroup_memory_length, "maxThreadgroupMemoryLength")                                     \
  S(supports_family, "supportsFamily:")                                                              \
  S(new_command_queue, "newCommandQueue")                                                            \
  S(new_buffer_with_length, "newBufferWithLength:options:")                                          \
  S(new_buffer_with_bytes_no_copy, "newBufferWithBytesNoCopy:length:options:deallocator:")           \
  S(new_library_with_source, "newLibraryWithSource:options:error:")                                  \
  S(new_pipeline_with_descriptor, "newComputePipelineStateWithDescriptor:options:reflection:error:") \
  S(new_binary_archive, "newBinaryArchiveWithDescriptor:error:")                                     \
  S(new_shared_event, "newSharedEvent")                                                              \
  /* MTLCompileOptions, MTLLibrary, MTLComputePipelineDescriptor, MTLComputePipelineState */         \
  S(set_fast_math_enabled, "setFastMathEnabled:")                                                    \
  S(set_math_mode, "setMathMode:")                                                                   \
  S(set_math_floating_point_functions, "setMathFloatingPointFunctions:")                             \
  S(set_language_version, "setLanguageVersion:")                                                     \
  S(new_function_with_name, "newFunctionWithName:")                                                  \
  S(set_compute_function, "setComputeFunction:")                                                     \
  S(set_max_total_threads_per_threadgroup, "setMaxTotalThreadsPerThreadgroup:")                      \
  S(set_binary_archives, "setBinaryArchives:")                                                       \
  S(max_total_threads_per_threadgroup, "maxTotalThreadsPerThreadgroup")                              \
  S(thread_execution_width, "threadExecutionWidth")                                                  \
  /* MTLBinaryArchiveDescriptor, MTLBinaryArchive */                                                 \
  S(set_url, "setUrl:")                                                                              \
  S(add_pipeline, "addComputePipelineFunctionsWithDescriptor:error:")                                \
  S(serialize_to_url, "serializeToURL:error:")                                                       \
  /* MTLCommandQueue, MTLCommandBuffer */                                                            \
  S(command_buffer, "commandBuffer")                                                                 \
  S(compute_encoder_with_dispatch_type, "computeCommandEncoderWithDispatchType:")                    \
  S(blit_encoder, "blitCommandEncoder")                                                              \
  S(encode_signal_event, "encodeSignalEvent:value:")                                                 \
  S(encode_wait_for_event, "encodeWaitForEvent:value:")                                              \
  S(commit, "commit")                                                                                \
  S(wait_until_completed, "waitUntilCompleted")                                                      \
  S(status, "status")                                                                                \
  S(error, "error")                                                                                  \
  S(gpu_start_time, "GPUStartTime")                                                                  \
  S(gpu_end_time, "GPUEndTime")                                                                      \
  /* MTLSharedEvent */                                                                               \
  S(set_signaled_value, "setSignaledValue:")                                                         \
  /* MTLComputeCommandEncoder, MTLBlitCommandEncoder */                                              \
  S(set_compute_pipeline_state, "setComputePipelineState:")                                          \
  S(set_buffer, "setBuffer:offset:atIndex:")                                                         \
  S(dispatch_threadgroups, "dispatchThreadgroups:threadsPerThreadgroup:")                            \
  S(memory_barrier_with_scope, "memoryBarrierWithScope:")                                            \
  S(end_encoding, "endEncoding")                                                                     \
  S(copy_from_buffer, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:")                \
  S(fill_buffer, "fillBuffer:range:value:")                                                          \
  /* MTLBuffer */                                                                                    \
  S(contents, "contents")

namespace ferrule::metal {

enum class Message {
#define FERRULE_METAL_MESSAGE(name, selector) name,
  FERRULE_METAL_SELECTORS(FERRULE_METAL_MESSAGE)
#undef FERRULE_METAL_MESSAGE
      number_of_messages
};

}  // namespace ferrule::metal
