// MTLComputePipelineDescriptor and MTLComputePipelineState.
#pragma once

#include "metal/simulated/library.h"

namespace simulated {

class PipelineDescriptor : public Object {
 public:
  static const objc::Class& own_class();
  PipelineDescriptor() : Object(own_class()) {}
  void set_function(Object* function) { function_ = objc::checked<Function>(function, "setComputeFunction:"); }
  Function* function() const { return function_.get(); }
  std::size_t most_threads() const { return most_threads_; }  // 0: what the function allows
  // The archives of the pipeline. A fault for other objects.
  std::vector<class Archive*> archives() const;

 private:
  void set_most_threads(std::size_t most) { most_threads_ = most; }
  void set_archives(Object* array) { archives_ = objc::checked<objc::Array>(array, "setBinaryArchives:"); }
  Owned<Function> function_;
  Owned<objc::Array> archives_;
  std::size_t most_threads_ = 0;
};

class PipelineState : public Object {
 public:
  static const objc::Class& own_class();
  static PipelineState* make(Device& device, const PipelineDescriptor& descriptor, std::size_t options, Object** error,
                             const char* selector);
  PipelineState(Device& device, Function& function, std::size_t most_threads)
      : Object(own_class()), device_(&device), function_(&function), most_threads_(most_threads) {}
  Device& device() const { return *device_; }
  const Function& function() const { return *function_; }
  std::size_t most_threads() const { return most_threads_; }

 private:
  std::size_t execution_width() const { return settings().execution_width; }
  const Owned<Device> device_;
  const Owned<Function> function_;
  const std::size_t most_threads_;
};

}  // namespace simulated
