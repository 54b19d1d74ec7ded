#include "metal/simulated/command_buffer.h"

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "metal/objc/faults.h"
#include "metal/simulated/encoders.h"

namespace simulated {

using objc::create;
using objc::method;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// What Metal says of an error.
const char* text_of(CommandBufferError code) {
  switch (code) {
    case CommandBufferError::internal:
      return "Internal Error (0000000e:kIOGPUCommandBufferCallbackErrorInternal)";
    case CommandBufferError::timeout:
      return "Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)";
    case CommandBufferError::page_fault:
      return "Caused GPU Address Fault Error (0000000b:kIOGPUCommandBufferCallbackErrorPageFault)";
    case CommandBufferError::access_revoked:
      return "Ignored (for causing prior/excessive GPU errors) "
             "(00000004:kIOGPUCommandBufferCallbackErrorSubmissionsIgnored)";
    case CommandBufferError::not_permitted:
      return "Insufficient Permission (to submit GPU work from background) "
             "(00000006:kIOGPUCommandBufferCallbackErrorBackgroundExecutionNotPermitted)";
    case CommandBufferError::out_of_memory:
      return "Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)";
    case CommandBufferError::invalid_resource:
      return "Invalid Resource (00000009:kIOGPUCommandBufferCallbackErrorInvalidResource)";
    case CommandBufferError::device_removed:
      return "The device was removed";
    case CommandBufferError::stack_overflow:
      return "Stack overflow";
  }
  return "Internal Error";
}

}  // namespace

CommandBuffer::~CommandBuffer() {
  if (!is_committed()) queue_->end(*this, false);
}

void CommandBuffer::keep(Object* object) {
  if (is_retaining_) kept_.emplace_back(object);
}

bool CommandBuffer::is_committed() const {
  const std::scoped_lock lock(mutex_);
  return number_ != 0;
}

bool CommandBuffer::can_encode(const char* selector) const {
  const std::string name = std::string("-[MTLCommandBuffer ") + selector + "]: ";
  bool has_encoder = false;
  {
    const std::scoped_lock lock(mutex_);
    has_encoder = has_encoder_;
  }
  if (is_committed())
    objc::report_fault(name + "the command buffer is committed");
  else if (has_encoder)
    objc::report_fault(name + "the encoder before has not ended (endEncoding)");
  else
    return true;
  return false;
}

Pass& CommandBuffer::add_pass() {
  passes_.push_back(std::make_unique<Pass>());
  return *passes_.back();
}

Object* CommandBuffer::compute_encoder() { return compute_encoder_of(0); }

Object* CommandBuffer::compute_encoder_of(std::size_t dispatch_type) {
  const char* const selector = "computeCommandEncoderWithDispatchType:";
  if (fails(selector) || !can_encode(selector)) return nullptr;
  if (dispatch_type > 1) {
    objc::report_fault(std::string("-[MTLCommandBuffer ") + selector + "]: an unknown dispatch type");
    return nullptr;
  }
  Pass& pass = add_pass();
  pass.is_concurrent = dispatch_type == 1;
  {
    const std::scoped_lock lock(mutex_);
    has_encoder_ = true;
  }
  return objc::autoreleased(create<ComputeEncoder>(*this, pass));
}

Object* CommandBuffer::blit_encoder() {
  if (fails("blitCommandEncoder") || !can_encode("blitCommandEncoder")) return nullptr;
  Pass& pass = add_pass();
  {
    const std::scoped_lock lock(mutex_);
    has_encoder_ = true;
  }
  return objc::autoreleased(create<BlitEncoder>(*this, pass));
}

void CommandBuffer::end_encoder() {
  const std::scoped_lock lock(mutex_);
  has_encoder_ = false;
}

void CommandBuffer::add_event(Pass::Kind kind, Object* event, std::uint64_t value, const char* selector) {
  if (!can_encode(selector)) return;
  Event* const own = checked_event(event, device(), selector);
  if (own == nullptr) return;
  kept_.emplace_back(own);
  Pass& pass = add_pass();
  pass.kind = kind;
  pass.event = own;
  pass.value = value;
}

void CommandBuffer::signal(Object* event, std::uint64_t value) {
  add_event(Pass::Kind::signal, event, value, "encodeSignalEvent:value:");
}

void CommandBuffer::wait(Object* event, std::uint64_t value) {
  add_event(Pass::Kind::wait, event, value, "encodeWaitForEvent:value:");
}

void CommandBuffer::enqueue() {
  {
    const std::scoped_lock lock(mutex_);
    if (status_ != Status::not_enqueued) return;
    status_ = Status::enqueued;
  }
  queue_->enqueue(*this);
}

void CommandBuffer::commit() {
  if (!can_encode("commit")) return;
  static constinit std::atomic<std::uint64_t> next{1};
  bool is_enqueued = false;
  {
    const std::scoped_lock lock(mutex_);
    number_ = next.fetch_add(1);
    is_enqueued = status_ == Status::enqueued;
    status_ = Status::committed;
  }
  log_line("commit");
  if (!is_enqueued) queue_->enqueue(*this);
  queue_->commit(*this);
}

void CommandBuffer::run() {
  std::vector<objc::KeptBlock> handlers;
  std::this_thread::sleep_for(settings().delay);
  {
    const std::scoped_lock lock(mutex_);
    kernel_start_ = now();
    status_ = Status::scheduled;
    handlers.swap(scheduled_);
  }
  changed_.notify_all();
  for (const objc::KeptBlock& handler : handlers) handler(this);
  handlers.clear();
  {
    const std::scoped_lock lock(mutex_);
    kernel_end_ = gpu_start_ = now();
  }
  run_all();
  passes_.clear();
  {
    const std::scoped_lock lock(mutex_);
    gpu_end_ = now();
    status_ = error_ ? Status::error : Status::completed;
    handlers.swap(completed_);
  }
  kept_.clear();
  for (const objc::KeptBlock& handler : handlers) handler(this);
  handlers.clear();
  begin_release();
  queue_->end(*this, true);
  {
    const std::scoped_lock lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_all();
}

void CommandBuffer::run_all() {
  const CommandBufferError lasting = device().lasting_error;
  if (lasting != CommandBufferError{}) return fail(lasting, "");
  if (const auto chosen = settings().failing_buffers.find(number_); chosen != settings().failing_buffers.end()) {
    const CommandBufferError code = chosen->second;
    if (code == CommandBufferError::device_removed || code == CommandBufferError::access_revoked)
      device().lasting_error = code;
    return fail(code, "");
  }
  try {
    run_passes(passes_);
  } catch (const emulation::KernelError& failure) {
    const std::string_view text = failure.what();
    const bool is_late = text.find("has not ended after") != std::string_view::npos;
    fail(is_late ? CommandBufferError::timeout : CommandBufferError::internal, failure.what());
  } catch (const EventTimeout& timeout) {
    fail(CommandBufferError::timeout, "the value " + std::to_string(timeout.value) + " of an event was not signaled");
  } catch (const FreedResource&) {
    fail(CommandBufferError::page_fault, "a resource was freed before");
  } catch (const std::bad_alloc&) {
    fail(CommandBufferError::out_of_memory, "");
  }
}

void CommandBuffer::fail(CommandBufferError code, const std::string& text) {
  const std::string description = text_of(code);
  auto made = Owned<objc::Error>::adopt(create<objc::Error>("MTLCommandBufferErrorDomain", static_cast<long>(code),
                                                            text.empty() ? description : description + ": " + text));
  log_line("command buffer " + std::to_string(number_) + " fails: " + description);
  const std::scoped_lock lock(mutex_);
  error_ = std::move(made);
}

template <class Condition>
void CommandBuffer::wait_until(const char* selector, const Condition& condition) {
  const std::string name = std::string("-[MTLCommandBuffer ") + selector + "]: waits for ever, because ";
  if (!is_committed()) {
    objc::report_fault(name + "it is not committed");
    return;
  }
  std::unique_lock lock(mutex_);
  if (condition()) return;
  if (queue_->runs_on_calling_thread()) {
    lock.unlock();
    objc::report_fault(name + "a handler of the same queue calls");
    return;
  }
  changed_.wait(lock, condition);
}

void CommandBuffer::wait_until_completed() {
  wait_until("waitUntilCompleted", [&] { return has_ended_; });
}

void CommandBuffer::wait_until_scheduled() {
  wait_until("waitUntilScheduled", [&] { return status_ >= Status::scheduled; });
}

void CommandBuffer::add_scheduled(void* block) {
  if (is_committed()) {
    objc::report_fault("-[MTLCommandBuffer addScheduledHandler:]: the command buffer is committed");
    return;
  }
  const std::scoped_lock lock(mutex_);
  scheduled_.emplace_back(block);
}

void CommandBuffer::add_completed(void* block) {
  if (is_committed()) {
    objc::report_fault("-[MTLCommandBuffer addCompletedHandler:]: the command buffer is committed");
    return;
  }
  const std::scoped_lock lock(mutex_);
  completed_.emplace_back(block);
}

std::size_t CommandBuffer::get_status() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(status_);
}

Object* CommandBuffer::get_error() const {
  const std::scoped_lock lock(mutex_);
  return status_ == Status::error ? error_.get() : nullptr;
}

double CommandBuffer::time_of(const double& member) const {
  const std::scoped_lock lock(mutex_);
  return member;
}
double CommandBuffer::kernel_start() const { return time_of(kernel_start_); }
double CommandBuffer::kernel_end() const { return time_of(kernel_end_); }
double CommandBuffer::gpu_start() const { return time_of(gpu_start_); }
double CommandBuffer::gpu_end() const { return time_of(gpu_end_); }

const objc::Class& CommandBuffer::own_class() {
  static const auto& one =
      *new objc::Class("MTLCommandBuffer", &objc::root_class(), objc::Class::Kind::inner, nullptr,
                       {method<&CommandBuffer::compute_encoder>("computeCommandEncoder"),
                        method<&CommandBuffer::compute_encoder_of>("computeCommandEncoderWithDispatchType:"),
                        method<&CommandBuffer::blit_encoder>("blitCommandEncoder"),
                        method<&CommandBuffer::signal>("encodeSignalEvent:value:"),
                        method<&CommandBuffer::wait>("encodeWaitForEvent:value:"),
                        method<&CommandBuffer::enqueue>("enqueue"),
                        method<&CommandBuffer::commit>("commit"),
                        method<&CommandBuffer::wait_until_completed>("waitUntilCompleted"),
                        method<&CommandBuffer::wait_until_scheduled>("waitUntilScheduled"),
                        method<&CommandBuffer::add_scheduled>("addScheduledHandler:"),
                        method<&CommandBuffer::add_completed>("addCompletedHandler:"),
                        method<&CommandBuffer::get_status>("status"),
                        method<&CommandBuffer::get_error>("error"),
                        method<&CommandBuffer::kernel_start>("kernelStartTime"),
                        method<&CommandBuffer::kernel_end>("kernelEndTime"),
                        method<&CommandBuffer::gpu_start>("GPUStartTime"),
                        method<&CommandBuffer::gpu_end>("GPUEndTime"),
                        method<&CommandBuffer::retains>("retainedReferences"),
                        method<&CommandBuffer::queue>("commandQueue"),
                        method<&CommandBuffer::its_device>("device"),
                        set_label<CommandBuffer>(),
                        get_label<CommandBuffer>()});
  return one;
}

}  // namespace simulated
